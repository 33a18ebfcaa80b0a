r"""What the ground can exert on a sole: friction pyramid, centre of pressure, torsional friction, least pressure.

In the axes of the sole, with the moment taken about its origin, on the plane of its bottom:

.. math::
    |f_x|, |f_y| \le \mu f_z, \quad |\mu_z| \le \mu_t f_z, \quad f_z \ge f_{min}, \quad
    x_- f_z \le -\mu_y + z f_x \le x_+ f_z, \quad y_- f_z \le \mu_x + z f_y \le y_+ f_z
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs
import numpy as np

from gradiva.common import ConfigError, NDArray, Side, SoleRectangle
from gradiva.whole_body.task_config import Priority


@dataclass(frozen=True, slots=True)
class WrenchConeConfig:
    """What is allowed of it.

    Attributes:
        priority: How binding.
        weight: Of each N² and (N·m)² of violation, when soft, [-].
        friction: Coefficient of each direction of the pyramid, [-].
        torsional_friction: Moment about the vertical over the normal force, [m].
        sole_share: Of the sole, about its middle, that the centre of pressure may use, [-].
        minimum_force: Normal force that a loaded foot keeps, [N].
    """

    priority: Priority
    weight: float
    friction: float
    torsional_friction: float
    sole_share: float
    minimum_force: float

    def __post_init__(self) -> None:
        for name in ("weight", "friction", "torsional_friction"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if not 0.0 < self.sole_share <= 1.0:
            raise ConfigError(f"sole_share={self.sole_share}, must be in (0, 1]")
        if self.minimum_force < 0.0:
            raise ConfigError(f"minimum_force={self.minimum_force}, must not be negative: the ground does not pull")


def cone_numbers(config: WrenchConeConfig, sole: SoleRectangle, side: Side) -> NDArray:
    """Return μ, μ_t, x₋, x₊, y₋, y₊, z and the least f_z of one foot, shape (8,)."""
    corners = sole.corners(side)
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.5 * (1.0 - config.sole_share) * (high - low)
    (x0, y0), (x1, y1) = low + margin, high - margin
    return np.array([config.friction, config.torsional_friction, x0, x1, y0, y1, sole.z, config.minimum_force])


def cone_rows(wrench: cs.SX, numbers: cs.SX) -> cs.SX:
    """Return what must not be positive, of a wrench in the axes of the sole about its origin, (11, 1)."""
    fx, fy, fz, mx, my, mz = cs.vertsplit(wrench)
    friction, torsion, x0, x1, y0, y1, z, least = cs.vertsplit(numbers)
    forward, left = z * fx - my, mx + z * fy  # normal force times where it acts on the sole's bottom
    return cs.vertcat(
        fx - friction * fz,
        -fx - friction * fz,
        fy - friction * fz,
        -fy - friction * fz,
        mz - torsion * fz,
        -mz - torsion * fz,
        forward - x1 * fz,
        x0 * fz - forward,
        left - y1 * fz,
        y0 * fz - left,
        least - fz,
    )


def in_axes_of(rotation: cs.SX, wrench: cs.SX) -> cs.SX:
    """Return a wrench in the axes of a frame, about the same point, (6, 1)."""
    return cs.vertcat(rotation.T @ wrench[:3], rotation.T @ wrench[3:])
