"""Modules that take long to import, imported when their first name is used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module until the first of its names is asked for, then has all of them.

    Type checkers see the module itself ::

        if TYPE_CHECKING:
            import osqp
        else:
            osqp = LazyModule("osqp")
    """

    def __getattr__(self, name: str) -> Any:
        """Import the module, take its names and return one; called for names that are not taken yet."""
        module = import_module(self.__name__)
        vars(self).update({key: value for key, value in vars(module).items() if key not in vars(self)})
        return getattr(module, name)
