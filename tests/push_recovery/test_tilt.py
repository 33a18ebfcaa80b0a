"""Hip strategy: a pendulum's flywheel, its double integrator, the robot that tilts."""

import math
from dataclasses import fields
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, RobotState, so3
from gradiva.contacts import SupportPolygon
from gradiva.push_recovery import HipStrategy, SteppingMode, followed
from gradiva.push_recovery.tilt import ZMP_GAIN
from gradiva.setup import Plant, load_setup
from gradiva.simulation import Push as AppliedPush
from gradiva.walking import WalkingLayers
from gradiva.whole_body import probed_momentum, solve_start_posture, standing_reference, torso_rotation, upright_torso
from gradiva_experiments.continued_walks import PushedWalk
from gradiva_experiments.experiment import ExperimentOptions
from gradiva_experiments.shipped.push_recovery import PushedCase
from tests.conftest import long, model_of
from tests.whole_body.conftest import inverse_kinematics_of

PERIOD = 0.01
SOLES = SupportPolygon([(-0.05, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.05, 0.1)])
CONFIG = load_setup("icub_v2_7").walking.hip_strategy
UPRIGHT = tuple(f"hip_strategy.{way}=0.0" for way in ("forward", "backward", "sideways"))
OMEGA = 4.3


@lru_cache
def robot_of(name):
    model, kinematics = model_of(name), inverse_kinematics_of(name)
    posture = solve_start_posture(model, kinematics, np.zeros(2), upright_torso(model))
    return model, kinematics, posture, torso_rotation(model, posture)


def hip_strategy_of(name):
    setup = load_setup(name).walking
    return HipStrategy(CONFIG, *robot_of(name), setup.planner.com_height, setup.inverse_kinematics.torso_gain)


def state_of(dcm, com=(0.0, 0.0, 0.5), zmp=(0.0, 0.0)):
    state = object.__new__(RobotState)
    given = {"dcm_position": np.array(dcm), "com_position": np.array(com), "zmp_position": np.array(zmp)}
    for field in fields(RobotState):
        object.__setattr__(state, field.name, given.get(field.name))
    return state


def reference_of(heading=0.0):
    dcm = SimpleNamespace(position=np.zeros(2), velocity=np.zeros(2), zmp_position=np.zeros(2), natural_frequency=OMEGA)
    return SimpleNamespace(heading=heading, dcm=dcm)


def plan_of(reference, soles=SOLES):
    return SimpleNamespace(reference=reference, polygon=soles)


def tilted(dcm, ticks=40, dcm_rate=(0.0, 0.0)):
    """A hip strategy after some ticks of a push that has moved the DCM, which moves on."""
    hips = hip_strategy_of("icub_v2_7")
    for _ in range(ticks):
        hips.update(state_of(dcm), np.array(dcm_rate), plan_of(reference_of()), True, PERIOD)
    return hips


def test_a_double_integrator_comes_to_rest_at_its_target_after_the_time_of_bang_and_bang():
    distance, acceleration, period = 0.4, 40.0, 0.001
    position, velocity, fastest = np.zeros(1), np.zeros(1), 0.0
    ticks = round(2.0 * math.sqrt(distance / acceleration) / period)
    for _ in range(ticks + 2):
        position, velocity = followed(position, velocity, np.array([distance]), (1e3, 1e3), acceleration, period)
        fastest = max(fastest, float(velocity[0]))
    assert fastest == pytest.approx(math.sqrt(acceleration * distance), rel=0.01)
    assert position[0] == pytest.approx(distance, abs=1e-9)
    assert velocity[0] == pytest.approx(0.0, abs=acceleration * period)


def test_it_stays_between_its_limits_whatever_its_targets():
    random, position, velocity = np.random.default_rng(3), np.zeros(2), np.zeros(2)
    for tick in range(3000):
        if tick % 7 == 0:
            target = random.choice([-0.3, 0.5, 0.0, 0.1], 2)
        last = velocity
        position, velocity = followed(position, velocity, target, (2.0, 1.0), 60.0, PERIOD)
        assert position.min() >= -0.3 - 1e-12
        assert position.max() <= 0.5 + 1e-12
        assert np.abs(velocity).max() <= 2.0 + 1e-12
        assert np.abs(velocity - last).max() <= 60.0 * PERIOD + 1e-12


