import socket

from pureyarp.network.settings import local_addresses


def test_every_address_can_be_listened_at_and_loopback_is_one():
    addresses = local_addresses()
    assert "127.0.0.1" in addresses
    for address in addresses:
        with socket.socket() as sock:
            sock.bind((address, 0))
            assert sock.getsockname()[0] == address
