"""A module's command line: ``--name /prefix --from file.ini --group::key value``."""

from __future__ import annotations

from collections.abc import Sequence

from pureyarp.data.ini_document import key_text
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element
from pureyarp.wire.text import from_text

_GROUP_SEPARATOR = "::"


def parse_command_line(arguments: Sequence[str], entries: Sequence[Element] = ()) -> list[Element]:
    """Return ``entries`` overlaid by the options: ``(key v1 v2 ...)`` or, for ``--group::key v``, ``(group (key v))``.

    Every argument up to the next ``--key`` is a value in the text form of Bottles, where one with blanks that begins
    with no quote or bracket is a string. What stands before the first key is ignored.

    Args:
        arguments: Without the program's name.
        entries: What a configuration file said; the command line replaces its keys, within groups as well.
    """
    result = list(entries)
    values: list[Element] = []
    for argument in arguments:
        if argument.startswith("--") and len(argument) > 2:
            values = _put(result, argument[2:].split(_GROUP_SEPARATOR))
        else:
            values += _values(argument)
    return result


def _put(entries: list[Element], path: list[str]) -> list[Element]:
    """Make the entry at ``path`` anew and return it."""
    key, *rest = path
    index, old = _entry(entries, key)
    entry: list[Element] = [*old] if rest else [key]
    entries[index : index + 1] = [entry]
    return _put(entry, rest) if rest else entry


def _entry(entries: list[Element], key: str) -> tuple[int, list[Element]]:
    """Return place and contents of the entry ``(key ...)``; the end and ``(key)`` if there is none."""
    for index, entry in enumerate(entries):
        if isinstance(entry, list) and entry and key_text(entry[0]) == key:
            return index, entry
    return len(entries), [key]


def _values(argument: str) -> list[Element]:
    is_sentence = any(character.isspace() for character in argument) and argument[0] not in '"([{'
    try:
        return ([] if is_sentence else from_text(argument)) or [argument]
    except MalformedMessage:
        return [argument]
