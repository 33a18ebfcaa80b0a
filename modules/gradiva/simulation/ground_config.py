"""Which ground, and what all grounds share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gradiva.common import ConfigError, NDArray, so3


class GroundKind(StrEnum):
    """How the ground answers to a sole."""

    RIGID = "rigid"
    VISCOELASTIC = "viscoelastic"
    PENALTY = "penalty"


@dataclass(frozen=True, slots=True)
class GroundConfig:
    """The floor; on a slope the world is tilted with it, so that the floor stays z = const.

    Attributes:
        kind: How it answers to a sole; ``[simulation.viscoelastic]`` and ``[simulation.penalty]`` say more.
        friction: Coulomb coefficient, [-].
        contact_time: Time constant of the contact with a rigid floor, in physics steps, [-].
        gravity: [m/s²].
        slope_forward: By which the floor rises towards x, [rad].
        slope_left: By which the floor rises towards y, [rad].
    """

    kind: GroundKind
    friction: float
    contact_time: float
    gravity: float
    slope_forward: float
    slope_left: float

    def __post_init__(self) -> None:
        if self.friction <= 0.0:
            raise ConfigError(f"friction={self.friction}: must be positive")
        if self.gravity < 0.0:
            raise ConfigError(f"gravity={self.gravity}: must not be negative")
        if self.contact_time < 2.0:
            raise ConfigError(f"contact_time={self.contact_time}: below 2 steps the contact is unstable")
        if max(abs(self.slope_forward), abs(self.slope_left)) >= math.pi / 4:
            raise ConfigError("slopes must stay below 45° (0.785 rad)")

    @property
    def world_rotation(self) -> NDArray:
        """Of the world, whose xy plane is the floor, in level axes; shape (3, 3)."""
        return so3.exp(np.array([0.0, -self.slope_forward, 0.0])) @ so3.exp(np.array([self.slope_left, 0.0, 0.0]))

    @property
    def gravity_vector(self) -> NDArray:
        """World, [m/s²], shape (3,)."""
        return self.world_rotation.T @ np.array([0.0, 0.0, -self.gravity])

    @property
    def steepness(self) -> float:
        """Angle between the floor and the horizontal, [rad]."""
        return math.acos(math.cos(self.slope_forward) * math.cos(self.slope_left))

    @property
    def uphill(self) -> float:
        """Heading in which the floor rises most, counter-clockwise from x, [rad]; 0 where it is level."""
        up = self.world_rotation[2]
        return math.atan2(up[1], up[0])


def slope_components(steepness: float, uphill: float) -> tuple[float, float]:
    """Return ``slope_forward`` and ``slope_left`` [rad] of a floor.

    Args:
        steepness: Against the horizontal, [rad].
        uphill: Heading in which it rises most, counter-clockwise from x on the floor, [rad].
    """
    forward = math.asin(math.sin(steepness) * math.cos(uphill))
    return forward, math.atan(math.tan(steepness) * math.sin(uphill))
