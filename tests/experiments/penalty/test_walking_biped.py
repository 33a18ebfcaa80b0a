from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.experiments import plan_from_start
from gradiva.experiments.penalty.walking_biped import SPEED, STEPS, biped_setup, walk_biped
from gradiva.planner import VelocityCommand


def test_the_plan_of_the_full_experiment_has_the_steps_of_the_paper(tmp_path: Path) -> None:
    plan = plan_from_start(biped_setup(tmp_path, 1e-4), VelocityCommand(SPEED, duration=3.0))
    samples = [plan.at(time) for time in np.arange(0.0, plan.end_time, 0.01)]
    standing = np.array([[sample.left_foot.in_contact, sample.right_foot.in_contact] for sample in samples], dtype=int)
    assert (np.diff(standing, axis=0) < 0).sum() == STEPS


def test_biped_and_gains_are_those_of_the_paper(tmp_path: Path) -> None:
    setup = biped_setup(tmp_path, 1e-4)
    gains = setup.simulation.penalty
    assert (gains.stiffness, gains.damping, gains.rest_penetration) == (500.0, 250.0, 1e-4)
    assert len(setup.robot.joints) == 14


@pytest.mark.walk
def test_the_biped_walks_two_steps_on_contacts_that_hold(tmp_path: Path) -> None:
    walk = walk_biped(biped_setup(tmp_path, 1e-4), 0.6, compiler=lambda function: function)
    assert walk.result["outcome"] == "walked"
    assert walk.record.steps == 2
    assert (walk.record.landings() > 0.01).sum() == 8  # four corners a step
    assert walk.false_impacts <= 4  # 210 without the penetration
    assert walk.result["com_error_m"]["max"] < 0.015
