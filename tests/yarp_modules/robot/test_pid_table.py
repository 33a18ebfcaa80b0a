"""Gains of the boards, compared with what is expected and with the other side."""

from __future__ import annotations

from gradiva.yarp_modules.robot.joint_boards import PidGains, gain_differences, table_lines, twin_of

GAINS = PidGains(10.0, 0.5, 1.0)


def test_gains_that_are_as_expected_raise_no_objection():
    assert gain_differences({"l_knee": GAINS, "r_knee": GAINS}, {"l_knee": GAINS}, 0.01) == []


def test_a_mirrored_motor_may_have_the_opposite_sign():
    assert gain_differences({"l_knee": GAINS, "r_knee": PidGains(-10.0, -0.5, -1.0)}, {}, 0.01) == []


def test_gains_within_the_tolerance_are_alike_and_beyond_it_they_are_not():
    for kp, count in ((10.1, 0), (10.2, 1)):
        assert len(gain_differences({"l_knee": PidGains(kp, 0.5, 1.0)}, {"l_knee": GAINS}, 0.01)) == count


def test_an_objection_tells_both_values():
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
