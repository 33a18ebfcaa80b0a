import numpy as np
import pytest

from gradiva.common import GRAVITY, Side
from gradiva.planner import FootPose, VelocityCommand, WalkingPlanner
from gradiva.planner.contact_phases import contact_phases
from gradiva.planner.dcm_segments import SwingResponse
from gradiva.planner.dcm_trajectory import PendulumTrajectory
from gradiva.planner.footsteps import Footstep, schedule_gait
from gradiva.planner.swing_foot import StandingFoot
from gradiva.planner.unicycle import UnicycleState
from gradiva.planner.varying_height_trajectory import VaryingHeightTrajectory

from .planning import config_of, start_of, times_of

BOTH = [0.0, 0.012]


def plan_of(amplitude=0.0, command=None):
    config = config_of(pendulum={"com_height_amplitude": amplitude})
    command = VelocityCommand(0.2, 0.05, 0.2, duration=6.0) if command is None else command
    return WalkingPlanner(config).plan(command, start_of(config))


def three_steps(config):
    rest = UnicycleState(0.0, 0.0, 0.0)
    poses = [(Side.LEFT, 0.1, 0.08), (Side.RIGHT, 0.2, -0.08), (Side.LEFT, 0.2, 0.08)]
    return [Footstep(side, FootPose(x, y, 0.0), 0.8, rest) for side, x, y in poses]


def trajectory_of(schedule, start, config):
    feet = {side: StandingFoot(start.foot(side)) for side in Side}
    phases = contact_phases(schedule, feet, Side.RIGHT, config)
    return PendulumTrajectory.plan(schedule, start, config, SwingResponse.of(phases, config))


def test_the_steps_are_on_the_clock():
    durations = {
        "pendulum": {"first_double_support": 1.0, "last_double_support": 0.7},
        "footsteps": {"double_support_ratio": 0.25},
    }
    config = config_of(**durations, zmp_offset=[0.03, -0.005])
    schedule = schedule_gait(three_steps(config), start_of(config, time=5.0), 1.0, config)
    np.testing.assert_allclose(schedule.lift_offs, [6.0, 6.8, 7.6])
    np.testing.assert_allclose(schedule.touch_downs, [6.64, 7.44, 8.24])
    np.testing.assert_allclose(schedule.boundaries, [6.72, 7.52, 8.32])
    assert schedule.end_time == pytest.approx(8.94)
    np.testing.assert_allclose(schedule.phase_times, [5.0, 6.0, 6.64, 6.8, 7.44, 7.6, 8.24, 8.94])
    np.testing.assert_allclose(schedule.supports, [[0.03, -0.075], [0.13, 0.075], [0.23, -0.075]])
    np.testing.assert_allclose(schedule.middle, [0.23, 0.0], atol=1e-15)


def test_the_recursion_passes_the_boundaries_and_ends_with_its_share_of_the_last_step():
    config = config_of()
    start = start_of(config)
    schedule = schedule_gait(three_steps(config), start, 0.8, config)
    zeta = config.natural_frequency
    trajectory = trajectory_of(schedule, start, config)
    for i, support in enumerate(schedule.supports):
        dcm = trajectory.at(schedule.touch_downs[i] - 1e-12)[0]
        np.testing.assert_allclose(dcm.zmp_position, support, atol=1e-9)
        end = support + np.exp(zeta * (schedule.boundaries[i] - schedule.touch_downs[i])) * (dcm.position - support)
        if i + 1 < len(schedule.supports):
            following = trajectory.at(schedule.lift_offs[i + 1])[0].position - schedule.supports[i + 1]
            back = np.exp(-zeta * (schedule.lift_offs[i + 1] - schedule.boundaries[i]))
            np.testing.assert_allclose(end, schedule.supports[i + 1] + back * following, atol=1e-9)
        else:
            np.testing.assert_allclose(end, 0.2 * schedule.last_landing + 0.8 * support, atol=1e-9)


@pytest.mark.parametrize("amplitude", BOTH)
def test_it_starts_at_the_given_state_and_ends_at_rest_between_the_feet(amplitude):
    plan, config = plan_of(amplitude), config_of()
    first, last, later = plan.at(plan.start_time), plan.at(plan.end_time), plan.at(plan.end_time + 100.0)
    np.testing.assert_allclose(first.dcm.position, [config.zmp_offset[0], 0.0], atol=1e-12)
    np.testing.assert_allclose(first.dcm.velocity, 0.0, atol=1e-12)
    np.testing.assert_allclose(first.com_position, [config.zmp_offset[0], 0.0, config.com_height], atol=1e-12)
    np.testing.assert_allclose(last.dcm.velocity, 0.0, atol=1e-9)
    feet = {step.side: step.pose.zmp_point(step.side, config.zmp_offset) for step in plan.footsteps[-2:]}
    np.testing.assert_allclose(last.dcm.position, 0.5 * (feet[Side.LEFT] + feet[Side.RIGHT]), atol=1e-9)
    np.testing.assert_allclose(later.com_position[:2], last.dcm.position, atol=1e-7)
    np.testing.assert_allclose(later.com_velocity, 0.0, atol=1e-6)


