import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, Side
from gradiva.planner import VelocityCommand, WalkingPlanner

from .planning import LEGS, config_of, start_of, state_vector, times_of

SOFT = {"leg_momentum": LEGS, "swing_profile": "minimum_jerk", "pendulum": {"sinkage": 0.02}}


def pushes_of(plan, config, times):
    """M a of the swinging foot at each time, shape (n, 2)."""
    rows = []
    for time in times:
        phase, reference = plan.phase_at(time), plan.at(time)
        swing = phase.swing
        heading = 0.0 if swing is None else phase.heading_at(0.5 * (swing.start_time + swing.end_time))
        feet = ((side, reference.foot(side)) for side in Side)
        shifts = [config.leg_momentum.matrix(side, heading) @ foot.acceleration[:3] for side, foot in feet]
        rows.append(np.sum(shifts, axis=0))
    return np.array(rows)


def test_legs_and_sunk_soles_make_the_pendulum_slower():
    config = config_of(**SOFT)
    expected = (config.com_height + 0.02) / GRAVITY + 0.0051 + 0.0047
    assert config.natural_frequency == pytest.approx(expected**-0.5, rel=1e-12)
    assert config.inverse_frequency_offset == pytest.approx(0.02 / GRAVITY + 0.0098)


def test_a_foot_that_accelerates_moves_the_zmp_in_the_axes_of_the_heading():
    legs = config_of(**SOFT).leg_momentum
    np.testing.assert_allclose(legs.matrix(Side.LEFT, 0.0), [[0.0051, 0.0, 0.0040], [0.0, 0.0047, 0.0010]])
    np.testing.assert_allclose(legs.matrix(Side.RIGHT, 0.0)[:, 2], [0.0040, -0.0010])
    turned = legs.matrix(Side.LEFT, np.pi / 2.0)
    np.testing.assert_allclose(turned, [[0.0047, 0.0, -0.0010], [0.0, 0.0051, 0.0040]], atol=1e-15)


@pytest.mark.parametrize("profile", ["minimum_jerk", "minimum_acceleration"])
@pytest.mark.parametrize("apex", [0.35, 0.5])
def test_the_zmp_rests_in_the_middle_of_the_sole_although_the_legs_swing(profile, apex):
    config = config_of(**{**SOFT, "swing_profile": profile, "apex_fraction": apex})
    plan = WalkingPlanner(config).plan(VelocityCommand(0.2, 0.03, 0.2, duration=4.0), start_of(config))
    times = times_of(plan, 0.0073)
    swinging = [plan.phase_at(time).swing is not None for time in times]
    zmp = np.array([plan.at(time).dcm.zmp_position for time in times]) + pushes_of(plan, config, times)
    supports = np.array([_support(plan, config, time) for time in times])
    np.testing.assert_allclose(zmp[swinging], supports[swinging], atol=1e-9)
    point = WalkingPlanner(config_of(swing_profile=profile, apex_fraction=apex))
    unaware = point.plan(VelocityCommand(0.2, 0.03, 0.2, duration=4.0), start_of(config))
    moved = np.linalg.norm(pushes_of(unaware, config, times_of(unaware, 0.0073)), axis=1).max()
    assert 0.01 < moved < 0.06


def _support(plan, config, time):
    phase = plan.phase_at(time)
    return phase.foot(phase.stance_foot).pose.zmp_point(phase.stance_foot, config.zmp_offset)


def test_the_com_is_that_of_the_slower_pendulum_and_all_is_continuous():
    config = config_of(**SOFT)
    plan = WalkingPlanner(config).plan(VelocityCommand(0.2, duration=4.0), start_of(config))
    times = times_of(plan, 0.001)
    references = [plan.at(time) for time in times]
    com, velocity = (np.array([getattr(r, f"com_{name}")[:2] for r in references]) for name in ("position", "velocity"))
    dcm = np.array([reference.dcm.position for reference in references])
    np.testing.assert_allclose(dcm, com + velocity / config.natural_frequency, atol=1e-12)
    np.testing.assert_allclose(np.gradient(com, times, axis=0)[1:-1], velocity[1:-1], atol=1e-5)
    assert np.abs(np.diff(dcm, axis=0)).max() < 1e-3
    np.testing.assert_allclose(references[-1].dcm.velocity, 0.0, atol=1e-9)


def test_a_replan_goes_on_where_the_plan_was():
    config = config_of(**SOFT)
    planner = WalkingPlanner(config)
    plan = planner.plan(VelocityCommand(0.15, duration=6.0), start_of(config))
    new = planner.replan(plan, VelocityCommand(0.2, 0.0, 0.2, duration=4.0), 2.0)
    merge = next(step.touch_down for step in plan.steps if step.touch_down > 2.0)
    left, right = (state_vector(new.at(merge + k * 1e-8)) for k in (-1, 1))
    np.testing.assert_allclose(left, right, atol=2e-6)


def test_a_height_that_varies_is_not_planned_for_legs():
    with pytest.raises(ConfigError, match="varying height includes neither the momentum of the legs nor sinking soles"):
        config_of(pendulum={"com_height_amplitude": 0.01, "sinkage": 0.02})


def test_negative_legs_are_refused():
    with pytest.raises(ConfigError, match=r"lateral=-0\.1, must not be negative"):
        config_of(leg_momentum={"lateral": -0.1})


def test_lifting_legs_alone_are_refused():
    with pytest.raises(ConfigError, match=r"forward_lift=0\.004, outward_lift=0\.0: .* set all four, or none"):
        config_of(leg_momentum={"forward_lift": 0.004})


def test_soles_that_rise_under_load_are_refused():
    with pytest.raises(ConfigError, match=r"sinkage=-0\.01"):
        config_of(pendulum={"sinkage": -0.01})
