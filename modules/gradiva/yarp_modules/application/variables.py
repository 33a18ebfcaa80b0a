"""``${variable}`` and ``$ENV{VARIABLE}`` in the texts of an application."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradiva.common import nearest_name

_VARIABLE = re.compile(r"\$(ENV)?\{([^}]*)\}")


class UnknownVariableError(Exception):
    """A text names a variable that nobody has defined."""


class Variables:
    """Values by name; a value may be made of those before it."""

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
