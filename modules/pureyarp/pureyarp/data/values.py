"""Hold values, lists of values and dictionaries under the bindings' names: Value, Bottle, Property."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, overload
from urllib.parse import parse_qsl

from pureyarp.data.conversions import (
    TypedElement,
    as_text,
    checked_float,
    checked_float32,
    checked_integer,
    checked_string,
    deep_copy,
    vocab_of,
)
from pureyarp.data.ini import parse_command_line, parse_ini, read_ini
from pureyarp.data.streams import ConnectionReader, ConnectionWriter, Portable, line_of
from pureyarp.errors import MalformedMessage
from pureyarp.wire import (
    Dictionary,
    Element,
    Float32,
    Int8,
    Int16,
    Int64,
    PlainList,
    Vocab32,
    WireFamily,
    as_dictionary,
    decode_list,
    dictionary_items,
    encode_element,
    encode_list,
    from_text,
    to_text,
)


class Searchable(ABC):
    """Values and groups by key."""

    @abstractmethod
    def find(self, key: str) -> Value:
        """Return the value of a key, a null value without it."""

    @abstractmethod
    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the list that begins with the key, a null one without it."""

    @overload
    def check(self, key: str, fallback: Value, comment: str = "") -> Value: ...

    @overload
    def check(self, key: str, fallback: str = "", comment: str = "") -> bool: ...

    def check(self, key: str, fallback: Value | str = "", comment: str = "") -> Value | bool:
        """Return whether the key exists; with a ``fallback``, its value, or the fallback where there is none."""
        if isinstance(fallback, str):
            return self._has(key)
        value = self.find(key)
        return fallback if value.isNull() else value

    def isNull(self) -> bool:
        """Return whether this stands for something that was not found."""
        return False

    @abstractmethod
    def toString_c(self) -> str:
        """Return the text form."""

    def _has(self, key: str) -> bool:
        return not self.find(key).isNull() or not self.findGroup(key).isNull()


def _integer(kind: Callable[[int], Element], bits: int) -> Callable[[int], Element]:
    """Return a function that makes an element of an integer, and refuses one that takes more bits."""
    return lambda x: kind(checked_integer(x, bits))


_int8, _int16, _int32, _int64 = _integer(Int8, 8), _integer(Int16, 16), _integer(int, 32), _integer(Int64, 64)


def _float32(x: float) -> Float32:
    return Float32(checked_float32(x))


def _makes(element: Callable[..., Element]) -> staticmethod[..., Value]:
    """Return a function that makes a Value of an element, which a function makes of the arguments."""
    return staticmethod(lambda *x: value_of(element(*x)))


def _adds(element: Callable[..., Element]) -> Callable[..., None]:
    """Return a method of a Bottle that appends an element, which a function makes of the arguments."""
    return lambda bottle, *x: bottle.items.append(element(*x))


