"""What the symbols of a problem are worth in one tick: state, references, which feet carry load."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from gradiva.common import FootReference, NDArray, RobotState, Side
from gradiva.whole_body.whole_body_reference import WholeBodyReference

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
