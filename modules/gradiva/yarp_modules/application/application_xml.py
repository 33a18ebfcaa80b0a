"""Elements of an application's XML: their line, variables in their texts, and values checked by type."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from gradiva.common import ConfigError, nearest_name

_VARIABLE = re.compile(r"\$(ENV)?\{([^}]*)\}")


class UnknownVariableError(Exception):
    """Reports a variable that is not defined."""


class Variables:
    """Holds values by name; a value may contain those before it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._values: dict[str, str] = {}

    def define(self, name: str, text: str) -> None:
        """Give a variable its value.

        Raises:
            UnknownVariableError: The value names a variable that is not defined.
        """
        self._values[name] = self.filled(text)

    def filled(self, text: str) -> str:
        """Return ``text`` with values in the place of the variables.

        Raises:
            UnknownVariableError: One of them is not defined.
        """
        return _VARIABLE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        is_environment, name = bool(found[1]), found[2].strip()
        values = self._environment if is_environment else self._values
        if name in values:
            return values[name]
        if is_environment:
            raise UnknownVariableError(f"the environment variable {name} is not set")
        raise UnknownVariableError(f"${{{name}}} is not defined{nearest_name(name, self._values)}")


@dataclass(slots=True)
class XmlElement:
    """Holds an element; names of tags and attributes are lower case, as yarpmanager compares them.

    Attributes:
        file: Which file it stands in.
        line: Where it begins.
        tag: Its name.
        attributes: By name.
        children: In their order.
        text: Directly within, without blanks at its ends.
    """

    file: Path
    line: int
    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> Iterator[XmlElement]:
        """Yield the children called one of ``tags``."""
        return (child for child in self.children if child.tag in tags)

    def first(self, *tags: str) -> XmlElement | None:
        """Return the first child called one of ``tags``, or None."""
        return next(self.all(*tags), None)

    def error(self, message: str) -> ConfigError:
        """Return an error with file and line."""
        return ConfigError(f"{self.file}:{self.line}: <{self.tag}>: {message}")


def read_xml(path: Path) -> XmlElement:
    """Return the root element of a file.

    Raises:
        ConfigError: It cannot be read, or is not XML.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return _Builder(path).build(text)


class _Builder:
    """Builds elements from the events of the parser."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[XmlElement] = []
        self._root: XmlElement | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.EntityDeclHandler = self._refuse_entity

    def build(self, text: bytes) -> XmlElement:
        """Return the root of an XML text."""
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as error:
            raise ConfigError(f"{self._path}:{error.lineno}: not XML: {expat.ErrorString(error.code)}") from None
        assert self._root is not None  # the parser refuses a file without a root
        return self._root

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        named = {name.lower(): value.strip() for name, value in attributes.items()}
        element = XmlElement(self._path, self._parser.CurrentLineNumber, tag.lower(), named)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        element = self._open.pop()
        element.text = element.text.strip()

    def _add_text(self, text: str) -> None:
        self._open[-1].text += text

    def _refuse_entity(self, name: str, *_: object) -> None:  # a few of them can fill the memory
        raise ConfigError(f"{self._path}:{self._parser.CurrentLineNumber}: the entity '{name}' is not accepted")


class ElementValues:
    """Reads texts, numbers and ports of elements, with their variables filled in.

    Every method raises `ConfigError` that names file, line and tag.
    """

    def __init__(self, variables: Variables) -> None:
        self._variables = variables

    def filled(self, element: XmlElement, text: str) -> str:
        """Return a text of ``element`` with values in the place of variables."""
        try:
            return self._variables.filled(text)
        except UnknownVariableError as error:
            raise element.error(str(error)) from None

    def text(self, element: XmlElement) -> str:
        """Return the text of an element."""
        return self.filled(element, element.text)

    def child(self, element: XmlElement, *tags: str) -> XmlElement:
        """Return the child called one of ``tags``, which must be there."""
        child = element.first(*tags)
        if child is None:
            raise element.error(f"<{'> or <'.join(tags)}> is missing")
        return child

    def needed(self, element: XmlElement, tag: str) -> str:
        """Return the text of a child that must be there and not be empty."""
        child = self.child(element, tag)
        text = self.text(child)
        if not text:
            raise child.error("must not be empty")
        return text

    def optional(self, element: XmlElement, tag: str) -> str:
        """Return the text of a child; empty if there is none."""
        child = element.first(tag)
        return "" if child is None else self.text(child)

    def port(self, element: XmlElement) -> str:
        """Return the name of a port in an element."""
        text = self.text(element)
        if not text.startswith("/") or len(text) < 2 or any(character.isspace() for character in text):
            raise element.error(f"'{text}' is no name of a port, which begins with / and has no blanks")
        return text

    def number(self, element: XmlElement, text: str, what: str) -> float:
        """Return a number of at least zero."""
        try:
            value = float(self.filled(element, text))
        except ValueError:
            raise element.error(f"{what} '{text}': expected a number") from None
        if not (value >= 0.0 and math.isfinite(value)):
            raise element.error(f"{what} '{text}': expected a number of at least zero")
        return value

    def integer(self, element: XmlElement, tag: str, fallback: int) -> int:
        """Return the whole number in a child, or ``fallback`` where there is none."""
        child = element.first(tag)
        text = "" if child is None else self.text(child)
        if child is None or not text:
            return fallback
        try:
            return int(text)
        except ValueError:
            raise child.error(f"'{text}': expected a whole number") from None
