from gradiva_experiments.experiment import ExperimentOptions, ExperimentRun, find_experiment
from gradiva_experiments.shipped import computation_times


def test_each_timed_part_is_a_row_with_its_robot(monkeypatch, tmp_path):
    timed = {"samples": 3, "clock": "processor", "p99_us": 2.0, "median_us": 1.5}
    parts = [{"name": "tick/g1", **timed}, {"name": "planner", **timed}]
    monkeypatch.setattr(computation_times, "run_benchmark", lambda robots, report, size: {"results": parts})
    run = find_experiment("computation_times").start(ExperimentOptions(quick=True), tmp_path, None, lambda *_: None)
    assert isinstance(run, ExperimentRun)
    computation_times.run_computation_times(run)
    assert [(row["part"], row["robot"], row["value"]) for row in run.rows] == [
        ("tick", "g1", 1.5),
        ("planner", "", 1.5),
    ]
    assert run.is_fulfilled


def test_a_gait_that_does_not_go_on_is_missed_and_the_other_parts_are_kept(monkeypatch, tmp_path):
    timed = {"samples": 3, "clock": "processor", "p99_us": 2.0, "median_us": 1.5}
    parts = [{"name": "reduced_model.centroidal_mpc/slow_12_spin", "failure": "5.70 s: too high", **timed}]
    parts += [{"name": "planner", **timed}]
    monkeypatch.setattr(computation_times, "run_benchmark", lambda robots, report, size: {"results": parts})
    run = find_experiment("computation_times").start(ExperimentOptions(quick=True), tmp_path, None, lambda *_: None)
    computation_times.run_computation_times(run)
    assert [(row["outcome"], row["reason"]) for row in run.rows] == [("fell", "5.70 s: too high"), ("measured", "")]
    assert not run.is_fulfilled
