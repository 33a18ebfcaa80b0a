"""Viability and the landing: closed forms beside integrated pendulums, a linear program and all landings."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from gradiva.common import PlanarPose
from gradiva.push_recovery import SOLE_MARGIN, ZMP_LAG, StepAdapter, predicted_dcm, viable_set
from gradiva.push_recovery.step_adapter import TIME_WEIGHT
from gradiva.setup import GccCompiler, cache_folder
from tests.push_recovery.test_step_adapter import (
    CONFIG,
    LEGS,
    PLANNER,
    REACH,
    SOLE,
    WIDTH,
    ZETA,
    cases,
    growths,
    nominal,
    point,
)

DOUBLE_SUPPORT = nominal().double_support
LOWER = np.array((SOLE.x[0], -SOLE.y[1])) + SOLE_MARGIN
UPPER = np.array((SOLE.x[1], -SOLE.y[0])) - SOLE_MARGIN  # y towards the other foot


@pytest.fixture(scope="module")
def law():
    return StepAdapter(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, GccCompiler(cache_folder()))


# -- the push and the pendulum -----------------------------------------------------------------------------------------


def test_an_old_error_of_the_dcm_is_predicted_to_second_order_and_a_planned_dcm_stays():
    position, planned_zmp, age = np.array((0.06, -0.02)), np.array((0.02, 0.01)), 0.02
    planned = SimpleNamespace(position=position, velocity=ZETA * (position - planned_zmp))
    np.testing.assert_allclose(predicted_dcm(position, planned_zmp, planned, ZETA, age), position, atol=1e-15)
    error, zmp_error = np.array((0.05, -0.06)), np.array((0.03, 0.02))
    grown = zmp_error + math.exp(ZETA * age) * (error - zmp_error)
    bound = np.abs(error - zmp_error) * (ZETA * age) ** 2
    predicted = predicted_dcm(position + error, planned_zmp + zmp_error, planned, ZETA, age)
    assert np.all(np.abs(predicted - position - grown) <= bound)
    far = [predicted_dcm(position + error, planned_zmp + off, planned, ZETA, age) for off in (0.05, 0.2)]
    np.testing.assert_allclose(far[0], far[1], atol=1e-15)


@pytest.mark.parametrize("legs", [(0.0, 0.0), (0.007, 0.005)])
def test_the_pendulum_with_lag_and_legs_ends_where_the_law_says(legs):
    law = StepAdapter(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, GccCompiler(cache_folder()))
    law.set_leg_momentum(np.array(legs))
    step, time = nominal(shortest=0.3, longest=0.3), 1e-4
    step = replace(step, dcm_position=step.dcm_position + np.array((0.11, -0.04)), zmp_position=np.array((0.05, 0.01)))
    adapted = law.adapt(step)
    rest = adapted.time_left + 0.5 * step.double_support
    count = round(rest / time)
    times = (np.arange(count) + 0.5) * rest / count
    zmps = adapted.zmp_position + np.exp(-times / ZMP_LAG)[:, None] * (step.zmp_position - adapted.zmp_position)
    weights = ZETA * np.exp(ZETA * (rest - times))[:, None] * rest / count
    swing = np.where(times < adapted.time_left, times, np.nan)[:, None] / adapted.time_left
    way = (adapted.landing.x, adapted.landing.y) - step.swing_position
    accelerations = (6.0 - 12.0 * swing) * way / adapted.time_left**2
    accelerations += (6.0 * swing - 4.0) * step.swing_velocity / adapted.time_left
    zmps = zmps - legs * np.nan_to_num(accelerations)
    reached = math.exp(ZETA * rest) * step.dcm_position - (weights * zmps).sum(axis=0)
    np.testing.assert_allclose(point(step.side, adapted.landing) + adapted.dcm_offset, reached, atol=1e-5)
    assert adapted.zmp_position[0] == pytest.approx(SOLE.x[1] - SOLE_MARGIN, abs=1e-9)
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
    for way, best in (((0.93 * REACH, LEGS.acceleration, LEGS.speed), viable[1, 0] - UPPER[0]),):
        ways = np.minimum(way[0], np.minimum(way[1] * times**2 / 12.0, way[2] * times / 3.0))
        next_dcm = UPPER[0] + growth * best - ways - UPPER[0]
        assert next_dcm.min() == pytest.approx(best, abs=2e-3)
    np.testing.assert_allclose(viable[1, 0] - UPPER[0], LOWER[0] - viable[0, 0], atol=1e-12)


def test_the_first_support_decides_and_the_third_hardly_counts():
    growth = math.exp(ZETA * (0.45 + DOUBLE_SUPPORT))
    weights = (1.0 - 1.0 / growth) / growth ** np.arange(3.0)
    np.testing.assert_allclose(weights, (0.935, 0.061, 0.004), atol=3e-3)


# -- the landing -------------------------------------------------------------------------------------------------------


def moved_by_leg(step, time, landings, legs):
    """By how much the swing to landings moves the DCM at the end, [m], shape (n, 2), by integration."""
    count = 400
    times = (np.arange(count) + 0.5) * time / count
    swing = times[:, None, None] / time
    accelerations = (6.0 - 12.0 * swing) * (landings - step.swing_position) / time**2
    accelerations = accelerations + (6.0 * swing - 4.0) * step.swing_velocity / time
    weights = ZETA * np.exp(ZETA * (time + 0.5 * step.double_support - times)) * time / count
    return legs * np.einsum("t,tnc->nc", weights, accelerations)


def cost_of(step, time, landings, viable, legs=(0.0, 0.0)):
    """Cost of landings of the left stance sole at the origin, shape (n, 2), by the definitions; inf beyond limits."""
    growth, now, commanded = growths(time + 0.5 * step.double_support)
    lower, upper = np.add((SOLE.x[0], SOLE.y[0]), SOLE_MARGIN), np.subtract((SOLE.x[1], SOLE.y[1]), SOLE_MARGIN)
    drift = growth * step.dcm_position - now * np.clip(step.zmp_position, lower, upper)
    drift = drift + (moved_by_leg(step, time, landings, np.array(legs)) if any(legs) else 0.0)
    points = np.add(landings, (PLANNER.zmp_offset[0], -PLANNER.zmp_offset[1]))
    end = np.clip(points + step.dcm_offset, drift - commanded * upper, drift - commanded * lower)
    offset = end - points
    from_sole = offset + points - landings  # y to the other foot, which is the left one
    loss = ((from_sole - np.clip(from_sole, *viable)) ** 2).sum(axis=1)
    way, p, v = landings - step.swing_position, LEGS.acceleration * time**2 / 6.0, step.swing_velocity * time
    lowest, highest = np.maximum(4.0 * v, 2.0 * v) / 6.0 - p, np.minimum(4.0 * v, 2.0 * v) / 6.0 + p
    bound = LEGS.speed * time / 1.5
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


def least_cost(step, viable, legs):
    """The least cost of all landings and times, by a grid that is refined about the best of each time."""
    along, across = np.linspace(-REACH, REACH, 41), np.linspace(-REACH, -WIDTH, 21)
    least, whole = np.inf, np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
    for time in (*np.linspace(step.shortest, step.longest, 25), step.time_left):
        grid, size = whole, REACH / 20.0
        for _ in range(5):
            costs = cost_of(step, time, grid, viable, legs)
            best, least = grid[costs.argmin()], min(least, costs.min())
            part = np.linspace(-1.5 * size, 1.5 * size, 13)
            grid, size = best + np.stack(np.meshgrid(part, part), axis=-1).reshape(-1, 2), 0.25 * size
    return least


@pytest.mark.parametrize(("legs", "count"), [((0.0, 0.0), 60), ((0.007, 0.005), 12)])
def test_no_landing_of_a_search_of_all_costs_less_where_a_step_catches_the_robot(legs, count):
    law = StepAdapter(CONFIG, SOLE, PLANNER.zmp_offset, LEGS, GccCompiler(cache_folder()))
    law.set_leg_momentum(np.array(legs))
    viable, gaps = viable_set(ZETA, DOUBLE_SUPPORT, LOWER, UPPER, LEGS), []
    for step in straight_cases(count, seed=5):
        adapted, least = law.adapt(step), least_cost(step, viable, legs)
        landing = np.array([[adapted.landing.x, adapted.landing.y]])
        mine = cost_of(step, adapted.time_left, landing, viable, legs)[0]
        if least < 1.0:  # beyond, the DCM is lost
            gaps.append((mine - least) / max(least, 1e-2))
    assert len(gaps) > 0.6 * count
    assert np.median(gaps) < 1e-3
    assert np.percentile(gaps, 90) < 0.05
