"""Commands to a module that are typed at its terminal."""

from __future__ import annotations

import os
import selectors
import sys
import threading
from collections.abc import Callable, Iterator

from pureyarp.application.module_responder import lines_of
from pureyarp.data.values import Bottle
from pureyarp.errors import MalformedMessage

_READ_AT_ONCE = 4096  # [bytes]
_LONGEST_LINE = 65536  # [bytes]
_PATIENCE = 1.0  # [s] for a command that is being answered


class ModuleTerminal:
    """Answers lines of the standard input until it ends or `leave` is called.

    Args:
        answer: Returns the reply to a command.
        source: File descriptor of the terminal.
    """

    def __init__(self, answer: Callable[[Bottle], Bottle], source: int | None = None) -> None:
        self._answer = answer
        self._source = sys.stdin.fileno() if source is None else source
        self._wake_reader, self._wake_writer = os.pipe()
        self._thread = threading.Thread(target=self._run, name="module terminal", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Listen no longer; what is typed afterwards is left for others."""
        if self._wake_writer >= 0:
            os.close(self._wake_writer)  # readable for the thread: end of file
            self._wake_writer = -1
        if threading.current_thread() is not self._thread:
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        try:
            for line in self._lines():
                self._respond(line.decode(errors="surrogateescape"))
        finally:
            os.close(self._wake_reader)

    def _respond(self, line: str) -> None:
        try:
            command = Bottle(line)
        except MalformedMessage as error:
            print(error, flush=True)
            return
        if command.items:
            print("\n".join(lines_of(self._answer(command))), flush=True)

    def _lines(self) -> Iterator[bytes]:
        pending = b""
        while chunk := self._typed():
            *lines, pending = (pending + chunk)[-_LONGEST_LINE:].split(b"\n")
            yield from lines

    def _typed(self) -> bytes:
        """Return what was typed; nothing at the end of the input or when the terminal is left."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_reader, selectors.EVENT_READ)
            try:
                selector.register(self._source, selectors.EVENT_READ)
            except PermissionError:  # a plain file: always readable
                return os.read(self._source, _READ_AT_ONCE)
            ready = [key.fd for key, _ in selector.select()]
        return b"" if self._wake_reader in ready else os.read(self._source, _READ_AT_ONCE)
