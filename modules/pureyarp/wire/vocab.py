"""Vocabs: up to four characters in an integer, the first in the lowest byte."""

from __future__ import annotations

from pureyarp.wire.elements import Vocab32, Vocab64

TRUE = Vocab32(ord("1"))
FALSE = Vocab32(0)


def encode_vocab(text: str) -> Vocab32:
    """Return the vocab of the first four bytes of a text; ``""`` gives 0.

    The bytes are added as signed numbers, as YARP does: one above 127 borrows from the byte behind it.
    """
    data = text.encode("utf-8", "surrogateescape")[:4]
    if data.isascii():
        return Vocab32(int.from_bytes(data.ljust(4, b"\0"), "little", signed=True))
    total = sum((byte - 256 if byte > 127 else byte) << (8 * place) for place, byte in enumerate(data))
    return Vocab32((total + 2**31) % 2**32 - 2**31)


def encode_vocab64(text: str) -> Vocab64:
    """Return the long vocab of the first eight bytes of a text."""
    data = text.encode("utf-8", "surrogateescape")[:8]
    return Vocab64(int.from_bytes(data.ljust(8, b"\0"), "little", signed=True))


def decode_vocab(vocab: int) -> str:
    """Return the characters of a vocab, up to its first NUL."""
    size = 8 if isinstance(vocab, Vocab64) else 4
    data = (int(vocab) & (256**size - 1)).to_bytes(size, "little")
    return data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
