import numpy as np
import pytest

from gradiva.planner import VelocityCommand, WalkingPlanner
from gradiva.planner.dcm_segments import SwingResponse
from gradiva.planner.footsteps import schedule_gait

from .planning import LEGS, config_of, start_of

PROFILES = ("minimum_jerk", "minimum_acceleration")
STEPS = 400  # of a swing, of the numerical integration


def planned(profile="minimum_jerk", apex=0.5, **changes):
    """Return a configuration, a walk that turns, and the response to its swings."""
    settings = {"leg_momentum": LEGS, "pendulum": {"sinkage": 0.02}, "swing_profile": profile, "apex_fraction": apex}
    config = config_of(**{**settings, **changes})
    plan = WalkingPlanner(config).plan(VelocityCommand(0.2, 0.03, 0.3, duration=3.0), start_of(config))
    return config, plan, SwingResponse.of(plan.phases, config)


def swings_of(plan):
    return [phase for phase in plan.phases if phase.swing is not None]


def integrated_to_lift_off(phase, config):
    """Integrate d' = zeta (d + M a) from zero at touch-down back to lift-off, by Runge and Kutta's rule."""
    swing = phase.swing
    gains = config.leg_momentum.matrix(phase.swing_side, phase.heading_at(0.5 * (swing.start_time + swing.end_time)))
    d, end = np.zeros(2), swing.end_time
    for duration in swing.pieces[::-1]:
        margin = 1e-12 * duration  # what jumps at the ends of a piece belongs to the piece

        def rate(tau, d, end=end, duration=duration, margin=margin):
            time = end - min(max(tau, margin), duration - margin)
            return -config.natural_frequency * (d + gains @ swing.at(time).acceleration[:3])

        h = duration / STEPS
        for tau in h * np.arange(STEPS):
            k1 = rate(tau, d)
            k2 = rate(tau + 0.5 * h, d + 0.5 * h * k1)
            k3 = rate(tau + 0.5 * h, d + 0.5 * h * k2)
            d = d + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(tau + h, d + h * k3))
        end -= duration
    return d


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("apex", [0.35, 0.5])
def test_the_response_is_that_of_a_numerical_integration(profile, apex):
    config, plan, response = planned(profile, apex)
    for phase, at_lift_off in list(zip(swings_of(plan), response.at_lift_off, strict=True))[:3]:
        np.testing.assert_allclose(at_lift_off, integrated_to_lift_off(phase, config), atol=1e-9)
    assert np.abs(response.at_lift_off).max() > 1e-3


@pytest.mark.parametrize(("profile", "jumps"), [("minimum_jerk", False), ("minimum_acceleration", True)])
def test_the_dcm_never_jumps_and_its_velocity_only_with_the_acceleration_of_a_foot(profile, jumps):
    _, plan, _ = planned(profile, apex=0.35)
    gaps = []
    for time in plan.trajectory.starts[1:]:
        (before, *com_before), (after, *com_after) = (plan.trajectory.at(time + shift) for shift in (-1e-10, 1e-10))
        np.testing.assert_allclose(after.position, before.position, atol=1e-9)
        np.testing.assert_allclose(np.concatenate(com_after), np.concatenate(com_before), atol=1e-9)
        gaps.append(np.abs(after.velocity - before.velocity).max())
    assert (max(gaps) > 1e-3) == jumps
    assert max(gaps) < (0.1 if jumps else 1e-8)


def test_a_step_begins_with_what_the_swing_needs_at_lift_off():
    config, plan, response = planned()
    steps = [step.footstep for step in plan.steps]
    schedule = schedule_gait(steps, start_of(config), config.pendulum.first_double_support, config)
    begin = schedule.boundaries[0]
    wait = schedule.lift_offs[1] - begin
    expected = np.exp(-config.natural_frequency * wait) * response.at_lift_off[1]
    np.testing.assert_allclose(response.at_boundaries(schedule)[1], expected, rtol=1e-12)


def test_a_plan_that_knows_of_no_legs_has_no_response():
    _, plan, response = planned(leg_momentum=dict.fromkeys(LEGS, 0.0))
    assert len(response.at_lift_off) == len(swings_of(plan)) > 3
    for quantity in (response.polynomials, response.growth, response.at_lift_off, response.push):
        np.testing.assert_array_equal(quantity, 0.0)
