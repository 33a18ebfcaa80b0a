"""Walks of a campaign, in this process and in others."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import PlanningError
from gradiva.planner import GoalCommand, VelocityCommand
from gradiva.setup import Plant
from gradiva.walking import WalkingState
from gradiva_experiments import ExperimentOptions, Pool, Trial, find_experiment, run_trial
from gradiva_experiments.trial import _Helm


def test_a_trial_that_cannot_be_planned_is_an_outcome():
    result = run_trial(Trial("icub_v2_7", VelocityCommand(9.0, duration=2.0)))
    assert not result.walked
    assert result.planned_pose is None
    assert result.figures["reason"].startswith("no plan: forward speed 9.0 m/s")


@pytest.mark.walk
def test_a_trial_walks_on_the_engine_of_one_worker_and_ends_where_it_should():
    quick = {"walking.prepare_duration": 0.3, "simulation.timestep": 0.002}
    with Pool(workers=1) as pool:
        (found,) = pool.results([Trial("icub_v2_7", GoalCommand(0.4, -0.1), quick, plant=Plant.NOISY, seed=1)])
    place, result = found
    assert place == 0
    assert result.walked
    assert result.planned_pose == pytest.approx((0.4, -0.1, result.planned_pose[2]), abs=0.02)
    assert result.figures["goal_error_m"] < 0.05
    assert len(result.track) > 50


@pytest.mark.long
@pytest.mark.walk
def test_quick_figure_10_9_has_its_rows_and_pictures(tmp_path):
    experiment = find_experiment("figure_10_9")
    options = ExperimentOptions(quick=True, plants=(Plant.IDEAL, Plant.NOISY))
    run = experiment.start(options, tmp_path, None, lambda done, total, text: None)
    experiment.run(run)
    saved = json.loads(run.folder.result_path.read_text())
    assert [(row["quantity"], row["plant"]) for row in saved["rows"]] == [
        (f"{quantity}_error_m", plant) for plant in ("ideal", "noisy") for quantity in ("dcm", "com", "zmp")
    ]
    assert {row["outcome"] for row in saved["rows"]} == {"walked"}
    for row in saved["rows"]:
        assert row["rms"] < row["value"]
        assert row["paper"] is None or row["value"] < row["paper"]
    assert [Path(path).name for path in saved["figures"]] == ["figure_10_9.png", "figure_10_9.svg"]
    assert all(Path(path).stat().st_size > 10_000 for path in saved["figures"])


def test_a_course_gives_each_command_at_its_time_and_leaves_out_what_cannot_be_planned():
    given = []

    class Controller:
        state = WalkingState.PREPARED

        def walk(self, command):
            given.append(command)
            if command.forward > 1.0:
                raise PlanningError("too fast")

    walk = SimpleNamespace(time=0.0, controller=Controller())
    commands = [VelocityCommand(speed) for speed in (0.1, 9.0, 0.2)]
    helm = _Helm(tuple(zip((1.0, 2.0, 3.0), commands, strict=True)))
    for time in np.arange(0.0, 7.0, 0.5):
        walk.time = time
        Controller.state = WalkingState.WALKING if time >= 2.0 else WalkingState.PREPARED
        helm(walk)
        assert given == commands[: int(np.clip(time - 2.0, 0.0, 3.0))]
