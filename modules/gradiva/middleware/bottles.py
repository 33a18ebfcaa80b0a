"""Turn bottles into plain Python values and back, and read messages of ports as such, with either bindings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache

from gradiva.middleware import yarp
from pureyarp.data.values import Bottle as PureBottle
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.elements import (
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    Vocab32,
    encode_vocab,
)
from pureyarp.wire.text import to_text

_INT32 = range(-(2**31), 2**31)


def as_items(bottle: yarp.Bottle) -> list[Element]:
    """Return the values of ``bottle``; those of a Bottle of pureyarp are its own list, not a copy."""
    if isinstance(bottle, PureBottle):
        return bottle.items
    return [_element(bottle.get(index)) for index in range(bottle.size())]


def as_bottle(items: Sequence[Element]) -> yarp.Bottle:
    """Return a Bottle of the values ``items``; a Bottle of pureyarp shares their nested lists."""
    bottle = yarp.Bottle()
    if isinstance(bottle, PureBottle):
        bottle.items.extend(items)
    else:
        _fill(bottle, items)
    return bottle


def fill_bottle(bottle: yarp.Bottle, items: list[Element]) -> None:
    """Make ``bottle`` (as one that a port has prepared) hold ``items``; one of pureyarp takes the list over."""
    if isinstance(bottle, PureBottle):
        bottle.items = items
    else:
        bottle.clear()
        _fill(bottle, items)


@cache
def _readers() -> dict[int, Callable[[yarp.Value], Element]]:
    """Return how a value of each type code is read."""
    make = yarp.Value
    return {
        make.makeInt8(0).getCode(): lambda value: Int8(value.asInt8()),
        make.makeInt16(0).getCode(): lambda value: Int16(value.asInt16()),
        make.makeInt32(0).getCode(): lambda value: value.asInt32(),
        make.makeInt64(0).getCode(): lambda value: Int64(value.asInt64()),
        make.makeFloat32(0.0).getCode(): lambda value: Float32(value.asFloat32()),
        make.makeFloat64(0.0).getCode(): lambda value: value.asFloat64(),
        make.makeVocab32("code").getCode(): lambda value: Vocab32(value.asVocab32()),
        make.makeString("").getCode(): lambda value: value.asString(),
    }


def _element(value: yarp.Value) -> Element:
    """Return what ``value`` holds; an empty string where it holds nothing."""
    if (dictionary := value.asDict()) is not None:
        return _dictionary(as_items(yarp.Bottle(dictionary.toString())))
    if (nested := value.asList()) is not None:
        return as_items(nested)
    if value.isBlob():
        # The real asBlob() ends at the first zero byte; by itself, a blob is printed without braces.
        return bytes(int(byte) for byte in value.toString().split())
    read = _readers().get(value.getCode())
    return read(value) if read else ""


def _dictionary(entries: Sequence[Element]) -> Dictionary:
    return Dictionary({str(entry[0]): entry[1:] for entry in entries if isinstance(entry, list) and entry})


def _fill(bottle: yarp.Bottle, items: Sequence[Element]) -> None:
    for item in items:
        if isinstance(item, Dictionary):
            bottle.addDict().fromString(to_text([[key, *values] for key, values in item.items()]))
        elif isinstance(item, list):
            _fill(bottle.addList(), item)
        else:
            _add(bottle, item)


def _add(bottle: yarp.Bottle, item: int | float | str | bytes) -> None:
    match item:
        case Int8():
            bottle.addInt8(int(item))
        case Int16():
            bottle.addInt16(int(item))
        case Vocab32():
            bottle.addVocab32(int(item))
        case Float32():
            bottle.addFloat32(float(item))
        case bytes():
            bottle.append(yarp.Bottle(to_text([item])))
        case str():
            bottle.addString(item)
        case float():
            bottle.addFloat64(item)
        case _ if isinstance(item, Int64) or item not in _INT32:
            bottle.addInt64(int(item))
        case _:
            bottle.addInt32(int(item))


_logger = logging.getLogger("gradiva.yarp")


class RequestReader(yarp.PortReader):
    """Answers each request of a port with what a function returns, or ``[fail] "message"`` if it raises.

    No exception leaves it: behind the real bindings, a thread of YARP's own would end the process.

    Args:
        answer: From request to reply.
        raw_answers: Answers that no Bottle can hold: int16 numbers without tags, as generated code writes them, for
            requests of a single word.
    """

    def __init__(
        self, answer: Callable[[list[Element]], list[Element]], raw_answers: dict[str, tuple[int, ...]] | None = None
    ) -> None:
        super().__init__()
        self._answer = answer
        self._raw_answers = raw_answers or {}
        self._complaint = RateLimitedLog(_logger)

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one request and answer it."""
        request = yarp.Bottle()
        if not request.read(reader):
            return False
        writer = reader.getWriter()
        raw_answer = self._raw_answers.get(request.get(0).asString()) if request.size() == 1 else None
        if raw_answer is not None:
            return writer is None or _write_raw(raw_answer, writer)
        reply = self._reply_to(request)
        try:
            return writer is None or reply.write(writer)
        except Exception as error:
            self._complaint.warning("the answer to %.80r was not sent: %r", request.toString(), error, trace=True)
            return False

    def _reply_to(self, request: yarp.Bottle) -> yarp.Bottle:
        """Return the answer, or why there is none: one that no Bottle can hold is a failure like any other."""
        reply = yarp.Bottle()
        try:
            fill_bottle(reply, self._answer(as_items(request)))
        except Exception as error:
            self._complaint.warning("the request %.80r was not answered: %r", request.toString(), error, trace=True)
            fill_bottle(reply, [encode_vocab("fail"), str(error) or type(error).__name__])
        return reply


class CommandReader(yarp.PortReader):
    """Hands the values of each message of a port to a function, in their order; what it raises is logged.

    Args:
        take: Called in the thread of the connection.
    """

    def __init__(self, take: Callable[[list[Element]], None]) -> None:
        super().__init__()
        self._take = take
        self._complaint = RateLimitedLog(_logger)

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one message and hand it on."""
        command = yarp.Bottle()
        if not command.read(reader):
            return False
        try:
            self._take(as_items(command))
        except Exception as error:
            self._complaint.warning("the message %.80r was not taken: %r", command.toString(), error, trace=True)
            return False
        return True


def _write_raw(numbers: tuple[int, ...], writer: yarp.ConnectionWriter) -> bool:
    """Write the header of a list of one struct, then the struct's numbers."""
    writer.appendInt32(256)
    writer.appendInt32(1)
    for number in numbers:
        writer.appendInt16(number)
    return not writer.isError()
