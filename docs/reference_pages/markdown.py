"""Pieces of MyST: tables, and the texts of docstrings."""

import inspect
import re
from collections.abc import Iterable, Sequence

UNIT = re.compile(r"\[([^\]\[]{1,24})\]")
_ITEM = re.compile(r"^(\w+)(?: \([^)]*\))?: ?(.*)$")


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


def without_unit(text: str) -> str:
    """Return a text without its unit and shape; nothing where no words are left."""
    text = re.sub(r",? *(\[[^\]]*\])?,? *shape \([^)]*\)", "", text)
    text = re.sub(r"^\[[^\]]*\]|,? *\[[^\]]*\](?=\.?$)", "", text).strip(" .,")
    return f"{text[:1].upper()}{text[1:]}." if re.search(r"\w{3}", text) else ""


def summary(thing: object) -> str:
    """Return the first paragraph of a docstring."""
    return prose((inspect.getdoc(thing) or "").partition("\n\n")[0])


def attributes(kind: type) -> dict[str, str]:
    """Return the text of each attribute in the docstrings of a class and of those from which it derives."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update(_attributes(inspect.cleandoc(base.__doc__ or "")))
    return found


def _attributes(doc: str) -> dict[str, str]:
    _, _, section = doc.partition("Attributes:\n")
    found, name = {}, ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        item = _ITEM.match(line[4:]) if not line.startswith("     ") else None
        if item:
            name = item[1]
            found[name] = item[2]
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return {key: prose(text) for key, text in found.items()}


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"
