"""Symbols of what a problem follows, made as tasks ask for them, and their values in each tick.

A problem has an input for every quantity of `WholeBodyReference` that one of its tasks uses, and no other; one that is
used and has neither a value nor a default is a `ConfigError` in the first tick, which names the quantity and the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ConfigError,
    NDArray,
    Side,
    nearest_name,
)
from gradiva.whole_body.whole_body_reference import QUANTITIES, Quantity, WholeBodyReference

Values = dict[str, npt.ArrayLike]


class Parameters:
    """Hold the inputs of a problem: symbols by name, and the values of those that come from the configuration.

    Configured numbers are inputs too, so that a function that is compiled once serves every tuning.

    Attributes:
        symbols: Name to symbol, in the order in which they were made.
        constants: Name to value of those that never change.
    """

    def __init__(self) -> None:
        self.symbols: dict[str, cs.SX] = {}
        self.constants: dict[str, NDArray] = {}

    def add(self, **symbols: cs.SX) -> None:
        """Take symbols that were made elsewhere."""
        self.symbols |= symbols

    def symbol(self, name: str, rows: int = 1, columns: int = 1) -> cs.SX:
        """Return a new symbol that is set in every tick.

        Raises:
            ConfigError: There is a symbol of that name.
        """
        if name in self.symbols:
            raise ConfigError(f"two parameters of a problem are called '{name}': give one of two tasks another name")
        self.symbols[name] = cs.SX.sym(name, rows, columns)
        return self.symbols[name]

    def constant(self, name: str, value: float | NDArray) -> cs.SX:
        """Return a new symbol, a number or a column, that keeps its value."""
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
        symbol = self.symbol(name, len(array))
        self.constants[name] = array
        return symbol


class ReferenceSymbols:
    """Make the symbols of a reference as tasks ask for them, by the names of its fields, and read their values.

    Attributes:
        feet: Symbols of the references of contacts, by name; those of the soles of a walking robot, by side.
    """

    def __init__(self, joints: int, parameters: Parameters, contacts: Iterable[str] = tuple(Side)) -> None:
        self._joints = joints
        self._parameters = parameters
        self._symbols: dict[str, cs.SX] = {}
        self._own: dict[str, tuple[int, ...]] = {}
        self._own_defaults: Values = {}
        self._sources: list[Callable[[WholeBodyReference], Mapping[str, npt.ArrayLike]]] = []
        self.feet = {name: FootSymbols(name, self, parameters) for name in contacts}

    def __getattr__(self, name: str) -> cs.SX:
        """Return the symbol of a field of `WholeBodyReference`.

        Raises:
            AttributeError: It has no such quantity.
        """
        if name not in QUANTITIES:
            raise AttributeError(f"no reference quantity '{name}'{nearest_name(name, QUANTITIES)}")
        return self._symbols[name] if name in self._symbols else self._made(QUANTITIES[name])

    def own(self, quantity: Quantity) -> cs.SX:
        """Return the symbol of a quantity that a task declares, the same one whenever it is asked for."""
        if quantity.name in QUANTITIES:
            raise ConfigError(
                f"'{quantity.name}' is a quantity of WholeBodyReference: a task needs another name for its own"
            )
        if quantity.name not in self._symbols:
            self._own[quantity.name] = quantity.sizes(self._joints)
            if (default := quantity.default_value(self._joints)) is not None:
                self._own_defaults[quantity.name] = default
            self._made(quantity)
        return self._symbols[quantity.name]

    def read_from(self, source: Callable[[WholeBodyReference], Mapping[str, npt.ArrayLike]]) -> None:
        """Ask ``source`` in each tick for values of own quantities; ``WholeBodyReference.own`` goes before it."""
        self._sources.append(source)

    def reader(self, has_feet: bool) -> Reader:
        """Return what reads the values of a tick from a reference, with those of the feet as planned or without."""
        paths = {name: name for name in self._symbols if name in QUANTITIES}
        for foot in self.feet.values() if has_feet else ():
            paths |= foot.paths()
        return Reader(tuple(paths), _reads(list(paths.values())))

    @property
    def has_own(self) -> bool:
        """Whether a task declares quantities of its own."""
        return bool(self._own)

    def own_values(self, reference: WholeBodyReference) -> Values:
        """Return the values of a tick of the quantities that tasks declare; None of one that has none.

        Raises:
            ConfigError: One has another shape than declared.
        """
        found = dict(self._own_defaults)
        for source in self._sources:
            found.update(source(reference))
        found.update(reference.own)
        values: Values = {}
        for name, shape in self._own.items():
            value = found.get(name)
            values[name] = value  # type: ignore[assignment]
            if value is not None and np.shape(value) != shape:
                raise ConfigError(f"the reference '{name}' has shape {np.shape(value)}, its task declares {shape}")
        return values

    def _made(self, quantity: Quantity) -> cs.SX:
        self._symbols[quantity.name] = self._parameters.symbol(quantity.name, *quantity.sizes(self._joints))
        return self._symbols[quantity.name]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads attributes of a reference by the names of their symbols.

    Attributes:
        names: Of the symbols.
        read: Returns the attributes in that order.
    """

    names: tuple[str, ...]
    read: Callable[[WholeBodyReference], Iterable[Any]]


def _reads(paths: Sequence[str]) -> Callable[[WholeBodyReference], Iterable[Any]]:
    """Return `attrgetter` of several attributes; of a single one it returns no tuple."""
    return attrgetter(*paths) if len(paths) > 1 else lambda reference: [attrgetter(path)(reference) for path in paths]


class FootSymbols:
    """Symbols of what one foot should do, made when a task asks for them; see `FootReference`.

    Attributes, besides those of ``PARTS``:
        wrench: Expected, ground on foot, about the planned sole origin, [N, N·m], (6, 1).
    """

    PARTS: ClassVar[dict[str, tuple[int, ...]]] = {
        "position": (3,),
        "rotation": (3, 3),
        "twist": (6,),
        "acceleration": (6,),
        "is_loaded": (1,),
    }
    """Name to shape: pose, twist and acceleration of the sole, world, mixed; 1 when the foot carries load, else 0."""

    def __init__(self, side: str, references: ReferenceSymbols, parameters: Parameters) -> None:
        self._side = side
        self._references = references
        self._parameters = parameters
        self._symbols: dict[str, cs.SX] = {}

    def __getattr__(self, name: str) -> cs.SX:
        """Return the symbol of a part.

        Raises:
            AttributeError: A foot has no such part.
        """
        if name == "wrench":
            return getattr(self._references, f"{self._side}_foot_wrench")
        if name not in self.PARTS:
            raise AttributeError(f"no part '{name}' of a foot's reference{nearest_name(name, self.PARTS)}")
        if name not in self._symbols:
            self._symbols[name] = self._parameters.symbol(f"{self._side}_foot_{name}", *self.PARTS[name])
        return self._symbols[name]

    def declare(self) -> None:
        """Make the symbols of all parts, as `foot_values` sets them."""
        for name in self.PARTS:
            getattr(self, name)

    def paths(self) -> dict[str, str]:
        """Return the symbols that tasks use, each with its attribute of `WholeBodyReference`."""
        attributes = {name: "in_contact" if name == "is_loaded" else name for name in self._symbols}
        return {f"{self._side}_foot_{name}": f"{self._side}_foot.{path}" for name, path in attributes.items()}
