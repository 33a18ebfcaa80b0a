"""Maps keys to a stick or to commands; reads them from a terminal, or from a file with their times."""

from __future__ import annotations

import math
import os
import select
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.common import ConfigError, NDArray, configuration, setting


@configuration
class JoypadConfig:
    """``[joypad]`` in ``config/joypad.toml``.

    Attributes:
        period: Between two messages, [s].
        step: Of full deflection, that one key press adds, [-].
        ramp: How fast the deflection follows, [1/s].
        dead_zone: Below which the stick is at rest, [-].
        status_period: Between two questions for the state of the walk, [s].
    """

    period: float = setting("s", above=0.0)
    step: float = setting("-", above=0.0, most=1.0, why="full deflection is 1")
    ramp: float = setting("1/s", above=0.0)
    dead_zone: float = setting("-", above=0.0)
    status_period: float = setting("s", above=0.0)

    def __post_init__(self) -> None:
        if self.dead_zone >= self.step:
            raise ConfigError(f"dead_zone={self.dead_zone}: must be smaller than step={self.step}")


class KeyCommand(StrEnum):
    """Names the commands of keys; the values are the coordinator's words."""

    PREPARE = "prepareRobot"
    START = "startWalking"
    PAUSE = "pauseWalking"
    STOP = "stopWalking"
    HOME = "goHome"
    EMERGENCY_STOP = "emergencyStop"
    QUIT = "quit"  # the joypad itself


HELP = (
    "up down     faster, slower (backward)     w s",
    "left right  turn                          a d",
    "j l         sidestep",
    "0           stick to the middle: the robot stands",
    "p g         prepare, start                space  pause     x  stop     h  go home",
    "e           emergency stop                q  quit",
)
_MOVES = {  # forward, angular, lateral
    "up": (1, 0, 0),
    "w": (1, 0, 0),
    "down": (-1, 0, 0),
    "s": (-1, 0, 0),
    "left": (0, 1, 0),
    "a": (0, 1, 0),
    "right": (0, -1, 0),
    "d": (0, -1, 0),
    "j": (0, 0, 1),
    "l": (0, 0, -1),
}
_COMMANDS = {
    "p": KeyCommand.PREPARE,
    "g": KeyCommand.START,
    "space": KeyCommand.PAUSE,
    "x": KeyCommand.STOP,
    "h": KeyCommand.HOME,
    "e": KeyCommand.EMERGENCY_STOP,
    "q": KeyCommand.QUIT,
}
KEYS = (*_MOVES, *_COMMANDS, "0")


class KeyStick:
    """Moves a stick by keys. A terminal reports only presses, so that each press is a step of the stick.

    Attributes:
        target: Forward, angular, lateral, where the keys have put it, −1 to 1, shape (3,).
    """

    def __init__(self, config: JoypadConfig) -> None:
        """Put the stick in the middle."""
        self._config = config
        self.target: NDArray = np.zeros(3)
        self._deflection: NDArray = np.zeros(3)

    def press(self, key: str) -> KeyCommand | None:
        """Move the stick, or return the command of the key; unknown keys do nothing.

        A command releases the stick.
        """
        if key in _MOVES:
            moved = self.target + self._config.step * np.array(_MOVES[key])
            moved[np.abs(moved) < 0.5 * self._config.step] = 0.0  # the middle is found again
            self.target = np.clip(moved, -1.0, 1.0)
            return None
        command = _COMMANDS.get(key)
        if command is not None or key == "0":
            self.release()
        return command

    def release(self) -> None:
        """Let the stick go to the middle, at once."""
        self.target, self._deflection = np.zeros(3), np.zeros(3)

    def goal(self, period: float) -> list[float]:
        """Return forward, angular, lateral, ``period`` [s] after the last call."""
        reach = self._config.ramp * period
        self._deflection = self._deflection + np.clip(self.target - self._deflection, -reach, reach)
        return np.where(np.abs(self._deflection) < self._config.dead_zone, 0.0, self._deflection).tolist()


class RecordedKeys:
    """Reads lines of ``time key``: seconds, in order, and a key (``up``, ``space``, ``p``, …).

    Text after ``#`` is a comment.
    """

    def __init__(self, text: str, where: str = "keys") -> None:
        """Take the lines.

        Args:
            text: All of them.
            where: For messages of errors.

        Raises:
            ConfigError: A line is wrong; carries which.
        """
        self._keys: list[tuple[float, str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if words:
                self._keys.append(self._parsed(words, f"{where}, line {number}"))
        self._next = 0

    @classmethod
    def read(cls, path: Path) -> RecordedKeys:
        """Return the keys of a file.

        Raises:
            ConfigError: It cannot be read, or a line of it is wrong.
        """
        try:
            return cls(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--input {path}: {error}") from None

    def due(self, time: float) -> list[str]:
        """Return the keys up to ``time`` [s] that were not returned before."""
        begin = self._next
        while self._next < len(self._keys) and self._keys[self._next][0] <= time:
            self._next += 1
        return [key for _, key in self._keys[begin : self._next]]

    def _parsed(self, words: list[str], where: str) -> tuple[float, str]:
        try:
            time, key = float(words[0]), words[1]
        except (ValueError, IndexError):
            raise ConfigError(f"{where}: expected 'time key', got '{' '.join(words)}'") from None
        if not math.isfinite(time):
            raise ConfigError(f"{where}: {time} is no time")
        if len(words) != 2 or key not in KEYS:
            raise ConfigError(f"{where}: '{' '.join(words[1:])}' is no key (valid: {', '.join(KEYS)})")
        if self._keys and time < self._keys[-1][0]:
            raise ConfigError(f"{where}: {time} s comes after {self._keys[-1][0]} s")
        return time, key


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
        """Read keys at once and without echo; Ctrl-C keeps its meaning."""
        if self.is_there and self._former is None:
            self._former = termios.tcgetattr(self._source)
            tty.setcbreak(self._source)

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._former is not None:
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._former)
            self._former = None

    def pending(self) -> list[str]:
        """Return the keys since the last call; does not wait."""
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
