"""Figures of walks that nobody walked."""

import numpy as np
import pytest

from gradiva.experiments.soft_ground.comparison_figure import comparison_figure
from gradiva.experiments.soft_ground.controllers_compared import force_rate
from gradiva.experiments.soft_ground.noise_figure import noise_figure
from gradiva.experiments.soft_ground.outcome_figure import outcome_figure
from gradiva.telemetry import SignalLog

TIMES = np.arange(0.0, 1.0, 0.01)
ROW = {"controller": "rigid", "stiffness": 8e5, "damping": 1e3, "lasted_s": 5.0, "paper": "failure"}


def foot_log(force):
    quantities = ("com::position", "left_foot::linear_force", "left_foot::angular_torque", "left_foot::position")
    signals = {f"{quantity}::measured": np.zeros((len(TIMES), 3)) for quantity in quantities}
    signals["left_foot::linear_force::measured"][:, 2] = force
    return SignalLog.from_arrays(TIMES, signals)


def test_a_force_that_grows_evenly_has_that_rate():
    assert force_rate(foot_log(-20.0 * TIMES)) == pytest.approx(20.0)
    assert force_rate(SignalLog()) is None


def test_each_controller_has_its_column_also_without_a_log():
    figure = comparison_figure({"compliant": foot_log(TIMES), "rigid": SignalLog()}, "k = 1e6")
    assert len(figure.axes) == 12
    assert [axis.get_title(loc="left").split(":")[0] for axis in figure.axes[:2]] == ["compliant", "rigid"]
    assert [len(axis.lines) for axis in figure.axes[:2]] == [1, 0]


def test_bars_are_as_long_as_the_walks_and_say_how_they_ended():
    rows = [
        {**ROW, "value": 0.3, "outcome": "fell"},
        {**ROW, "value": 0.0012, "outcome": "walked", "lasted_s": 9.0, "paper": None, "case": "softer"},
        {**ROW, "value": 0.0124, "outcome": "inaccurate", "lasted_s": 8.0},
    ]
    (axis,) = outcome_figure(rows).axes
    assert [bar.get_width() for bar in axis.patches] == [5.0, 9.0, 8.0]
    labels = [text.get_text() for text in axis.texts]
    assert labels == [
        "fell (thesis: failure)",
        "walked, CoM within 1.2 mm",
        "walked, but CoM 12.4 mm (thesis: failure)",
    ]
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == ["rigid, k = 8e5, b = 1000", "rigid, k = 8e5, b = 1000\nsofter", "rigid, k = 8e5, b = 1000"]


def test_noise_that_fells_the_robot_is_a_cross_and_what_strays_lies_above_the_limit():
    rows = [
        {"noise": "felt", "sigma": 5.0, "value": 0.001, "outcome": "walked"},
        {"noise": "felt", "sigma": 10.0, "value": 0.015, "outcome": "inaccurate"},
        {"noise": "felt", "sigma": 20.0, "value": 0.1, "outcome": "fell"},
    ]
    (axis,) = noise_figure(rows).axes
    walked, fallen, limit, _ = axis.lines
    assert (walked.get_xdata().tolist(), walked.get_ydata().tolist()) == ([5.0, 10.0], [1.0, 15.0])
    assert fallen.get_xdata().tolist() == [20.0]
    assert limit.get_ydata() == [10.0, 10.0]
