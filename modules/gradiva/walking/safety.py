"""When to give up a walk, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, NDArray, RobotState, WalkingReference, so3


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """Limits beyond which the walk is given up.

    Attributes:
        max_tilt: Of the base against the start posture, heading aside, [rad].
        max_dcm_error: [m].
        max_failed_ticks: How many successive ticks are borne without a usable measurement or solution.
        max_relaxed_ticks: How many successive ticks are borne in which layer 3 cannot meet feet and CoM and comes as
            near as it can.
    """

    max_tilt: float
    max_dcm_error: float
    max_failed_ticks: int
    max_relaxed_ticks: int

    def __post_init__(self) -> None:
        for name in ("max_tilt", "max_dcm_error", "max_failed_ticks", "max_relaxed_ticks"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class SafetyMonitor:
    """Watches the estimate; says in words what is wrong."""

    def __init__(self, config: SafetyConfig, start_base_rotation: NDArray) -> None:
        self._config = config
        self._upright = start_base_rotation.T  # turns the base's axes so that z is up at the start

    def objection(self, state: RobotState, reference: WalkingReference) -> str | None:
        """Return why the walk cannot go on, or None."""
        config = self._config
        tilt = so3.tilt(state.base_rotation @ self._upright)
        if tilt > config.max_tilt:
            return f"the base is tilted by {np.degrees(tilt):.0f}°, the limit is {np.degrees(config.max_tilt):.0f}°"
        error = float(np.linalg.norm(state.dcm_position - reference.dcm.position))
        if error > config.max_dcm_error:
            return (
                f"the DCM is {100 * error:.0f} cm off its reference, the limit is {100 * config.max_dcm_error:.0f} cm"
            )
        return None
