"""Small motions of a robot: which they are, what they find, and the record that is kept of them."""

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from gradiva.common import GRAVITY, ImuMeasurement, Measurement, Side, StateError
from gradiva.common.errors import FAIL, OK, WARN
from gradiva.session import Exercise, Figure, HealthRecord
from gradiva.session.exercise import FramePoses, base_path, motions_of
from tests.conftest import model_of

MODEL = model_of("icub_v2_7")
ROBOT = MODEL.description
POSES = FramePoses(MODEL)
TICK, PERIOD = 0.02, 1.0
LAG = 0.03  # [s]
SHIFTED = 0.13  # [m] between the soles


def posture():
    """Return a posture in which the knees bend, [rad], shape (n,)."""
    positions = np.zeros(len(ROBOT.joints))
    for name, angle in (
        ("hip_pitch", 0.4),
        ("knee", -0.8),
        ("ankle_pitch", -0.4),
        ("elbow", 0.7),
        ("shoulder_roll", 0.3),
    ):
        for side in "lr":
            positions[ROBOT.joints.index(f"{side}_{name}")] = angle
    return positions


@dataclass
class Pretended:
    """A robot whose joints lag, with faults to choose: every figure of it is known."""

    stands: bool = True
    follows: dict = field(default_factory=dict)  # joint: gain
    behind: dict = field(default_factory=dict)  # joint: half width of play, [rad]
    force_gains: tuple = (1.0, 1.0)
    gyroscope: float = 1.0
    stuck: str = ""

    def __post_init__(self):
        self.time, self.command = 0.0, posture()
        self.positions, self.velocities, self.rates = posture(), np.zeros_like(posture()), np.zeros(3)
        self.driven = posture()
        self.gains, self.widths = np.ones_like(posture()), np.zeros_like(posture())
        for values, given in ((self.gains, self.follows), (self.widths, self.behind)):
            for joint, value in given.items():
                values[ROBOT.joints.index(joint)] = value
        self.turn = self.attitude()
        self.middle = self.lean()

    def write(self, command):
        self.command = command.values

    def advance(self):
        self.time += TICK
        wanted = posture() + self.gains * (self.command - posture())
        self.driven += TICK / (LAG + TICK) * (wanted - self.driven)
        before, turn = self.positions, self.turn
        gap = self.driven - before
        self.positions = before + np.sign(gap) * np.maximum(np.abs(gap) - self.widths, 0.0)
        if self.stuck:
            self.positions[ROBOT.joints.index(self.stuck)] = posture()[ROBOT.joints.index(self.stuck)]
        self.velocities = (self.positions - before) / TICK
        self.turn = self.attitude()
        change = turn.T @ self.turn
        self.rates = 0.5 / TICK * np.array([(change - change.T)[i] for i in ((2, 1), (0, 2), (1, 0))])

    def attitude(self):
        return POSES.pose(ROBOT.left_foot_frame, ROBOT.imu_frame, self.positions)[1]

    def lean(self):
        return float(POSES.pose(ROBOT.left_foot_frame, ROBOT.base_link, self.positions)[0][1])

    def read(self):
        share = 0.5 + (self.lean() - self.middle) / SHIFTED if self.stands else 0.0
        loads = np.array([share, 1.0 - share if self.stands else 0.0]) * ROBOT.mass * GRAVITY * self.force_gains
        wrenches = np.zeros((len(ROBOT.force_torque_sensors), 6))
        for sensor, row in zip(ROBOT.force_torque_sensors, wrenches, strict=True):
            row[2] = loads[list(Side).index(sensor.foot)] / len(ROBOT.sensors_of(sensor.foot))
        joints = self.positions.copy(), self.velocities, np.zeros_like(self.positions)
        return Measurement(self.time, *joints, wrenches, ImuMeasurement(self.turn, self.gyroscope * self.rates))


@pytest.fixture(autouse=True)
def sensors_in_the_sole(monkeypatch):
    """Let the axes of the force sensors be those of the soles."""
    monkeypatch.setattr("gradiva.session.exercise.fixed_rotation", lambda *_: np.eye(3))


def exercised(motors=lambda robot: None, **faults):
    robot = Pretended(**faults)
    exercise = Exercise(robot, MODEL, robot.advance, TICK, lambda: motors(robot), PERIOD)
    return {figure.key: figure for figure in exercise.run()}


def unhealthy(figures):
    return {key for key, figure in figures.items() if figure.verdict != OK}


def test_the_base_moves_above_soles_that_stay_where_they_are():
    for axis in range(6):
        path = base_path(MODEL, posture(), axis, 0.02)
        feet = [ROBOT.left_foot_frame, ROBOT.right_foot_frame]
        ends = [MODEL.poses_seen_from(feet[0], [ROBOT.base_link, feet[1]], path[end]) for end in (0, -1)]
        (base, turned), (other, foot_turned) = ends[0]
        (base_then, turned_then), (other_then, foot_turned_then) = ends[1]
        np.testing.assert_allclose(other, other_then, atol=2e-4)
        np.testing.assert_allclose(foot_turned, foot_turned_then, atol=2e-4)
        moved = np.linalg.norm(base_then - base) if axis < 3 else np.arccos((np.trace(turned.T @ turned_then) - 1) / 2)
        assert moved == pytest.approx(0.04, rel=0.01)


