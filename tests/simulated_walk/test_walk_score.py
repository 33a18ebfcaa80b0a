"""Figures of a walk: tracking errors, distances, speeds."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simulated_walk import plan_from_start, score
from gradiva.simulated_walk.walk_score import (
    landing_force,
    landing_score,
    specific_energetic_cost,
    steps_of,
    walked_path,
    with_freeze,
)
from gradiva.telemetry import SignalLog
from tests.simulated_walk.synthetic_walk import DOUBLE_SUPPORT, SPEED, START, STEP_TIME, STOP, walk_log


def test_a_walk_without_error_scores_zero_and_its_own_speed():
    figures = score(walk_log())
    for name in ("com_error_m", "dcm_error_m", "zmp_error_m", "foot_error_m"):
        assert figures[name] == {"rms": 0.0, "max": 0.0}
    assert figures["distance_m"] == pytest.approx(SPEED * (STOP - START), abs=0.003)
    assert figures["mean_speed_mps"] == pytest.approx(SPEED, abs=0.001)
    stepping = STOP - START - DOUBLE_SUPPORT * STEP_TIME  # of what is walked, the first weight shift is none of it
    assert figures["walking_speed_mps"] == pytest.approx(figures["distance_m"] / stepping, rel=0.002)
    assert figures["peak_speed_mps"] == figures["walking_speed_mps"]  # which does not count the first weight shift
    assert figures["odometry_drift_m"] == 0.0
    assert figures["max_tilt_rad"] == 0.0
    assert figures["tick_us"]["total"] == {"median": 100.0, "p99": 100.0, "max": 100.0}


def test_the_longest_tick_is_that_of_the_plot_whenever_it_was():
    log = walk_log(tick__total=lambda times: np.where(times < 0.05, 15e3, 0.0))
    assert score(log)["tick_us"]["total"]["max"] == log["tick::total"].max() == 15.1e3


def test_an_error_is_measured_as_a_distance():
    figures = score(walk_log(dcm__position__measured=lambda times: np.array([0.03, -0.04])))
    assert figures["dcm_error_m"] == pytest.approx({"rms": 0.05, "max": 0.05})
    assert figures["com_error_m"] == {"rms": 0.0, "max": 0.0}


def test_the_foot_error_is_horizontal():
    figures = score(walk_log(left_foot__position__measured=lambda times: np.array([0.003, -0.004, -0.03])))
    assert figures["foot_error_m"]["max"] == pytest.approx(0.005)


def test_a_turned_foot_is_measured_in_yaw_by_the_shorter_way():
    turn = 2.0 * np.pi - 0.1
    figures = score(walk_log(right_foot__orientation__measured=lambda times: np.array([0.2, -0.3, turn])))
    assert figures["foot_yaw_error_rad"] == pytest.approx({"rms": 0.1 / np.sqrt(2.0), "max": 0.1})


def test_sinkage_and_tilt_are_the_largest_of_the_feet_that_carry_load():
    def loaded_late(times):
        return np.where(times > 5.0, 0.02, np.nan)[:, None]

    feet = {f"simulation__{side}_foot__sinkage": loaded_late for side in ("left", "right")}
    tilts = {"simulation__left_foot__tilt": lambda times: 0.1, "simulation__right_foot__tilt": lambda times: 0.3}
    figures = score(walk_log(**feet, **tilts))
    assert (figures["sinkage_m"], figures["foot_tilt_rad"]) == (pytest.approx(0.02), pytest.approx(0.3))


def test_without_truth_of_the_soles_nothing_is_said_of_them():
    whole = walk_log()
    log = SignalLog.from_arrays(
        whole.times, {name: whole[name] for name in whole if not name.endswith(("::sinkage", "::tilt"))}
    )
    assert (score(log)["sinkage_m"], score(log)["foot_tilt_rad"]) == (None, None)


@pytest.mark.parametrize("log", [walk_log(), SignalLog()])
def test_a_walk_without_an_adapted_step_has_none_of_them_where_step_adaptation_is_on(log):
    assert score(log)["adapted_steps"] is None
    assert score(log, adapts_steps=True)["adapted_steps"] == 0


@pytest.mark.parametrize(("when", "counts"), [(0.5, False), (START + 1.0, True), (STOP + 1.0, True), (12.5, False)])
def test_errors_count_from_the_first_weight_shift_until_two_seconds_after_the_last(when, counts):
    def bump(times):
        return 0.1 * (np.abs(times - when) < 0.05)[:, None]

    assert (score(walk_log(zmp__measured=bump))["zmp_error_m"]["max"] > 0.0) is counts


def test_drift_is_what_truth_and_estimate_part_by():
    def slip(times):
        return np.column_stack([0.01 * (times > 5.0), 0 * times, 0 * times])

    assert score(walk_log(simulation__root_link__position=slip))["odometry_drift_m"] == pytest.approx(0.01)


def test_tilt_is_counted_from_the_start():
    def lean(times):
        return np.column_stack([0 * times, 0.1 + 0.05 * (times > 5.0), 0 * times])

    assert score(walk_log(simulation__root_link__orientation=lean))["max_tilt_rad"] == pytest.approx(0.05)


def test_a_log_without_walking_is_scored_as_a_whole():
    figures = score(walk_log(duration=0.9, dcm__position__measured=lambda times: np.array([0.0, 0.02])))
    assert figures["dcm_error_m"]["max"] == pytest.approx(0.02)
    assert figures["mean_speed_mps"] == 0.0


def test_a_walk_that_ends_as_it_begins_has_no_speed():
    begins = walk_log(walking__is_walking=lambda times: (times == times[150]).astype(float)[:, None])
    assert score(begins)["mean_speed_mps"] == 0.0


def test_an_empty_log_has_no_figures():
    figures = score(SignalLog())
    assert figures["distance_m"] == 0.0
    assert figures["dcm_error_m"] == {"rms": None, "max": None}
    assert figures.keys() == score(walk_log()).keys()


def test_the_cost_is_energy_per_mass_and_distance():
    assert specific_energetic_cost(300.0, 30.0, 2.0) == 5.0


def test_a_robot_that_went_nowhere_has_no_cost_of_transport():
    assert specific_energetic_cost(300.0, 30.0, 0.01) is None


PERIOD = 0.01  # [s]
WHOLE = slice(None)


@pytest.fixture(scope="module")
def setup():
    return load_setup("icub_v2_7")


def walked_as_planned(setup, end=math.inf, **velocity):
    """Return the log of a robot whose feet go where the plan has them, and the plan."""
    plan = plan_from_start(setup, VelocityCommand(**velocity))
    samples = [plan.at(time) for time in np.arange(plan.start_time, min(plan.end_time + 2.0, end), PERIOD)]
    signals = {"walking::is_double_support": np.array([float(sample.is_double_support) for sample in samples])}
    for side in Side:
        feet = [sample.foot(side) for sample in samples]
        signals[f"simulation::{side}_foot::position"] = np.array([foot.position for foot in feet])
        signals[f"simulation::{side}_foot::orientation"] = np.array(
            [so3.roll_pitch_yaw(foot.rotation) for foot in feet]
        )
    return SignalLog.from_arrays([sample.time for sample in samples], signals), plan


def middle_of_feet(plan, time):
    return 0.5 * sum(plan.at(time).foot(side).position for side in Side)[:2]


def test_a_straight_walk_is_as_long_as_from_its_start_to_its_end(setup):
    log, plan = walked_as_planned(setup, forward=0.19, duration=8.0)
    path = walked_path(log, WHOLE)
    assert path.length == pytest.approx(middle_of_feet(plan, plan.end_time)[0], abs=1e-9)
    assert path.length > 0.8
    assert path.peak_speed == pytest.approx(0.19, rel=0.01)
    assert path.stepping_time == pytest.approx(plan.steps[-1].touch_down - plan.steps[0].lift_off, abs=2 * PERIOD)


@pytest.mark.parametrize("forward", [0.02, -0.1])
def test_a_slow_walk_and_one_backward_are_no_longer(setup, forward):
    log, plan = walked_as_planned(setup, forward=forward, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(abs(middle_of_feet(plan, plan.end_time)[0]), abs=1e-9)


def test_a_walk_to_the_side_is_as_long_as_to_its_end(setup):
    log, plan = walked_as_planned(setup, forward=0.0, lateral=0.05, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(middle_of_feet(plan, plan.end_time)[1], abs=1e-9)


def test_a_curve_is_as_long_as_its_arc(setup):
    turn = math.radians(20.0)
    log, plan = walked_as_planned(setup, forward=0.2, angular=turn, duration=8.0)
    end = plan.at(plan.end_time).foot(Side.LEFT).rotation
    heading = so3.yaw(end) % (2.0 * math.pi)
    assert heading > 2.0
    assert walked_path(log, WHOLE).length == pytest.approx(0.2 / turn * heading, rel=0.01)


def test_turning_on_the_spot_leads_nowhere(setup):
    log, _ = walked_as_planned(setup, forward=0.0, angular=math.radians(20.0), duration=10.0)
    path = walked_path(log, WHOLE)
    assert path.length < 0.02
    assert path.peak_speed < 0.02


def test_stepping_on_the_spot_leads_nowhere(setup):
    log, _ = walked_as_planned(setup, forward=0.0, duration=4.0)
    assert walked_path(log, WHOLE).length == pytest.approx(0.0, abs=1e-12)


def test_a_step_that_was_not_ended_does_not_count(setup):
    _, plan = walked_as_planned(setup, forward=0.19, duration=6.0)
    in_the_air = plan.steps[2]
    end = 0.5 * (in_the_air.lift_off + in_the_air.touch_down)
    log, _ = walked_as_planned(setup, end=end, forward=0.19, duration=6.0)
    assert walked_path(log, WHOLE).length == pytest.approx(middle_of_feet(plan, in_the_air.lift_off)[0], abs=1e-9)


def test_a_step_aside_of_a_robot_that_falls_makes_no_walk_faster_than_its_fastest_stride(setup):
    _, plan = walked_as_planned(setup, forward=0.19, duration=6.0)
    log, _ = walked_as_planned(setup, end=plan.steps[2].touch_down + 0.1, forward=0.19, duration=6.0)
    signals = {name: log[name] for name in log}
    late = np.outer(log.times >= plan.steps[2].touch_down - PERIOD, [1.0, 1.0, 0.0])
    for side in Side:
        signals[f"simulation::{side}_foot::position"] = log[f"simulation::{side}_foot::position"] + 0.3 * late
    path = walked_path(SignalLog.from_arrays(log.times, signals), WHOLE)
    assert path.length > 0.4
    assert path.peak_speed >= path.length / path.stepping_time
    signals["simulation::root_link::orientation"] = 0.4 * late
    fallen = walked_path(SignalLog.from_arrays(log.times, signals), WHOLE)
    upright = middle_of_feet(plan, 0.5 * (plan.steps[1].touch_down + plan.steps[2].lift_off))[0]
    assert fallen.length == pytest.approx(upright, abs=1e-9)
    assert fallen.stepping_time == pytest.approx(plan.steps[1].touch_down - plan.steps[0].lift_off, abs=2 * PERIOD)


def test_a_robot_that_stood_has_no_path(setup):
    log, _ = walked_as_planned(setup, end=0.05, forward=0.19, duration=6.0)
    path = walked_path(log, WHOLE)
    assert (path.length, path.peak_speed) == (0.0, 0.0)


def bending_log(estimated=None, shift=(0.0, 0.0, 0.0), turn=0.0, error=(0.0, 0.0, 0.0)):
    """A walk of a robot with two flexible joints, its world moved and turned, its true CoM off by ``error``."""
    whole = walk_log()
    signals = {name: whole[name].copy() for name in whole}
    rotation = so3.rotation_z(turn)
    for side in Side:
        signals[f"simulation::{side}_foot::position"] = whole[f"{side}_foot::position::desired"] @ rotation.T + shift
        signals[f"simulation::{side}_foot::orientation"] = whole[f"{side}_foot::orientation::desired"] + [
            0.0,
            0.0,
            turn,
        ]
    signals["simulation::com::position"] = (whole["com::position::desired"] + error) @ rotation.T + shift
    signals["simulation::flexible_joints::positions"] = np.tile([0.01, -0.03], (len(whole), 1))
    if estimated is not None:
        signals["flexible_joints::positions::estimated"] = np.full((len(whole), 1), estimated)
    log = SignalLog.from_arrays(whole.times, signals)
    log.describe("simulation::flexible_joints::positions", ("roll", "pitch"), "rad")
    log.describe("flexible_joints::positions::estimated", ("pitch",), "rad")
    return log


def test_the_true_com_is_seen_from_the_stance_sole_wherever_the_world_is():
    figures = score(bending_log(shift=(4.0, -2.0, 0.0), turn=0.7, error=(0.003, -0.004, 0.0)))["flexible_joints"]
    assert figures["true_com_error_m"] == pytest.approx({"rms": 0.005, "max": 0.005})
    assert figures["deflection_rad"] == 0.03
    assert figures["deflection_error_rad"] is None
    assert score(walk_log())["flexible_joints"] is None


def test_observed_deflections_are_compared_by_the_names_of_their_joints():
    figures = score(bending_log(estimated=-0.028))["flexible_joints"]
    assert figures["deflection_error_rad"] == pytest.approx({"rms": 0.002, "max": 0.002})
    elsewhere = bending_log(estimated=-0.028)
    elsewhere.describe("flexible_joints::positions::estimated", ("of a joint that does not bend",), "rad")
    assert score(elsewhere)["flexible_joints"]["deflection_error_rad"] is None


def stepping(places):
    """Return a log in which the feet stand at each of ``places``, left and right, and swing in between."""
    rows = np.repeat(np.array(places, dtype=float), 4, axis=0)
    support = np.tile([1.0, 1.0, 1.0, 0.0], len(places))
    support[-1] = 1.0
    feet = {}
    for side, x in zip(Side, rows.T, strict=True):
        feet[f"{side}_foot::position::desired"] = np.column_stack((x, 0.0 * x, 0.0 * x))
        feet[f"{side}_foot::orientation::desired"] = np.zeros((len(x), 3))
    return SignalLog.from_arrays(0.1 * np.arange(len(rows)), {"walking::is_double_support": support, **feet})


def test_steps_are_counted_as_they_ended_and_those_on_the_spot_apart():
    assert steps_of(stepping([(0.0, 0.0), (0.0, 0.1), (0.2, 0.1), (0.2, 0.2), (0.2, 0.2)])) == (4, 1)
    assert steps_of(SignalLog()) == (0, 0)


def adapted(tilt):
    """Return a walk whose step from 3 s on was moved by 50 mm, and that from 5 s on by 600 mm; then it tilts so."""

    def foothold(y):
        def of(times):
            values = np.full((len(times), 3), np.nan)
            for begin, move in ((3.0, 0.05), (5.0, 0.6)):
                values[(times >= begin) & (times < begin + 0.4)] = [0.2, y * move, 0.0]
            return values

        return of

    log = walk_log()
    times = log.times
    signals = {name: log[name] for name in log}
    signals["step_adaptation::nominal_foothold"] = foothold(0.0)(times)
    signals["step_adaptation::adapted_foothold"] = foothold(1.0)(times)
    signals["step_adaptation::is_active"] = ((times >= 3.0) & (times < 3.4))[:, None].astype(float)
    signals["step_adaptation::delay"] = np.where((times >= 3.0) & (times < 3.4), -0.11, 0.0)[:, None]
    signals["simulation::root_link::orientation"] = np.outer(times >= 5.35, [tilt, 0.0, 0.0])
    return SignalLog.from_arrays(times, signals)


@pytest.mark.parametrize(("tilt", "change", "when"), [(0.1, 0.6, 5.0), (0.5, 0.05, 3.0)])
def test_a_foot_of_a_robot_that_falls_counts_but_makes_no_largest_change_which_says_of_which_step_it_is(
    tilt, change, when
):
    figures = score(adapted(tilt), adapts_steps=True)
    assert (figures["step_adaptation_active_s"], figures["adapted_steps"]) == (pytest.approx(0.4), 2)
    assert (figures["largest_step_change_m"], figures["largest_step_change_at_s"]) == pytest.approx((change, when))
    assert (figures["largest_step_delay_s"], figures["largest_step_delay_at_s"]) == pytest.approx((-0.11, 3.0))


def test_steps_that_were_changed_and_never_came_down_are_counted_without_a_largest_change():
    log = adapted(0.5)
    orientation = np.tile([0.5, 0.0, 0.0], (len(log), 1))
    falling = {name: log[name] for name in log} | {"simulation::root_link::orientation": orientation}
    figures = score(SignalLog.from_arrays(log.times, falling), adapts_steps=True)
    assert (figures["adapted_steps"], figures["largest_step_change_m"], figures["largest_step_delay_s"]) == (
        2,
        None,
        None,
    )


def test_a_step_that_was_moved_and_not_delayed_has_no_time_of_a_delay():
    log = adapted(0.1)
    signals = {name: log[name] for name in log} | {"step_adaptation::delay": np.full((len(log), 1), 1e-6)}
    figures = score(SignalLog.from_arrays(log.times, signals), adapts_steps=True)
    assert (figures["largest_step_change_at_s"], figures["largest_step_delay_at_s"]) == (pytest.approx(5.0), None)


def test_the_tick_that_froze_the_robot_counts_though_it_is_not_in_the_log():
    figures = {"com_error_m": {"rms": 0.01, "max": 0.04}, "dcm_error_m": {"rms": 0.03, "max": 0.375}, "distance_m": 1.0}
    reference = SimpleNamespace(com_position=np.zeros(3), dcm=SimpleNamespace(position=np.zeros(2)))
    state = SimpleNamespace(com_position=np.array([0.03, 0.0, 0.0]), dcm_position=np.array([0.0, 0.41]))
    found = with_freeze(figures, SimpleNamespace(reference=reference, robot_state=state))
    assert found["dcm_error_m"] == {"rms": 0.03, "max": pytest.approx(0.41)}
    assert (found["com_error_m"]["max"], found["distance_m"]) == (0.04, 1.0)
    assert with_freeze(figures, None) == figures
    assert with_freeze(figures, SimpleNamespace(reference=None, robot_state=None)) == figures


def loads_of(period=0.01, hits=(), early=0.03, late=0.0):
    """Return ticks of two steps of 1 s, each a second of double support later: times, single supports and loads.

    Each sole comes to the ground ``early`` [s] before the plan, or ``late`` after it; hits are times with load for a
    tick on the left foot.
    """
    times = np.arange(0.0, 5.0, period)
    is_single = ((times >= 1.0) & (times < 2.0)) | ((times >= 3.0) & (times < 4.0))
    loads = np.full((len(times), 2), 0.5)
    for foot, begin in enumerate((1.0, 3.0)):
        swings = (times > begin + 0.02) & (times < begin + 1.0 - early + late - 1e-9)
        loads[swings, foot], loads[swings, 1 - foot] = 0.0, 1.0
    for hit in hits:
        loads[np.abs(times - hit) < 0.4 * period, 0] = 0.2
    return times, is_single, loads


@pytest.mark.parametrize(("period", "mean"), [(0.001, 0.2), (0.01, 1.0)])
def test_a_landing_force_is_a_mean_over_5_ms_or_a_tick_from_the_first_lift_off_on(period, mean):
    times, is_single, loads = loads_of(period)
    loads[np.abs(times - 0.5) < 0.4 * period, 1] = 7.0
    loads[np.abs(times - 2.5) < 0.4 * period, 1] = 2.5
    assert landing_force(times, is_single, loads) == pytest.approx(max(1.0, 0.5 + 2.0 * mean))
    assert landing_force(times, np.zeros(len(times), dtype=bool), loads) is None
    assert landing_force(times[:0], is_single[:0], loads[:0]) is None


@pytest.mark.parametrize("period", [0.002, 0.01])
@pytest.mark.parametrize(("early", "late"), [(0.08, 0.0), (0.0, 0.03)])
def test_an_early_landing_is_measured_from_the_planned_touch_down_and_a_late_one_is_negative(period, early, late):
    figures = landing_score(*loads_of(period, early=early, late=late))
    expected = pytest.approx(early - late, abs=0.0041 if period < 0.005 else 1e-6)  # loads are means over 5 ms
    assert figures == {"early_landing_s": {"median": expected, "max": expected}, "bounces_per_landing": 0.0}


def test_a_sole_that_leaves_the_ground_again_bounces_and_the_load_of_a_foot_that_lifts_off_is_no_landing():
    figures = landing_score(*loads_of(hits=(1.1, 1.8, 1.9)))
    assert figures["early_landing_s"] == {"median": pytest.approx(0.5 * (0.2 + 0.03)), "max": pytest.approx(0.2)}
    assert figures["bounces_per_landing"] == 1.0  # two of the first landing, none of the second


def test_a_load_between_a_hundredth_and_a_twentieth_of_the_weight_is_neither_a_touch_down_nor_a_bounce():
    times, is_single, loads = loads_of()
    loads[(times > 1.6) & (times < 1.9), 0] = 0.03
    loads[(times > 2.1) & (times < 2.2), 0] = 0.03
    assert landing_score(times, is_single, loads) == landing_score(*loads_of())


def test_a_swing_that_is_not_ended_is_no_landing():
    times, is_single, loads = (values[:150] for values in loads_of())
    nothing = {"early_landing_s": {"median": None, "max": None}, "bounces_per_landing": None}
    assert landing_score(times, is_single, loads) == nothing
    assert landing_score(times[:0], is_single[:0], loads[:0]) == nothing
