"""Keys as they are typed in a terminal, without waiting for the end of the line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from typing import Any

try:
    import termios
    import tty
except ImportError:  # not on this system: then there is no terminal
    termios = None  # type: ignore[assignment]

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_NAMES = {" ": "space"}
_READ_AT_ONCE = 256  # [bytes]


class TerminalKeys:
    """Reads single keys until it is closed, which gives the terminal back as it was.

    Attributes:
        is_there: Whether standard input is a terminal.
    """

    def __init__(self, source: int | None = None) -> None:
        """Take the file descriptor of the terminal; standard input by default."""
        self._source = _standard_input() if source is None else source
        self._former: list[Any] | None = None
        self.is_there = termios is not None and self._source >= 0 and os.isatty(self._source)

    def open(self) -> None:
        """Have keys at once and unseen; Ctrl-C stays what it is."""
        if self.is_there and self._former is None:
            self._former = termios.tcgetattr(self._source)
            tty.setcbreak(self._source)

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._former is not None:
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._former)
            self._former = None

    def pending(self) -> list[str]:
        """Return the keys that were pressed since the last call; does not wait."""
        if self._former is None or not select.select([self._source], [], [], 0.0)[0]:
            return []
        try:
            typed = os.read(self._source, _READ_AT_ONCE)
        except OSError:
            typed = b""
        if not typed:  # the terminal is gone
            self.is_there, self._former = False, None
        return list(keys_in(typed.decode("utf-8", "ignore")))


def keys_in(typed: str) -> Iterator[str]:
    """Yield the names of the keys that send ``typed``; escape sequences that are no arrow are left out."""
    index = 0
    while index < len(typed):
        if typed[index] == "\x1b":
            end = _end_of_sequence(typed, index)
            if typed[end - 1] in _ARROWS and end - index >= 3:
                yield _ARROWS[typed[end - 1]]
            index = end
        else:
            yield _NAMES.get(typed[index], typed[index].lower())
            index += 1


def _end_of_sequence(typed: str, begin: int) -> int:
    """Return where an escape sequence ends: after its letter, or after the escape where there is no sequence."""
    if begin + 1 >= len(typed) or typed[begin + 1] not in "[O":
        return begin + 1
    end = begin + 2
    while end < len(typed) and not "@" <= typed[end] <= "~":
        end += 1
    return min(end + 1, len(typed))


def _standard_input() -> int:
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return -1