def test_one_that_hangs_moves_all_joints_pair_by_pair_and_one_that_stands_its_base():
    hanging, standing = (motions_of(MODEL, posture(), stands) for stands in (False, True))
    assert "l_knee and r_knee" in [motion.name for motion in hanging]
    names = [motion.name for motion in standing]
    assert names[:2] == ["base ahead", "base to the sides"]
    assert "l_elbow and r_elbow" in names
    assert not any("knee" in name for name in names)
    for motion in (*hanging, *standing):
        for time in (0.0, PERIOD):
            np.testing.assert_allclose(motion.at(time, PERIOD), posture(), atol=1e-9)
        lower, upper = MODEL.joint_limits()
        assert (motion.path >= lower - 1e-9).all()
        assert (motion.path <= upper + 1e-9).all()


def test_a_healthy_robot_is_healthy_standing_and_hanging():
    figures = exercised()
    assert unhealthy(figures) == set()
    assert figures["l_knee follows"].value == pytest.approx(1.0, abs=0.02)
    assert figures["torso_yaw lag"].value == pytest.approx(1e3 * LAG, abs=6.0)
    assert figures["left foot slope of its force"].value == pytest.approx(1.0, abs=1e-6)
    assert figures["IMU slope of its rates"].value == pytest.approx(1.0, abs=0.02)
    hanging = exercised(stands=False)
    assert unhealthy(hanging) == set()
    assert "l_ankle_roll follows" in hanging
    assert not any(key.startswith(("IMU", "left foot")) for key in hanging)


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ({"follows": {"l_elbow": 0.6}}, {"l_elbow follows", "l_elbow follows, left less right"}),
        ({"stuck": "torso_yaw"}, {"torso_yaw follows"}),
        ({"behind": {"r_shoulder_yaw": 0.02}}, {"r_shoulder_yaw held back"}),
        ({"force_gains": (1.0, 0.7)}, {"right foot slope of its force", "right foot carries more: sum over weight"}),
        ({"gyroscope": -1.0}, {"IMU slope of its rates"}),
        ({"gyroscope": 0.0}, {"IMU slope of its rates"}),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "found",
)
def test_a_fault_is_found_where_it_is(faults, found):
    figures = exercised(**faults)
    assert found <= unhealthy(figures)
    subjects = {figures[key].subject for key in unhealthy(figures)}
    assert subjects <= {figures[key].subject for key in found} | {"left foot", "l_shoulder_yaw"}


def test_play_is_seen_between_joint_and_motor_where_motors_have_encoders():
    figures = exercised(lambda robot: robot.driven.copy(), behind={"torso_yaw": 0.01})
    assert figures["torso_yaw off its motor"].value == pytest.approx(np.degrees(0.02), rel=0.2)
    assert figures["torso_yaw off its motor"].verdict == FAIL


def test_a_joint_that_does_not_follow_at_all_ends_the_motion_and_is_held():
    robot = Pretended(stands=False)
    exercise = Exercise(robot, MODEL, robot.advance, TICK, period=PERIOD)
    robot.gains = 8.0 * np.ones_like(robot.gains)
    with pytest.raises(StateError, match=r"ended at 'torso_pitch': torso_pitch is \d+\.\d° off its set-point"):
        exercise.run()
    np.testing.assert_array_equal(robot.command, robot.positions)


def test_a_robot_that_neither_hangs_nor_stands_is_not_moved():
    robot = Pretended(force_gains=(0.3, 0.3))
    with pytest.raises(StateError, match="the feet carry 30% of the weight: let the robot hang, or stand"):
        Exercise(robot, MODEL, robot.advance, TICK)


# -- the record --------------------------------------------------------------------------------------------------------

HEALTHY = Figure("l_knee", "follows", 0.99, "", 0.8, 1.2, 0.1)


def test_exercises_are_kept_and_their_median_is_that_of_the_same_posture(tmp_path):
    record = HealthRecord("icub", "hardware", tmp_path / "health")
    assert (record.entries(), record.refusal(), record.former("stands")) == ([], "", {})
    for value in (0.9, 1.0, 1.1):
        record.append("stands", [replace(HEALTHY, value=value)])
    record.append("hangs", [replace(HEALTHY, value=0.5), replace(HEALTHY, name="lag", value=1.0)])
    assert record.former("stands") == {"l_knee follows": 1.0}
    assert record.former("hangs") == {"l_knee follows": 0.5, "l_knee lag": 1.0}
    assert record.refusal().endswith("found l_knee follows 0.5, healthy 0.8 to 1.2")
    record.append("stands", [HEALTHY, Figure("l_knee", "lag", 1e3, "ms", 0.0, 10.0, 1.0, is_vital=False)])
    assert (record.refusal(), replace(HEALTHY, value=2.0, is_vital=False).verdict) == ("", WARN)
    with record.path.open("a") as file:
        file.write("not JSON\n" + json.dumps(["neither"]) + "\n")
    assert len(record.entries()) == 5
