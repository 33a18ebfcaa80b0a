"""Hip strategy: a pendulum's flywheel, its double integrator, the robot that tilts; soles kept level in a push."""

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, FootReference, RobotState, Side, altered, so3
from gradiva.contacts import SupportPolygon
from gradiva.push_recovery import (
    HipStrategy,
    MovedSoles,
    Push,
    SlopedBegin,
    SlopedSoles,
    SoleLevelling,
    SteppingMode,
    followed,
    lean_of_soles,
)
from gradiva.push_recovery.tilt import (
    HEIGHT_GAIN,
    INTEGRAL_GAIN,
    LARGEST_HEIGHT_OFFSET,
    LARGEST_TILT_OFFSET,
    LEAK_TIME,
    SLIGHT_SLOPE,
    SOLE_SPEED,
    TILT_GAIN,
    ZMP_GAIN,
    on_slope,
)
from gradiva.setup import Plant, load_setup
from gradiva.simulation import Push as AppliedPush
from gradiva.walking import WalkingLayers
from gradiva.whole_body import probed_momentum, solve_start_posture, standing_reference, torso_rotation, upright_torso
from gradiva_experiments.continued_walks import PushedWalk
from gradiva_experiments.experiment import ExperimentOptions
from gradiva_experiments.shipped.push_recovery import PushedCase
from tests.conftest import long, model_of
from tests.whole_body.conftest import inverse_kinematics_of
from tests.whole_body.standing_robot import state

PERIOD = 0.01
CALM = Push(False, False, True)
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
        ("g1", "middle", (0.0, -142.0)),
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


# -- soles in the air --------------------------------------------------------------------------------------------------

SETUP = load_setup("icub_v2_7")
WEIGHT = 320.0  # [N]


def standing(side_heights, loads, tilt=0.0, in_contact=False, left_tilt=None):
    """References at height 0 and a state with the soles at their heights, tilted about x, under their loads."""
    flat, rolled = np.eye(3), so3.exp(np.array([tilt, 0.0, 0.0]))
    rotations = {Side.LEFT: rolled if left_tilt is None else so3.exp(np.array(left_tilt)), Side.RIGHT: rolled}
    feet = [FootReference(np.array([0.0, y, 0.0]), flat, np.zeros(6), np.zeros(6), in_contact) for y in (0.08, -0.08)]
    body = Feet(*feet)
    fields = {}
    for side in Side:
        fields[f"{side}_foot_position"] = np.array([0.0, 0.0, side_heights[side]])
        fields[f"{side}_foot_rotation"] = rotations[side]
        fields[f"{side}_foot_wrench"] = np.array([0.0, 0.0, loads[side] * WEIGHT, 0.0, 0.0, 0.0])
    return body, altered(state(), **fields)


@dataclass(frozen=True, slots=True)
class Feet:
    left_foot: FootReference
    right_foot: FootReference
    com_position: np.ndarray | None = None
    com_velocity: np.ndarray | None = None
    com_acceleration: np.ndarray | None = None


