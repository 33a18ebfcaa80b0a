"""Joins the walk and the page, two processes: newest values one way, of which the writer never waits; messages back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Protocol

from gradiva.common import StateError

_SEQUENCE, _LENGTH = 0, 1  # places in the head: a number, odd while a value is written; [bytes]
_HEAD = 16  # [bytes]
_STARTING = 120.0  # [s] at most until the page is there: meshes that were never decimated take long
_TRIES = 100  # of a read beside a writer, which needs some microseconds a value


class NewestValue:
    """A block of shared memory with one value, and the number of the last one that was written.

    One process writes, any number read. Neither takes a lock: a reader that was overtaken by the writer reads again.

    Attributes:
        name: By which another process opens it.
        capacity: Most bytes of a value.
    """

    def __init__(self, capacity: int, name: str | None = None) -> None:
        """Make a block for values of up to ``capacity`` [bytes], or open the one that is called ``name``."""
        self._is_owner = name is None
        self._memory = SharedMemory(name, create=self._is_owner, size=_HEAD + capacity)
        self.name, self.capacity = self._memory.name, capacity
        buffer = memoryview(self._memory.buf)  # type: ignore[arg-type]
        self._head = buffer[:_HEAD].cast("q")  # whose items are written at once, unlike those of struct
        self._value = buffer[_HEAD : _HEAD + capacity]
        self._read = 0

    def write(self, value: bytes | memoryview) -> None:
        """Replace the value.

        Raises:
            ValueError: It is longer than the capacity.
        """
        head, size = self._head, len(value)
        if size > self.capacity:
            raise ValueError(f"a value of {size} bytes, at most {self.capacity}")
        head[_SEQUENCE] += 1
        head[_LENGTH] = size
        self._value[:size] = value
        head[_SEQUENCE] += 1

    def read(self) -> bytes | None:
        """Return the newest value; None where there is none that this reader has not read."""
        head = self._head
        for _ in range(_TRIES):
            if (sequence := head[_SEQUENCE]) == self._read:
                return None
            value = bytes(self._value[: head[_LENGTH]])
            if sequence % 2 == 0 and head[_SEQUENCE] == sequence:
                self._read = sequence
                return value
        return None

    def close(self) -> None:
        """Leave the block; its maker removes it."""
        self._head.release()
        self._value.release()
        self._memory.close()
        if self._is_owner:
            self._memory.unlink()


class Page(Protocol):
    """Is the page, as the walk sees it: neither call waits."""

    is_open: bool

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """Yield what has come from the page."""
        ...

    def show(self, picture: memoryview) -> None:
        """Replace the picture."""
        ...

    def report(self, status: Mapping[str, Any]) -> None:
        """Replace the status."""
        ...


class PageLink:
    """Reaches the page in its own process, by shared memory and a pipe."""

    def __init__(self, picture: NewestValue, status: NewestValue, inbox: Connection) -> None:
        """Take the channels to the page, and the pipe from it."""
        self._picture, self._status, self._inbox = picture, status, inbox
        self.is_open = True

    def link(self) -> str:
        """Return the link of the page, as soon as it is there.

        Raises:
            StateError: It has not come; what the page's process says about it.
        """
        with suppress(EOFError, OSError):
            if self._inbox.poll(_STARTING):
                answer = json.loads(self._inbox.recv_bytes())
                if "error" in answer:
                    raise StateError(f"the page cannot be opened: {answer['error']}")
                return str(answer["link"])
        raise StateError("the page cannot be opened: its process has ended, or does not begin")

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """See ``Page.messages``; a page whose process has ended is closed."""
        try:
            while self._inbox.poll():
                yield json.loads(self._inbox.recv_bytes())
        except (EOFError, OSError):
            self.is_open = False

    def show(self, picture: memoryview) -> None:
        """See ``Page.show``."""
        self._picture.write(picture)

    def report(self, status: Mapping[str, Any]) -> None:
        """See ``Page.report``."""
        self._status.write(json.dumps(status, allow_nan=False).encode())
