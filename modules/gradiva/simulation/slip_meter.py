"""How far the feet slide while they carry load."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import ConfigError, NDArray, Side, so3


@dataclass(frozen=True, slots=True)
class SlipConfig:
    """When a foot counts as standing.

    Attributes:
        loaded_force: Vertical force, [N].
    """

    loaded_force: float

    def __post_init__(self) -> None:
        if self.loaded_force <= 0.0:
            raise ConfigError(f"loaded_force={self.loaded_force}: must be positive")


class SlipMeter:
    """Keeps, for each stance phase of each foot, the way from where the sole was at touch-down.

    Attributes:
        largest_slip: Horizontal way of a sole's middle in one stance phase, over all so far, [m]; that a sole rolls
            about its middle or sinks is none.
        largest_turn: Turn of a sole about the vertical in one stance phase, over all so far, [rad].
    """

    def __init__(self, config: SlipConfig) -> None:
        self._loaded_force = config.loaded_force
        self._touch_down: dict[Side, tuple[float, float, float]] = {}
        self.largest_slip = 0.0
        self.largest_turn = 0.0

    def update(self, side: Side, position: NDArray, rotation: NDArray, vertical_force: float) -> None:
        """Take one sample of a sole: of the middle of its face, its rotation and its load (world; [m], [N])."""
        if not vertical_force > self._loaded_force:
            self._touch_down.pop(side, None)
            return
        x, y, heading = float(position[0]), float(position[1]), so3.yaw(rotation)
        x0, y0, heading0 = self._touch_down.setdefault(side, (x, y, heading))
        self.largest_slip = max(self.largest_slip, math.hypot(x - x0, y - y0))
        self.largest_turn = max(self.largest_turn, abs(so3.wrap_angle(heading - heading0)))
