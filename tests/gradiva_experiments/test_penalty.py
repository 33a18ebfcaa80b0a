"""Penalty contact beside its paper: ball, brick, biped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradiva.planner import VelocityCommand
from gradiva.simulated_walk import plan_from_start
from gradiva.simulation import read_urdf, weld
from gradiva_experiments import ExperimentOptions, find_experiment
from gradiva_experiments.shipped.penalty_biped import (
    ANKLE,
    HIP_WIDTH,
    SHIN,
    SPEED,
    STEPS,
    THIGH,
    VertexRecord,
    biped_setup,
    biped_urdf,
    walk_biped,
)
from gradiva_experiments.shipped.penalty_bodies import (
    DAMPING,
    Panel,
    Trace,
    ball_rows_of,
    checked_row,
    drop_ball,
    traces_figure,
)


def test_the_biped_has_14_joints_and_the_mass_of_its_description(tmp_path: Path) -> None:
    robot = biped_setup(tmp_path, 0.0).robot
    assert len(robot.joints) == 14
    urdf = read_urdf(robot.model_path)
    robot.check_mass(urdf.mass)
    assert urdf.mass == pytest.approx(44.0)
    assert set(robot.joints) == {name for name, joint in urdf.joints.items() if joint.kind == "revolute"}


def test_its_soles_lie_below_its_hips(tmp_path: Path) -> None:
    path = tmp_path / "biped.urdf"
    path.write_text(biped_urdf(), encoding="utf-8")
    urdf = read_urdf(path)
    bodies = {
        body.name: body for body in weld(urdf, "trunk", [name for name in urdf.joints if "fixed" not in name]).bodies
    }
    pose = np.eye(4)
    for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll", "ankle_yaw"):
        pose = pose @ bodies[f"l_{joint}_link"].pose
    sole = pose @ bodies["l_ankle_yaw_link"].frames["l_sole"]
    np.testing.assert_allclose(sole[:3, 3], [0.0, 0.5 * HIP_WIDTH, -THIGH - SHIN - ANKLE], atol=1e-12)


def test_the_ball_stops_as_the_papers_equations_say() -> None:
    rows = ball_rows_of(5.0, drop_ball(5.0, fine=5e-6, duration=0.5))
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


def test_the_quick_experiment_meets_coulombs_law_and_draws_it(tmp_path: Path) -> None:
    experiment = find_experiment("penalty_ramp")
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)  # type: ignore[arg-type]
    experiment.run(run)
    assert [row["sticks"] for row in run.rows] == [False, False, True, True, True]
    assert {row["outcome"] for row in run.rows} == {"met"}
    assert [Path(figure).suffix for figure in run.figures] == [".png", ".svg"]


def test_a_row_is_met_within_its_tolerance_and_says_how_far_it_is_off() -> None:
    assert checked_row({"mu": 1}, "force [N]", 10.0, 10.1, 0.2)["outcome"] == "met"
    failed = checked_row({"mu": 1}, "force [N]", 10.0, 10.5, 0.2)
    assert (failed["outcome"], failed["reason"]) == ("failed", "0.5 away, 0.2 is allowed")


def test_a_figure_has_a_panel_a_quantity_and_a_line_a_trace() -> None:
    times = np.linspace(0.0, 1.0, 5)
    traces = [Trace("one", times, times), Trace("two", times, 2.0 * times)]
    figure = traces_figure("title", [Panel("a [m]", traces, (0.0, 1.0)), Panel("b [N]", traces[:1], None)])
    assert [axis.get_title(loc="left") or axis.get_title() for axis in figure.axes] == ["a [m], enlarged", "b [N]"]
    assert [len(axis.lines) for axis in figure.axes] == [2, 1]
    assert figure.axes[0].get_ylim() == (0.0, 1.0)


def test_lines_that_are_called_otherwise_have_a_legend_of_their_own() -> None:
    times = np.linspace(0.0, 1.0, 5)
    names = ("one", "one", "two")
    panels = [Panel("a [m]", [Trace(name, times, times)]) for name in names]
    legends = [axis.get_legend() for axis in traces_figure("title", panels).axes]
    assert legends[1] is None
    assert [legends[place].get_texts()[0].get_text() for place in (0, 2)] == ["one", "two"]


def recorded(corner: list[float], standing: list[int]) -> VertexRecord:
    """A walk in which one corner of the left sole moves, and its foot stands or not."""
    heights = np.full((len(corner), 2, 4), -1e-4)
    heights[:, 0, 2] = corner
    both = np.column_stack([standing, np.ones(len(corner))])
    return VertexRecord(np.arange(len(corner), dtype=float), heights, np.zeros_like(heights), both)


def test_each_landing_has_how_high_the_corner_had_been() -> None:
    record = recorded([-0.1, 0.02, 0.05, 0.01, -0.1, 1e-5, -0.1, 2e-5], [1] * 8)
    np.testing.assert_array_equal(record.landings(), [0.05, 1e-5])


def test_a_foot_that_starts_in_the_air_lands_too_and_one_that_stays_there_does_not() -> None:
    np.testing.assert_array_equal(recorded([0.03, -0.1, 0.5], [1] * 3).landings(), [0.03])


def test_a_step_begins_when_the_plan_lifts_a_foot() -> None:
    assert recorded([0.0] * 6, [1, 0, 0, 1, 0, 1]).steps == 2


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


@pytest.mark.long
@pytest.mark.walk
def test_the_biped_walks_two_steps_on_contacts_that_hold(tmp_path: Path) -> None:
    walk = walk_biped(biped_setup(tmp_path, 1e-4), 0.6, compiler=lambda function: function)
    assert walk.result["outcome"] == "walked"
    assert walk.record.steps == 2
    assert (walk.record.landings() > 0.01).sum() == 8  # four corners a step
    assert walk.false_impacts <= 4  # 210 without the penetration
    assert walk.result["com_error_m"]["max"] < 0.015
