"""The first sign of a walk that ended badly is the first thing that went wrong: slips, soles in the air, restarts."""

import numpy as np
import pytest

from gradiva.common import GRAVITY, Side
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.setup.robot import load_robot
from gradiva.simulated_walk import simulate
from gradiva.simulated_walk.fall_diagnosis import diagnose
from gradiva.simulated_walk.first_sign import WatchedQuantity, first_sign, measured_slip, onset_of, sole_slips
from gradiva.simulation import Push
from gradiva.telemetry import SignalLog
from tests.simulated_walk.synthetic_walk import DOUBLE_SUPPORT, START, STEP_TIME, walk_log

FALL = 6.0  # [s]
ROBOT = load_setup("icub_v2_7").robot
FIRST = {Side.RIGHT: 0, Side.LEFT: 1}  # step


def swings(times, side):
    step, phase = np.divmod((times - START) / STEP_TIME, 1.0)
    return (times >= START) & (step % 2 == FIRST[side]) & (phase >= DOUBLE_SUPPORT)


def walk_of_soles(slips=(), measured_slips=(), is_simulated=True, duration=FALL, **changes):
    """Return a log in which soles that swing carry nothing.

    Args:
        slips: Side, begin [s] and speed [m/s] of slips along y, each for 0.2 s.
        measured_slips: The same as measured.
        is_simulated: Whether the simulator's truth is logged.
        duration: Of the log, [s].
        changes: See `walk_log`.
    """
    log = walk_log(duration, **changes)
    times, signals = log.times, {name: log[name] for name in log}
    for side in Side:
        foot, in_air = f"simulation::{side}_foot", swings(times, side)
        signals[f"{side}_foot::position::measured"] = signals[f"{side}_foot::position::desired"] = signals[
            f"{foot}::position"
        ]
        signals[f"{side}_foot::linear_force::measured"] = np.outer(~in_air, [0.0, 0.0, 0.5 * ROBOT.mass * GRAVITY])
        signals[f"{foot}::tilt"] = np.where(in_air[:, None], np.nan, signals[f"{foot}::tilt"])
        for all_slips, name in ((slips, f"{foot}::position"), (measured_slips, f"{side}_foot::position::measured")):
            for _, begin, speed in (slip for slip in all_slips if slip[0] is side):
                signals[name] = signals[name] + np.outer(speed * np.clip(times - begin, 0.0, 0.2), [0.0, 1.0, 0.0])
    if not is_simulated:
        signals = {name: values for name, values in signals.items() if not name.startswith("simulation::")}
    return SignalLog.from_arrays(times, signals)


def growing_dcm(start):
    return {"dcm__position__measured": lambda times: np.outer(np.maximum(0.0, times - start), [0.0, 1.0])}


def test_a_good_walk_shows_no_slip_and_no_sign():
    log = walk_of_soles()
    slips = sole_slips(log, ROBOT)
    for side in Side:
        assert np.mean(np.isnan(slips[side]) != swings(log.times, side)) < 0.02  # times are sums of periods
        assert np.nanmax(slips[side]) == pytest.approx(0.0, abs=1e-9)
    assert first_sign(log, ROBOT) == (None, "")
    measured = walk_of_soles(is_simulated=False)
    assert np.nanmax(measured_slip(measured, ROBOT)) == pytest.approx(0.0, abs=1e-9)
    assert first_sign(measured, ROBOT) == (None, "")


def test_a_slip_of_a_sole_on_the_ground_is_the_first_sign_before_what_follows_from_it():
    log = walk_of_soles([(Side.LEFT, 4.995, 0.1)], **growing_dcm(5.295))
    time, sign = first_sign(log, ROBOT)
    assert time == pytest.approx(5.16)  # from 15 mm on
    assert sign == "left foot slipped by 15 mm at 5.16 s, in double support"
    assert np.nanmax(sole_slips(log, ROBOT)[Side.LEFT]) == pytest.approx(0.018)
    assert onset_of(log, FALL) == pytest.approx(5.36), "causes are looked for up to the DCM error, as friction is felt"
    assert first_sign(log)[1].startswith("DCM error 7 cm at 5.36 s"), "without the soles of a robot"


