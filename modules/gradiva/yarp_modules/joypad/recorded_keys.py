"""Keys from a file, at their times."""

from __future__ import annotations

import math
from pathlib import Path

from gradiva.common import ConfigError
from gradiva.yarp_modules.joypad.key_stick import KEYS


class RecordedKeys:
    """Lines of ``time key``: seconds, in order, and a key (``up``, ``space``, ``p``, …).

    Text after ``#`` is a remark.
    """

    def __init__(self, text: str, where: str = "keys") -> None:
        """Take the lines.

        Args:
            text: All of them.
            where: For complaints.

        Raises:
            ConfigError: A line is none; says which.
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
