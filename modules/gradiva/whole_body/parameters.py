"""What a problem's function is given from outside."""

from __future__ import annotations

import casadi as cs
import numpy as np

from gradiva.common import NDArray


class Parameters:
    """Symbols by name; those of the configuration with their values.

    Configured numbers are inputs too, so that a function that is compiled once serves every tuning.

    Attributes:
        symbols: Name to symbol, in the order in which they were asked for.
        constants: Name to value of those that never change.
    """

    def __init__(self) -> None:
        self.symbols: dict[str, cs.SX] = {}
        self.constants: dict[str, NDArray] = {}

    def add(self, **symbols: cs.SX) -> None:
        """Take symbols that were made elsewhere."""
        self.symbols |= symbols

    def symbol(self, name: str, rows: int = 1, columns: int = 1) -> cs.SX:
        """Return a new symbol that is set in every tick."""
        assert name not in self.symbols, f"two parameters are called {name}"
        self.symbols[name] = cs.SX.sym(name, rows, columns)
        return self.symbols[name]

    def constant(self, name: str, value: float | NDArray) -> cs.SX:
        """Return a new symbol, a number or a column, that keeps its value."""
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
        self.constants[name] = array
        return self.symbol(name, len(array))
