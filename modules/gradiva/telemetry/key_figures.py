"""The key figures of a result: one label, unit and rounding for terminal and report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SOFT_GROUND = "soft"
"""What results call the ground whose figures others do not have."""


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number of a result as terminal and report show it.

    Attributes:
        key: In ``result.json``.
        label: The same words as the key.
        unit: Behind the number; empty for a pure number.
        factor: From the value in SI units to ``unit``.
        digits: Behind the decimal point.
        ground: The only ground on which it is shown; any when empty.
    """

    key: str
    label: str
    unit: str = ""
    factor: float = 1.0
    digits: int = 0
    ground: str = ""

    def is_shown(self, result: Mapping[str, Any]) -> bool:
        """Tell whether a result has this figure."""
        return result.get(self.key) is not None and self.ground in ("", result.get("ground"))

    def number(self, result: Mapping[str, Any]) -> str:
        """Return the value without its unit."""
        return number(result.get(self.key), self.factor, self.digits)


KEY_FIGURES = (
    KeyFigure("distance_m", "distance", "m", 1.0, 2),
    KeyFigure("duration_s", "duration", "s", 1.0, 1),
    KeyFigure("commanded_speed_mps", "commanded speed", "m/s", 1.0, 3),
    KeyFigure("walking_speed_mps", "walking speed", "m/s", 1.0, 3),
    KeyFigure("mean_speed_mps", "mean speed", "m/s", 1.0, 3),
    KeyFigure("peak_speed_mps", "peak speed", "m/s", 1.0, 3),
    KeyFigure("goal_error_m", "goal error", "mm", 1e3, 0),
    KeyFigure("max_tilt_rad", "max tilt", "°", math.degrees(1.0), 1),
    KeyFigure("foot_slip_m", "foot slip", "mm", 1e3, 1),
    KeyFigure("foot_tilt_rad", "max foot tilt", "°", math.degrees(1.0), 1, SOFT_GROUND),
    KeyFigure("sinkage_m", "max sinkage", "mm", 1e3, 1, SOFT_GROUND),
    KeyFigure("odometry_drift_m", "odometry drift", "mm", 1e3, 0),
    KeyFigure("specific_energetic_cost", "specific energetic cost", "J/(kg·m)", 1.0, 2),
    KeyFigure("real_time_factor", "real-time factor", "", 1.0, 1),
    KeyFigure("qp_failures", "QP failures"),
    KeyFigure("held_ticks", "held ticks"),
    KeyFigure("deadline_misses", "deadline misses"),
)

ERRORS = (("dcm_error_m", "DCM"), ("zmp_error_m", "ZMP"), ("com_error_m", "CoM"), ("foot_error_m", "foot"))
"""Keys of the tracking errors, each with ``rms`` and ``max``, and what they are called."""


def number(value: Any, factor: float, digits: int) -> str:
    """Return a number for reading, zero without a sign; a dash for what is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–"
    rounded = round(value * factor, digits) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{rounded:,.{digits}f}".replace(",", "\u202f").replace("-", "−")
