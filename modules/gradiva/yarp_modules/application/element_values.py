"""What the elements of an application say, checked."""

from __future__ import annotations

import math

from gradiva.yarp_modules.application.variables import UnknownVariableError, Variables
from gradiva.yarp_modules.application.xml_element import XmlElement


class ElementValues:
    """Texts, numbers and ports of elements, with their variables filled in.

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
        """Return what stands in an element."""
        return self.filled(element, element.text)

    def child(self, element: XmlElement, *tags: str) -> XmlElement:
        """Return the child called one of ``tags``, which must be there."""
        child = element.first(*tags)
        if child is None:
            raise element.error(f"<{'> or <'.join(tags)}> is missing")
        return child

    def needed(self, element: XmlElement, tag: str) -> str:
        """Return what stands in a child that must be there and not be empty."""
        child = self.child(element, tag)
        text = self.text(child)
        if not text:
            raise child.error("must not be empty")
        return text

    def optional(self, element: XmlElement, tag: str) -> str:
        """Return what stands in a child; empty if there is none."""
        child = element.first(tag)
        return "" if child is None else self.text(child)

    def port(self, element: XmlElement) -> str:
        """Return the name of a port that stands in an element."""
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
        """Return the whole number that stands in a child, or ``fallback`` where there is none."""
        child = element.first(tag)
        text = "" if child is None else self.text(child)
        if child is None or not text:
            return fallback
        try:
            return int(text)
        except ValueError:
            raise child.error(f"'{text}': expected a whole number") from None