@pytest.mark.parametrize("amplitude", BOTH)
def test_velocities_are_derivatives_and_the_com_follows_the_dcm(amplitude):
    plan, step = plan_of(amplitude), 1e-5
    for time in np.random.default_rng(3).uniform(plan.start_time, plan.end_time, 200):
        before, reference, after = (plan.trajectory.at(time + k * step) for k in (-1, 0, 1))
        dcm, com, velocity = reference
        np.testing.assert_allclose(dcm.velocity, (after[0].position - before[0].position) / (2 * step), atol=2e-4)
        np.testing.assert_allclose(velocity, (after[1] - before[1]) / (2 * step), atol=2e-4)
        np.testing.assert_allclose(velocity[:2], dcm.natural_frequency * (dcm.position - com[:2]), atol=5e-6)


@pytest.mark.parametrize("amplitude", BOTH)
def test_accelerations_are_derivatives_of_the_velocities(amplitude):
    plan, step = plan_of(amplitude), 1e-6
    for planned in plan.steps:
        for time in (planned.lift_off + 0.0123, planned.touch_down - 0.0456, planned.touch_down + 0.0234):
            before, (dcm, _, _), after = (plan.trajectory.at(time + k * step) for k in (-1, 0, 1))
            np.testing.assert_allclose(
                dcm.acceleration, (after[0].velocity - before[0].velocity) / (2 * step), atol=1e-3
            )
            if amplitude == 0.0:
                moved = after[0].zmp_position - before[0].zmp_position
                np.testing.assert_allclose(dcm.zmp_velocity, moved / (2 * step), atol=1e-6)


@pytest.mark.parametrize("amplitude", BOTH)
def test_the_zmp_is_continuous(amplitude):
    plan = plan_of(amplitude)
    for phase in plan.phases[1:]:
        before, after = (plan.at(phase.start_time + k * 1e-8).dcm for k in (-1, 1))
        np.testing.assert_allclose(before.position, after.position, atol=1e-7)
        np.testing.assert_allclose(before.zmp_position, after.zmp_position, atol=1e-6)


def test_in_single_support_the_zmp_rests_at_its_offset_in_the_stance_foot():
    plan, offset = plan_of(), config_of().zmp_offset
    for step in plan.steps:
        reference = plan.at(0.5 * (step.lift_off + step.touch_down))
        stance = step.footstep.side.other
        foot = reference.foot(stance)
        expected = foot.position + foot.rotation @ [offset[0], stance.sign * offset[1], 0.0]
        np.testing.assert_allclose(reference.dcm.zmp_position, expected[:2], atol=1e-9)


def test_a_vanishing_amplitude_gives_the_closed_form():
    config = config_of()
    start = start_of(config)
    schedule = schedule_gait(three_steps(config), start, 0.8, config)
    exact = trajectory_of(schedule, start, config)
    grid = VaryingHeightTrajectory.plan(schedule, start, config)
    for time in np.linspace(0.0, schedule.end_time + 1.0, 333):
        (dcm, com, velocity), (dcm_grid, com_grid, velocity_grid) = exact.at(time), grid.at(time)
        np.testing.assert_allclose(dcm_grid.position, dcm.position, atol=1e-7)
        np.testing.assert_allclose(dcm_grid.velocity, dcm.velocity, atol=1e-4)
        np.testing.assert_allclose(com_grid, com, atol=1e-7)
        np.testing.assert_allclose(velocity_grid, velocity, atol=1e-5)
        assert dcm_grid.divergence_rate == pytest.approx(config.natural_frequency, abs=1e-6)


def test_with_varying_height_the_pendulum_is_pushed_away_from_the_zmp():
    config = config_of(pendulum={"com_height_amplitude": 0.012})
    plan, step = plan_of(0.012), 1e-4
    checked = 0
    for planned in plan.steps:
        time = planned.lift_off + 0.4 * (planned.touch_down - planned.lift_off)
        before, (dcm, com, _), after = (plan.trajectory.at(time + k * step) for k in (-1, 0, 1))
        acceleration = (after[2] - before[2]) / (2 * step)
        square = (GRAVITY + acceleration[2]) / com[2]
        np.testing.assert_allclose(acceleration[:2], square * (com[:2] - dcm.zmp_position), atol=5e-3)
        assert com[2] > config.com_height + 0.01
        assert abs(dcm.divergence_rate - dcm.natural_frequency) > 1e-3
        checked += 1
    assert checked == len(plan.steps) > 3


@pytest.mark.parametrize("amplitude", BOTH)
def test_sampling_many_times_gives_the_same_as_one_by_one(amplitude):
    plan = plan_of(amplitude)
    times = times_of(plan, 0.037)
    dcm, rates = plan.trajectory.sampled(times)
    one_by_one = [plan.at(time).dcm for time in times]
    np.testing.assert_allclose(dcm, [sample.position for sample in one_by_one], atol=1e-12)
    np.testing.assert_allclose(rates, [sample.divergence_rate for sample in one_by_one], atol=1e-9)
