"""Hands the newest value from one process to another: the writer never waits, the reader misses what it is late for."""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

_SEQUENCE, _LENGTH = 0, 1  # places in the head: a number, odd while a value is written; [bytes]
_HEAD = 16  # [bytes]
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
