"""The bindings' functions about vocabs."""

from __future__ import annotations

from pureyarp.data.argument_checks import checked_integer, checked_string
from pureyarp.wire.elements import Vocab32, decode_vocab, encode_vocab


def encode(str: str) -> int:
    """Return the number of the vocab of a text's first four characters."""
    return int(encode_vocab(checked_string(str)))


def decode(code: int) -> str:
    """Return the characters of a vocab, none of a negative number."""
    checked = checked_integer(code, 32)
    return decode_vocab(Vocab32(checked)) if checked >= 0 else ""


def vocab_of(first: int | str, *characters: str) -> Vocab32:
    """Return the vocab of a number, of single characters, or of a text; TypeError for anything else."""
    if isinstance(first, int):
        try:
            return Vocab32(checked_integer(first, 32))
        except OverflowError as error:  # the bindings then find no overload that takes it
            raise TypeError(str(error)) from error
    return encode_vocab(checked_string(first) + "".join(characters))
