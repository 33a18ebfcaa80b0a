from __future__ import annotations

from pathlib import Path

from gradiva.experiments import ExperimentOptions, find_experiment


def test_the_quick_experiment_meets_coulombs_law_and_draws_it(tmp_path: Path) -> None:
    experiment = find_experiment("penalty_ramp")
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)  # type: ignore[arg-type]
    experiment.run(run)
    assert [row["sticks"] for row in run.rows] == [False, False, True, True, True]
    assert {row["outcome"] for row in run.rows} == {"met"}
    assert [Path(figure).suffix for figure in run.figures] == [".png", ".svg"]
