"""A module's answers to what comes in over a port."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pureyarp.data.streams import ConnectionReader, ConnectionWriter
from pureyarp.data.values import Bottle
from pureyarp.network.port_reader import PortReader
from pureyarp.wire.elements import Vocab32, decode_vocab
from pureyarp.wire.text import to_text

_FAREWELLS = ("quit", "exit", "bye")
_PATIENCE = 1.0  # [s] for replies that are on their way when the module stops
_SENDING = 0.05  # [s] a port sends a reply after `read` has returned


def is_farewell(command: Bottle) -> bool:
    """Return whether ``command`` asks the module to stop: ``quit``, ``exit`` or ``bye``, as a string or a vocab."""
    return first_word(command) in _FAREWELLS


def first_word(bottle: Bottle) -> str:
    """Return the first value where it is a string or a vocab, else an empty string."""
    first = bottle.items[0] if bottle.items else ""
    if isinstance(first, Vocab32):
        return decode_vocab(first)
    return first if isinstance(first, str) else ""


def lines_of(reply: Bottle) -> list[str]:
    """Return a reply as people read it: ``[many] "line" "line"`` line by line, anything else in one."""
    if first_word(reply) == "many":
        return [item if isinstance(item, str) else to_text([item]) for item in reply.items[1:]]
    return [reply.toString()]


class ModuleResponder(PortReader):
    """Reads one Bottle, has it answered, writes one Bottle.

    Args:
        answer: Returns the reply to a command, never an empty one.
    """

    def __init__(self, answer: Callable[[Bottle], Bottle]) -> None:
        super().__init__()
        self._answer = answer
        self._at_work = 0
        self._changed = threading.Condition()

    def read(self, reader: ConnectionReader) -> bool:
        """Answer one message."""
        command = Bottle()
        if not reader.isValid() or not command.read(reader):
            return False
        self._count(1)
        try:
            _write(self._answer(command), reader.getWriter())
        finally:
            self._count(-1)
        return True

    def wait_for_replies(self) -> None:
        """Return when no command is being answered and the last reply is sent, at the latest after a second."""
        with self._changed:
            self._changed.wait_for(lambda: self._at_work == 0, _PATIENCE)
        time.sleep(_SENDING)

    def _count(self, change: int) -> None:
        with self._changed:
            self._at_work += change
            self._changed.notify_all()


def _write(reply: Bottle, writer: ConnectionWriter | None) -> None:
    if writer is None:
        return  # the sender wants no reply
    if writer.isTextMode() and first_word(reply) == "many":
        for line in lines_of(reply):
            writer.appendText(line)
    else:
        reply.write(writer)
