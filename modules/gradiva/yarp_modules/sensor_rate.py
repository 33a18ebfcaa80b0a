"""Whether a robot on the network is fast enough for the control that is asked for."""

from __future__ import annotations

from gradiva.common import ConfigError, ControlMode
from gradiva.setup import Setup
from gradiva.yarp_modules.bring_up.bring_up_config import BringUpConfig

_ROUNDING = 1e-6  # [-]


def check_sensor_rate(setup: Setup) -> None:
    """Pass when boards and sensors tell something new at each tick of torque control; others bear with old readings.

    Raises:
        ConfigError: They do not: what pushes the robot would be a tick's answer to what it did ten ticks ago.
    """
    tick = setup.walking.walking
    rate = setup.part(BringUpConfig, "bring_up").sensor_rate
    if tick.control is ControlMode.TORQUE and rate * tick.period < 1.0 - _ROUNDING:
        wanted, told = 1e3 * tick.period, 1e3 / rate
        raise ConfigError(
            f"walking.control=torque wants readings every {wanted:g} ms, the boards of the robot publish them every"
            f" {told:g} ms: walk by position or velocity, or set their rate in bring_up.sensor_rate"
        )