def test_a_sole_in_the_air_that_hangs_low_is_lifted_and_levelled_while_the_loaded_one_stays():
    levelling, low = SoleLevelling(WEIGHT), 0.001
    heights, loads = {Side.LEFT: 0.0, Side.RIGHT: -low}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing(heights, loads, tilt=0.02, left_tilt=(0.0, 0.0, 0.0))
    moved = levelling.levelled(body, state, True, False, 0.01)
    lift = (HEIGHT_GAIN + 0.01 * INTEGRAL_GAIN) * low
    assert lift < 0.01 * SOLE_SPEED
    assert moved.right_foot.position[2] == pytest.approx(lift, abs=1e-12)
    assert moved.right_foot.twist[2] == pytest.approx(lift / 0.01, abs=1e-9)
    tilt = so3.log(moved.right_foot.rotation)
    np.testing.assert_allclose(tilt, [-0.01 * INTEGRAL_GAIN * 0.02, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(moved.left_foot.position, body.left_foot.position)


def test_the_height_of_a_sole_in_the_air_changes_no_faster_than_the_knee_bears():
    levelling = SoleLevelling(WEIGHT)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.02}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for tick in range(1, 4):
        moved = levelling.levelled(body, state, True, False, 0.01)
        assert moved.right_foot.position[2] == pytest.approx(0.01 * tick * SOLE_SPEED, abs=1e-12)
        assert moved.right_foot.twist[2] == pytest.approx(SOLE_SPEED, abs=1e-9)


def test_a_sole_that_lands_gives_its_offset_back_and_the_references_are_the_plans_again():
    levelling = SoleLevelling(WEIGHT)
    low = {Side.LEFT: 0.0, Side.RIGHT: -0.005}
    body, state = standing(low, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    lifted = levelling.levelled(body, state, True, False, 0.01).right_foot.position[2]
    body, state = standing(low, {Side.LEFT: 0.5, Side.RIGHT: 0.5})
    after = levelling.levelled(body, state, True, False, 0.01).right_foot.position[2]
    assert after == pytest.approx(lifted * (1.0 - 0.01 / LEAK_TIME), abs=1e-12)
    for _ in range(1000):
        levelling.levelled(body, state, False, False, 0.01)
    assert not levelling.offsets


def test_a_loaded_sole_that_tipped_is_laid_flat_where_it_stands_and_gets_its_tilt_back_afterwards():
    levelling, period = SoleLevelling(WEIGHT), 0.01
    loads = {Side.LEFT: 1.0, Side.RIGHT: 1.0}
    body, tipped = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, loads, tilt=0.05, in_contact=True)
    _, flat = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, loads, in_contact=True)
    moved = levelling.levelled(body, tipped, True, True, period)
    turn = period * TILT_GAIN * 0.05
    np.testing.assert_allclose(so3.log(moved.left_foot.rotation), [-turn, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(moved.left_foot.position, body.left_foot.position)
    after = levelling.levelled(body, flat, True, True, period)
    kept = turn * (1.0 - period / LEAK_TIME)
    np.testing.assert_allclose(so3.log(after.left_foot.rotation), [-kept, 0.0, 0.0], atol=1e-12)


def test_a_sole_is_moved_no_farther_than_its_limits():
    levelling = SoleLevelling(WEIGHT)
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: -0.2}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=-0.5)
    for _ in range(100):
        moved = levelling.levelled(body, state, True, False, 0.01)
    assert moved.right_foot.position[2] == pytest.approx(LARGEST_HEIGHT_OFFSET, abs=1e-12)
    assert so3.log(moved.right_foot.rotation)[0] == pytest.approx(LARGEST_TILT_OFFSET, abs=1e-9)


def test_a_sole_in_the_air_beside_one_on_a_slope_is_neither_lifted_nor_levelled():
    levelling, steepness = SoleLevelling(WEIGHT), 0.05
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, tilt=steepness)
    slope = state.left_foot_rotation[:2, 2]
    np.testing.assert_allclose(slope, [0.0, -math.sin(steepness)])
    beside = altered(state, right_foot_position=np.array([0.0, -0.16, -0.16 * math.sin(steepness)]))
    moved = levelling.levelled(body, beside, True, False, 0.01, slope)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=1e-12)
    np.testing.assert_allclose(so3.log(moved.right_foot.rotation), np.zeros(3), atol=1e-5)
    level, slight = (
        SoleLevelling(WEIGHT).levelled(body, beside, True, False, 0.01, part * slope) for part in (0.0, 0.3)
    )
    np.testing.assert_array_equal(slight.right_foot.rotation, level.right_foot.rotation)


def test_the_slope_is_learned_from_the_sole_that_carries_and_kept_while_a_push_is_caught():
    admittance, given = SimpleNamespace(adapted=lambda body, *_: body, reset=lambda: None), []
    levelling = SimpleNamespace(offsets={}, reset=lambda: None, levelled=lambda *values: given.append(values[-1]))
    soles, calm, caught = MovedSoles(admittance, levelling), Push(False, False, True), Push(True, False, True)
    body, state = standing(
        {Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0}, left_tilt=(0.0, 0.1, 0.0)
    )
    for _ in range(300):
        assert soles.moved(body, state, calm, PERIOD) is body
    _, level = standing({Side.LEFT: 0.0, Side.RIGHT: 0.0}, {Side.LEFT: 1.0, Side.RIGHT: 0.0})
    for _ in range(100):
        soles.moved(body, level, caught, PERIOD)
    np.testing.assert_allclose(given[-1], [(1.0 - 0.99**300) * math.sin(0.1), 0.0], atol=1e-12)
    soles.reset()
    soles.moved(body, level, caught, PERIOD)
    np.testing.assert_array_equal(given[-1], np.zeros(2))


