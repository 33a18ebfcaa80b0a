"""The references and the contacts of one tick as symbols, and their values."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs
import numpy.typing as npt

from gradiva.common import FootReference, RobotState, Side
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.whole_body_reference import WholeBodyReference


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
        self.zmp = parameters.symbol("zmp", 2)
        self.torso_rotation = parameters.symbol("torso_rotation", 3, 3)
        self.pelvis_rotation = parameters.symbol("pelvis_rotation", 3, 3)
        self.trunk_angular_velocity = parameters.symbol("trunk_angular_velocity", 3)
        self.trunk_angular_acceleration = parameters.symbol("trunk_angular_acceleration", 3)
        self.posture = parameters.symbol("posture", joints)


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


def reference_values(reference: WholeBodyReference) -> dict[str, npt.ArrayLike]:
    """Return the values of the symbols but ``is_loaded``."""
    values: dict[str, npt.ArrayLike] = {name: getattr(reference, name) for name in _BODY}
    for side in Side:
        foot = foot_reference(reference, side)
        values[f"{side}_foot_position"] = foot.position
        values[f"{side}_foot_rotation"] = foot.rotation
        values[f"{side}_foot_twist"] = foot.twist
        values[f"{side}_foot_acceleration"] = foot.acceleration
    values["left_foot_wrench"] = reference.left_foot_wrench
    values["right_foot_wrench"] = reference.right_foot_wrench
    return values


def state_values(state: RobotState) -> dict[str, npt.ArrayLike]:
    """Return the values of the symbols of the robot's state."""
    return {
        "base_position": state.base_position,
        "base_rotation": state.base_rotation,
        "base_twist": state.base_twist,
        "joint_positions": state.joint_positions,
        "joint_velocities": state.joint_velocities,
    }


def foot_reference(reference: WholeBodyReference, side: Side) -> FootReference:
    """Return the reference of one foot."""
    return reference.left_foot if side is Side.LEFT else reference.right_foot


def is_loaded(state: RobotState, reference: WholeBodyReference, side: Side) -> bool:
    """Return whether a foot carries load: as estimated, or as planned where nobody estimates contacts."""
    contact = state.foot_contact(side)
    return foot_reference(reference, side).in_contact if contact is None else contact.is_active
