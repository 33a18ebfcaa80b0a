"""What the symbols of a problem are worth in one tick: state, references, which feet carry load."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradiva.common import FootReference, NDArray, RobotState, Side
from gradiva.whole_body.whole_body_reference import WholeBodyReference

Values = dict[str, npt.ArrayLike]

_BODY = (
    "com_position",
    "com_velocity",
    "com_acceleration",
    "com_jerk",
    "zmp",
    "torso_rotation",
    "pelvis_rotation",
    "trunk_angular_velocity",
    "trunk_angular_acceleration",
    "posture",
)
_STATE = ("base_position", "base_rotation", "base_twist", "joint_positions", "joint_velocities")
_REST = np.zeros(6)
_FOOT = {
    side: tuple(f"{side}_foot_{name}" for name in ("position", "rotation", "twist", "acceleration", "is_loaded"))
    for side in Side
}


def state_values(state: RobotState) -> Values:
    """Return the values of the robot's state."""
    return {name: getattr(state, name) for name in _STATE}


def reference_values(state: RobotState, reference: WholeBodyReference, search_speed: float) -> Values:
    """Return the values of ``ReferenceSymbols``; see ``foot_values``."""
    values: Values = {name: getattr(reference, name) for name in _BODY}
    values["left_foot_wrench"] = reference.left_foot_wrench
    values["right_foot_wrench"] = reference.right_foot_wrench
    values |= foot_values(Side.LEFT, state, reference, search_speed)
    values |= foot_values(Side.RIGHT, state, reference, search_speed)
    return values


def foot_values(side: Side, state: RobotState, reference: WholeBodyReference, search_speed: float) -> Values:
    """Return the values of one foot.

    A foot that carries load rests, whatever the plan says. One that should and does not looks for the ground: it sinks
    at ``search_speed`` [m/s].
    """
    foot = reference.left_foot if side is Side.LEFT else reference.right_foot
    loaded = is_loaded(side, state, foot)
    position, twist, acceleration = foot.position, foot.twist, foot.acceleration
    if loaded:
        twist = acceleration = _REST
    elif foot.in_contact:
        position = np.array([position[0], position[1], state.foot_position(side)[2]])
        twist, acceleration = _sinking(search_speed), _REST
    return dict(zip(_FOOT[side], (position, foot.rotation, twist, acceleration, float(loaded)), strict=True))


def is_loaded(side: Side, state: RobotState, foot: FootReference) -> bool:
    """Return whether a foot carries load: as estimated, or as planned where nobody estimates contacts."""
    contact = state.foot_contact(side)
    return foot.in_contact if contact is None else contact.is_active


def _sinking(speed: float) -> NDArray:
    return np.array([0.0, 0.0, -speed, 0.0, 0.0, 0.0])