class Value(TypedElement, Portable, Searchable):
    """A number, string, vocab, blob, list or dictionary; without an argument an empty list, as in the real bindings.

    Attributes:
        element: What the value holds; None for a null value.
    """

    def __init__(self, *value: Any) -> None:
        """Take ``()``, ``(number)``, ``(text, is_vocab)``, ``(bytes, length)`` or another Value."""
        super().__init__()
        self.element = _element_of(*value) if value else []

    def __repr__(self) -> str:
        return "null" if self.element is None else f"Value({to_text([self.element])})"

    makeInt8, makeInt16 = _makes(_int8), _makes(_int16)
    makeInt32, makeInt64 = _makes(_int32), _makes(_int64)
    makeFloat32, makeFloat64 = _makes(_float32), _makes(checked_float)
    makeString, makeVocab32 = _makes(checked_string), _makes(vocab_of)

    @staticmethod
    def makeBlob(data: bytes, length: int | None = None) -> Value:
        """Return bytes."""
        return value_of(bytes(data) if length is None else bytes(data[:length]))

    @staticmethod
    def makeList(txt: str = "") -> Value:
        """Return the list that a text means."""
        return value_of(from_text(txt))

    @staticmethod
    def makeValue(txt: str) -> Value:
        """Return the single element that a text means; several ones are a string, none is a null value."""
        items = from_text(txt)
        return value_of(checked_string(txt) if len(items) > 1 else items[0] if items else None)

    @staticmethod
    def getNullValue() -> Value:
        """Return a value of nothing."""
        return value_of(None)

    def fromString(self, str: str) -> None:
        """Take over what a text means."""
        self.element = Value.makeValue(str).element

    def clone(self) -> Value:
        """Return a copy."""
        return Value(self)

    def asList(self) -> Bottle | None:
        """Return the list itself: what is added to it, this value has."""
        return bottle_of(self.element) if isinstance(self.element, list) else None

    def asDict(self) -> Property | None:
        """Return the dictionary itself."""
        return property_of(self.element) if isinstance(self.element, Dictionary) else None

    def asSearchable(self) -> Searchable | None:
        """Return the list or dictionary itself."""
        return self.asDict() or self.asList()

    def getCode(self) -> int:
        """Return the tag of the value on the wire; that of a list includes its elements' type."""
        return -1 if self.element is None else int.from_bytes(encode_element(self.element)[:4], "little")

    def find(self, key: str) -> Value:
        """Return the value of a key in a list or dictionary."""
        searchable = self.asSearchable()
        return value_of(None) if searchable is None else searchable.find(key)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the list that begins with a key in a list or dictionary."""
        searchable = self.asSearchable()
        return Bottle.getNullBottle() if searchable is None else searchable.findGroup(key)

    def toString(self) -> str:
        """Return the text of the value by itself: a string without quotes, up to a NUL, a list without parentheses."""
        return as_text(self.element).partition("\0")[0]

    def toString_c(self) -> str:
        """Return the text form."""
        return self.toString()

    def isEqual(self, alt: Value) -> bool:
        """Return whether both have the same text, as the real bindings compare: ``1`` equals an ``1`` of 8 bytes."""
        return self.toString() == alt.toString()

    def notEqual(self, alt: Value) -> bool:
        """Return whether their texts differ."""
        return not self.isEqual(alt)

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return a list of the value alone, unspecialised; an empty one for a null value."""
        return encode_list(PlainList() if self.element is None else PlainList([self.element]), family)

    def to_wire_text(self) -> str:
        """Return the value's text as it stands in a list."""
        return "" if self.element is None else to_text([self.element])

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over the element of a list of one; an empty list gives an empty list."""
        decoded = decode_list(data, family)
        if len(decoded.items) > 1:
            raise MalformedMessage(f"a value is a list of one element, not of {len(decoded.items)}")
        self.element = decoded.items[0] if decoded.items else []
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over what a line says."""
        self.fromString(text)


def value_of(element: Element | None) -> Value:
    """Return the value that holds this element itself, no copy."""
    value = Value.__new__(Value)
    value.element = element
    return value


def _element_of(x: int | float | str | bytes | Value | None, is_vocab: bool | int = False) -> Element | None:
    """Return what the constructor's arguments mean; the second one of bytes is their length."""
    if isinstance(x, Value):
        return deep_copy(x.element)
    if isinstance(x, bytes):
        return x[:is_vocab] if is_vocab else x
    if x is None or isinstance(x, str):
        text = checked_string(x)
        return vocab_of(text) if is_vocab else text
    if isinstance(x, int) and -(2**31) <= x < 2**31:
        return Vocab32(x) if is_vocab else int(x)
    return checked_float(x)


class _Writable(Protocol):
    def write(self, writer: ConnectionWriter, /) -> bool: ...


class _Readable(Protocol):
    def read(self, reader: ConnectionReader, /) -> bool: ...


