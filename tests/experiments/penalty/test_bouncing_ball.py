from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.experiments import ExperimentOptions, find_experiment
from gradiva.experiments.penalty.bouncing_ball import DAMPING, drop_ball, rows_of


def test_the_ball_stops_as_the_papers_equations_say() -> None:
    rows = rows_of(5.0, drop_ball(5.0, fine=5e-6, duration=0.5))
    assert {row["outcome"] for row in rows[1:3]} == {"met"}
    assert rows[0]["value"] == pytest.approx(rows[0]["paper"], rel=0.03)
    assert rows[1]["value"] == pytest.approx(1e3 * 4.4294 / DAMPING, rel=0.03)


def test_without_stiffness_the_penetration_stays() -> None:
    motion = drop_ball(0.0, fine=1e-5, duration=0.6)
    assert motion.heights[-1] == pytest.approx(motion.heights.min())
    assert motion.forces[-1] == pytest.approx(9.81, rel=1e-9)


def test_with_it_the_penetration_vanishes_after_a_quarter_of_a_period() -> None:
    motion = drop_ball(100.0, fine=1e-5, duration=0.65)
    left = motion.times > 0.4515 + 0.5 * np.pi / 10.0 + 0.002
    assert (motion.heights[left] > -1e-5).all()
    assert motion.heights[~left].min() < -8e-4


def test_the_experiment_is_in_the_registry(tmp_path: Path) -> None:
    experiment = find_experiment("penalty_ball")
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)  # type: ignore[arg-type]
    assert run.name == "penalty_ball"
