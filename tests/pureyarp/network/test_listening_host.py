import pytest

from pureyarp.network.settings import NetworkSettings, is_loopback, registered_host


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("10.0.0.1", False), ("robot", False)],
)
def test_loopback_is_told_from_other_hosts(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("listen", "server", "registered"),
    [
        ("127.0.0.1", "127.0.0.1", ""),
        ("0.0.0.0", "127.0.0.1", ""),
        ("0.0.0.0", "10.0.0.1", ""),
        ("127.0.0.1", "10.0.0.1", "127.0.0.1"),
        ("10.0.0.7", "127.0.0.1", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.1", "10.0.0.7"),
    ],
)
def test_the_address_is_said_where_the_name_server_would_see_another_one(listen, server, registered):
    assert registered_host(NetworkSettings(listen_host=listen, name_server_host=server)) == registered
