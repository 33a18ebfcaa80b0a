import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pureyarp.errors import PeerUnreachable
from pureyarp.network.byte_stream import accept_authenticated, open_socket
from pureyarp.network.settings import ConnectionLimits, NetworkSettings

SHORT = ConnectionLimits(handshake_timeout=0.3)


def settings(key: bytes | None = None) -> NetworkSettings:
    return NetworkSettings(authentication_key=key, limits=SHORT)


@contextmanager
def acceptor(key: bytes | None) -> Iterator[tuple[int, list[object]]]:
    """Accept one connection and greet it; yields the port and what became of it."""
    outcome: list[object] = []

    def serve(listener: socket.socket) -> None:
        sock, _ = listener.accept()
        with sock:
            try:
                accept_authenticated(sock, settings(key))
                sock.sendall(b"hello")
                outcome.append("served")
            except PeerUnreachable as error:
                outcome.append(error)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            yield listener.getsockname()[1], outcome
        finally:
            thread.join(5.0)


@pytest.mark.parametrize("key", [None, b"secret key 1"])
def test_peers_with_the_same_key_or_none_talk(key):
    with acceptor(key) as (port, outcome), open_socket("127.0.0.1", port, settings(key)) as sock:
        assert sock.recv(5) == b"hello"
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert outcome == ["served"]


def test_another_key_is_refused_by_both():
    with acceptor(b"secret key 1") as (port, outcome), pytest.raises(PeerUnreachable, match="key is not ours"):
        open_socket("127.0.0.1", port, settings(b"secret key 2"))
    assert isinstance(outcome[0], PeerUnreachable)


def test_an_initiator_without_the_key_is_not_served():
    with acceptor(b"secret key 1") as (port, outcome), open_socket("127.0.0.1", port, settings(None)) as sock:
        sock.settimeout(10.0)
        assert len(sock.recv(100)) == 40
        assert sock.recv(100) == b""
    assert "does not take part" in str(outcome[0])


def test_an_acceptor_without_the_key_is_left():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PeerUnreachable, match="does not take part"):
            open_socket("127.0.0.1", port, settings(b"secret key 1"))


def test_where_nobody_listens_the_address_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(PeerUnreachable, match=f"127.0.0.1:{port} cannot be reached"):
        open_socket("127.0.0.1", port, settings())
    with pytest.raises(PeerUnreachable, match="cannot be reached"):
        open_socket("127.0.0.1", 70000, settings())
