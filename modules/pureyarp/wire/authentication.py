"""Mutual proof of a shared key before the first byte of a connection.

Three messages of 40 bytes: 8 random bytes (a nonce) and the HMAC-SHA256, under the key, of all nonces so far. The
acceptor speaks first, the initiator answers, the acceptor closes; then each has seen the other sign a nonce of its own.
"""

from __future__ import annotations

import hashlib
import hmac

from pureyarp.errors import MalformedMessage

NONCE_SIZE = 8
SIGNED_NONCE_SIZE = NONCE_SIZE + hashlib.sha256().digest_size


def signed_nonce(key: bytes, earlier_nonces: bytes, nonce: bytes) -> bytes:
    """Return the message that sends ``nonce`` after the ``earlier_nonces`` (concatenated, oldest first)."""
    return nonce + _signature(key, earlier_nonces + nonce)


def verified_nonce(key: bytes, earlier_nonces: bytes, message: bytes) -> bytes:
    """Return the nonce of a peer's message, or raise `MalformedMessage` if its sender does not have the key."""
    if len(message) != SIGNED_NONCE_SIZE:
        raise MalformedMessage(f"a signed nonce has {SIGNED_NONCE_SIZE} bytes, got {len(message)}")
    nonce = bytes(message[:NONCE_SIZE])
    if not hmac.compare_digest(bytes(message[NONCE_SIZE:]), _signature(key, earlier_nonces + nonce)):
        raise MalformedMessage("the peer's authentication key is not ours")
    return nonce


def _signature(key: bytes, nonces: bytes) -> bytes:
    return hmac.new(key, nonces, hashlib.sha256).digest()