def test_slips_of_step_after_step_begin_with_the_first_of_them():
    slips = [(Side.RIGHT, 2.0, 0.1), (Side.LEFT, 2.9, 0.1), (Side.RIGHT, 4.195, 0.1), (Side.LEFT, 4.995, 0.1)]
    time, sign = first_sign(walk_of_soles(slips), ROBOT)
    assert time == pytest.approx(2.16)
    assert sign.startswith("right foot slipped by 16 mm at 2.16 s")


def test_a_slip_after_which_the_robot_walked_on_for_two_seconds_is_no_sign_of_a_fall_but_of_a_slide():
    early = [(Side.RIGHT, 2.0, 0.1)]
    assert first_sign(walk_of_soles(early, **growing_dcm(5.295)), ROBOT)[1].startswith("DCM error 7 cm at 5.36 s")
    time, sign = first_sign(walk_of_soles(early), ROBOT)
    assert (time, sign[:28]) == (pytest.approx(2.16), "right foot slipped by 16 mm ")


def test_a_slip_within_the_tolerance_of_good_walks_is_no_sign():
    assert first_sign(walk_of_soles([(Side.LEFT, 5.0, 0.07)]), ROBOT) == (None, "")


def test_the_log_of_a_robot_shows_the_slip_of_two_soles_against_each_other():
    slip = [(Side.LEFT, 4.995, 0.1)]
    log = walk_of_soles((), slip, is_simulated=False)
    assert first_sign(log, ROBOT)[1].startswith("soles slipped against each other by 15 mm at 5.16 s")
    assert np.nanmax(measured_slip(log, ROBOT)) == pytest.approx(0.018)
    assert first_sign(walk_of_soles((), slip), ROBOT) == (None, ""), "the simulator's truth goes before"
    both = walk_of_soles((), [*slip, (Side.RIGHT, 4.995, 0.1)], is_simulated=False)
    assert np.nanmax(measured_slip(both, ROBOT)) < 1e-3, "a world that moves below both feet is no slip"


def test_a_foot_that_scuffs_the_ground_as_it_swings_does_not_slip():
    times = walk_of_soles().times
    log = walk_of_soles([(Side.LEFT, float(times[swings(times, Side.LEFT)][5]), 0.1)])
    signals = {name: log[name] for name in log}
    signals["simulation::left_foot::tilt"] = np.nan_to_num(signals["simulation::left_foot::tilt"])
    assert np.ptp(signals["simulation::left_foot::position"][:, 1]) == pytest.approx(0.02)
    assert first_sign(SignalLog.from_arrays(times, signals), ROBOT) == (None, "")


def test_an_end_at_which_a_quantity_is_still_outside_waits_for_no_restart():
    times = np.arange(0.0, 8.0, 0.01)
    zmp = WatchedQuantity("ZMP error", np.where((times > 6.995) & (times < 7.805), 0.1, 0.0), 0.06, " cm", 100.0)
    assert zmp.departure(times) is None
    assert zmp.departure(times, [(7.5, 7.9)]) is None


def test_causes_are_looked_for_up_to_what_follows_a_slip_and_a_push_after_it_is_not_before():
    log = walk_of_soles([(Side.LEFT, 4.995, 0.1)], **growing_dcm(5.495))
    onsets = []
    push = Push("root_link", (75.0, 0.0, 0.0), 5.3, 0.1)
    diagnosis = diagnose(log, [push], FALL, lambda onset: onsets.append(onset), ROBOT)
    assert onsets == [pytest.approx(5.56)] == [diagnosis.onset]
    assert diagnosis.first_sign_time == pytest.approx(5.16)
    assert str(diagnosis).endswith(f"; after it, a {push}")


