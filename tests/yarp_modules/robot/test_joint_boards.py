"""Limits and gains of a robot's boards."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import Environment, IdynTreeModel
from gradiva.setup import load_robot
from gradiva.yarp_modules.robot.joint_boards import (
    DriveReadings,
    PidGains,
    check_start_posture,
    differences,
    gain_differences,
    table_lines,
    twin_of,
)

JOINTS = ("hip", "knee")
LOWER, UPPER = np.deg2rad([-40.0, -100.0]), np.deg2rad([40.0, 0.0])
GAINS = PidGains(10.0, 0.5, 1.0)


def degrees(lower: float, upper: float) -> tuple[float, float]:
    return float(np.deg2rad(lower)), float(np.deg2rad(upper))


def test_only_limits_that_differ_by_more_than_the_tolerance_are_reported():
    limits = {"hip": degrees(-40.4, 40.0), "knee": degrees(-90.0, 0.0)}
    lines = differences(limits, JOINTS, LOWER, UPPER, float(np.deg2rad(0.5)))
    assert lines == ["knee: robot -90.0° to 0.0°, model -100.0° to 0.0°"]


def test_a_joint_without_limits_on_the_robot_has_those_of_the_model():
    assert differences({}, JOINTS, LOWER, UPPER, 0.0) == []
    check_start_posture({}, JOINTS, np.array([5.0, 5.0]))


def test_a_start_posture_at_the_limit_passes_and_beyond_it_names_the_joint():
    limits = {"knee": degrees(-90.0, -10.0)}
    check_start_posture(limits, JOINTS, np.array([0.0, limits["knee"][0]]))
    with pytest.raises(ConfigError, match=r"knee at -5\.0° is outside -90\.0° to -10\.0°"):
        check_start_posture(limits, JOINTS, np.deg2rad([0.0, -5.0]))


def test_the_narrower_limits_of_robot_and_model_hold():
    robot = load_robot("icub_v2_7")
    lower, upper = IdynTreeModel(robot).joint_limits()
    index = robot.joints.index("l_knee")
    mine = IdynTreeModel(replace(robot, position_limits={"l_knee": (-1.0, 9.0)})).joint_limits()
    assert (mine[0][index], mine[1][index]) == (-1.0, upper[index])
    others = [place for place in range(len(robot.joints)) if place != index]
    np.testing.assert_array_equal(mine[0][others], lower[others])


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"l_kne": (0.0, 1.0)}, "no joint 'l_kne'; did you mean 'l_knee'"), ({"l_knee": (1.0, 0.0)}, "which is nowhere")],
)
def test_limits_of_no_joint_and_empty_ones_are_refused(limits, message):
    with pytest.raises(ConfigError, match=message):
        replace(load_robot("icub_v2_7"), position_limits=limits)


def test_gains_that_are_as_expected_raise_no_objection():
    assert gain_differences({"l_knee": GAINS, "r_knee": GAINS}, {"l_knee": GAINS}, 0.01) == []


def test_a_mirrored_motor_may_have_the_opposite_sign():
    assert gain_differences({"l_knee": GAINS, "r_knee": PidGains(-10.0, -0.5, -1.0)}, {}, 0.01) == []


def test_gains_within_the_tolerance_are_alike_and_beyond_it_they_are_not():
    for kp, count in ((10.1, 0), (10.2, 1)):
        assert len(gain_differences({"l_knee": PidGains(kp, 0.5, 1.0)}, {"l_knee": GAINS}, 0.01)) == count


def test_a_difference_of_gains_has_both_values():
    (line,) = gain_differences({"l_knee": PidGains(9.0, 0.5, 1.0)}, {"l_knee": GAINS}, 0.01)
    assert line == "l_knee: kp 9, kd 0.5, ki 1, expected kp 10, kd 0.5, ki 1"


def test_a_joint_without_gain_and_one_unlike_its_twin_are_reported():
    lines = gain_differences({"l_knee": PidGains(0.0, 0.0), "r_knee": PidGains(5.0, 0.0)}, {}, 0.01)
    assert lines == [
        "l_knee: kp is 0, the joint will not hold",
        "l_knee: kp 0, kd 0, ki 0, but r_knee: kp 5, kd 0, ki 0",
    ]


def test_every_robot_s_left_joints_have_twins():
    assert twin_of("l_hip_pitch") == "r_hip_pitch"
    assert twin_of("leg_left_4_joint") == "leg_right_4_joint"
    assert twin_of("torso_yaw") == ""


def test_the_table_has_a_line_a_joint():
    assert table_lines({"l_knee": GAINS}) == ["l_knee                   kp         10  kd        0.5  ki          1"]


def test_currents_and_duty_cycles_are_read_of_boards_of_hardware_that_send_them():
    def sends(value):
        def read(vector):
            vector[0] = value
            return True

        return lambda: SimpleNamespace(getMotorEncoders=read, getCurrents=read)

    driver = SimpleNamespace(
        viewIMotorEncoders=sends(180.0),
        viewICurrentControl=sends(1.5),
        viewIPWMControl=lambda: SimpleNamespace(getDutyCycles=lambda _: False),
    )
    found = {}
    for environment in Environment:
        drives = DriveReadings(1, environment)
        drives.open(driver)
        found[environment] = {name: value.tolist() for name, value in drives.read().items()}
    assert found[Environment.SIMULATION] == {"boards::motor_positions": [pytest.approx(np.pi)]}
    assert found[Environment.HARDWARE] == found[Environment.SIMULATION] | {"boards::currents": [1.5]}