def on_a_slope(tilt):
    """Return a reference for level ground, and the state on ground tilted about x and y, right foot in the air."""
    loads = {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: 0.02}, loads, left_tilt=(*tilt, 0.0))
    velocity = np.array([0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    swing = altered(body.right_foot, twist=velocity, acceleration=2.0 * velocity)
    com = {"com_position": np.array([0.02, 0.01, 0.5]), "com_velocity": velocity[:3], "com_acceleration": velocity[:3]}
    return altered(body, left_foot=altered(body.left_foot, in_contact=True), right_foot=swing, **com), state


@pytest.mark.parametrize("tilt", [(0.06, 0.0), (0.0, 0.06), (-0.04, 0.05)])
def test_by_torque_soles_and_com_follow_the_slope_of_the_ground_that_the_loaded_sole_shows(tilt):
    soles = SlopedSoles(0.3 * WEIGHT)
    body, state = on_a_slope(tilt)
    for _ in range(2000):
        moved = soles.moved(body, state, CALM, PERIOD)
    normal = state.left_foot_rotation[:, 2]
    for foot, planned in ((moved.left_foot, body.left_foot), (moved.right_foot, body.right_foot)):
        np.testing.assert_allclose(foot.rotation[:, 2], planned.rotation @ normal, atol=2e-4)
    height = state.left_foot_position[2] - body.left_foot.position[2]
    for now, before in ((moved.right_foot.position, body.right_foot.position), (moved.com_position, body.com_position)):
        rise = height - normal[:2] @ (before - body.left_foot.position)[:2]
        np.testing.assert_allclose(now - before, [0.0, 0.0, rise], atol=2e-4)
    climb = -normal[:2] @ [0.2, 0.1]
    assert moved.right_foot.twist[2] == pytest.approx(climb, abs=1e-6)
    assert moved.right_foot.acceleration[2] == pytest.approx(2.0 * climb, abs=1e-6)
    for now in (moved.com_velocity, moved.com_acceleration):
        np.testing.assert_allclose(now, [0.2, 0.1, climb], atol=1e-6)
    soles.reset()
    assert soles.moved(*on_a_slope((0.0, 0.0)), CALM, PERIOD).com_velocity[2] == 0.0


def test_by_torque_references_move_by_little_where_a_slope_of_a_degree_begins_to_count():
    body, state = on_a_slope((0.0, 0.0))
    state = altered(state, left_foot_position=body.left_foot.position + np.array([0.0, 0.0, 0.005]))
    moved = on_slope(body, state, np.array([SLIGHT_SLOPE + math.radians(0.02), 0.0]))
    np.testing.assert_allclose(moved.com_position, body.com_position, atol=3e-4)
    np.testing.assert_allclose(moved.right_foot.position, body.right_foot.position, atol=3e-4)


def test_by_torque_a_sole_that_tips_or_is_in_the_air_or_hardly_loaded_shows_no_slope():
    body, state = on_a_slope((0.14, 0.0))
    tipping = altered(state, left_foot_twist=np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]))
    lifted = altered(body, left_foot=altered(body.left_foot, in_contact=False))
    for given, seen, least_load in ((body, tipping, 0.0), (lifted, state, 0.0), (body, state, 1.1 * WEIGHT)):
        soles = SlopedSoles(least_load)
        for _ in range(100):
            assert soles.moved(given, seen, CALM, PERIOD) is given


def test_by_torque_the_first_sole_shows_the_slope_whole_and_later_ones_by_and_by():
    soles, (body, state) = SlopedSoles(0.3 * WEIGHT), on_a_slope((0.06, 0.0))
    moved = soles.moved(body, state, CALM, PERIOD)
    assert moved.com_velocity[2] == pytest.approx(0.1 * math.sin(0.06), rel=1e-3)
    level = on_a_slope((0.0, 0.0))[1]
    moved = soles.moved(body, level, CALM, PERIOD)
    assert moved.com_velocity[2] == pytest.approx(0.1 * (1.0 - PERIOD) * math.sin(0.06), rel=1e-3)


def test_by_torque_nothing_is_changed_by_a_slope_below_a_degree_nor_learned_while_a_push_is_caught():
    soles, caught = SlopedSoles(0.3 * WEIGHT), Push(True, False, True)
    for steepness, push in ((0.017, CALM), (0.06, caught)):
        body, state = on_a_slope((steepness, 0.0))
        for _ in range(500):
            assert soles.moved(body, state, push, PERIOD) is body