def test_a_sole_that_was_tilted_when_it_left_the_ground_for_the_last_time_has_not_come_back():
    def tilt(times):
        return np.where(times < 5.0, 0.01, np.where(times < 5.3, 0.2, np.nan))[:, None]

    sign = first_sign(walk_log(FALL, simulation__left_foot__tilt=tilt, **growing_dcm(5.495)))[1]
    assert sign == "left sole tilted by 11° at 5.00 s, while the right foot carried the robot"

    def and_flat_again(times):
        return np.where(times[:, None] < 5.5, tilt(times), 0.01)

    log = walk_log(FALL, simulation__left_foot__tilt=and_flat_again, **growing_dcm(5.495))
    assert first_sign(log)[1].startswith("DCM error 7 cm at 5.56 s")

    def tilted_as_it_lands(times):
        return np.where(times < 5.0, np.nan, 0.2)[:, None]

    sign = first_sign(walk_log(FALL, simulation__left_foot__tilt=tilted_as_it_lands))[1]
    assert sign == "left sole tilted by 11° at 5.00 s, while the right foot carried the robot", "not known before"


def test_an_error_that_restarted_references_made_zero_has_not_come_back_for_two_seconds():
    times = np.arange(0.0, 8.0, 0.01)
    errors = np.where((times > 2.995) & (times < 3.405), 0.1, 0.0) + np.where(times > 4.195, 0.1, 0.0)
    error = WatchedQuantity("DCM error", errors, 0.06, " cm", 100.0, settles_anew=2.0)
    assert times[error.departure(times)] == pytest.approx(4.20)
    assert times[error.departure(times, [(3.3, 3.5)])] == pytest.approx(3.00)
    assert times[error.departure(times, [(1.0, 1.5)])] == pytest.approx(4.20), "of a step before it"
    late = np.where((times > 2.995) & (times < 3.405), 0.1, 0.0) + np.where(times > 5.495, 0.1, 0.0)
    error = WatchedQuantity("DCM error", late, 0.06, " cm", 100.0, settles_anew=2.0)
    assert times[error.departure(times, [(3.3, 3.5)])] == pytest.approx(5.50)
    zmp = WatchedQuantity("ZMP error", errors, 0.06, " cm", 100.0)
    assert times[zmp.departure(times, [(3.3, 3.5)])] == pytest.approx(4.20), "which is large for moments in good walks"


def test_a_push_that_step_adaptation_caught_for_one_step_alone_is_where_it_began():
    def caught(times):
        away = np.where((times > 4.395) & (times < 4.605), 0.1, 0.0) + np.maximum(0.0, times - 5.395)
        return np.outer(away, [0.0, 1.0])

    log = walk_log(FALL, dcm__position__measured=caught)
    foothold = np.full((len(log), 3), np.nan)
    foothold[(log.times >= 4.4) & (log.times < 4.8)] = [0.2, 0.1, 0.0]
    signals = {name: log[name] for name in log}
    signals["step_adaptation::nominal_foothold"] = foothold
    signals["step_adaptation::delay"] = np.zeros((len(log), 1))
    signals["step_adaptation::adapted_foothold"] = foothold
    assert first_sign(SignalLog.from_arrays(log.times, signals))[0] == pytest.approx(5.46), "no step was changed"
    signals["step_adaptation::adapted_foothold"] = foothold + np.array([0.0, 0.05, 0.0])
    assert first_sign(SignalLog.from_arrays(log.times, signals))[0] == pytest.approx(4.40)


@pytest.mark.walk
def test_a_walk_on_ice_begins_with_a_slip_and_says_before_and_after_that_the_floor_is_too_slippery():
    outcome = simulate(load_robot("g1", ["simulation.ground.friction=0.03"]), VelocityCommand(0.19, duration=3.0))
    result = outcome.result
    slips = np.nan_to_num(np.fmax(*sole_slips(outcome.log, outcome.request.setup.robot).values()))
    assert slips.max() == pytest.approx(result["foot_slip_m"], abs=0.01)  # every 7 ms, that of the result every 10
    first = float(outcome.log.times[np.flatnonzero(slips > 0.015)[0]])
    diagnosis = result["diagnosis"]
    assert diagnosis["first_sign_s"] == pytest.approx(first)
    assert f"mm at {first:.2f} s" in diagnosis["first_sign"]
    assert "foot slipped by 1" in result["reason"]
    assert diagnosis["measured_cause"] == "friction"
    assert "friction 0.03, the planned CoM needs 0.1" in result["floor_note"]
