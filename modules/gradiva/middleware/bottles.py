"""Turn bottles into plain Python values and back; answer, take and send messages as such, with either bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from gradiva.middleware import yarp
from pureyarp.data.values import Bottle as PureBottle
from pureyarp.devices.server_ports import Answer, Bottles, Commands, RawAnswers, ReadyMessage, Requests
from pureyarp.network.buffered_ports import BufferedPortBottle as PurePort
from pureyarp.network.buffered_ports import write_object
from pureyarp.wire.elements import (
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    Vocab32,
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


class _Bottles(Bottles):
    """Read and fill the bottles of the bindings that were chosen."""

    def empty(self) -> yarp.Bottle:
        """Return an empty bottle."""
        return yarp.Bottle()

    def items(self, bottle: yarp.Bottle) -> list[Element]:
        """Return the elements of a bottle."""
        return as_items(bottle)

    def fill(self, bottle: yarp.Bottle, items: list[Element]) -> None:
        """Add elements to a bottle."""
        fill_bottle(bottle, items)


class RequestReader(yarp.PortReader):
    """Answers each request of a port with what a function returns, or ``[fail] "message"`` if it raises.

    Args:
        answer: From request to reply.
        raw_answers: Answers that no Bottle can hold, for requests of a single word, see `pureyarp.devices.Requests`.
    """

    def __init__(self, answer: Answer, raw_answers: RawAnswers | None = None) -> None:
        super().__init__()
        self._requests = Requests(answer, raw_answers, _Bottles())

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one request and answer it."""
        return self._requests.read(reader)


class CommandReader(yarp.PortReader):
    """Hands the values of each message of a port to a function, in their order; what it raises is logged.

    Args:
        take: Called in the thread of the connection.
    """

    def __init__(self, take: Callable[[list[Element]], None]) -> None:
        super().__init__()
        self._commands = Commands(take, _Bottles())

    def read(self, reader: yarp.ConnectionReader) -> bool:
        """Read one message and hand it on."""
        return self._commands.read(reader)


def send_ready(port: yarp.BufferedPortBottle, message: ReadyMessage, is_strict: bool = False) -> None:
    """Send a message; it is encoded only for the readers that are connected.

    A port of pureyarp takes it as it is, without a Bottle in between.
    """
    if isinstance(port, PurePort):
        write_object(port, message, is_strict)
    elif port.getOutputCount() > 0:
        fill_bottle(port.prepare(), message.to_items())
        port.write(is_strict)
