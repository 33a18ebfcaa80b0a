"""External wrench by the momentum: the closed form of its filters, and iCub v3 pushed in simulation."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError
from gradiva.estimation import ExternalWrenchConfig, ExternalWrenchObserver
from gradiva.robot_model import IdynTreeModel, as_array
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import Push
from gradiva.walking import walking_signals
from tests.conftest import long

CONFIG = ExternalWrenchConfig(True, 0.05, 1.0, 10.0, 0.0, 0.0)
PERIOD = 0.002
PUSHED_AT = 2.0


def state_of(model, velocity, load, joints=None):
    """A rigid robot that moves with ``velocity``, its CoM 0.5 m above its left foot, which carries ``load``."""
    none = np.zeros(joints or len(model.description.joints))
    return SimpleNamespace(
        base_rotation=np.eye(3),
        base_twist=np.concatenate((velocity, np.zeros(3))),
        joint_positions=none,
        joint_velocities=none,
        flexible_positions=np.zeros(0),
        flexible_velocities=np.zeros(0),
        com_position=np.array([0.0, 0.0, 0.5]),
        left_foot_position=np.zeros(3),
        right_foot_position=np.zeros(3),
        left_foot_wrench=np.concatenate((load, np.zeros(3))),
        right_foot_wrench=np.zeros(6),
    )


def pushed(model, force, duration, offset=(0.0, 0.0, 0.0)):
    """Stand for 2 s with feet that read ``offset`` too much, then be pushed by ``force``: times, estimates."""
    observer, velocity, estimates = ExternalWrenchObserver(model, CONFIG), np.zeros(3), []
    load = np.array([0.0, 0.0, model.mass * GRAVITY]) + offset
    for tick in range(round((PUSHED_AT + duration) / PERIOD) + 1):
        if tick * PERIOD > PUSHED_AT + 1e-9:
            velocity = velocity + PERIOD * np.array(force) / model.mass
        estimates.append(observer.update(state_of(model, velocity, load), tick * PERIOD))
    found = np.array(estimates)[round(PUSHED_AT / PERIOD) :]
    return PERIOD * np.arange(len(found)), found


def test_a_push_appears_with_the_step_response_of_two_low_passes(icub):
    times, found = pushed(icub, (40.0, 0.0, 0.0), 0.3)
    expected = 40.0 * (1.0 - (1.0 + times / 0.05) * np.exp(-times / 0.05))
    np.testing.assert_allclose(found[:, 0], expected, atol=1.5)  # a push of less than 10 N becomes an offset
    assert found[-1, 0] == pytest.approx(expected[-1], rel=0.03)
    np.testing.assert_allclose(found[:, 1:], 0.0, atol=1e-9)


def test_offsets_of_the_feet_are_learned_with_their_moment(icub):
    """Feet that read 20 N too much ahead seem to be pushed back by it, 0.5 m below the CoM."""
    _, found = pushed(icub, (0.0, 0.0, 0.0), 4.0, (20.0, 0.0, 0.0))
    np.testing.assert_allclose(found[-1], 0.0, atol=0.05)
    observer = ExternalWrenchObserver(icub, replace(CONFIG, offset_time_constant=1e3))
    for tick in range(500):
        load = np.array([0.0 if tick == 0 else 20.0, 0.0, icub.mass * GRAVITY])
        wrench = observer.update(state_of(icub, np.zeros(3), load), tick * PERIOD)
    assert wrench[4] / wrench[0] == pytest.approx(-0.5)


def test_a_push_that_lasts_becomes_an_offset_by_the_slower_constant(icub):
    times, found = pushed(icub, (0.0, 30.0, 0.0), 5.0)
    begin, end = found[np.searchsorted(times, 1.0), 1], found[-1, 1]
    assert end / begin == pytest.approx(np.exp(-4.0 / 10.0), abs=1e-3)


def test_the_first_wrench_and_one_of_the_same_time_change_nothing(icub):
    observer = ExternalWrenchObserver(icub, CONFIG)
    state = state_of(icub, np.array([3.0, 0.0, 0.0]), np.zeros(3))
    np.testing.assert_array_equal(observer.update(state, 1.0), np.zeros(6))
    np.testing.assert_array_equal(observer.update(state, 1.0), np.zeros(6))


def test_a_gap_of_the_clock_is_no_push(icub):
    observer, load = ExternalWrenchObserver(icub, CONFIG), np.array([0.0, 0.0, icub.mass * GRAVITY])
    wrenches = []
    for tick, velocity in enumerate((0.0, 0.0, 0.1, 0.1)):  # [m/s] it accelerated for longer than a period
        if tick == 2:
            observer.note_gap()
        wrenches.append(observer.update(state_of(icub, np.array([velocity, 0.0, 0.0]), load), tick * PERIOD))
    np.testing.assert_allclose(wrenches, 0.0, atol=1e-9)


def test_links_that_bend_have_a_part_in_the_momentum():
    """The change of it by moving deflections alone, against iDynTree's momentum about the CoM."""
    model = IdynTreeModel(load_setup("talos", ["flexibility.stiffness=1e3"]).robot.with_flexible_joints())
    observer, bodies = ExternalWrenchObserver(model, CONFIG), model.kinematics_and_dynamics()
    rates = np.array([0.3, -0.2, 0.1, 0.4])
    assert bodies.setRobotState(np.eye(4), np.zeros(36), np.zeros(6), np.append(np.zeros(32), rates), np.zeros(3))
    com = as_array(bodies.getCenterOfMassPosition())
    for time, moving in ((0.0, 0.0), (PERIOD, 1.0)):
        state = state_of(model, np.zeros(3), np.zeros(3), 32)
        state.com_position, state.flexible_positions, state.flexible_velocities = com, np.zeros(4), moving * rates
        state.left_foot_position, state.left_foot_wrench = com, np.array([0.0, 0.0, model.mass * GRAVITY, 0, 0, 0])
        found = observer.update(state, time)
    momentum = as_array(bodies.getCentroidalTotalMomentum())
    assert np.linalg.norm(momentum) > 1.0
    np.testing.assert_allclose(found / np.linalg.norm(found), momentum / np.linalg.norm(momentum), atol=1e-6)


