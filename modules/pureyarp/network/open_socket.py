"""TCP sockets of peers that have proven their key, where one is configured."""

from __future__ import annotations

import secrets
import socket
import time

from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.carriers import (
    NONCE_SIZE,
    SIGNED_NONCE_SIZE,
    signed_nonce,
    verified_nonce,
)


def open_socket(host: str, port: int, settings: NetworkSettings, timeout: float | None = None) -> socket.socket:
    """Connect to ``host:port`` (TCP_NODELAY) and, with a key, authenticate as the initiator.

    The returned socket keeps ``timeout`` ([s], the handshake's by default). Raises `PeerUnreachable`.
    """
    limit = settings.limits.handshake_timeout if timeout is None else timeout
    try:
        sock = socket.create_connection((host, port), timeout=limit)
    except (OSError, OverflowError) as error:  # OverflowError: a port number beyond 65535
        raise PeerUnreachable(f"{host}:{port} cannot be reached: {error}") from error
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _refuse_connection_to_itself(sock)
        _authenticate_as_initiator(sock, settings)
        sock.settimeout(limit)
    except BaseException:
        sock.close()
        raise
    return sock


def accept_authenticated(sock: socket.socket, settings: NetworkSettings) -> None:
    """Let the initiator of an accepted connection prove its key; without a configured key there is nothing to do.

    Sets TCP_NODELAY and leaves the handshake's timeout on the socket. Raises `PeerUnreachable`; closing is the
    caller's.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(settings.limits.handshake_timeout)
    key = settings.authentication_key
    if key is None:
        return
    deadline = time.monotonic() + settings.limits.handshake_timeout
    with _AuthenticationFailures(sock):
        first = secrets.token_bytes(NONCE_SIZE)
        sock.sendall(signed_nonce(key, b"", first))
        second = verified_nonce(key, first, _receive_signed_nonce(sock, deadline))
        sock.sendall(signed_nonce(key, first + second, secrets.token_bytes(NONCE_SIZE)))
    sock.settimeout(settings.limits.handshake_timeout)


def _authenticate_as_initiator(sock: socket.socket, settings: NetworkSettings) -> None:
    key = settings.authentication_key
    if key is None:
        return
    deadline = time.monotonic() + settings.limits.handshake_timeout
    with _AuthenticationFailures(sock):
        first = verified_nonce(key, b"", _receive_signed_nonce(sock, deadline))
        second = secrets.token_bytes(NONCE_SIZE)
        sock.sendall(signed_nonce(key, first, second))
        verified_nonce(key, first + second, _receive_signed_nonce(sock, deadline))


def _receive_signed_nonce(sock: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < SIGNED_NONCE_SIZE:
        sock.settimeout(max(deadline - time.monotonic(), 1e-3))
        piece = sock.recv(SIGNED_NONCE_SIZE - len(received))
        if not piece:
            raise MalformedMessage("the peer closed during the authentication; is its key ours?")
        received += piece
    return bytes(received)


def _refuse_connection_to_itself(sock: socket.socket) -> None:
    """TCP may connect an ephemeral port to itself where nobody listens."""
    if sock.getsockname() == sock.getpeername():
        raise PeerUnreachable(f"no program listens at {sock.getpeername()}")


class _AuthenticationFailures:
    """Turns what can go wrong in the exchange into `PeerUnreachable` that names the peer."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, TimeoutError):
            reason = "it does not take part (has it a key in auth.conf?)"
        elif isinstance(error, OSError | MalformedMessage):
            reason = str(error)
        else:
            return
        raise PeerUnreachable(f"authentication with {_peer_of(self._sock)} failed: {reason}") from error


def _peer_of(sock: socket.socket) -> str:
    try:
        return "{}:{}".format(*sock.getpeername()[:2])
    except OSError:
        return "a peer that has gone"
