"""Compensation: layer 2 and the steps see a push that lasts, and a foot whose sensor is not trusted, as a pendulum."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, NDArray, Side, altered, low_pass_gain
from gradiva.planner import VelocityCommand
from gradiva.push_recovery import PushCompensation, SidewaysCompensation, ZmpWithoutFoot
from gradiva.setup import load_setup
from gradiva.simplified_model import LinearInvertedPendulum
from gradiva.simulated_walk import plan_from_start
from tests.yarp_modules.made_up_state import state_near

PENDULUM = LinearInvertedPendulum(com_height=0.53)
PLAN = plan_from_start(load_setup("icub_v2_7"), VelocityCommand(0.1, duration=4.0))


def pushed_at(time, wrench):
    """Return reference and state at a time of a walk, with an external wrench."""
    reference = PLAN.at(time)
    return reference, altered(state_near(reference, 1, 0), external_wrench=np.array(wrench))


@pytest.mark.parametrize("dead_band", [0.0, 0.01])
def test_compensation_shifts_com_and_dcm_by_the_offset_less_the_dead_band(dead_band):
    reference, state = pushed_at(0.0, [0.0, 40.0, 5.0, 0.0, 0.0, 1.0])
    compensation = PushCompensation(PENDULUM, 52.0, dead_band)
    shifted, offset = compensation.compensated(state, reference), 40.0 * 0.53 / (52.0 * GRAVITY) - dead_band
    np.testing.assert_allclose(shifted.dcm_position - state.dcm_position, [0.0, offset], atol=1e-12)
    np.testing.assert_allclose(shifted.com_position - state.com_position, [0.0, offset, 0.0], atol=1e-12)
    assert shifted.external_wrench is None
    assert compensation.compensated(shifted, reference) is shifted
    weak = altered(state, external_wrench=1e-3 * state.external_wrench)
    moved = compensation.compensated(weak, reference).dcm_position - state.dcm_position
    assert np.linalg.norm(moved) == pytest.approx(0.0 if dead_band else 1e-3 * offset)


def test_the_part_of_a_sideways_push_that_is_compensated_and_the_rest_of_its_wrench_add_up_to_it():
    swing = next(step for step in PLAN.steps[2:] if step.footstep.side is Side.RIGHT)  # towards it
    time = 0.5 * (swing.lift_off + swing.touch_down)
    reference, state = pushed_at(time, [10.0, -40.0, 5.0, 6.4, 1.6, 1.0])  # 16 cm above the CoM
    shifted = SidewaysCompensation(PENDULUM, 52.0, 0.005, 0.015).compensated(state, reference)
    offset = -40.0 * (0.53 + 0.16) / (52.0 * GRAVITY) + 0.005
    np.testing.assert_allclose(shifted.dcm_position - state.dcm_position, [0.0, offset], atol=1e-12)
    np.testing.assert_allclose(shifted.com_position - state.com_position, [0.0, offset, 0.0], atol=1e-12)
    rest = PENDULUM.wrench_offset(shifted.external_wrench, 52.0)
    whole = PENDULUM.wrench_offset(state.external_wrench, 52.0)
    np.testing.assert_allclose(rest + np.array([0.0, offset]), whole, atol=1e-12)
    np.testing.assert_array_equal(shifted.external_wrench[[0, 2, 4, 5]], state.external_wrench[[0, 2, 4, 5]])


def test_a_push_ahead_and_one_away_from_the_swinging_foot_are_the_law_s_until_they_end():
    swing = next(step for step in PLAN.steps[2:] if step.footstep.side is Side.RIGHT)
    flight, landed = 0.5 * (swing.lift_off + swing.touch_down), swing.touch_down + 0.01
    compensation = SidewaysCompensation(PENDULUM, 52.0, 0.005, 0.015)

    def shift(time, *force):
        reference, state = pushed_at(time, [*force, 0.0, 0.0, 0.0, 0.0])
        return compensation.compensated(state, reference).dcm_position[1] - state.dcm_position[1]

    for force in ((40.0, -10.0), (0.0, 40.0)):
        assert shift(flight, *force) == 0.0
        assert shift(landed, 0.0, 40.0) == 0.0  # it lasts
        assert shift(landed, 0.0, 5.0) == 0.0  # it has ended
    assert shift(landed, 0.0, 40.0) > 0.03
    assert shift(flight, 0.0, 40.0) > 0.03  # it lasts
    assert shift(landed, 0.0, 10.0) > 0.005  # as long as half of what began it is left
    assert shift(landed, 0.0, 5.0) == shift(landed, 0.0, 10.0) == 0.0
    compensation.reset()
    assert shift(flight, 0.0, 40.0) == 0.0


@dataclass(frozen=True)
class OnRightFoot:
    """State of a robot of 500 N on its right foot at the origin, with its centre of pressure at x."""

    x: float
    zmp_position: NDArray
    zmp_is_measured: bool = True
    zmp_lag: float = 0.02
    zmp_completion: NDArray = field(default_factory=lambda: np.zeros(2))
    zmp_lead: NDArray = field(default_factory=lambda: np.zeros(2))
    left_foot_wrench: NDArray | None = None
    right_foot_wrench: NDArray | None = None
    load: float = 500.0

    def foot_position(self, side):
        return np.zeros(3)

    def foot_wrench(self, side):
        load = self.load * (side is Side.RIGHT)
        return np.array([0.0, 0.0, load, 0.0, -self.x * load, 0.0])


def swinging_reference(swing):
    return SimpleNamespace(
        foot=lambda side: SimpleNamespace(
            in_contact=side is not swing,
            position=np.zeros(3),
            rotation=np.eye(3),
            pose=SimpleNamespace(zmp_point=lambda *_: np.zeros(2)),
        ),
        dcm=SimpleNamespace(zmp_position=np.array([0.3, -0.1])),
    )


def test_the_zmp_without_a_foot_is_damped_as_the_estimated_one_and_begins_there():
    time_constant, period, start = 0.12, 0.01, np.array([0.01, 0.0])
    fallback = ZmpWithoutFoot(500.0, (0.0, 0.0), 20.0)
    reference = swinging_reference(Side.LEFT)
    zmps = []
    for tick in range(600):
        state = OnRightFoot(0.05 * (-1.0) ** tick, start, zmp_lag=time_constant)
        zmps.append(fallback.corrected(state, reference, {Side.LEFT}, start, period).zmp_position[0])
    gain = low_pass_gain(time_constant, period)
    assert zmps[0] == pytest.approx(0.01 + gain * 0.04)
    np.testing.assert_allclose(
        np.abs(zmps[-2:]), 0.05 * gain / (2.0 - gain), rtol=1e-9
    )  # at half the rate of the ticks


def test_the_zmp_without_a_foot_is_that_of_the_estimator_whatever_completes_it_and_lags():
    """Wrenches age while the estimator knows both feet; the fallback, which sees the same load, has the same ZMP."""
    fallback, began = ZmpWithoutFoot(500.0, (0.0, 0.0), 20.0), np.array([0.01, 0.0])
    leads = [np.array([0.003 * tick, 0.001]) for tick in range(4)]
    last = began - leads[0]
    for tick, lag in enumerate((0.02, 0.12, 0.12, 0.03)):
        completion = np.array([0.004 * tick, -0.002])
        last = last + low_pass_gain(lag, 0.01) * (np.array([0.05, 0.0]) + completion - last)
        state = OnRightFoot(0.05, last, zmp_lag=lag, zmp_completion=completion, zmp_lead=leads[tick])
        found = fallback.corrected(state, swinging_reference(Side.LEFT), {Side.LEFT}, began, 0.01)
        np.testing.assert_allclose(found.zmp_position, last + leads[tick], atol=1e-15)


def test_the_zmp_is_unknown_while_the_robot_stands_on_the_foot_that_is_not_trusted():
    fallback = ZmpWithoutFoot(500.0, (0.0, 0.0), 20.0)
    state = OnRightFoot(0.05, np.zeros(2))
    lost = fallback.corrected(state, swinging_reference(Side.LEFT), {Side.RIGHT}, None, 0.01)
    assert not lost.zmp_is_measured
    np.testing.assert_array_equal(lost.zmp_position, [0.3, -0.1])  # that of the reference, not the last one measured
    found = fallback.corrected(state, swinging_reference(None), {Side.LEFT}, None, 0.01)
    np.testing.assert_allclose(found.zmp_position, [0.05, 0.0], atol=1e-12)  # all weight on the right foot


def test_a_foot_without_a_sensor_carries_what_the_other_one_does_not_where_it_stands():
    fallback, state = ZmpWithoutFoot(500.0, (0.0, 0.0), 20.0), OnRightFoot(0.05, np.zeros(2), load=300.0)
    for swing, carried in ((None, 200.0), (Side.LEFT, 0.0)):
        seen = fallback.corrected(state, swinging_reference(swing), {Side.LEFT}, None, 0.01)
        np.testing.assert_array_equal(seen.left_foot_wrench, [0.0, 0.0, carried, 0.0, 0.0, 0.0])
        assert seen.right_foot_wrench is state.right_foot_wrench
