"""The bindings' functions about vocabs."""

from __future__ import annotations

from gradiva.middleware.embedded.data.argument_checks import checked_integer, checked_string
from gradiva.middleware.embedded.wire.elements import Vocab32
from gradiva.middleware.embedded.wire.vocab import decode_vocab, encode_vocab


def encode(str: str) -> int:
    """Return the number of the vocab of a text's first four characters."""
    return int(encode_vocab(checked_string(str)))


def decode(code: int) -> str:
    """Return the characters of a vocab."""
    return decode_vocab(Vocab32(checked_integer(code, 32)))


def vocab_of(first: int | str, *characters: str) -> Vocab32:
    """Return the vocab of a number, of single characters, or of a text."""
    if isinstance(first, int):
        return Vocab32(checked_integer(first, 32))
    return encode_vocab(checked_string(first) + "".join(characters))
