"""Changes gains while the robot walks: which may change, what has changed, and the overlay that repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import tomli_w

from gradiva.common import ConfigError, LiveSetting, live_settings, merge, nearest_name
from gradiva.setup import Setup, typed_setup
from gradiva.simplified_model import BalanceLayer, SimplifiedModelControl, balance_law

_NO_TABLES = ("robot", "plant", "run")  # of a configuration: they name what it is for


class Tuning:
    """Holds the configuration of a walk and the live settings that have another value than it began with.

    Attributes:
        setup: With the present values.
    """

    def __init__(self, setup: Setup) -> None:
        """Begin with a configuration in which nothing has changed."""
        self.setup = self._began = setup
        self._history: list[dict[str, float]] = [{}]

    @property
    def changed(self) -> Mapping[str, float]:
        """Key to present value of the settings that have changed."""
        return self._history[-1]

    def sliders(self, layer: BalanceLayer) -> list[LiveSetting]:
        """Return the settings that may change while ``layer`` balances, with their present values."""
        if not isinstance(layer, SimplifiedModelControl):
            return []
        tables = (f"{balance_law(self.setup.walking.walking.model).table}.", "zmp_com_controller.")
        return [one for one in live_settings(self.setup.walking) if one.key.startswith(tables)]

    def change(self, layer: BalanceLayer, key: str, value: float | None) -> None:
        """Set a live setting of ``layer``; None: as it was configured.

        Raises:
            ConfigError: It is none, or the value is refused; all stays as it was.
        """
        known = {one.key: one for one in self.sliders(layer)}
        if key not in known:
            raise ConfigError(f"'{key}' cannot change while the robot walks{nearest_name(key, known)}")
        before = {one.key: one.value for one in live_settings(self._began.walking)}[key]
        others = {name: old for name, old in self.changed.items() if name != key}
        changed = others if value is None or value == before else {**others, key: float(value)}
        self._apply(layer, changed)
        self._history.append(changed)

    def undo(self, layer: BalanceLayer) -> None:
        """Take the last change back."""
        if len(self._history) > 1:
            self._apply(layer, self._history[-2])
            self._history.pop()

    def overlay(self) -> str:
        """Return what has changed as TOML, which ``--from`` takes."""
        return tomli_w.dumps(self._tables(self.changed))

    def _apply(self, layer: BalanceLayer, changed: Mapping[str, float]) -> None:
        began = {name: table for name, table in self._began.tables.items() if name not in _NO_TABLES}
        with self._began.naming_places():
            typed = typed_setup(self._began.robot, merge(began, self._tables(changed)))
        names = {name: self._began.tables[name] for name in _NO_TABLES if name in self._began.tables}
        self.setup = replace(self._began, walking=typed.walking, tables={**typed.tables, **names})
        layer.tune(self.setup.walking.balance)

    @staticmethod
    def _tables(changed: Mapping[str, float]) -> dict[str, Any]:
        """Return tables within tables of ``{"table.key": value}``."""
        tables: dict[str, Any] = {}
        for key, value in changed.items():
            table: Any = value
            for name in reversed(key.split(".")):
                table = {name: table}
            tables = merge(tables, table)
        return tables
