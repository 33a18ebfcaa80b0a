"""Torque control stands, shifts its weight and squats in the simulator, its state known."""

from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import GRAVITY, RobotState, so3
from gradiva.setup import load_setup
from gradiva.simulation import MujocoRobot
from tests.conftest import model_of
from tests.walking.pendulum_in_numbers import left_fraction
from tests.whole_body.standing_robot import (
    GROUND,
    PERIOD,
    ROBOT,
    compliant_controller,
    computations,
    contact,
    reference,
    rigid_controller,
    start_posture,
    state,
    walking_config,
)

MOVES = ((0.5, 0.6, [0.0, 0.03, 0.0]), (1.3, 0.6, [0.0, -0.03, -0.02]), (2.1, 0.5, [0.0, 0.0, 0.02]))  # [s], [s], [m]
END = 2.8  # [s]


def moved_by(time):
    """Return the shift of the centre of mass, with velocity, acceleration and jerk, each (3,)."""
    path = np.zeros((4, 3))
    for start, duration, way in MOVES:
        s = min(max((time - start) / duration, 0.0), 1.0)
        shape = (
            10 * s**3 - 15 * s**4 + 6 * s**5,
            (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
            (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
            (60 - 360 * s + 360 * s**2) / duration**3 if 0.0 < s < 1.0 else 0.0,
        )
        path += np.outer(shape, way)
    return path


def asked(time, sinkage):
    """The reference whose wrenches belong to the motion."""
    position, velocity, acceleration, jerk = moved_by(time)
    standing = reference()
    com = standing.com_position + position - [0.0, 0.0, sinkage]
    zmp = com[:2] - com[2] / GRAVITY * acceleration[:2]
    force = model_of(ROBOT).mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    feet = standing.left_foot, standing.right_foot
    points = np.array([[zmp[0], foot.position[1]] for foot in feet])
    share = left_fraction(zmp, feet, points)
    left, right = (np.array([*(part * force), 0.0, -zmp[0] * part * force[2], 0.0]) for part in (share, 1.0 - share))
    return replace(
        standing,
        com_position=com,
        com_velocity=velocity,
        com_acceleration=acceleration,
        com_jerk=jerk,
        zmp=zmp,
        left_foot_wrench=left,
        right_foot_wrench=right,
    )


def measured(robot, standing, **contacts):
    """The simulated robot's state, its wrenches by its sensors; the rest as ``standing``."""
    truth, wrenches = robot.truth(), robot.read().contact_wrenches
    body = computations(truth, truth.base_twist, truth.joint_velocities)
    fields = {name: getattr(truth, name) for name in RobotState.__dataclass_fields__ if hasattr(truth, name)}
    for side, frame, wrench in zip(("left", "right"), ("l_sole", "r_sole"), wrenches, strict=True):
        rotation = fields[f"{side}_foot_rotation"]
        fields[f"{side}_foot_wrench"] = np.concatenate((rotation @ wrench[:3], rotation @ wrench[3:]))
        fields[f"{side}_foot_twist"] = np.array(body.getFrameVel(frame).toNumPy())
    return replace(standing, **fields, **contacts)


def largest_com_error(controller, robot, sinkage=0.0, tilt=0.0, **contacts):
    """Return the largest error of the motion, [m], and the least distance of the joints to their limits, [rad].

    At its end the soles have the ``tilt`` [rad] that the ground gives them.
    """
    lower, upper = model_of(ROBOT).joint_limits()
    error, margin, standing = 0.0, np.inf, state()
    controller.reset(start_posture())
    for tick in range(round(END / PERIOD)):
        wanted = asked(tick * PERIOD, sinkage)
        before = measured(robot, standing, **contacts)
        robot.write(controller.command(before, wanted, PERIOD))
        robot.advance(PERIOD)
        error = max(error, float(np.max(np.abs(before.com_position - wanted.com_position))))
        joints = before.joint_positions
        margin = min(margin, float(np.min(joints - lower)), float(np.min(upper - joints)))
    assert robot.fall is None
    assert so3.tilt(robot.truth().left_foot_rotation) == pytest.approx(tilt, abs=2e-3)
    return error, margin


@pytest.mark.walk
def test_on_rigid_ground_the_robot_stands_shifts_and_squats():
    setup = load_setup(ROBOT, ["walking.control=torque"])
    robot = MujocoRobot(setup.robot, setup.simulation, start_posture())
    error, margin = largest_com_error(rigid_controller(), robot)
    assert error < 1e-3
    assert margin > 0.0


@pytest.mark.walk
def test_on_soft_ground_the_robot_stands_shifts_and_squats():
    stiffness, damping = GROUND
    soft = ["simulation.ground.kind=viscoelastic", f"simulation.viscoelastic.stiffness={stiffness}"]
    setup = load_setup(ROBOT, ["walking.control=torque", *soft, f"simulation.viscoelastic.damping={damping}"])
    sole = setup.robot.sole
    length, width = sole.x[1] - sole.x[0], sole.y[1] - sole.y[0]
    load = 0.5 * model_of(ROBOT).mass * GRAVITY / stiffness
    sinkage = load / (length * width)
    tilt = 12.0 * load * abs(walking_config().planner.zmp_offset[0] - 0.5 * sum(sole.x)) / (width * length**3)
    robot = MujocoRobot(setup.robot, setup.simulation, start_posture())
    contacts = {"left_contact": contact("left"), "right_contact": contact("right")}
    error, margin = largest_com_error(compliant_controller(), robot, sinkage, tilt, **contacts)
    assert error < 2e-3
    assert margin > 0.0
