"""Joins a robot's process and the page's: newest values one way, of which the writer never waits; messages back."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side, StateError

_SEQUENCE, _LENGTH = 0, 1  # places in the head: a number, odd while a value is written; [bytes]
_HEAD = 16  # [bytes]
_STARTING = 120.0  # [s] at most until the page is there: meshes that were never decimated take long
_TRIES = 100  # of a read beside a writer, which needs some microseconds a value
_NAMES = struct.Struct("q")  # [bytes] of the names in front of a row

Picture = npt.NDArray[np.void]
"""A record of `picture_type`, shape ()."""


def picture_type(joints: int) -> np.dtype[np.void]:
    """Return the fields of a picture of a robot with so many joints: world, SI units; NaN where a value is not known.

    Forces are those of the ground on the soles; ``believed`` is the base by the robot's own odometry.
    """
    points: list[Any] = [(name, "f8", size) for name, size in (("base", 3), ("rotation", (3, 3)), ("com", 3))]
    points += [("believed", "f8", 3), ("believed_rotation", "f8", (3, 3)), ("dcm", "f8", 2), ("zmp", "f8", 2)]
    feet: list[Any] = [(f"{side}_{what}", "f8", 3) for side in Side for what in ("foot", "force")]
    return np.dtype([("time", "f8"), *points, *feet, ("joints", "f8", joints)])


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


class SignalRows:
    """Packs rows of signals with the names of their columns, and unpacks them again.

    Attributes:
        columns: Names of the last row that was unpacked, without the time in front.
    """

    def __init__(self) -> None:
        self.columns: tuple[str, ...] = ()
        self._packed: Sequence[str] = ()
        self._names = b""

    def pack(self, columns: Sequence[str], row: NDArray) -> bytes:
        """Return the bytes of a row, time first, whose other columns have these names."""
        if columns is not self._packed:
            self._packed, names = columns, json.dumps(columns).encode()
            self._names = _NAMES.pack(len(names)) + names
        return self._names + row.tobytes()

    def unpack(self, value: bytes) -> NDArray:
        """Return a row, time first."""
        end = _NAMES.size + _NAMES.unpack_from(value)[0]
        if value[:end] != self._names:
            self._names = value[:end]
            self.columns = tuple(json.loads(value[_NAMES.size : end]))
        return np.frombuffer(value, offset=end)


class Page(Protocol):
    """Is the page, as the process of the robot sees it: no call waits."""

    is_open: bool

    def messages(self) -> Iterator[Mapping[str, Any]]:
        """Yield what has come from the page."""
        ...

    def show(self, picture: memoryview) -> None:
        """Replace the picture."""
        ...

    def plot(self, columns: Sequence[str], row: NDArray) -> None:
        """Replace the newest row of all signals, time first; ``columns`` is the same object while they are the same."""
        ...

    def report(self, status: Mapping[str, Any]) -> None:
        """Replace the status."""
        ...


class PageLink:
    """Reaches the page in its own process, by shared memory and a pipe."""

    def __init__(self, picture: NewestValue, signals: NewestValue, status: NewestValue, inbox: Connection) -> None:
        """Take the channels to the page, and the pipe from it."""
        self._picture, self._signals, self._status, self._inbox = picture, signals, status, inbox
        self._rows = SignalRows()
        self.is_open, self.port, self.token = True, 0, ""

    def link(self) -> str:
        """Return the link of the page, as soon as it is there; `port` and `token` are known from then on.

        Raises:
            StateError: It has not come; what the page's process says about it.
        """
        with suppress(EOFError, OSError):
            if self._inbox.poll(_STARTING):
                answer = json.loads(self._inbox.recv_bytes())
                if "error" in answer:
                    raise StateError(f"the page cannot be opened: {answer['error']}")
                self.port, self.token = int(answer["port"]), str(answer["token"])
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

    def plot(self, columns: Sequence[str], row: NDArray) -> None:
        """See ``Page.plot``; more signals than fit are left out."""
        with suppress(ValueError):
            self._signals.write(self._rows.pack(columns, row))

    def report(self, status: Mapping[str, Any]) -> None:
        """See ``Page.report``."""
        self._status.write(json.dumps(status, allow_nan=False).encode())
