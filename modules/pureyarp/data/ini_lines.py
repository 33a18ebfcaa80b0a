"""The logical lines of an ini file: comments cut off, continued lines joined."""

from __future__ import annotations

import logging
from collections.abc import Iterator

_LOGGER = logging.getLogger("pureyarp")
_BLANKS = " \t"


class _OpenEnds:
    """Remembers what a line leaves open: a quote, how many parentheses or braces, and a backslash at its end."""

    def __init__(self) -> None:
        self.quoted = False
        self.depth = 0
        self.ends_in_backslash = False

    @property
    def are_there(self) -> bool:
        return self.quoted or self.depth > 0 or self.ends_in_backslash

    def feed(self, character: str) -> None:
        if character == '"':
            self.quoted = not self.quoted
        elif not self.quoted and character in "({":
            self.depth += 1
        elif not self.quoted and character in ")}":
            self.depth = max(0, self.depth - 1)


def logical_lines(text: str) -> Iterator[str]:
    """Yield the lines of ``text`` that say something.

    ``//`` outside quotes and ``#`` at the beginning or after a blank start a comment. A line that leaves a quote or a
    parenthesis open, or ends in a backslash, goes on in the next one with nothing between them, as in YARP: indent
    the next line. One that is still open at the end is handed on as it is.
    """
    open_ends = _OpenEnds()
    parts: list[str] = []
    beginning = 0
    for number, line in enumerate(text.splitlines(), start=1):
        beginning = beginning if parts else number
        parts.append(_without_comment(line, open_ends))
        if not open_ends.are_there:
            yield from _said("".join(parts))
            parts = []
    if parts:
        _LOGGER.warning("ini: the quote or parenthesis opened in line %d is never closed", beginning)
        yield from _said("".join(parts))


def _said(line: str) -> Iterator[str]:
    if stripped := line.strip():
        yield stripped


def _without_comment(line: str, open_ends: _OpenEnds) -> str:
    is_protected = open_ends.ends_in_backslash = False
    for index, character in enumerate(line):
        if is_protected:
            is_protected = False
        elif character == "\\":
            is_protected = True
        elif not open_ends.quoted and _begins_comment(line, index):
            return line[:index]
        else:
            open_ends.feed(character)
    open_ends.ends_in_backslash = is_protected
    return line[:-1] if is_protected else line


def _begins_comment(line: str, index: int) -> bool:
    if line[index] == "#":
        return index == 0 or line[index - 1] in _BLANKS
    return line.startswith("//", index)
