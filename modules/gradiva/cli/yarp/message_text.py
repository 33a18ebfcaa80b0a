"""Messages as people type and read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradiva.common import ConfigError
from gradiva.middleware import is_complete, yarp

_LONG_NUMBER = re.compile(r"-?\d+\.\d{13,}(?:e[+-]\d+)?")  # YARP prints 21 digits of what has 17 at most


def message_of(words: Sequence[str]) -> yarp.Bottle:
    """Return the message that words on a command line or a typed line make.

    Raises:
        ConfigError: A quote or parenthesis in it is not closed.
    """
    text = " ".join(words)
    if not is_complete(text):
        raise ConfigError(f"{text.strip()}: a quote or parenthesis is not closed")
    return yarp.Bottle(text)


def is_refusal(reply: yarp.Bottle) -> bool:
    """Tell whether a reply says that what was asked is not done: ``[fail]`` first, as Gradiva and YARP's devices do."""
    first = reply.get(0)
    return bool(first.isVocab32()) and int(first.asVocab32()) == yarp.encode("fail")


def reply_lines(reply: yarp.Bottle) -> list[str]:
    """Return the lines of an answer: one, or one for each element after ``[many]``."""
    if reply.size() < 2 or not (reply.get(0).isVocab32() and reply.get(0).asVocab32() == yarp.encode("many")):
        return [_shortened(reply.toString())]
    return [line for index in range(1, reply.size()) for line in _element_lines(reply.get(index))]


def _element_lines(value: yarp.Value) -> list[str]:
    """Return the text of an element; generated services put all their lines into one list."""
    elements = value.asList() if value.isList() else None
    if elements is None:
        return [_bare(value)]
    return [_bare(elements.get(index)) for index in range(elements.size())]


def _bare(value: yarp.Value) -> str:
    return value.asString() if value.isString() else _shortened(value.toString())


def _shortened(text: str) -> str:
    """Return text with numbers of as few digits as tell them apart from others."""
    return _LONG_NUMBER.sub(lambda number: repr(float(number[0])), text)
