"""Cutting a text into the texts of its elements."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKS = re.compile(r'\\.?|["(){} \t\r\n,]', re.DOTALL)
_SEPARATORS = frozenset(" \t\r\n,")


@dataclass(frozen=True, slots=True)
class TextScan:
    """The tokens of a text.

    Attributes:
        tokens: One text for each element; what is still open at the end is left out.
        is_complete: No quote, parenthesis, brace or backslash waits for more.
    """

    tokens: list[str]
    is_complete: bool


class _OpenMarks:
    """What has been opened and not yet closed."""

    def __init__(self) -> None:
        self._is_quoted = False
        self._parentheses = 0
        self._braces = 0

    def take(self, mark: str) -> None:
        """Follow a quote, a parenthesis or a brace."""
        if mark == '"':
            self._is_quoted = not self._is_quoted
        elif not self._is_quoted:
            self._parentheses += (mark == "(") - (mark == ")")
            self._braces += (mark == "{") - (mark == "}")

    @property
    def are_closed(self) -> bool:
        """Whether a separator separates here; one closed too often never does."""
        return not self._is_quoted and self._parentheses == 0 and self._braces == 0

    @property
    def wait_for_more(self) -> bool:
        """Whether further text could close them."""
        return self._is_quoted or self._parentheses > 0 or self._braces > 0


def scan(text: str) -> TextScan:
    """Cut at blanks, line ends and commas outside quotes, parentheses and braces."""
    tokens: list[str] = []
    start, marks, ends_in_backslash = 0, _OpenMarks(), False
    for match in _MARKS.finditer(text):
        mark = match.group()
        ends_in_backslash = mark == "\\"
        if mark not in _SEPARATORS:
            marks.take(mark)
        elif marks.are_closed:
            tokens.append(text[start : match.start()])
            start = match.end()
    if marks.are_closed and not ends_in_backslash:
        tokens.append(text[start:])
    return TextScan([token for token in tokens if token], not marks.wait_for_more and not ends_in_backslash)


class TextProgress:
    """Whether a text is complete that arrives line by line; every character is looked at once.

    Attributes:
        ends_in_backslash: The last line asks for another one; that backslash is no part of the text.
    """

    def __init__(self) -> None:
        self._marks = _OpenMarks()
        self.ends_in_backslash = False

    def add(self, line: str) -> bool:
        """Take a line without its end and tell whether nothing waits for more."""
        self.ends_in_backslash = False
        for match in _MARKS.finditer(line):
            mark = match.group()
            self.ends_in_backslash = mark == "\\"
            if mark not in _SEPARATORS:
                self._marks.take(mark)
        return not self._marks.wait_for_more and not self.ends_in_backslash
