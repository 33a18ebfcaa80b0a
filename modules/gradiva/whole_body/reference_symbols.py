"""The references of one tick as symbols."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import Side
from gradiva.whole_body.parameters import Parameters


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
