import numpy as np
import pytest

from gradiva.experiments import EXPERIMENTS, ExperimentOptions
from gradiva.experiments.linear_contact_error import GROUND, LENGTH, WIDTH, moment_error

SPRING = GROUND.stiffness * LENGTH * WIDTH / 12


@pytest.mark.parametrize("angle", [10.0, 45.0, 80.0])
def test_the_error_in_yaw_is_that_of_the_sine(angle):
    yaw = np.radians(angle)
    assert moment_error(2, angle) == pytest.approx(SPRING * (LENGTH**2 + WIDTH**2) * (yaw - np.sin(yaw)))


@pytest.mark.parametrize(("axis", "side"), [(0, WIDTH), (1, LENGTH)])
def test_the_error_of_a_tilt_has_the_shrinking_shadow_of_the_sole_in_it(axis, side):
    tilt = np.radians(40.0)
    expected = SPRING * side**2 * (tilt - np.cos(tilt) * np.sin(tilt))
    assert moment_error(axis, 40.0) == pytest.approx(expected)


def test_it_is_odd_and_vanishes_with_the_third_power_of_the_angle():
    assert moment_error(2, -20.0) == pytest.approx(-moment_error(2, 20.0))
    assert moment_error(2, 0.2) / moment_error(2, 0.1) == pytest.approx(8.0, rel=1e-4)


def test_quick_figure_8_3_has_three_angles_an_axis_and_a_figure(tmp_path):
    experiment = EXPERIMENTS["figure_8_3"]
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)
    experiment.run(run)
    assert [(row["axis"], row["angle_deg"]) for row in run.rows[-3:]] == [("yaw", 10.0), ("yaw", 30.0), ("yaw", 60.0)]
    assert {row["outcome"] for row in run.rows} == {"met"}
    assert {row["axis"]: row["paper"] for row in run.rows} == {"roll": "alike", "pitch": "alike", "yaw": "figure only"}
    yaw = [row["value"] for row in run.rows[-3:]]
    assert 0.0 < yaw[0] < yaw[1] < yaw[2]
    assert len(run.figures) == 2
