"""Adapted steps: closed forms, limits, symmetries, and what a pendulum survives with them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gradiva.common import ConfigError, PlanarPose, Side
from gradiva.push_recovery import SOLE_MARGIN, ZMP_LAG, Legs, RunningStep, StepAdapter, SteppingMode
from gradiva.push_recovery.step_adapter import RELEASE_ERROR
from gradiva.setup import GccCompiler, cache_folder, load_setup
from gradiva_experiments.shipped.pushed_pendulum import AttainableImpulses

SETUP = load_setup(  # the gait of the table below
    "icub_v2_7",
    {
        "planner.com_height": 0.53,
        "planner.zmp_offset": [0.03, -0.005],
        "planner.footsteps.time_weight": 0.02,
        "planner.footsteps.double_support_ratio": 0.25,
    },
)
CONFIG = SETUP.walking.step_adaptation
PLANNER = SETUP.walking.planner
ZETA = PLANNER.natural_frequency
REACH, WIDTH = PLANNER.max_feet_distance, PLANNER.min_step_width
SOLE = SETUP.robot.sole
LEGS = Legs(REACH, WIDTH, 0.45, 0.9, acceleration=12.0, speed=2.4)


@pytest.fixture(scope="module")
def adapter():
    return StepAdapter(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, GccCompiler(cache_folder()))


def point(side, pose):
    """The ZMP point of a sole."""
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    x, y = PLANNER.zmp_offset[0], side.sign * PLANNER.zmp_offset[1]
    return np.array([pose.x + c * x - s * y, pose.y + s * x + c * y])


def nominal(**changes):
    """A right foot that swings 0.3 s before touch-down, the DCM on its reference."""
    stance, landing = PlanarPose(0.0, 0.0, 0.0), PlanarPose(0.13, -0.16, 0.0)
    offset, zmp = np.array([0.01, 0.003]), point(Side.LEFT, stance)
    end = point(Side.RIGHT, landing) + offset
    dcm = zmp + math.exp(-ZETA * (0.3 + 0.09)) * (end - zmp)
    step = RunningStep(
        dcm, zmp, offset, ZETA, Side.RIGHT, stance, landing, 0.18, 0.3, 0.06, 0.5,
        np.array([0.0, -0.16]), np.array([0.4, 0.0]),
    )  # fmt: skip
    return replace(step, **changes)


def cases(count, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(count):
        base, (a, b) = nominal(), random.uniform(0.06, 0.9, 2)
        yield replace(
            base,
            dcm_position=base.dcm_position + random.normal(0.0, 0.08, 2),
            zmp_position=base.zmp_position + random.normal(0.0, 0.02, 2),
            landing=PlanarPose(random.uniform(-0.2, 0.3), random.uniform(-0.25, -0.16), random.uniform(-0.3, 0.3)),
            time_left=random.uniform(0.06, 0.7),
            shortest=min(a, b),
            longest=max(a, b),
            swing_position=random.uniform((-0.2, -0.25), (0.2, -0.15)),
            swing_velocity=random.normal(0.0, 0.4, 2),
        )


def growths(time):
    """E, a_n and a_c, by which the DCM grows, the present ZMP and the commanded one count."""
    growth, rate = math.exp(ZETA * time), ZETA + 1.0 / ZMP_LAG
    now = ZETA * growth * (1.0 - math.exp(-rate * time)) / rate
    return growth, now, growth - 1.0 - now


def in_mean_heading(step, pose):
    """Landing from the stance sole, in the mean direction of the feet."""
    yaw = 0.5 * (pose.yaw + step.stance.yaw)
    return PlanarPose(step.stance.x, step.stance.y, yaw).inverse() @ pose


def moved(step, frame):
    """The same step in a world that is turned and moved."""
    c, s = math.cos(frame.yaw), math.sin(frame.yaw)
    turn = np.array([[c, -s], [s, c]])
    places = {
        name: turn @ getattr(step, name) + [frame.x, frame.y]
        for name in ("dcm_position", "zmp_position", "swing_position")
    }
    ways = {name: turn @ getattr(step, name) for name in ("dcm_offset", "swing_velocity")}
    return replace(step, stance=frame @ step.stance, landing=frame @ step.landing, **places, **ways)


def mirrored(step):
    names = ("dcm_position", "zmp_position", "dcm_offset", "swing_position", "swing_velocity")
    flipped = {name: getattr(step, name) * [1.0, -1.0] for name in names}
    poses = {name: flip(getattr(step, name)) for name in ("stance", "landing")}
    return replace(step, side=step.side.other, **flipped, **poses)


def flip(pose):
    return PlanarPose(pose.x, -pose.y, -pose.yaw)


def numbers(adapted):
    pose = adapted.landing
    return [pose.x, pose.y, adapted.time_left, *adapted.zmp_position, *adapted.dcm_offset]


def test_a_dcm_on_its_reference_keeps_foothold_time_zmp_and_offset(adapter):
    step = nominal()
    adapted = adapter.adapt(step)
    expected = [0.13, -0.16, 0.3, *point(Side.LEFT, step.stance), *step.dcm_offset]
    np.testing.assert_allclose(numbers(adapted), expected, atol=1e-12)


def test_the_ankle_answers_first_and_the_landing_the_rest_in_closed_form(adapter):
    step, (growth, _, eta) = nominal(shortest=0.3, longest=0.3), growths(0.3 + 0.09)
    small = replace(step, dcm_position=step.dcm_position + np.array((0.02, 0.0)))
    adapted = adapter.adapt(small)
    assert adapted.landing.x == pytest.approx(0.13, abs=1e-12)
    assert adapted.zmp_position[0] - step.zmp_position[0] == pytest.approx(0.02 * growth / eta, abs=1e-12)
    toe = SOLE.x[1] - CONFIG.tipping_margin - point(Side.LEFT, step.stance)[0]
    large = toe * eta / growth + 0.01
    adapted = adapter.adapt(replace(step, dcm_position=step.dcm_position + np.array((large, 0.0))))
    assert adapted.landing.x == pytest.approx(0.13 + 0.01 * growth, abs=1e-12)
    np.testing.assert_allclose(adapted.offset_error, 0.0, atol=1e-12)


def test_a_sole_that_would_tip_leaves_to_the_step_what_the_ankle_could_hold():
    step, (growth, _, eta) = nominal(shortest=0.3, longest=0.3), growths(0.3 + 0.09)
    toe = SOLE.x[1] - CONFIG.tipping_margin - point(Side.LEFT, step.stance)[0]
    pushed = replace(step, dcm_position=step.dcm_position + np.array((toe * eta / growth, 0.0)))
    for further in (0.0, 0.02):
        config = replace(CONFIG, tipping_margin=CONFIG.tipping_margin + further)
        landing = StepAdapter(config, SOLE, PLANNER.zmp_offset, LEGS).adapt(pushed).landing
        assert landing.x == pytest.approx(0.13 + eta * further, abs=1e-9)
        assert landing.y == pytest.approx(step.landing.y, abs=1e-9)


def test_an_earlier_touch_down_saves_what_a_landing_within_reach_cannot(adapter):
    step = nominal()
    pushed = replace(step, dcm_position=step.dcm_position + np.array((0.0, -0.09)))
    late = adapter.adapt(replace(pushed, shortest=0.3, longest=0.3))
    free = adapter.adapt(replace(pushed, shortest=0.15))
    assert free.time_left < 0.28
    assert np.linalg.norm(free.offset_error) < 0.7 * np.linalg.norm(late.offset_error)


def test_limits_are_kept_to_a_nanometre(adapter):
    for step in cases(400):
        adapted = adapter.adapt(step)
        place = in_mean_heading(step, adapted.landing)
        assert math.hypot(place.x, place.y) <= REACH + 1e-9
        assert -place.y >= WIDTH - 1e-9
        assert (
            min(step.shortest, step.time_left) - 1e-9 <= adapted.time_left <= max(step.longest, step.time_left) + 1e-9
        )
        x, y = adapted.zmp_position
        margin = SOLE_MARGIN - 1e-9
        assert SOLE.x[0] + margin <= x <= SOLE.x[1] - margin
        assert SOLE.y[0] + margin <= y <= SOLE.y[1] - margin
        growth, now, commanded = growths(adapted.time_left + 0.5 * step.double_support)
        xs, ys = np.add(SOLE.x, (margin, -margin)), np.add(SOLE.y, (margin, -margin))
        zmp_now = np.clip(step.zmp_position, (xs[0], ys[0]), (xs[1], ys[1]))
        end = growth * step.dcm_position - now * zmp_now - commanded * adapted.zmp_position
        np.testing.assert_allclose(point(step.side, adapted.landing) + adapted.dcm_offset, end, atol=1e-6)


def test_the_swing_reaches_the_landing_with_its_acceleration_where_the_legs_allow_it(adapter):
    reached = 0
    for step in cases(400, seed=1):
        adapted = adapter.adapt(step)
        T, v = adapted.time_left, step.swing_velocity
        way = [adapted.landing.x, adapted.landing.y] - step.swing_position
        begin, end = 6.0 * way / T**2 - 4.0 * v / T, 2.0 * v / T - 6.0 * way / T**2
        largest = max(np.abs(begin).max(), np.abs(end).max())
        reached += largest <= LEGS.acceleration + 1e-6 and np.abs(way).max() <= LEGS.speed * T / 1.5 + 1e-9
    assert reached > 300


def test_a_world_that_is_moved_and_turned_has_the_same_answer(adapter):
    frame = PlanarPose(40.0, -25.0, 2.0)
    for step in cases(50, seed=2):
        here, there = adapter.adapt(step), adapter.adapt(moved(step, frame))
        expected = frame @ here.landing
        assert there.landing.x == pytest.approx(expected.x, abs=1e-9)
        assert there.landing.y == pytest.approx(expected.y, abs=1e-9)
        assert there.time_left == pytest.approx(here.time_left, abs=1e-9)


def test_a_mirrored_step_has_the_mirrored_answer(adapter):
    for step in cases(50, seed=3):
        here, there = adapter.adapt(step), adapter.adapt(mirrored(step))
        np.testing.assert_allclose(numbers(there), np.array(numbers(here)) * [1, -1, 1, 1, -1, 1, -1], atol=1e-12)


def test_settings_without_sense_are_refused():
    assert replace(CONFIG, trigger=RELEASE_ERROR).trigger == RELEASE_ERROR
    with pytest.raises(ConfigError, match=r"trigger.*releases"):
        replace(CONFIG, trigger=0.99 * RELEASE_ERROR)
    for wrong in ({"lateness": -0.01}, {"reach": 0.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            replace(CONFIG, **wrong)


# -- a pendulum that is pushed -----------------------------------------------------------------------------------------

ATTAINABLE = {  # N s, of a pendulum with the masses and soles of iCub v2.7: ankle, place, place and time
    ("forward", 0.4): (7.0, 11.0, 12.0),
    ("backward", 0.05): (9.0, 14.0, 20.0),
    ("to the swinging foot", 0.05): (4.0, 5.0, 12.0),
    ("to the stance foot", 0.75): (5.0, 7.0, 11.0),
}
RESOLUTION = 0.005 * SETUP.robot.mass * ZETA  # [N·s] of the search
DIRECTIONS = {
    "forward": 0.0,
    "backward": math.pi,
    "to the stance foot": 0.5 * math.pi,
    "to the swinging foot": -0.5 * math.pi,
}


@pytest.mark.parametrize(("direction", "phase"), ATTAINABLE)
def test_a_pushed_pendulum_survives_what_a_pendulum_can(direction, phase):
    pendulum = AttainableImpulses(SETUP, speed=0.15)
    survived = [pendulum.impulse(mode, DIRECTIONS[direction], phase, 0.1) for mode in SteppingMode]
    np.testing.assert_allclose(survived, ATTAINABLE[direction, phase], atol=3.5)
    assert survived[0] < survived[1]
    lost = RESOLUTION if direction == "forward" else 0.0  # a time that is chosen while the push lasts comes too soon
    assert survived[2] >= survived[1] - lost - 1e-9
