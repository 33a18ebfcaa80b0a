"""Asks ports and the name server, without a port of one's own, in forms that both bindings answer.

The real bindings answer some usual questions otherwise than one would think: `isConnected` means tcp unless the carrier
is passed, `writeToNameServer` never returns for ``bot`` commands, and a question that is not answered in time is True
with an empty reply. So the suite asks by these functions alone, each within a time limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items
from pureyarp.wire.elements import Element

TIMEOUT = 2.0  # [s] for a port or the name server to answer a short question
_NEARLY = 0.9  # [-] of a time limit, after which it has passed: clocks differ a little


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

    The source is asked: two short connections, to the name server and to it. None where it does not answer within
    ``timeout`` [s], as a process that is very busy: what is connected to it may well be so still.
    """
    command = yarp.Bottle(f"[list] [out] {destination}")
    reply, is_late = _reply_of(yarp.Network.queryName(source), command, True, timeout)
    if is_late:
        return None
    entries = [] if reply is None else as_items(reply)
    return next((str(entry[1]) for entry in _pairs(entries) if entry[0] == "carrier"), "")


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