def test_filters_have_positive_constants():
    with pytest.raises(ConfigError, match="push_force"):
        replace(CONFIG, push_force=0.0)


@pytest.mark.parametrize(("plant", "error"), [long("ideal", 0.5), ("noisy", 6.0)])
def test_a_push_on_the_arm_of_a_standing_robot_is_estimated(plant, error):
    """40 N on the right forearm for 0.5 s: the force, its moment about the CoM, and nothing before."""
    changes = {"external_wrench.is_estimated": True, "walking.prepare_duration": 0.5}
    walk = SimulatedWalk(load_setup("icub_v3", changes, plant=plant))
    assert walk.get_ready(0.5)
    begin = walk.time + 2.2  # the offset is known
    walk.robot.push(Push("r_elbow_1", (0.0, 40.0, 0.0), begin, 0.5))
    found = {"before": [], "pushed": []}
    while walk.time < begin + 0.5:
        log = walk.tick()
        if begin - 0.3 < walk.time < begin or walk.time > begin + 0.4:
            found["before" if walk.time < begin else "pushed"].append(log.robot_state.external_wrench)
    before, during = (np.array(each) for each in found.values())
    assert np.sqrt(np.mean(before[:, :3] ** 2)) < error
    np.testing.assert_allclose(during[:, :3].mean(axis=0), [0.0, 40.0, 0.0], atol=2.0 + error)
    moment = 40.0 * np.array(
        [-0.162, 0.0, 0.034]
    )  # the forearm's centre of mass is 16 cm above the robot's, 3 cm ahead
    np.testing.assert_allclose(during[:, 3:].mean(axis=0), moment, atol=0.4 + 0.2 * error)
    assert set(walking_signals(log, walk.measurement)) >= {"external_wrench::force", "external_wrench::torque"}
