"""What a healthy robot on the network is like: table ``[bring_up]``."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from gradiva.common import ConfigError
from gradiva.yarp_modules.robot.pid_table import PidGains


@dataclass(frozen=True, slots=True)
class BringUpConfig:
    """Rates, tolerances and expectations.

    Attributes:
        rate_duration: Over which messages are counted, [s].
        min_rate: Share of the expected rate, [-].
        max_gap: Longest time between two messages, in periods.
        sensor_rate: Expected of boards and sensors, [Hz].
        weight_tolerance: By which what the feet carry may differ from the weight, [-] of it.
        hanging_weight: Below it the robot hangs, [-] of the weight.
        max_tilt: Of the soles of a standing robot, of the base of a hanging one, by the IMU, [rad].
        locked_tolerance: Of joints that the model holds at zero, [deg].
        limit_tolerance: By which limits of robot and model may differ, [deg].
        near_posture: A joint farther from the start posture has a long way, [deg].
        pid_tolerance: By which gains may differ, [-].
        expected_pids: Gains of the position loops by joint, in the units of the boards; those left out may be any.
    """

    rate_duration: float
    min_rate: float
    max_gap: float
    sensor_rate: float
    weight_tolerance: float
    hanging_weight: float
    max_tilt: float
    locked_tolerance: float
    limit_tolerance: float
    near_posture: float
    pid_tolerance: float
    expected_pids: dict[str, PidGains] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self) if one.name != "expected_pids"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
