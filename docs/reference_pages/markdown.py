"""Pieces of MyST: tables, and the texts of docstrings."""

import inspect
import re
from collections.abc import Iterable, Sequence

from gradiva.cli.configuration import attribute_texts


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are on one line each."""
    lines = [_row(header), "|" + "---|" * len(header), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def code(text: object) -> str:
    """Return a text as code; nothing for an empty one."""
    return f"`{text}`" if str(text) else ""


def prose(text: str) -> str:
    """Return a text of a docstring as MyST: double backquotes become single ones, roles become code."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", " ".join(text.split()))
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"<(?=\w)", r"\\<", text) if "`" not in text else text


def summary(thing: object) -> str:
    """Return the first paragraph of a docstring."""
    return prose((inspect.getdoc(thing) or "").partition("\n\n")[0])


def attributes(kind: type) -> dict[str, str]:
    """Return the text of each attribute in the docstrings of a class and of those from which it derives."""
    return {name: prose(text) for name, text in attribute_texts(kind).items()}


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"
