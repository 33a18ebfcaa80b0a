"""Detects falls of the robot and measures how far its loaded feet slip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side, configuration, lowest_base, setting, so3

_LOADED = 0.1  # [-] of the weight, on a foot that stands


@configuration
class FallConfig:
    """Limits of an upright robot.

    Attributes:
        height_fraction: Lowest height of the base above the floor, as a part of its start height, [-]; the drop of a
            base whose frame is below the CoM is a part of the CoM's height.
        tilt: Largest angle of the base from its start attitude, heading aside, [rad].
    """

    height_fraction: float = setting("-", above=0.0, below=1.0)
    tilt: float = setting("rad", above=0.0, below=math.pi)


@dataclass(frozen=True, slots=True)
class Fall:
    """That the robot fell.

    Attributes:
        reason: A line for the log.
        time: When it was noticed, [s].
    """

    reason: str
    time: float


class FallDetector:
    """Compares the base with where it started."""

    def __init__(
        self, config: FallConfig, base_position: NDArray, base_rotation: NDArray, com_height: float = 0.0
    ) -> None:
        """Take the limits, where the base starts and the height of the CoM [m], for a base whose frame is below it."""
        self._config = config
        self._start_height = float(base_position[2])
        self._upright = base_rotation.T  # turns the base's axes so that z is up at the start
        self._lowest = lowest_base(self._start_height, config.height_fraction, com_height)

    def check(self, time: float, base_position: NDArray, base_rotation: NDArray) -> Fall | None:
        """Return the fall, or None while the robot is upright."""
        height = float(base_position[2])
        if not (np.isfinite(base_position).all() and np.isfinite(base_rotation).all()):
            return Fall("the simulation diverged: the state is not finite", time)
        tilt = so3.tilt(base_rotation @ self._upright)
        if tilt > self._config.tilt:
            return Fall(f"base tilt above the limit of {math.degrees(self._config.tilt):.0f}°", time)
        if height < self._lowest:
            drop = 1e3 * (self._lowest - height)
            return Fall(f"base height {height:.3f} m, {drop:.1f} mm below the limit of {self._lowest:.3f} m", time)
        return None


@configuration
class SlipConfig:
    """Thresholds of a foot that counts as standing.

    Attributes:
        loaded_force: Vertical force, [N]; of a lighter robot a tenth of its weight, if that is less.
    """

    loaded_force: float = setting("N", above=0.0)

    def least_load(self, weight: float) -> float:
        """Return the vertical force of a foot that stands, of a robot of this weight, [N] both."""
        return min(self.loaded_force, _LOADED * weight)


class SlipMeter:
    """Keeps, for each stance phase of each foot, the way from where the sole was at touch-down.

    Attributes:
        largest_slip: Horizontal way of a sole's middle in one stance phase, over all so far, [m]; that a sole rolls
            about its middle or sinks is none.
        largest_turn: Turn of a sole about the vertical in one stance phase, over all so far, [rad].
    """

    def __init__(self, least_load: float) -> None:
        """Take the vertical force above which a foot stands, [N]."""
        self._least_load = least_load
        self._touch_down: dict[Side, tuple[float, float, float]] = {}
        self.largest_slip = 0.0
        self.largest_turn = 0.0

    def update(self, side: Side, position: NDArray, rotation: NDArray, vertical_force: float) -> float:
        """Take one sample of a sole; return its slip since its touch-down, [m], NaN in the air.

        Args:
            side: Of the foot.
            position: Of the middle of the sole's face (world), [m], shape (3,).
            rotation: Of the sole, shape (3, 3).
            vertical_force: Its load, [N].
        """
        if not vertical_force > self._least_load:
            self._touch_down.pop(side, None)
            return math.nan
        x, y, heading = float(position[0]), float(position[1]), so3.yaw(rotation)
        x0, y0, heading0 = self._touch_down.setdefault(side, (x, y, heading))
        slip = math.hypot(x - x0, y - y0)
        self.largest_slip = max(self.largest_slip, slip)
        self.largest_turn = max(self.largest_turn, abs(so3.wrap_angle(heading - heading0)))
        return slip
