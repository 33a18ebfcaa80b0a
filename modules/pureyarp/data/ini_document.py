"""What an ini text says, while it is read: keys and groups, each with one value, the last one given."""

from __future__ import annotations

from collections.abc import Iterable

from pureyarp.wire.elements import Element
from pureyarp.wire.text import to_text

Entry = list[Element]  # (key v1 v2 ...) or (GROUP (key v1 ...) ...)


def key_text(element: Element) -> str:
    """Return ``element`` as the name of a key: a string as it is, anything else as printed."""
    return element if isinstance(element, str) else to_text([element])


class IniDocument:
    """Entries by name in the order of their first appearance, and the group that lines go into."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._groups: dict[str, dict[str, Entry]] = {}
        self._group = ""

    def open_group(self, name: str) -> None:
        """Let the next entries go into the group ``name``; an empty name means the top level."""
        self._group = name
        if name and name not in self._groups:
            self._groups[name] = {}
            self._entries[name] = [name]  # a group takes the place of a key of that name

    def put(self, entry: Entry) -> None:
        """Enter ``(key v1 v2 ...)`` where the last header says."""
        key = key_text(entry[0])
        if self._group:
            self._groups[self._group][key] = entry
        else:
            self._groups.pop(key, None)
            self._entries[key] = entry

    def put_all(self, entries: Iterable[Element]) -> None:
        """Enter what another text said."""
        for entry in entries:
            if isinstance(entry, list) and entry:
                self.put(entry)

    def append_to_list(self, list_name: str, member: str) -> None:
        """Append ``member`` to ``(LIST member ...)`` at the top level."""
        entry = self._entries.setdefault(list_name, [list_name])
        if member not in entry[1:]:
            entry.append(member)

    def value(self, key: str) -> str | None:
        """Return the first value of a top-level key as text, or None."""
        entry = self._entries.get(key)
        if entry is None or key in self._groups or len(entry) < 2:
            return None
        return key_text(entry[1])

    def elements(self) -> list[Element]:
        """Return ``(key v1 ...)`` and ``(GROUP (key v1 ...) ...)``."""
        result: list[Element] = []
        for key, entry in self._entries.items():
            result.append([*entry, *self._groups.get(key, {}).values()])
        return result
