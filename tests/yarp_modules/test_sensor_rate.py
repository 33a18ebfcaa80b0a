import pytest

from gradiva.common import ConfigError
from gradiva.setup import load_setup
from gradiva.yarp_modules.walking_module import check_sensor_rate


def test_torque_control_over_slow_boards_is_refused_in_a_line():
    with pytest.raises(
        ConfigError, match=r"needs readings every 1 ms, the boards of the robot publish them every 10 ms"
    ):
        check_sensor_rate(load_setup("icub_v2_7", ["walking.control=torque"]))


@pytest.mark.parametrize(
    "overrides",
    [
        ["walking.control=torque", "bring_up.sensor_rate=1000.0"],
        ["walking.control=torque", "walking.period=0.01"],
        ["walking.control=velocity", "walking.period=0.001"],
    ],
)
def test_fast_boards_slow_ticks_and_motion_control_pass(overrides):
    check_sensor_rate(load_setup("icub_v2_7", overrides))
