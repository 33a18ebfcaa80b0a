"""The dictionary in which YARP programs are configured."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from pureyarp.data import bottle as bottles
from pureyarp.data import value as values
from pureyarp.data.argument_checks import checked_float, checked_string
from pureyarp.data.command_line import parse_command_line
from pureyarp.data.conversions import as_text
from pureyarp.data.copies import deep_copy
from pureyarp.data.ini import parse_ini, read_ini
from pureyarp.data.portable import Portable
from pureyarp.data.searchable import Searchable
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import Dictionary, Element, WireFamily
from pureyarp.wire.text import as_dictionary, dictionary_items, from_text, to_text

if TYPE_CHECKING:
    from pureyarp.data.bottle import Bottle
    from pureyarp.data.value import Value


class Property(Portable, Searchable):
    """Values and groups by key: of a text ``(key v1 v2 ...) (GROUP (key v) ...)``, or a copy of another Property.

    Attributes:
        entries: The values after each key.
    """

    def __init__(self, str: str | Property | None = None) -> None:
        self.entries = Dictionary()
        self._tell: Callable[[], None] = _nobody
        if isinstance(str, Property):
            self.entries.update(deep_copy(str.entries))
        elif str is not None:
            self.fromString(str)

    def __repr__(self) -> str:
        return f"Property({self.toString()!r})"

    def put(self, key: str, value: Value | str | int | float | None) -> None:
        """Set the value of a key, in place of any former one; None sets nothing."""
        if value is None:
            return
        self.entries[checked_string(key)] = [_element(value)]
        self._tell()

    def unput(self, key: str) -> None:
        """Remove a key."""
        self.entries.pop(key, None)
        self._tell()

    def addGroup(self, key: str) -> Property:
        """Put an empty group at a key and return it, to be filled."""
        group = Property()

        def take_over() -> None:
            self.entries[key] = dictionary_items(group.entries)
            self._tell()

        group._tell = take_over
        take_over()
        return group

    def clear(self) -> None:
        """Remove all keys."""
        self.entries.clear()
        self._tell()

    def find(self, key: str) -> Value:
        """Return the first value of a key; a null value without it."""
        found = self.entries.get(key)
        return values.value_of(found[0] if found else None)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return key and values as a list; a null Bottle without it."""
        found = self.entries.get(key)
        return bottles.Bottle.getNullBottle() if found is None else bottles.bottle_of([key, *found])

    def toString(self) -> str:
        """Return the text form, in the order of the keys."""
        return to_text(dictionary_items(self.entries))

    def toString_c(self) -> str:
        """Return the text form."""
        return self.toString()

    def fromString(self, txt: str, wipe: bool = True) -> None:
        """Take over what a text ``(key value) (GROUP (key value))`` says."""
        self._take(from_text(txt), wipe)

    def fromConfig(self, txt: str, env: Searchable | bool | None = None, wipe: bool = True) -> None:
        """Take over what the text of an ini file says; its variables come from the environment, then from ``env``."""
        self._take(parse_ini(txt, _environment(env)), _wipes(env, wipe))

    def fromConfigFile(self, fname: str, env: Searchable | bool | None = None, wipe: bool = True) -> bool:
        """Take over an ini file, or those of a folder; False if it cannot be read."""
        entries = read_ini(Path(fname), _environment(env))
        if entries is None:
            return False
        self._take(entries, _wipes(env, wipe))
        return True

    def fromConfigDir(self, dirname: str, section: str = "", wipe: bool = True) -> bool:
        """Take over the ini files of a folder, below the group ``section`` if it is given."""
        loaded = Property()
        if not loaded.fromConfigFile(dirname):
            return False
        entries = dictionary_items(loaded.entries)
        self._take([[section, *entries]] if section else entries, wipe)
        return True

    def fromArguments(self, arguments: str, wipe: bool = True) -> None:
        """Take over a command line ``--key value --flag``."""
        self._take(parse_command_line([as_text(item) for item in from_text(arguments)]), wipe)

    def fromCommand(self, argc: Sequence[str], skipFirst: bool = True, wipe: bool = True) -> None:
        """Take over the arguments of a program, with its name first unless ``skipFirst`` is False."""
        self._take(parse_command_line(list(argc)[1 if skipFirst else 0 :]), wipe)

    def fromQuery(self, url: str, wipe: bool = True) -> None:
        """Take over what stands behind the question mark of an address, as strings."""
        query = url.partition("?")[2]
        self._take([[key, text] for key, text in parse_qsl(query)], wipe)

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return the list of ``(key v1 v2 ...)``."""
        return encode_list(dictionary_items(self.entries), family)

    def to_wire_text(self) -> str:
        """Return the text form."""
        return self.toString()

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over a list of ``(key v1 v2 ...)``, and return the family that it shows."""
        decoded = decode_list(data, family)
        self._take(decoded.items, wipe=True)
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over what a line says."""
        self.fromString(text)

    def _has(self, key: str) -> bool:
        return key in self.entries

    def _take(self, items: Sequence[Element], wipe: bool) -> None:
        if wipe:
            self.entries.clear()
        taken = as_dictionary(items)
        for key in taken:
            self.entries.pop(key, None)  # else the former key stays, with its element
        self.entries.update(taken)
        self._tell()


def property_of(entries: Dictionary) -> Property:
    """Return the Property that holds this dictionary itself, no copy."""
    result = Property()
    result.entries = entries
    return result


def _nobody() -> None:
    """A Property that is no group has nobody to tell about its changes."""


def _element(value: Value | str | int | float) -> Element:
    if isinstance(value, values.Value):
        return [] if value.element is None else deep_copy(value.element)
    if isinstance(value, str):
        return checked_string(value)
    fits = isinstance(value, int) and -(2**31) <= value < 2**31
    return int(value) if fits else checked_float(value)


def _environment(env: Searchable | bool | None) -> dict[str, str]:
    """Return the variables of the environment, before those that ``env`` gives."""
    entries = Dictionary()
    if isinstance(env, Property):
        entries = env.entries
    elif isinstance(env, bottles.Bottle):
        entries = as_dictionary(env.items)
    return {key: as_text(found[0]) for key, found in entries.items() if found} | dict(os.environ)


def _wipes(env: Searchable | bool | None, wipe: bool) -> bool:
    """Return whether to wipe: the second argument may stand for the third."""
    return env if isinstance(env, bool) else wipe
