"""Open ports and ask the network, in forms that both bindings answer: names, connections, the clock of a simulation."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator

from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items
from pureyarp.errors import NetworkError
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import to_text

TIMEOUT = 2.0  # [s] for a port or the name server to answer a short question
_NEARLY = 0.9  # [-] of a time limit, after which it has passed: clocks differ a little
_NANO = 1_000_000_000
_LOOK = 0.01  # [s]
_HEAD = encode_list([0, 0])[:8]  # of a list of two int32, the same in both families
_pack = struct.Struct("<8sii").pack


AnyPort = yarp.Port | yarp.RpcServer | yarp.RpcClient | yarp.BufferedPortBottle | yarp.BufferedPortVector


def open_port(port: AnyPort, name: str, likely_reason: str = "is this module running already?") -> None:
    """Open a port.

    Raises:
        NetworkError: It could not be opened; the message names it and ends with ``likely_reason``.
    """
    if not port.open(name):
        raise NetworkError(f"port {name} could not be opened: {likely_reason}")


def ask(port: str, command: yarp.Bottle, timeout: float) -> yarp.Bottle | None:
    """Return the reply of a port to ``command``; None where there is none within ``timeout`` [s].

    Each question has a connection of its own, so that a port that was restarted is found again.
    """
    reply, _ = _reply_of(yarp.Network.queryName(port), command, False, timeout)
    return reply


def is_there(port: str, timeout: float = TIMEOUT) -> bool:
    """Return whether a port is registered and answers within ``timeout`` [s]."""
    style = yarp.ContactStyle()
    style.quiet, style.timeout = True, timeout
    return bool(yarp.Network.exists(port, style))


def carrier_between(source: str, destination: str, timeout: float = TIMEOUT) -> str | None:
    """Return the carrier by which ``source`` sends to ``destination``, empty where they are not connected.

    Both are asked, as far as the name server knows them and they answer: four short connections. A source on the real
    bindings that has nothing to send does not notice that its destination was killed, and started again. None where
    neither is known, or the source does not answer within ``timeout`` [s], as a process that is very busy: they may
    well be connected still.
    """
    carrier = None
    for port, question in ((source, f"[list] [out] {destination}"), (destination, f"[list] [in] {source}")):
        contact = yarp.Network.queryName(port)
        if contact.isValid():
            reply, is_late = _reply_of(contact, yarp.Bottle(question), True, timeout)
            if is_late:
                return carrier
            entries = [] if reply is None else as_items(reply)
            carrier = next((str(entry[1]) for entry in _pairs(entries) if entry[0] == "carrier"), "")
            if not carrier:
                return carrier
    return carrier


def registered_names(timeout: float = TIMEOUT) -> frozenset[str]:
    """Return the names of all ports that the name server knows; none where it does not answer."""
    reply, _ = _reply_of(yarp.Network.getNameServerContact(), yarp.Bottle("bot list"), False, timeout)
    entries = [] if reply is None else as_items(reply)  # ports (port (name /x) (ip …) …) …
    ports = (entry[1:] for entry in entries if isinstance(entry, list))
    return frozenset(str(pair[1]) for port in ports for pair in _pairs(port) if pair[0] == "name")


def _reply_of(
    contact: yarp.Contact, command: yarp.Bottle, is_administrative: bool, timeout: float
) -> tuple[yarp.Bottle | None, bool]:
    """Return a reply that says something, else None, and whether it did not come in time: then it is empty."""
    reply, begin = yarp.Bottle(), time.monotonic()
    is_written = contact.isValid() and yarp.Network.write(contact, command, reply, is_administrative, True, timeout)
    if is_written and reply.size() > 0:
        return reply, False
    return None, time.monotonic() - begin >= _NEARLY * timeout


def _pairs(entries: list[Element]) -> Iterator[list[Element]]:
    return (entry for entry in entries if isinstance(entry, list) and len(entry) == 2)


class ClockMessage:
    """The message of ``/clock``: seconds and nanoseconds, ready to be sent on any connection.

    Args:
        time: [s], rounded to the nearest nanosecond.
    """

    def __init__(self, time: float) -> None:
        self._numbers = divmod(round(time * _NANO), _NANO)

    def to_items(self) -> list[Element]:
        """Return the elements."""
        return [*self._numbers]

    def to_wire(self, _: WireFamily) -> bytes:
        """Return the bytes for a peer of either family."""
        return _pack(_HEAD, *self._numbers)

    def to_wire_text(self) -> str:
        """Return the line for a text connection."""
        return to_text(self.to_items())


def follow_clock(clock: str, timeout: float) -> bool:
    """Take the time of this process from a clock's port; False where that sends none within ``timeout`` [s].

    The real `useNetworkClock` holds the interpreter until the first time comes, for ever where none does, so it is
    called alone for a clock that runs and to which the name server connects ports, as it asks it to. Never to be called
    in the process that publishes the clock.
    """
    if not is_ticking(clock, timeout):
        return False
    yarp.useNetworkClock(clock)
    deadline = time.monotonic() + timeout
    while not yarp.isValid() and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return bool(yarp.isValid())


def leave_network() -> None:
    """End this process's part in the network, its network clock first.

    The real ``Network.fini()`` destroys a clock in use after the name space that its port is to leave, and crashes.
    """
    if yarp.isNetworkClock():
        yarp.useSystemClock()
    yarp.Network.fini()


def is_ticking(clock: str, timeout: float) -> bool:
    """Return whether a clock's port sends a time within ``timeout`` [s] to a port that the name server connects to it.

    That is how `useNetworkClock` is connected: by a persistent connection, which not every name server makes.
    """
    port, style = yarp.BufferedPortBottle(), yarp.ContactStyle()
    style.persistent, style.persistenceType, style.quiet = True, yarp.ContactStyle.END_WITH_TO_PORT, True
    try:
        if not (is_there(clock, timeout) and port.open("...")):
            return False
        if not yarp.Network.connect(clock, port.where().getName(), style):
            return False
        deadline = time.monotonic() + timeout
        while port.read(False) is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK)
        return True
    finally:
        port.interrupt()
        port.close()
