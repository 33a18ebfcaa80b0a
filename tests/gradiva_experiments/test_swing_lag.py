"""The lag of a swinging sole: it is found, a landing moves, a refusal is a row."""

import numpy as np
import pytest

from gradiva.common import ControlMode
from gradiva.setup import Plant
from gradiva_experiments import ExperimentOptions, Pool, find_experiment
from gradiva_experiments.shipped.swing_lag import ALL, OUTWARD, MovedSwing, SwingCase, lag_of, totals


def test_the_lag_of_a_delayed_way_is_found():
    times = np.arange(0.0, 0.5, 0.01)
    wanted = 0.2 * (times / 0.5) ** 3 * (10.0 - 15.0 * times / 0.5 + 6.0 * (times / 0.5) ** 2)
    for lag in (0.0, 0.023, 0.07):
        assert lag_of(times, wanted, np.interp(times - lag, times, wanted)) == pytest.approx(lag, abs=1e-3)


def test_a_moved_landing_is_wanted_and_nearly_reached():
    case = SwingCase("icub_v2_7", Plant.IDEAL, ControlMode.POSITION, OUTWARD, 0.5, 2.4, is_high=False)
    times, wanted, reached = MovedSwing(case, case.trial({"walking.prepare_duration": 0.5})).followed()
    assert times[-1] - times[0] == pytest.approx(0.49, abs=1e-6)
    assert abs(wanted[-1, 1]) == pytest.approx(case.distance, abs=2e-3)
    np.testing.assert_allclose(reached, wanted, atol=0.02)


def test_a_landing_that_the_planner_refuses_is_a_row_without_figures(tmp_path):
    options = ExperimentOptions(robot="icub_v2_7", quick=True, settings=("planner.max_feet_distance=0.2",))
    experiment = find_experiment("swing_lag")
    run = experiment.start(options, tmp_path, Pool(workers=1), lambda done, total, text: None)
    experiment.run(run)
    assert {row["outcome"] for row in run.rows} == {"refused"}
    assert [row["refused"] for row in run.rows if row["time_s"] == ALL] == [2]
    assert all(row["value"] is None for row in run.rows)
    assert run.is_fulfilled


def test_a_total_has_the_largest_figures_of_the_swings_of_an_acceleration_and_their_median_lag():
    common = {"robot": "g1", "plant": "ideal", "control": "position", "acceleration_mps2": 12.0}
    figures = [(9.8, 20.0, -15.0, 4.0, 0.001), (10.0, 12.0, 8.0, 5.0, 0.004), (9.9, 11.0, 7.0, 6.0, 0.002)]
    names = ("peak_mps2", "largest_mm", "touch_down_mm", "height_mm", "value")
    rows = [{**common, **dict(zip(names, swing, strict=True)), "outcome": "measured"} for swing in figures]
    refused = {**common, "value": None, "outcome": "refused"}
    (total,) = totals([*rows, refused])
    assert [total[name] for name in names] == [10.0, 20.0, 15.0, 6.0, 0.002]
    assert (total["swings"], total["largest_lag_s"], total["time_s"]) == (3, 0.004, ALL)
    assert (total["refused"], total["fell"], total["outcome"]) == (1, 0, "measured")
    (total,) = totals([*rows, {**rows[0], "outcome": "fell"}])
    assert (total["fell"], total["outcome"]) == (1, "fell")
    (total,) = totals([refused])
    assert (total["value"], total["largest_mm"], total["outcome"]) == (None, None, "refused")
