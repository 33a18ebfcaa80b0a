r"""Step adaptation: where and when the swinging foot lands so that the DCM ends where the walk goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError


class SteppingMode(StrEnum):
    """Names what step adaptation may change."""

    OFF = "off"
    PLACE = "place"
    PLACE_AND_TIME = "place_and_time"


@dataclass(frozen=True, slots=True)
class StepAdaptationConfig:
    """Settings of reactive stepping, ``[step_adaptation]``.

    Attributes:
        mode: What it may change.
        trigger: DCM error in single support beyond which the next foothold is adapted, [m].
        release: DCM error below which the footholds are the plan's again, [m].
        minimum_move: Change of a foothold below which it stays, [m].
        minimum_delay: Change of a touch-down below which it stays, [s].
        frozen: Time before touch-down in which nothing is adapted, [s].
        shortest_support: Shortest single support, [s].
        longest_support: Longest single support, as a part of the planned one, [-].
        sole_margin: Distance of the ZMP from the edges of the stance sole, [m].
        zmp_lag: Time constant with which the ZMP follows the commanded one, [s].
        swing_acceleration: Largest horizontal acceleration of the swinging sole, [m/s²].
        swing_speed: Largest horizontal speed of the swinging sole, [m/s].
        step_weight: On the square of the foothold's change, [-].
        offset_weight: On the square of the DCM's error at touch-down, [-].
        time_weight: On the square of the touch-down's change, [m²/s²].
        early_load: Load of the swinging foot, as a part of the weight, with which it has landed, [-].
        early_after: Time from lift-off in which a load is none of landing, [s].
        largest_jump: Change of the DCM from tick to tick that is believed, [m].
        lost_distance: Distance of the DCM from the nearer foot beyond which the robot counts as falling, [m].
    """

    mode: SteppingMode
    trigger: float
    release: float
    minimum_move: float
    minimum_delay: float
    frozen: float
    shortest_support: float
    longest_support: float
    sole_margin: float
    zmp_lag: float
    swing_acceleration: float
    swing_speed: float
    step_weight: float
    offset_weight: float
    time_weight: float
    early_load: float
    early_after: float
    largest_jump: float
    lost_distance: float

    def __post_init__(self) -> None:
        may_be_zero = ("minimum_move", "minimum_delay", "sole_margin", "zmp_lag", "early_after")
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "mode":
                continue
            if not (0.0 < value < math.inf or (value == 0.0 and name in may_be_zero)):
                raise ConfigError(f"{name}={value}: must be positive, and finite")
        if self.release > self.trigger:
            raise ConfigError(f"release={self.release} m exceeds trigger={self.trigger} m")
        if self.longest_support < 1.0:
            raise ConfigError(f"longest_support={self.longest_support}: is a part of the planned one, at least 1")
