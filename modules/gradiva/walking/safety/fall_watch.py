"""A robot that falls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, RobotPosture, RobotState, WalkingReference
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class FallWatchConfig:
    """Limits of a robot that can still be caught.

    Attributes:
        max_tilt: Of the base against the start posture, heading aside, [rad].
        max_dcm_error: [m].
        min_base_height: As a part of that of the start posture, [-].
    """

    max_tilt: float
    max_dcm_error: float
    min_base_height: float

    def __post_init__(self) -> None:
        for name in ("max_tilt", "max_dcm_error"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        if not 0.0 < self.min_base_height < 1.0:
            raise ConfigError(f"min_base_height={self.min_base_height}, must lie between 0 and 1")


class FallWatch:
    """Compares the base with the start posture and the DCM with its reference."""

    def __init__(self, config: FallWatchConfig, start_posture: RobotPosture) -> None:
        self._config = config
        self._up_in_base = start_posture.base_rotation[2].copy()  # at the start
        self._lowest = config.min_base_height * float(start_posture.base_position[2])

    def findings(self, state: RobotState, reference: WalkingReference) -> list[Finding]:
        """Return why the robot cannot be caught any more."""
        config, found = self._config, []
        tilt = math.acos(min(1.0, max(-1.0, float(state.base_rotation[2].dot(self._up_in_base)))))
        if tilt > config.max_tilt:
            limit = np.degrees(config.max_tilt)
            text = f"the base is tilted by {np.degrees(tilt):.0f}°, the limit is {limit:.0f}°"
            found.append(Finding(SafetyKind.TILT, "", text))
        error = math.dist(state.dcm_position.tolist(), reference.dcm.position.tolist())
        if error > config.max_dcm_error:
            limit = 100 * config.max_dcm_error
            text = f"the DCM is {100 * error:.0f} cm off its reference, the limit is {limit:.0f} cm"
            found.append(Finding(SafetyKind.DCM_ERROR, "", text))
        height = float(state.base_position[2])
        if height < self._lowest:
            text = f"the base is {height:.2f} m above the ground, the limit is {self._lowest:.2f} m"
            found.append(Finding(SafetyKind.BASE_HEIGHT, "", text))
        return found
