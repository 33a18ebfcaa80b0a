"""When a robot counts as fallen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, NDArray, so3


@dataclass(frozen=True, slots=True)
class FallConfig:
    """Limits of an upright robot.

    Attributes:
        height_fraction: Lowest height of the base above the floor, as a part of its start height, [-].
        tilt: Largest angle of the base from its start attitude, heading aside, [rad].
    """

    height_fraction: float
    tilt: float

    def __post_init__(self) -> None:
        if not 0.0 < self.height_fraction < 1.0:
            raise ConfigError(f"height_fraction={self.height_fraction}: must lie between 0 and 1")
        if not 0.0 < self.tilt < math.pi:
            raise ConfigError(f"tilt={self.tilt}: must lie between 0 and π rad")


@dataclass(frozen=True, slots=True)
class Fall:
    """That the robot fell.

    Attributes:
        reason: For people.
        time: When it was noticed, [s].
    """

    reason: str
    time: float


class FallDetector:
    """Compares the base with where it started."""

    def __init__(self, config: FallConfig, base_position: NDArray, base_rotation: NDArray) -> None:
        self._config = config
        self._start_height = float(base_position[2])
        self._upright = base_rotation.T  # turns the base's axes so that z is up at the start
        self._lowest = config.height_fraction * self._start_height

    def check(self, time: float, base_position: NDArray, base_rotation: NDArray) -> Fall | None:
        """Return the fall, or None while the robot is upright."""
        height = float(base_position[2])
        if not (np.isfinite(base_position).all() and np.isfinite(base_rotation).all()):
            return Fall("the simulation diverged: the state is not finite", time)
        tilt = so3.tilt(base_rotation @ self._upright)
        if tilt > self._config.tilt:
            return Fall(f"base tilt above the limit of {math.degrees(self._config.tilt):.0f}°", time)
        if height < self._lowest:
            drop = self._lowest - height
            return Fall(f"base height {height:.2f} m, {drop:.2f} m below the limit of {self._lowest:.2f} m", time)
        return None
