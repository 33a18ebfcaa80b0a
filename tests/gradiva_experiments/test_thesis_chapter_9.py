"""TALOS with soft hips beside the thesis."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side
from gradiva.planner import VelocityCommand
from gradiva.simulated_walk import plan_from_start
from gradiva.telemetry import SignalLog
from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment
from gradiva_experiments.shipped.thesis_chapter_9 import (
    MOMENTUM,
    FlexibleWalk,
    Law,
    left_foot_error_deg,
    lines_figure,
)
from gradiva_experiments.trial import SharedTrials, Trial, kept_result


class FlexiblePool:
    """Walks that do not take place: TSID-Rigid falls below 5 kN·m/rad; the others err with the CoM by ``error`` [m]."""

    def __init__(self, error=0.0015):
        self._error, self.trials = error, []

    def results(self, trials):
        self.trials += trials
        for index, trial in enumerate(trials):
            is_rigid, plant = "flexibility.stiffness" not in trial.overrides, "simulation.flexibility.stiffness"
            fell = is_rigid and trial.overrides[plant] < 5e3
            joints = {"true_com_error_m": {"rms": 0.001, "max": self._error}, "deflection_rad": 0.02}
            outcome = {"outcome": "fell" if fell else "walked", "reason": "", "duration_s": 5.0}
            yield index, TrialResult(outcome | {"flexible_joints": joints}, None)


def run_with(name, tmp_path, pool, **options):
    run = find_experiment(name).start(ExperimentOptions(**options), tmp_path, pool, lambda *_: None)
    find_experiment(name).run(run)
    return run


def test_the_walk_is_that_of_the_thesis():
    trial = FlexibleWalk(5e3).trial()
    plan = plan_from_start(trial.setup(), trial.command)
    sides = [step.footstep.side for step in plan.steps]
    assert sides == [(Side.RIGHT, Side.LEFT)[step % 2] for step in range(11)]
    places = [step.footstep.pose.x for step in plan.steps]
    np.testing.assert_allclose(places, [*np.linspace(0.1, 1.0, 10), 1.0], atol=1e-6)
    np.testing.assert_allclose([step.touch_down - step.lift_off for step in plan.steps], 1.2, atol=1e-9)
    waits = [later.lift_off - step.touch_down for step, later in zip(plan.steps, plan.steps[1:], strict=False)]
    np.testing.assert_allclose(waits, 0.2, atol=1e-9)


@pytest.mark.parametrize(("law", "known"), [(Law.FLEXIBLE, [3e3] * 4), (Law.RIGID, [])])
def test_the_plant_bends_whatever_the_law_knows(law, known):
    setup = FlexibleWalk(3e3, law).trial().setup()
    assert [joint.stiffness for joint in setup.robot.flexible_joints] == known
    assert [joint.stiffness for joint in setup.simulated_robot.flexible_joints] == [3e3] * 4


def test_table_9_1_has_both_laws_at_five_stiffnesses(tmp_path):
    run = run_with("table_9_1", tmp_path, FlexiblePool())
    found = [(row["law"], row["stiffness"]) for row in run.rows]
    assert found == [(law, k) for law in ("TSID-Rigid", "TSID-Flex") for k in (1e4, 5e3, 3e3, 2e3, 1e3)]
    assert [row["outcome"] for row in run.rows] == ["walked"] * 2 + ["fell"] * 3 + ["walked"] * 5
    assert [row["paper"] for row in run.rows] == ["success"] * 2 + ["failure"] * 3 + ["success"] * 5
    assert run.is_fulfilled


@pytest.mark.parametrize(
    ("error", "outcomes"), [(0.0025, ["inaccurate"] + ["walked"] * 4), (0.0031, ["inaccurate"] * 5)]
)
def test_tsid_flex_has_to_track_within_two_millimetres_where_hips_are_stiff_and_three_elsewhere(
    tmp_path, error, outcomes
):
    run = run_with("table_9_1", tmp_path, FlexiblePool(error))
    assert [row["outcome"] for row in run.rows[5:]] == outcomes
    assert not run.is_fulfilled


def test_flexible_limits_know_other_hips_than_those_of_the_plant(tmp_path):
    pool = FlexiblePool()
    run = run_with("flexible_limits", tmp_path, pool)
    assert run.is_fulfilled
    assert len(pool.trials) == 5 + 1 + 4 + 5 + 4 + 4 + 2 + 6 + 4
    by_case = {row["case"]: trial for row, trial in zip(run.rows, pool.trials, strict=True)}
    wrong, sides = by_case["known 1.3 ×"].setup(), by_case["hips differ"].setup()
    assert [joint.stiffness for joint in wrong.robot.flexible_joints] == pytest.approx([1.3e3] * 4)
    assert [joint.stiffness for joint in wrong.simulated_robot.flexible_joints] == [1e3] * 4
    assert [joint.stiffness for joint in sides.simulated_robot.flexible_joints] == [5e3, 5e3, 2e3, 2e3]
    fast = by_case["faster, 0.5 s"]
    assert fast.command.forward == pytest.approx(0.1 / 0.7)
    assert [str(trial.plant) for trial in pool.trials].count("noisy") == 6
    quick = run_with("flexible_limits", tmp_path, FlexiblePool(), quick=True)
    assert [row["case"] for row in quick.rows] == [
        "softer",
        "hips differ",
        "without observer",
        "known 0.7 ×",
        "noisy sensors",
        "faster, 1 s",
    ]


def test_lines_are_of_what_is_measured_and_a_walk_without_log_has_none():
    times = np.linspace(0.0, 1.0, 11)
    roll = np.outer(times, [0.1, 0.0, 0.0])
    signals = {
        "simulation::left_foot::orientation": roll,
        "left_foot::orientation::desired": 0.0 * roll,
        "simulation::angular_momentum": 2.0 * roll,
    }
    log = SignalLog.from_arrays(times, signals)
    np.testing.assert_allclose(left_foot_error_deg(log)[:, 0], np.degrees(0.1 * times), atol=1e-5)
    lines = {"TSID-Flex": (log, "green"), "fell at once": (SignalLog(), "red")}
    figure = lines_figure(lines, MOMENTUM, "momentum")
    assert [axis.get_title(loc="left") for axis in figure.axes] == [f"about {axis} [N·m·s]" for axis in "xyz"]
    assert [len(axis.lines) for axis in figure.axes] == [1, 1, 1]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), 0.2 * times)


def test_a_robot_that_falls_sets_no_scale():
    times = np.linspace(0.0, 10.0, 101)
    momentum = np.outer(np.ones(101), [1.0, -2.0, 0.0])
    fallen = np.where(times[:41, None] > 3.5, 50.0, momentum[:41])
    logs = [
        SignalLog.from_arrays(time, {"simulation::angular_momentum": samples})
        for time, samples in ((times, momentum), (times[:41], fallen))
    ]
    figure = lines_figure({"walks": (logs[0], "green"), "falls": (logs[1], "red")}, MOMENTUM, "")
    assert figure.axes[0].get_ylim() == pytest.approx((-0.08, 1.08))
    assert figure.axes[1].get_ylim() == pytest.approx((-2.16, 0.16))
    assert figure.axes[0].lines[-1].get_xdata() == [4.0, 4.0]


def test_a_walk_that_another_experiment_has_done_is_not_walked_again(tmp_path):
    class Walked:
        """Keeps result and log of each trial, as workers do."""

        def __init__(self):
            self.trials = []

        def results(self, trials):
            self.trials += trials
            for index, trial in enumerate(trials):
                result = TrialResult({"outcome": "walked", "seed": trial.seed}, (1.0, 0.0, 0.0), np.eye(2))
                outcome = SimpleNamespace(log=SignalLog(), request=SimpleNamespace(setup=trial.setup()))
                yield index, kept_result(result, outcome, trial.kept_in)

    walks = [Trial("icub_v2_7", VelocityCommand(0.1), seed=seed) for seed in (0, 1)]
    first, second = Walked(), Walked()
    found = SharedTrials(first, tmp_path).results(walks[:1])
    assert [(place, result.figures["seed"]) for place, result in found] == [(0, 0)]
    again = dict(SharedTrials(second, tmp_path).results(walks))
    assert [again[place].figures["seed"] for place in (0, 1)] == [0, 1]
    assert [trial.seed for trial in (*first.trials, *second.trials)] == [0, 1]
    np.testing.assert_array_equal(again[0].track, np.eye(2))
    assert again[0].planned_pose == (1.0, 0.0, 0.0)
    assert again[0].log is None
