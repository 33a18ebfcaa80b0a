"""Declare what the body should do in one tick, as values and as the symbols of a problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import FootReference, NDArray, RobotState, Side, freeze_arrays


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


@dataclass(frozen=True, slots=True, eq=False)
class WholeBodyReference:
    """References of the whole-body layer (world, mixed representation).

    The kinematics-based controllers need positions and velocities only; those that command torques also need the
    accelerations, and on soft ground the jerk.

    Attributes:
        left_foot: Left sole.
        right_foot: Right sole.
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        com_acceleration: [m/s²], shape (3,).
        com_jerk: [m/s³], shape (3,).
        angular_momentum: Of the legs as planned, about the centre of mass, [N·m·s], shape (3,).
        angular_momentum_rate: Its derivative, [N·m], shape (3,).
        zmp: Where the ground's force is meant to act, on the plane of the soles, [m], shape (2,).
        torso_rotation: Shape (3, 3).
        pelvis_rotation: Of the base link, shape (3, 3).
        trunk_angular_velocity: Of torso and pelvis, [rad/s], shape (3,).
        trunk_angular_acceleration: Of torso and pelvis, [rad/s²], shape (3,).
        posture: [rad], shape (n,).
        left_foot_wrench: Ground on foot, about the planned sole origin, [N, N·m], shape (6,).
        right_foot_wrench: The same of the right foot.
    """

    left_foot: FootReference
    right_foot: FootReference
    com_position: NDArray
    com_velocity: NDArray
    com_acceleration: NDArray
    com_jerk: NDArray
    angular_momentum: NDArray
    angular_momentum_rate: NDArray
    zmp: NDArray
    torso_rotation: NDArray
    pelvis_rotation: NDArray
    trunk_angular_velocity: NDArray
    trunk_angular_acceleration: NDArray
    posture: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            com_position=(3,),
            com_velocity=(3,),
            com_acceleration=(3,),
            com_jerk=(3,),
            angular_momentum=(3,),
            angular_momentum_rate=(3,),
            zmp=(2,),
            torso_rotation=(3, 3),
            pelvis_rotation=(3, 3),
            trunk_angular_velocity=(3,),
            trunk_angular_acceleration=(3,),
            posture=(None,),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
        )


@dataclass
class FootSymbols:
    """What one foot should do; see ``FootReference``.

    Attributes:
        position: (3, 1).
        rotation: (3, 3).
        twist: (6, 1).
        acceleration: (6, 1).
        wrench: Expected, about the planned sole origin, (6, 1).
        is_loaded: 1 when the foot carries load, else 0.
    """

    position: cs.SX
    rotation: cs.SX
    twist: cs.SX
    acceleration: cs.SX
    wrench: cs.SX
    is_loaded: cs.SX

    @classmethod
    def of(cls, side: Side, parameters: Parameters) -> FootSymbols:
        """Make the symbols of one foot."""
        return cls(
            position=parameters.symbol(f"{side}_foot_position", 3),
            rotation=parameters.symbol(f"{side}_foot_rotation", 3, 3),
            twist=parameters.symbol(f"{side}_foot_twist", 6),
            acceleration=parameters.symbol(f"{side}_foot_acceleration", 6),
            wrench=parameters.symbol(f"{side}_foot_wrench", 6),
            is_loaded=parameters.symbol(f"{side}_foot_is_loaded"),
        )


class ReferenceSymbols:
    """Symbols of a ``WholeBodyReference``, called as its fields; ``feet`` by side."""

    def __init__(self, joints: int, parameters: Parameters) -> None:
        self.feet = {side: FootSymbols.of(side, parameters) for side in Side}
        self.com_position = parameters.symbol("com_position", 3)
        self.com_velocity = parameters.symbol("com_velocity", 3)
        self.com_acceleration = parameters.symbol("com_acceleration", 3)
        self.com_jerk = parameters.symbol("com_jerk", 3)
        self.angular_momentum = parameters.symbol("angular_momentum", 3)
        self.angular_momentum_rate = parameters.symbol("angular_momentum_rate", 3)
        self.zmp = parameters.symbol("zmp", 2)
        self.torso_rotation = parameters.symbol("torso_rotation", 3, 3)
        self.pelvis_rotation = parameters.symbol("pelvis_rotation", 3, 3)
        self.trunk_angular_velocity = parameters.symbol("trunk_angular_velocity", 3)
        self.trunk_angular_acceleration = parameters.symbol("trunk_angular_acceleration", 3)
        self.posture = parameters.symbol("posture", joints)


Values = dict[str, npt.ArrayLike]

_STATE = ("base_position", "base_rotation", "base_twist", "joint_positions", "joint_velocities")
_BODY = (
    "com_position",
    "com_velocity",
    "com_acceleration",
    "com_jerk",
    "angular_momentum",
    "angular_momentum_rate",
    "zmp",
    "torso_rotation",
    "pelvis_rotation",
    "trunk_angular_velocity",
    "trunk_angular_acceleration",
    "posture",
    "left_foot_wrench",
    "right_foot_wrench",
)
_FOOT = {
    side: tuple(f"{side}_foot_{name}" for name in ("position", "rotation", "twist", "acceleration", "is_loaded"))
    for side in Side
}
_of_state, _of_body = attrgetter(*_STATE), attrgetter(*_BODY)
_REST = np.zeros(6)


def tick_values(state: RobotState, reference: WholeBodyReference, search_speed: float) -> Values:
    """Return the values of the robot's state and of ``ReferenceSymbols``; see ``foot_values``."""
    values: Values = dict(zip(_STATE, _of_state(state), strict=True))
    values.update(zip(_BODY, _of_body(reference), strict=True))
    values.update(foot_values(Side.LEFT, state, reference.left_foot, search_speed))
    values.update(foot_values(Side.RIGHT, state, reference.right_foot, search_speed))
    return values


def foot_values(
    side: Side, state: RobotState, foot: FootReference, search_speed: float
) -> Iterable[tuple[str, npt.ArrayLike]]:
    """Return the values of one foot by name.

    A foot that carries load rests, whatever the plan says. One that should and does not looks for the ground: it sinks
    at ``search_speed`` [m/s].
    """
    loaded = is_loaded(side, state, foot)
    position, twist, acceleration = foot.position, foot.twist, foot.acceleration
    if loaded:
        twist = acceleration = _REST
    elif foot.in_contact:
        position = np.array([position[0], position[1], state.foot_position(side)[2]])
        twist, acceleration = _sinking(search_speed), _REST
    return zip(_FOOT[side], (position, foot.rotation, twist, acceleration, float(loaded)), strict=True)


def is_loaded(side: Side, state: RobotState, foot: FootReference) -> bool:
    """Return whether a foot carries load: as estimated, or as planned where nobody estimates contacts."""
    contact = state.foot_contact(side)
    return foot.in_contact if contact is None else contact.is_active


def _sinking(speed: float) -> NDArray:
    return np.array([0.0, 0.0, -speed, 0.0, 0.0, 0.0])
