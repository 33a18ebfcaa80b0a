"""The landing law: closed forms beside integrated pendulums, a linear program and a search of all landings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from gradiva.common import PlanarPose, Side
from gradiva.push_recovery import SOLE_MARGIN, ZMP_LAG
from gradiva.push_recovery.landing_law import (
    SWING_ACCELERATION,
    SWING_SPEED,
    TIME_WEIGHT,
    LandingLaw,
    Legs,
    predicted_dcm,
    viable_set,
)
from gradiva.setup import GccCompiler, cache_folder
from tests.push_recovery.test_step_adapter import (
    CONFIG,
    PLANNER,
    REACH,
    SOLE,
    WIDTH,
    ZETA,
    cases,
    in_mean_heading,
    mirrored,
    moved,
    nominal,
    numbers,
    point,
)

LEGS = Legs(REACH, WIDTH, 0.45, 0.9)
DOUBLE_SUPPORT = nominal().double_support
LOWER = np.array((SOLE.x[0], -SOLE.y[1])) + SOLE_MARGIN
UPPER = np.array((SOLE.x[1], -SOLE.y[0])) - SOLE_MARGIN  # y towards the other foot
TILTS = np.array(((-0.02, -0.03), (0.04, 0.03)))


@pytest.fixture(scope="module")
def law():
    return LandingLaw(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, None, GccCompiler(cache_folder()))


@pytest.fixture(scope="module")
def tilting():
    return LandingLaw(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, TILTS, GccCompiler(cache_folder()))


# -- the push and the pendulum -----------------------------------------------------------------------------------------


def test_an_old_dcm_is_predicted_exactly_without_a_push_and_to_second_order_with_one():
    zmp, dcm, push, age = np.array((0.03, 0.01)), np.array((0.08, -0.04)), np.array((0.9, -0.4)), 0.02
    growth = math.exp(ZETA * age)
    for size in (0.0, 1.0):
        rate = ZETA * (dcm - zmp) + size * push
        exact = zmp + growth * (dcm - zmp) + size * push * (growth - 1.0) / ZETA
        bound = size * np.abs(push) * ZETA * age**2
        assert np.all(np.abs(predicted_dcm(dcm, rate, zmp, ZETA, age, 0.0) - exact) <= bound + 1e-15)


def test_the_pendulum_with_lag_and_trunk_ends_where_the_law_says(tilting):
    step, time = nominal(), 1e-4
    step = replace(step, dcm_position=step.dcm_position + np.array((0.11, -0.04)), zmp_position=np.array((0.05, 0.01)))
    adapted = tilting.adapt(step)
    end = point(step.side, adapted.landing) + adapted.dcm_offset
    rest = adapted.time_left + 0.5 * step.double_support
    count = round(rest / time)
    times = (np.arange(count) + 0.5) * rest / count
    zmps = adapted.zmp_position + np.exp(-times / ZMP_LAG)[:, None] * (step.zmp_position - adapted.zmp_position)
    weights = ZETA * np.exp(ZETA * (rest - times))[:, None] * rest / count
    reached = math.exp(ZETA * rest) * step.dcm_position - (weights * zmps).sum(axis=0)
    tilt = (reached - end) / (math.exp(ZETA * rest) - 1.0)
    np.testing.assert_allclose(tilt, np.clip(tilt, *TILTS), atol=1e-5)
    assert tilt[0] == pytest.approx(0.04, abs=1e-5)  # the ankle is at the toe, then the trunk, then the step
    assert adapted.landing.x > 0.14


# -- the viable set ----------------------------------------------------------------------------------------------------


def greatest_lateral(count, zeta, time):
    """Greatest lateral DCM from which ``count`` steps of one duration keep it at the far edge, by a linear program."""
    growth, farthest = math.exp(zeta * (time + DOUBLE_SUPPORT)), 0.93 * REACH
    # variables: b_0 .. b_n, z_k and w_k of each step: b_{k+1} = w_k - z_k - g (b_k - z_k)
    size, rows, right = 3 * count + 1, [], []
    for index in range(count):
        row = np.zeros(size)
        row[index], row[index + 1] = growth, 1.0
        row[count + 1 + index], row[2 * count + 1 + index] = 1.0 - growth, -1.0
        rows.append(row)
        right.append(0.0)
    cost = np.zeros(size)
    cost[0] = -1.0
    bounds = [(-9.0, 9.0)] * count + [(-0.5, 0.5)] + [(LOWER[1], UPPER[1])] * count + [(WIDTH, farthest)] * count
    found = linprog(cost, A_eq=np.array(rows), b_eq=right, bounds=bounds)
    assert found.success
    return -found.fun


def test_the_viable_set_is_that_of_a_linear_program_over_many_steps():
    time = 0.5
    viable = viable_set(ZETA, DOUBLE_SUPPORT, LOWER, UPPER, replace(LEGS, shortest=time, longest=time))
    assert viable[1, 1] == pytest.approx(greatest_lateral(8, ZETA, time), abs=1e-6)
    assert viable[0, 1] < 0.0 < viable[1, 1]


def test_a_dcm_at_the_front_of_the_viable_set_stays_there_with_the_longest_steps():
    viable = viable_set(ZETA, DOUBLE_SUPPORT, LOWER, UPPER, LEGS)
    times = np.linspace(LEGS.shortest, LEGS.longest, 2000)
    growth = np.exp(ZETA * (times + DOUBLE_SUPPORT))
    for way, best in (((0.93 * REACH, SWING_ACCELERATION, SWING_SPEED), viable[1, 0] - UPPER[0]),):
        ways = np.minimum(way[0], np.minimum(way[1] * times**2 / 12.0, way[2] * times / 3.0))
        next_dcm = UPPER[0] + growth * best - ways - UPPER[0]
        assert next_dcm.min() == pytest.approx(best, abs=2e-3)
    np.testing.assert_allclose(viable[1, 0] - UPPER[0], LOWER[0] - viable[0, 0], atol=1e-12)


def test_the_first_support_decides_and_the_third_hardly_counts():
    growth = math.exp(ZETA * (0.45 + DOUBLE_SUPPORT))
    weights = (1.0 - 1.0 / growth) / growth ** np.arange(3.0)
    np.testing.assert_allclose(weights, (0.935, 0.061, 0.004), atol=3e-3)


# -- the landing -------------------------------------------------------------------------------------------------------


def cost_of(step, time, landings, viable, tilts=None):
    """Cost of landings of the left stance sole at the origin, shape (n, 2), by the definitions; inf beyond limits."""
    rest, rate = time + 0.5 * step.double_support, ZETA + 1.0 / ZMP_LAG
    growth = math.exp(ZETA * rest)
    now = ZETA * growth * (1.0 - math.exp(-rate * rest)) / rate
    lower, upper = np.add((SOLE.x[0], SOLE.y[0]), SOLE_MARGIN), np.subtract((SOLE.x[1], SOLE.y[1]), SOLE_MARGIN)
    drift = growth * step.dcm_position - now * np.clip(step.zmp_position, lower, upper)
    points = np.add(landings, (PLANNER.zmp_offset[0], -PLANNER.zmp_offset[1]))
    commanded, least, most = growth - 1.0 - now, *(np.zeros((2, 2)) if tilts is None else tilts)
    end = np.clip(
        points + step.dcm_offset,
        drift - commanded * upper - (growth - 1.0) * most,
        drift - commanded * lower - (growth - 1.0) * least,
    )
    offset = end - points
    from_sole = offset + points - landings  # y to the other foot, which is the left one
    loss = ((from_sole - np.clip(from_sole, *viable)) ** 2).sum(axis=1)
    way, p, v = landings - step.swing_position, SWING_ACCELERATION * time**2 / 6.0, step.swing_velocity * time
    lowest, highest = np.maximum(4.0 * v, 2.0 * v) / 6.0 - p, np.minimum(4.0 * v, 2.0 * v) / 6.0 + p
    bound = SWING_SPEED * time / 1.5
    beyond = way - np.clip(way, np.maximum(lowest, -bound), np.minimum(highest, bound))
    cost = ((landings - [step.landing.x, step.landing.y]) ** 2).sum(axis=1)
    cost += 1e3 * ((offset - step.dcm_offset) ** 2).sum(axis=1) + 1e6 * loss + 1e8 * (beyond**2).sum(axis=1)
    is_free = (np.hypot(*landings.T) <= REACH + 1e-9) & (-landings[:, 1] >= WIDTH - 1e-9)
    return np.where(is_free, cost + TIME_WEIGHT * (time - step.time_left) ** 2, np.inf)


def straight_cases(count, seed):
    """Steps with parallel feet, pushed by up to what can be caught."""
    on_way = nominal().dcm_position
    for step in cases(count, seed):
        landing, dcm = PlanarPose(step.landing.x, step.landing.y, 0.0), on_way + 0.4 * (step.dcm_position - on_way)
        yield replace(
            step, landing=landing, dcm_position=dcm, swing_position=0.5 * np.add(step.swing_position, (0.0, -0.2))
        )


def least_cost(step, viable):
    """The least cost of all landings and times, by a grid that is refined about the best of each time."""
    along, across = np.linspace(-REACH, REACH, 41), np.linspace(-REACH, -WIDTH, 21)
    least, whole = np.inf, np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
    for time in (*np.linspace(step.shortest, step.longest, 25), step.time_left):
        grid, size = whole, REACH / 20.0
        for _ in range(5):
            costs = cost_of(step, time, grid, viable)
            best, least = grid[costs.argmin()], min(least, costs.min())
            part = np.linspace(-1.5 * size, 1.5 * size, 13)
            grid, size = best + np.stack(np.meshgrid(part, part), axis=-1).reshape(-1, 2), 0.25 * size
    return least


def test_no_landing_of_a_search_of_all_costs_less_where_a_step_catches_the_robot(law):
    viable, gaps = viable_set(ZETA, DOUBLE_SUPPORT, LOWER, UPPER, LEGS), []
    for step in straight_cases(60, seed=5):
        adapted, least = law.adapt(step), least_cost(step, viable)
        mine = cost_of(step, adapted.time_left, np.array([[adapted.x, adapted.y]]), viable)[0]
        if least < 1.0:  # beyond, the DCM is lost
            gaps.append((mine - least) / max(least, 1e-2))
    assert len(gaps) > 40
    assert np.median(gaps) < 1e-3
    assert np.percentile(gaps, 90) < 0.05


def test_a_dcm_on_its_reference_keeps_everything(law, tilting):
    step = nominal()
    expected = [0.13, -0.16, 0.3, *point(Side.LEFT, step.stance), *step.dcm_offset]
    for each in (law, tilting):
        np.testing.assert_allclose(numbers(each.adapt(step)), expected, atol=1e-12)


def test_a_trunk_that_tilts_leaves_less_to_the_step(law, tilting):
    step = nominal(shortest=0.3, longest=0.3)
    step = replace(step, dcm_position=step.dcm_position + np.array((0.06, 0.0)))
    growth = math.exp(ZETA * (0.3 + 0.09))
    less = law.adapt(step).landing.x - tilting.adapt(step).landing.x
    assert less == pytest.approx(min(0.04 * (growth - 1.0), law.adapt(step).landing.x - 0.13), abs=1e-9)
    assert less > 0.05


def test_legs_are_kept_to_a_nanometre_and_the_push_decides_only_within_them(law):
    for step in cases(400):
        adapted = law.adapt(step)
        place = in_mean_heading(step, adapted.landing)
        assert math.hypot(place.x, place.y) <= REACH + 1e-9
        assert -place.y >= WIDTH - 1e-9
        assert min(step.shortest, step.time_left) - 1e-9 <= adapted.time_left
        assert adapted.time_left <= max(step.longest, step.time_left) + 1e-9


def test_a_world_that_is_moved_turned_or_mirrored_has_the_same_answer(law):
    frame = PlanarPose(40.0, -25.0, 2.0)
    for step in cases(50, seed=2):
        here = law.adapt(step)
        there, flipped = law.adapt(moved(step, frame)), law.adapt(mirrored(step))
        expected = frame @ here.landing
        assert (there.x, there.y) == pytest.approx((expected.x, expected.y), abs=1e-9)
        np.testing.assert_allclose(numbers(flipped), np.array(numbers(here)) * [1, -1, 1, 1, -1, 1, -1], atol=1e-9)
