"""Elements of an XML file that remember their line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from gradiva.common import ConfigError


@dataclass(slots=True)
class XmlElement:
    """An element; names of tags and attributes are lower case, as yarpmanager compares them.

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
        """Return an error that tells where it is."""
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
    """Makes elements of what the parser finds."""

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