def begun_on_a_slope(time, lean=(0.03, -0.05, 0.0)):
    """Return the reference of a robot that stands, and the state of one that leans with its loads shared otherwise."""
    body = standing_reference(*robot_of("icub_v2_7")[::2], torso_rotation(*robot_of("icub_v2_7")[::2]))
    loads = {
        "left_foot_wrench": np.array([5.0, 2.0, 200.0, 4.0, -3.0, 0.5]),
        "right_foot_wrench": np.array([-4.0, -2.0, 120.0, 2.0, -6.0, -0.5]),
    }
    halves = {name: np.array([0.0, 0.0, 160.0, 0.0, -2.0, 0.0]) for name in loads}
    positions = {"left_foot_position": np.array([0.0, 0.08, 0.0]), "right_foot_position": np.array([0.0, -0.08, 0.0])}
    turned = so3.exp(np.array(lean)) @ body.pelvis_rotation
    return altered(body, time=time, **halves), altered(state(), base_rotation=turned, **positions, **loads)


def test_torque_control_begins_on_a_slope_as_the_robot_leans_and_ends_as_planned():
    begin = SlopedBegin(2.0, 3.5)
    body, seen = begun_on_a_slope(2.0)
    first = begin.applied(body, seen)
    np.testing.assert_allclose(first.pelvis_rotation, seen.base_rotation, atol=1e-12)
    turn = first.torso_rotation @ body.torso_rotation.T
    np.testing.assert_allclose(so3.log(turn), [0.03, -0.05, 0.0], atol=1e-12)
    half = begin.applied(altered(body, time=2.75), seen)
    np.testing.assert_allclose(so3.log(half.pelvis_rotation @ body.pelvis_rotation.T), [0.015, -0.025, 0.0], atol=1e-12)
    assert begin.applied(altered(body, time=3.5), seen).pelvis_rotation is body.pelvis_rotation


@pytest.mark.parametrize("begin_slope", [0.0181, 0.0169])
def test_a_begin_on_a_slope_goes_on_evenly_where_the_learned_slope_comes_over_and_below_a_degree(begin_slope):
    soles, (body, seen) = SlopedSoles(0.0), begun_on_a_slope(2.0, lean=(0.0, 0.06, 0.0))
    soles.reset(SlopedBegin(2.0, 3.5))
    tilts = []
    for tick in range(1600):
        shown = begin_slope if tick < 100 else 0.035 - begin_slope
        sole = so3.exp(np.array([0.0, shown, 0.0]))
        seen = altered(seen, left_foot_rotation=sole @ body.left_foot.rotation)
        moved = soles.moved(altered(body, time=2.0 + 0.001 * tick), seen, CALM, 0.001)
        tilts.append(so3.log(moved.torso_rotation @ body.torso_rotation.T)[1])
    assert tilts[0] == pytest.approx(0.06, abs=1e-6)
    assert abs(tilts[-1]) < 1e-9
    assert np.abs(np.diff(tilts)).max() < math.radians(0.1)


def test_loads_that_the_feet_share_otherwise_than_planned_change_neither_force_nor_moment_of_both():
    body, seen = begun_on_a_slope(2.0)
    first = SlopedBegin(2.0, 3.5).applied(body, seen)
    assert first.left_foot_wrench[2] - first.right_foot_wrench[2] == pytest.approx(80.0)
    for total in (lambda *wrenches: sum(wrench[:3] for wrench in wrenches), moment_of_both):
        expected = total(body.left_foot_wrench, body.right_foot_wrench)
        np.testing.assert_allclose(total(first.left_foot_wrench, first.right_foot_wrench), expected, atol=1e-9)
    swinging = altered(body, time=2.5, right_foot=altered(body.right_foot, in_contact=False))
    begin = SlopedBegin(2.0, 3.5)
    begin.applied(body, seen)
    np.testing.assert_array_equal(begin.applied(swinging, seen).right_foot_wrench, body.right_foot_wrench)


def moment_of_both(left, right):
    """Return the moment of two wrenches about the middle of feet that are 0.16 m apart."""
    arm = np.array([0.0, 0.08, 0.0])
    return left[3:] + right[3:] + np.cross(arm, left[:3] - right[:3])


def test_soles_lean_together_on_a_slope_and_not_where_each_leans_its_own_way():
    _, level = on_a_slope((0.0, 0.0))
    tilted = so3.exp(np.array([0.05, 0.0, 0.0]))
    both = altered(level, left_foot_rotation=tilted, right_foot_rotation=tilted)
    assert lean_of_soles(both) == pytest.approx(math.sin(0.05))
    assert lean_of_soles(altered(level, left_foot_rotation=tilted, right_foot_rotation=tilted.T)) < 1e-12