def test_the_upright_robot_is_a_pendulum_without_a_flywheel_over_the_shifted_zmp():
    shift, step, zmp = 0.04, 1e-4, 0.05
    com, velocity, integral = 0.06, 0.1, 0.0
    tilt = lambda t: 0.2 * (1.0 - math.cos(8.0 * t))  # noqa: E731
    rate = lambda t: 1.6 * math.sin(8.0 * t)  # noqa: E731
    dcm = com + velocity / OMEGA
    expected = dcm + shift * (tilt(0.0) + rate(0.0) / OMEGA)
    for index in range(5000):
        t = (index + 0.5) * step
        middle = com + 0.5 * step * velocity
        velocity += step * (OMEGA**2 * (middle - zmp) - shift * 12.8 * math.cos(8.0 * t))
        com = middle + 0.5 * step * velocity
        integral += step * OMEGA * math.exp(-OMEGA * t) * (zmp + shift * tilt(t))
    end = 5000 * step
    hips = hip_strategy_of("icub_v2_7")
    hips.gains, hips.is_upright = np.full(2, shift), False
    hips._felt = np.array([[tilt(end), 0.0], [rate(end), 0.0]])
    state = hips.upright(state_of([com + velocity / OMEGA, 0.0], [com, 0.0, 0.5], [zmp, 0.0]), reference_of())
    assert state.dcm_position[0] == pytest.approx(math.exp(OMEGA * end) * (expected - integral), abs=1e-5)
    assert state.com_position[0] == pytest.approx(com + shift * tilt(end))
    assert state.zmp_position[0] == pytest.approx(zmp + shift * tilt(end))


