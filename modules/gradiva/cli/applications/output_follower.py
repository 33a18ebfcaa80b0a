"""Follows the files that modules print to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_MOST = 65536  # [bytes] of one file at a time


class OutputFollower:
    """Yields the lines that were added to files since the last look, whole lines only."""

    def __init__(self, files: dict[str, Path]) -> None:
        """Take the files by the titles of their modules."""
        self._files = files
        self._read = dict.fromkeys(files, 0)

    def new_lines(self) -> Iterator[tuple[str, str]]:
        """Yield (title, line)."""
        for title, path in self._files.items():
            for line in self._lines_of(title, path):
                yield title, line

    def _lines_of(self, title: str, path: Path) -> list[str]:
        try:
            with path.open("rb") as file:
                file.seek(self._read[title])
                text = file.read(_MOST)
        except OSError:  # it has not printed anything yet
            return []
        whole = text[: text.rfind(b"\n") + 1] if len(text) < _MOST or b"\n" in text else text
        self._read[title] += len(whole)
        return whole.decode("utf-8", "replace").splitlines()
