"""Declare what the body should do in one tick: each quantity once, and from that its value, symbol and checks.

A quantity is one field of `WholeBodyReference`, or a `Quantity` of a task from outside of the package. A problem has an
input for every quantity that one of its tasks uses, and no other; one that is used and has neither a value nor a
default is a `ConfigError` in the first tick, which names the quantity and the tasks.
"""

# ruff: noqa: RUF009, `_quantity` declares a field as `dataclasses.field` does
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ConfigError,
    FootReference,
    NDArray,
    RobotState,
    Side,
    freeze_arrays,
    nearest_name,
    readonly,
    sealed,
    unchecked,
)

Values = dict[str, npt.ArrayLike]
Shape = tuple[int | None, ...]
JOINTS = None
"""In a shape: the number of joints."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Declare one quantity of a reference.

    Attributes:
        name: Of its field, its symbol and its value.
        shape: (m,) or (m, k); ``JOINTS`` stands for the number of joints.
        unit: In SI.
        meaning: In words, with the frame where it is not the world's.
        default: Value of each entry where none is set; None: a task that uses it needs a value.
    """

    name: str
    shape: Shape
    unit: str
    meaning: str
    default: float | None = None

    def default_value(self, joints: int) -> NDArray | None:
        """Return the default as an array, or None where there is none."""
        return None if self.default is None else sealed(np.full(self.sizes(joints), self.default))

    def sizes(self, joints: int) -> tuple[int, ...]:
        """Return the shape for a robot of ``joints``."""
        return tuple(joints if size is None else size for size in self.shape)


def _quantity(shape: Shape, unit: str, meaning: str) -> Any:
    """Declare a field of `WholeBodyReference` in one line; see `Quantity`."""
    return field(default=None, metadata={"quantity": (shape, unit, meaning)})


@dataclass(frozen=True, slots=True, eq=False)
class WholeBodyReference:
    """References of the whole-body layer (world, mixed representation); each field says its shape, unit and meaning.

    Kinematics use positions and velocities, torque control also accelerations, and on soft ground the jerk. A field
    that is None has no value, which is an error where a task uses it.

    Attributes:
        time: Of the plan, [s].
        left_foot: Left sole.
        right_foot: Right sole.
        own: Values of quantities that tasks from outside of the package declare, by name.
        height_yields: Whether a push is caught, when legs are stretched, knees as fast as they can and ankles at their
            limits: the CoM's height and the tilt of a sole in the air are soft, the others of feet and CoM almost hard.
        step_catches: Whether a step catches a push: torque control leaves the trunk upright for it.
    """

    time: float
    left_foot: FootReference
    right_foot: FootReference
    com_position: NDArray = _quantity((3,), "m", "position of the centre of mass")
    com_velocity: NDArray = _quantity((3,), "m/s", "its velocity")
    com_acceleration: NDArray = _quantity((3,), "m/s²", "its acceleration")
    com_jerk: NDArray = _quantity((3,), "m/s³", "its jerk")
    angular_momentum: NDArray = _quantity((3,), "N·m·s", "of the legs as planned, about the centre of mass")
    angular_momentum_rate: NDArray = _quantity((3,), "N·m", "its derivative")
    zmp: NDArray = _quantity((2,), "m", "desired zero moment point, on the plane of the soles")
    torso_rotation: NDArray = _quantity((3, 3), "-", "rotation of the torso frame")
    pelvis_rotation: NDArray = _quantity((3, 3), "-", "rotation of the base link")
    trunk_angular_velocity: NDArray = _quantity((3,), "rad/s", "of torso and pelvis")
    trunk_angular_acceleration: NDArray = _quantity((3,), "rad/s²", "of torso and pelvis")
    posture: NDArray = _quantity((JOINTS,), "rad", "joint positions")
    left_foot_wrench: NDArray = _quantity((6,), "N, N·m", "expected, ground on foot, about the planned sole origin")
    right_foot_wrench: NDArray = _quantity((6,), "N, N·m", "expected, ground on foot, about the planned sole origin")
    own: Mapping[str, NDArray] = field(default_factory=dict)
    height_yields: bool = False
    step_catches: bool = False

    def __post_init__(self) -> None:
        shapes = {name: quantity.shape for name, quantity in QUANTITIES.items() if getattr(self, name) is not None}
        freeze_arrays(self, **shapes)
        object.__setattr__(self, "own", {name: readonly(value) for name, value in self.own.items()})


QUANTITIES = {
    entry.name: Quantity(entry.name, *entry.metadata["quantity"])
    for entry in fields(WholeBodyReference)
    if "quantity" in entry.metadata
}
"""Name to quantity of `WholeBodyReference`."""

NO_WALK = unchecked(WholeBodyReference, time=0.0, left_foot=None, right_foot=None)
"""Reference of problems whose tasks have targets of their own: no quantity of a walk has a value."""


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
        self._body: _Reader | None = None
        self._all: _Reader | None = None
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

    def values(self, reference: WholeBodyReference) -> Values:
        """Return the values of a tick by name, without those of the feet; None of a quantity that has none.

        Raises:
            ConfigError: A task's own quantity has another shape than declared.
        """
        if self._body is None:
            self._body = _Reader({name: name for name in self._symbols if name in QUANTITIES})
        return self._read(self._body, reference)

    def planned_values(self, reference: WholeBodyReference) -> Values:
        """Return the same with those of the feet as planned."""
        if self._all is None:
            paths = {name: name for name in self._symbols if name in QUANTITIES}
            self._all = _Reader(paths | self.feet[Side.LEFT].paths() | self.feet[Side.RIGHT].paths())
        return self._read(self._all, reference)

    def _read(self, reader: _Reader, reference: WholeBodyReference) -> Values:
        values: Values = dict(zip(reader.names, reader.read(reference), strict=True))
        return values | self._own_values(reference) if self._own else values

    def _own_values(self, reference: WholeBodyReference) -> Values:
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


class _Reader:
    """Reads attributes of a reference by the names of their symbols."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.names = tuple(paths)
        self.read = _reads(list(paths.values()))


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


_STATE = ("base_position", "base_rotation", "base_twist", "joint_positions", "joint_velocities")
_of_state = attrgetter(*_STATE)
_FOOT = {side: tuple(f"{side}_foot_{name}" for name in FootSymbols.PARTS) for side in Side}
_REST = np.zeros(6)
_VERTICAL = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def tick_values(references: ReferenceSymbols, state: RobotState, reference: WholeBodyReference) -> Values:
    """Return the values of the robot's state and of the references but the feet's; see `foot_values`."""
    values = references.values(reference)
    values.update(zip(_STATE, _of_state(state), strict=True))
    return values


def foot_values(
    side: Side, state: RobotState, foot: FootReference, loaded: bool, search: NDArray
) -> Iterable[tuple[str, npt.ArrayLike]]:
    """Return the values of one foot by name.

    A foot that carries load rests, whatever the plan says. One that should and does not searches the ground: it sinks
    with velocity and acceleration ``search``, [m/s, m/s²], shape (2,).
    """
    position, twist, acceleration = foot.position, foot.twist, foot.acceleration
    if loaded:
        twist = acceleration = _REST
    elif foot.in_contact:
        position = np.array([position[0], position[1], state.foot_position(side)[2]])
        twist, acceleration = np.outer(search, _VERTICAL)
    return zip(_FOOT[side], (position, foot.rotation, twist, acceleration, float(loaded)), strict=True)