@pytest.mark.parametrize("name", ["icub_v2_7", "talos"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_commanded_tilt_has_no_momentum_about_the_ground(name, axis):
    hips, (model, kinematics, posture, torso) = hip_strategy_of(name), robot_of(name)
    hips.is_upright, hips.rate = False, 0.2 * np.eye(2)[axis]
    body = hips.applied(standing_reference(model, posture, torso), 0.0)
    momentum = probed_momentum(model, kinematics, posture, body)
    about_the_ground = load_setup(name).walking.planner.com_height * model.mass * body.com_velocity[axis]
    assert (momentum[1], -momentum[0])[axis] == pytest.approx(-about_the_ground, rel=1e-3)
    assert (momentum[1], -momentum[0])[axis] > 0.05  # the top moves towards the push


def test_the_part_of_the_zmp_beyond_the_soles_is_that_of_the_tilt():
    hips = tilted([0.1, 0.0])
    ahead = ZMP_GAIN * 0.1 - 0.1
    np.testing.assert_allclose(hips.tilt, [ahead / hips.gains[0], 0.0], atol=1e-9)
    assert tilted([0.08, 0.0]).tilt.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(tilted([0.3, -0.3]).tilt, [CONFIG.forward, -CONFIG.sideways], atol=1e-9)
    np.testing.assert_allclose(tilted([-0.3, 0.0]).tilt, [-CONFIG.backward, 0.0], atol=1e-9)


def test_a_dcm_that_moves_outward_tilts_the_trunk_and_one_that_comes_back_does_not():
    outward = tilted([0.08, 0.0], dcm_rate=(0.4, 0.0))
    lead = (outward.tilt[0] * outward.gains[0] + 0.1) / ZMP_GAIN - 0.08
    assert 0.01 < lead / 0.4 < 0.1
    assert tilted([0.08, 0.0], dcm_rate=(-0.4, 0.0)).tilt.tolist() == [0.0, 0.0]
    assert tilted([0.0, 0.08], dcm_rate=(0.0, 0.4)).tilt[1] > 0.0


def test_a_dcm_that_is_off_by_the_same_all_along_is_not_predicted_to_be_farther_off():
    hips, speed = hip_strategy_of("icub_v2_7"), np.array([0.4, 0.0])
    for tick in range(60):
        reference, way = reference_of(), speed * tick * PERIOD
        reference.dcm.position = reference.dcm.zmp_position = way
        reference.dcm.velocity = speed
        plan = plan_of(reference, SupportPolygon(SOLES.vertices + way))
        hips.update(state_of(way + np.array([0.1, 0.0])), speed, plan, True, PERIOD)
    np.testing.assert_allclose(hips.tilt, tilted([0.1, 0.0]).tilt, atol=1e-6)


def test_a_mirrored_push_is_answered_by_the_mirrored_tilt_and_a_turned_one_by_the_turned_tilt():
    left, right = tilted([0.05, 0.1], 7), tilted([0.05, -0.1], 7)
    np.testing.assert_array_equal(right.tilt, left.tilt * [1.0, -1.0])
    turn, hips = so3.rotation_z(0.7)[:2, :2], hip_strategy_of("icub_v2_7")
    soles = SupportPolygon(SOLES.vertices @ turn.T)
    for _ in range(7):
        hips.update(state_of(turn @ [0.05, 0.1]), np.zeros(2), plan_of(reference_of(0.7), soles), True, PERIOD)
    np.testing.assert_allclose(hips.tilt, left.tilt, atol=1e-9)


def test_without_a_push_nothing_changes_and_after_one_the_trunk_goes_back_for_good():
    hips, state, ticks = hip_strategy_of("icub_v2_7"), state_of([0.3, 0.0]), 0
    assert hips.is_upright
    hips = tilted([0.3, 0.0])
    while not hips.is_upright:
        hips.upright(state, reference_of())
        assert (ticks := ticks + 1) < 200
        hips.update(state, np.zeros(2), plan_of(reference_of()), False, PERIOD)
    assert hips.tilt.tolist() == hips.rate.tolist() == hips.zmp_shift.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("settings", "tilts"),
    [
        ((), True),
        (UPRIGHT, False),
        (("external_wrench.is_estimated=true",), False),
        (("walking.control='torque'",), False),
    ],
)
def test_the_trunk_tilts_neither_by_torque_nor_where_the_external_wrench_is_estimated(settings, tilts):
    setup = load_setup("icub_v2_7", settings)
    assert isinstance(WalkingLayers(setup.robot, setup.walking).push_recovery.trunk, HipStrategy) == tilts


@pytest.mark.walk
@pytest.mark.parametrize("tilts", [False, True])
@pytest.mark.parametrize(
    ("robot", "phase", "force"),
    [
        ("icub_v2_7", "middle", (0.0, -161.0)),
        long("icub_v3", "late", (-110.0, 190.0)),
        ("g1", "middle", (0.0, -150.0)),
    ],
)
def test_the_trunk_saves_a_robot_from_a_push_that_fells_it_upright(robot, phase, force, tilts):
    case = PushedCase(robot, Plant.IDEAL, ControlMode.POSITION, 0.1, SteppingMode.PLACE_AND_TIME, "dcm")
    pushed = PushedWalk(case.trial(0, ExperimentOptions(settings=() if tilts else UPRIGHT)))
    pushed.advance(phase)
    walk, found = pushed.walk, []
    walk.robot.push(AppliedPush(walk.setup.robot.torso_frame, (*force, 0.0), walk.time, 0.1))
    end = walk.time + 4.0
    while walk.time < end and not walk.is_down:
        walk.tick()
        if tilts:
            found.append(walk.layers.push_recovery.trunk.tilt)
    assert walk.is_down != tilts
    if tilts:
        sideways = np.array(found)[:60, 1] * np.sign(force[1])
        assert sideways.max() == pytest.approx(walk.setup.walking.hip_strategy.sideways)  # as the push
        assert np.abs(found[-1]).max() < 0.02
