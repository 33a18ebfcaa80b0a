"""What can be searched by key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from pureyarp.data.bottle import Bottle
    from pureyarp.data.value import Value


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