class Bottle(Portable, Searchable):
    """A list of values: of a text, a copy of another Bottle, or of Values.

    Attributes:
        items: The elements; those that are lists are shared with the Bottles that ``addList`` and ``asList`` return.
    """

    npos = 2**64 - 1

    def __init__(self, *text: Any) -> None:
        """Take a text, another Bottle or Values; nothing without an argument."""
        self._is_null = False
        self.items: list[Element] = []
        if text:
            self._take_over(*text)

    def __repr__(self) -> str:
        return f"Bottle({to_text(self.items)!r})"

    @staticmethod
    def getNullBottle() -> Bottle:
        """Return the Bottle that stands for a group that was not found."""
        bottle = Bottle()
        bottle._is_null = True
        return bottle

    def isNull(self) -> bool:
        """Return whether this stands for a group that was not found."""
        return self._is_null

    def size(self) -> int:
        """Return how many values there are."""
        return len(self.items)

    def get(self, index: int) -> Value:
        """Return the value at a place; a null value where there is none, OverflowError for a negative one."""
        if index < 0:
            raise OverflowError(f"there is no place {index} in a Bottle")
        return value_of(self.items[index] if index < len(self.items) else None)

    def getSpecialization(self) -> int:
        """Return the tag that all elements of a Bottle share by its construction: none here."""
        return 0

    def add(self, value: Value) -> None:
        """Append a copy of a value; nothing for a null one."""
        if not isinstance(value, Value):
            raise TypeError(f"a Value is expected, not {value!r}")
        if value.element is not None:
            self.items.append(deep_copy(value.element))

    addInt8, addInt16 = _adds(_int8), _adds(_int16)
    addInt32, addInt64 = _adds(_int32), _adds(_int64)
    addFloat32, addString, addVocab32 = _adds(_float32), _adds(checked_string), _adds(vocab_of)

    def addFloat64(self, x: float) -> None:
        """Append a floating-point number of 8 bytes."""
        self.items.append(x if type(x) is float else checked_float(x))

    def addList(self) -> Bottle:
        """Append an empty list and return it, to be filled."""
        nested: list[Element] = []
        self.items.append(nested)
        return bottle_of(nested)

    def addDict(self) -> Property:
        """Append an empty dictionary and return it, to be filled."""
        nested = Dictionary()
        self.items.append(nested)
        return property_of(nested)

    def append(self, alt: Bottle) -> None:
        """Append copies of another Bottle's values."""
        self.items.extend(deep_copy(alt.items))

    def copy(self, alt: Bottle, first: int = 0, len: int = npos) -> None:
        """Take over ``len`` of another Bottle's values, from the one at ``first`` on."""
        self.items[:] = deep_copy(alt.items[first : first + len])

    def tail(self) -> Bottle:
        """Return a copy without the first value."""
        return bottle_of(deep_copy(self.items[1:]))

    def pop(self) -> Value:
        """Remove the last value and return it."""
        return value_of(self.items.pop() if self.items else None)

    def clear(self) -> None:
        """Remove all values."""
        self.items.clear()

    def find(self, key: str) -> Value:
        """Return what follows the key: in a list ``(key value)``, or behind it in this list."""
        for index, item in enumerate(self.items):
            if isinstance(item, list):
                if item and as_text(item[0]) == key:
                    return bottle_of(item).get(1)
            elif as_text(item) == key:
                return self.get(index + 1)
        return value_of(None)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return the list itself that begins with the key; a null Bottle without it, or where it comes first flat."""
        for item in self.items:
            if isinstance(item, list):
                if item and as_text(item[0]) == key:
                    return bottle_of(item)
            elif as_text(item) == key:
                break
        return Bottle.getNullBottle()

    def toString(self, x: int = 0) -> str:
        """Return the text form."""
        return to_text(self.items)

    def toString_c(self) -> str:
        """Return the text form."""
        return self.toString()

    def fromString(self, text: str) -> None:
        """Take over what a text means."""
        self.items[:] = from_text(text)

    def toBinary(self) -> bytes:
        """Return the binary form."""
        return encode_list(self.items)

    def fromBinary(self, buf: bytes, len: int | None = None) -> None:
        """Take over what bytes mean."""
        self.from_wire(buf if len is None else buf[:len])

    def isEqual(self, alt: Bottle) -> bool:
        """Return whether both have the same text."""
        return self.toString() == alt.toString()

    def notEqual(self, alt: Bottle) -> bool:
        """Return whether their texts differ."""
        return not self.isEqual(alt)

    def write(self, writer: ConnectionWriter | _Readable, textMode: bool = False) -> bool:
        """Write to a connection, or to another object that can read."""
        if isinstance(writer, ConnectionWriter):
            return super().write(writer)
        return writer.read(ConnectionReader(self.to_wire_text() if textMode else self.to_wire()))

    def read(self, reader: ConnectionReader | _Writable, textMode: bool = False) -> bool:
        """Read from a connection, or from another object that can write."""
        if isinstance(reader, ConnectionReader):
            return super().read(reader)
        writer = ConnectionWriter(is_text=textMode)
        if not reader.write(writer):
            return False
        return super().read(ConnectionReader(line_of(writer) if textMode else writer.data))

    def to_wire(self, family: WireFamily = WireFamily.YARP_3) -> bytes:
        """Return the binary form."""
        return encode_list(self.items, family)

    def to_wire_text(self) -> str:
        """Return the text form."""
        return to_text(self.items)

    def from_wire(self, data: bytes | bytearray | memoryview, family: WireFamily = WireFamily.YARP_3) -> WireFamily:
        """Take over what bytes mean, and return the family that they show."""
        decoded = decode_list(data, family)
        self.items[:] = decoded.items
        return decoded.family

    def from_wire_text(self, text: str) -> None:
        """Take over what a line means."""
        self.fromString(text)

    def _take_over(self, text: str | Bottle | Iterable[Value] | None) -> None:
        if isinstance(text, Bottle):
            self.items = deep_copy(text.items)
        elif text is None or isinstance(text, str):
            self.items = from_text(checked_string(text))
        else:
            for value in text:
                self.add(value)


def bottle_of(items: list[Element]) -> Bottle:
    """Return the Bottle that holds this list itself, no copy."""
    bottle = Bottle()
    bottle.items = items
    return bottle


class Property(Portable, Searchable):
    """Values and groups by key: of a text ``(key v1 v2 ...) (GROUP (key v) ...)``, or a copy of another Property.

    Attributes:
        entries: The values after each key.
    """

    def __init__(self, str: str | Property | None = None) -> None:
        self.entries = Dictionary()
        self._on_change: Callable[[], None] = _ignore
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
        self._on_change()

    def unput(self, key: str) -> None:
        """Remove a key."""
        self.entries.pop(key, None)
        self._on_change()

    def addGroup(self, key: str) -> Property:
        """Put an empty group at a key and return it, to be filled."""
        group = Property()

        def take_over() -> None:
            self.entries[key] = dictionary_items(group.entries)
            self._on_change()

        group._on_change = take_over
        take_over()
        return group

    def clear(self) -> None:
        """Remove all keys."""
        self.entries.clear()
        self._on_change()

    def find(self, key: str) -> Value:
        """Return the first value of a key; a null value without it."""
        found = self.entries.get(key)
        return value_of(found[0] if found else None)

    def findGroup(self, key: str, comment: str = "") -> Bottle:
        """Return key and values as a list; a null Bottle without it."""
        found = self.entries.get(key)
        return Bottle.getNullBottle() if found is None else bottle_of([key, *found])

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
        self._on_change()


def property_of(entries: Dictionary) -> Property:
    """Return the Property that holds this dictionary itself, no copy."""
    result = Property()
    result.entries = entries
    return result


def _ignore() -> None:
    """Ignore a change: this Property is no group of another one."""


def _element(value: Value | str | int | float) -> Element:
    if isinstance(value, Value):
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
    elif isinstance(env, Bottle):
        entries = as_dictionary(env.items)
    return {key: as_text(found[0]) for key, found in entries.items() if found} | dict(os.environ)


def _wipes(env: Searchable | bool | None, wipe: bool) -> bool:
    """Return whether to wipe: the second argument may stand for the third."""
    return env if isinstance(env, bool) else wipe
