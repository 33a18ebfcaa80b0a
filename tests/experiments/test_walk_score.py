import numpy as np
import pytest

from gradiva.experiments.walk_score import score, specific_energetic_cost
from gradiva.telemetry import SignalLog
from tests.experiments.synthetic_walk import DOUBLE_SUPPORT, SPEED, START, STEP_TIME, STOP, walk_log


def test_a_walk_without_error_scores_zero_and_its_own_speed():
    figures = score(walk_log())
    for name in ("com_error_m", "dcm_error_m", "zmp_error_m", "foot_error_m"):
        assert figures[name] == {"rms": 0.0, "max": 0.0}
    assert figures["distance_m"] == pytest.approx(SPEED * (STOP - START), abs=0.003)
    assert figures["mean_speed_mps"] == pytest.approx(SPEED, abs=0.001)
    stepping = STOP - START - DOUBLE_SUPPORT * STEP_TIME  # of what is walked, the first weight shift is none of it
    assert figures["walking_speed_mps"] == pytest.approx(figures["distance_m"] / stepping, rel=0.002)
    assert figures["peak_speed_mps"] == pytest.approx(SPEED, rel=0.01)
    assert figures["odometry_drift_m"] == 0.0
    assert figures["max_tilt_rad"] == 0.0
    assert figures["tick_us"]["total"] == {"median": 100.0, "p99": 100.0, "max": 100.0}


def test_an_error_is_measured_as_a_distance():
    figures = score(walk_log(dcm__position__measured=lambda times: np.array([0.03, -0.04])))
    assert figures["dcm_error_m"] == pytest.approx({"rms": 0.05, "max": 0.05})
    assert figures["com_error_m"] == {"rms": 0.0, "max": 0.0}


def test_the_foot_error_is_horizontal():
    figures = score(walk_log(left_foot__position__measured=lambda times: np.array([0.003, -0.004, -0.03])))
    assert figures["foot_error_m"]["max"] == pytest.approx(0.005)


def test_a_turned_foot_is_told_in_yaw_by_the_shorter_way():
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
