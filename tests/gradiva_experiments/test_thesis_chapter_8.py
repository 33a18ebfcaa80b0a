"""Torque control on soft ground beside the thesis."""

from pathlib import Path

import numpy as np
import pytest

from gradiva.common import GRAVITY, Side
from gradiva.contacts import ViscoElasticParameters
from gradiva.setup import Plant, load_robot
from gradiva.simulated_walk import plan_from_start
from gradiva.simulation import GroundKind
from gradiva.telemetry import SignalLog
from gradiva.walking import GroundModel
from gradiva_experiments import ExperimentOptions, find_experiment
from gradiva_experiments.experiment import is_fulfilled
from gradiva_experiments.shipped.contact_error import GROUND as ERROR_GROUND
from gradiva_experiments.shipped.contact_error import moment_error
from gradiva_experiments.shipped.soft_walks import LENGTH, STEP_LENGTH, WIDTH, SoftWalk, outcome_figure, sinkage
from gradiva_experiments.shipped.thesis_chapter_8 import (
    comparison_figure,
    force_rate,
    ground_changes,
    noise_figure,
    rows_of,
)

from .fake_pool import FakePool, run_with

PAPER_RIGID = ["failure", "failure", "success", "failure", "failure", "failure"]


def test_table_8_1_walks_sixteen_steps_on_six_grounds_with_both_controllers(tmp_path):
    run = run_with("table_8_1", tmp_path, FakePool(), plants=(Plant.IDEAL,))
    grounds = [(k, b) for b in (1e4, 1e3) for k in (8e5, 1e6, 2e6)]
    found = [(row["controller"], row["step_m"], row["stiffness"], row["damping"]) for row in run.rows]
    gaits = [("compliant", 0.155), ("rigid", 0.155)]
    assert found[:12] == [(*gait, *ground) for gait in gaits for ground in grounds]
    assert found[12:] == [("rigid", 0.155, 2e6, 1e4)]
    assert [row["rotors"] for row in run.rows] == ["none"] * 12 + ["of the robot"]
    assert {row["steps"] for row in run.rows} == {16}
    assert [row["outcome"] for row in run.rows] == ["walked"] * 6 + ["fell"] * 7
    assert [row["paper"] for row in run.rows] == [*["success"] * 6, *PAPER_RIGID, None]
    assert [row["value"] for row in run.rows] == [0.002] * 6 + [0.1] * 7
    assert [Path(figure).name for figure in run.figures] == ["table_8_1.png", "table_8_1.svg"]
    assert run.is_fulfilled


def test_table_8_1_asks_and_compares_nothing_on_other_plants_than_the_ideal_one(tmp_path):
    pool = FakePool()
    run = run_with("table_8_1", tmp_path, pool, quick=True)
    assert [trial.plant for trial in pool.trials] == [plant for plant in Plant for _ in range(4)]
    others = [row for row in run.rows if row["plant"] != "ideal"]
    assert {(row["asked"], row["paper"]) for row in others} == {("as found", None)}


def test_table_8_1_asks_the_compliant_controller_to_walk(tmp_path):
    pool = FakePool(lambda overrides: overrides["simulation.viscoelastic.stiffness"] == 8e5)
    assert not run_with("table_8_1", tmp_path, pool).is_fulfilled


@pytest.mark.parametrize(("error", "outcome"), [(0.010, "walked"), (0.012, "inaccurate")])
def test_a_walk_whose_centre_of_mass_strays_is_no_success(tmp_path, error, outcome):
    run = run_with("table_8_1", tmp_path, FakePool(error=error))
    assert {row["outcome"] for row in run.rows if row["asked"] == "to track"} == {outcome}
    assert run.is_fulfilled == (outcome == "walked")
    if outcome == "inaccurate":
        assert run.rows[0]["reason"] == "walked, but CoM 12.0 mm, 10 mm is the limit"
        assert "walked, but CoM 12.0 mm" in run.table_path.read_text()


def test_ground_that_gives_way_under_the_feet_may_let_the_body_down(tmp_path):
    run = run_with("soft_limits", tmp_path, FakePool(error=0.012))
    asked = {row["case"].split()[0]: row["asked"] for row in run.rows if row["asked"] != "as found"}
    assert asked == {"softer": "to track", "less": "to track", "learned": "to track", "softens": "to walk"}
    given_way = [row for row in run.rows if row["asked"] == "to walk"]
    assert all(row["outcome"] == "inaccurate" and is_fulfilled(row) for row in given_way)


def test_figure_8_9_draws_at_both_intervals_with_and_without_filter(tmp_path):
    pool = FakePool(lambda overrides: overrides["simulation.viscoelastic.noise.force"] >= 20.0)
    run = run_with("figure_8_9", tmp_path, pool)
    configs = [trial.setup() for trial in pool.trials]
    noises = [setup.simulation.viscoelastic.noise for setup in configs]
    filters = [setup.walking.compliant_torque_control.wrench_time_constant for setup in configs]
    kinds = {(noise.interval, str(noise.target), time > 0.0) for noise, time in zip(noises, filters, strict=True)}
    assert kinds == {(1e-5, "robot", False)} | {(t, "both", on) for t in (1e-5, 1e-3) for on in (False, True)}
    assert all(noise.force == noise.moment for noise in noises)
    thesis = [row for row in run.rows if row["paper"] is not None]
    assert [(row["sigma"], row["outcome"]) for row in thesis if row["paper"] == "success"] == 2 * [
        (sigma, "walked") for sigma in (0.0, 5.0, 10.0, 15.0)
    ]
    assert {row["outcome"] for row in thesis if row["paper"] == "failure"} == {"fell"}
    assert len(run.figures) == 2
    assert {row["sigma"] for row in run.rows if row["asked"] == "to track"} == {0.0, 5.0, 10.0, 15.0}
    assert run.is_fulfilled


def test_soft_limits_go_softer_less_damped_and_less_known(tmp_path):
    run = run_with("soft_limits", tmp_path, FakePool())
    softer = [row["stiffness"] for row in run.rows if row["case"] == "softer"]
    assert softer == sorted(softer, reverse=True)
    dampings = [row["damping"] for row in run.rows if row["case"] == "less damped"]
    assert dampings == sorted(dampings, reverse=True)
    assert sum("learned from" in row["case"] for row in run.rows) == 4
    assert sum("under the feet" in row["case"] for row in run.rows) == 2
    limits = [(row["case"], row["stiffness"], row["damping"]) for row in run.rows if row["asked"] == "as found"]
    assert limits[:2] == [("softer", 2e5, 1e4), ("softer", 1.5e5, 1e4)]
    assert limits[2:5] == [("less damped", 8e5, damping) for damping in (100.0, 30.0, 10.0)]
    assert {(stiffness, damping) for case, stiffness, damping in limits[5:]} == {(8e5, 1e3)}


def test_quick_campaigns_are_short(tmp_path):
    rows = [
        run_with(name, tmp_path, FakePool(), quick=True).rows for name in ("table_8_1", "figure_8_9", "soft_limits")
    ]
    assert [len(of_one) for of_one in rows] == [4 * len(Plant), 5, 4]
    assert max(row["steps"] for of_one in rows for row in of_one) <= 3
    assert len({row["noise"] for row in rows[1]}) == 5
    assert [(row["stiffness"], row["damping"]) for row in rows[2][:2]] == [(3e5, 1e4), (8e5, 100.0)]


FIGURES_TIMES = np.arange(0.0, 1.0, 0.01)
ROW = {"plant": "ideal", "controller": "rigid", "stiffness": 8e5, "damping": 1e3, "lasted_s": 5.0, "paper": "failure"}


def foot_log(force):
    quantities = ("com::position", "left_foot::linear_force", "left_foot::angular_torque", "left_foot::position")
    signals = {f"{quantity}::measured": np.zeros((len(FIGURES_TIMES), 3)) for quantity in quantities}
    signals["left_foot::linear_force::measured"][:, 2] = force
    return SignalLog.from_arrays(FIGURES_TIMES, signals)


def test_a_force_that_grows_evenly_has_that_rate():
    assert force_rate(foot_log(-20.0 * FIGURES_TIMES)) == pytest.approx(20.0)
    assert force_rate(SignalLog()) is None


def test_each_controller_has_its_column_also_without_a_log():
    figure = comparison_figure({"compliant": foot_log(FIGURES_TIMES), "rigid": SignalLog()}, "k = 1e6")
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
    usual = "ideal, rigid, k = 8e5, b = 1000"
    assert names == [usual, f"{usual}\nsofter", usual]


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


CHANGE_TIMES = np.arange(0.0, 6.0, 0.1)
STANCES = (CHANGE_TIMES % 2.0 < 1.45).astype(float)  # from 0, 2 and 4 s on
TRUTH = np.where(CHANGE_TIMES < 2.0, 1e6, 2e6)


def walked_log(stiffness, truth=TRUTH, damping=1e4):
    """A log of the left foot on these estimates; the right one stands on even ground."""
    signals = {}
    for side, estimate, ground in (("left", stiffness, truth), ("right", np.full_like(CHANGE_TIMES, 1e6), 1e6)):
        signals[f"{side}_foot::contact::is_active"] = STANCES
        values = {"stiffness": (estimate, ground), "damping": (damping, 1e4)}
        for name, (estimates, true) in values.items():
            signals[f"{side}_foot::contact::{name}"] = np.broadcast_to(estimates, CHANGE_TIMES.shape)
            signals[f"simulation::{side}_foot::contact::{name}"] = np.where(STANCES > 0.5, true, np.nan)
    return SignalLog.from_arrays(CHANGE_TIMES, signals)


def test_both_parameters_of_a_stance_on_other_ground_are_reported():
    late = np.where(CHANGE_TIMES < 2.25, 1e6, 2e6)
    stiffness, damping = ground_changes(walked_log(late), 0.1)
    assert (stiffness.side, stiffness.parameter, stiffness.before, stiffness.truth) == (
        Side.LEFT,
        "stiffness",
        1e6,
        2e6,
    )
    assert stiffness.time == pytest.approx(2.0)
    assert stiffness.settled_after == pytest.approx(0.3)
    assert (damping.parameter, damping.settled_after) == ("damping", 0.0)


def test_an_estimate_that_leaves_the_truth_again_has_not_settled():
    lost = np.where((CHANGE_TIMES > 2.2) & (CHANGE_TIMES < 3.2), 2e6, 1e6)
    assert ground_changes(walked_log(lost), 0.1)[0].settled_after is None


def test_even_ground_and_an_empty_log_have_no_changes():
    assert ground_changes(walked_log(1e6, truth=1e6), 0.1) == []
    assert ground_changes(SignalLog(), 0.1) == []


GROUND = ViscoElasticParameters(8e5, 1e3)


@pytest.mark.parametrize("steps", [2, 16])
def test_the_plan_has_as_many_steps_as_asked_for_and_they_are_as_long(steps):
    trial = SoftWalk(GROUND, steps).trial()
    plan = plan_from_start(trial.setup(), trial.command)
    assert len(plan.steps) == steps
    feet = plan.at(plan.start_time + 0.5 * (plan.end_time - plan.start_time))
    apart = abs(feet.left_foot.position[0] - feet.right_foot.position[0])
    assert apart <= STEP_LENGTH + 1e-9
    assert steps == 2 or apart > 0.5 * STEP_LENGTH


def test_plant_and_controller_have_the_sole_of_the_thesis_and_the_ground_that_is_asked_for():
    setup = SoftWalk(GROUND, 2, prior=3.0, learns=True, controller=GroundModel.RIGID).trial().setup()
    sole = setup.robot.sole
    assert (sole.x[1] - sole.x[0], sole.y[1] - sole.y[0]) == pytest.approx((LENGTH, WIDTH))
    assert setup.simulation.ground.kind == GroundKind.VISCOELASTIC
    assert setup.simulation.viscoelastic.spring(0.0, 0.0) == GROUND
    estimator = setup.walking.contact_estimator
    assert (estimator.stiffness, estimator.damping, estimator.learns) == (2.4e6, 3e3, True)
    assert setup.walking.torque_control.ground is GroundModel.RIGID


def test_the_centre_of_mass_is_lower_by_what_the_soles_sink():
    heights = [
        SoftWalk(ViscoElasticParameters(stiffness, 1e4), 2).trial().setup().robot.com_height for stiffness in (8e5, 2e6)
    ]
    assert heights[1] - heights[0] == pytest.approx(sinkage(8e5) - sinkage(2e6))
    weight = 2.0 * LENGTH * WIDTH * 8e5 * sinkage(8e5)
    assert weight == pytest.approx(load_robot("icub_v2_7").mass * GRAVITY)


WALKED = {"outcome": "walked", "reason": "done", "com_error_m": {"max": 0.002}}
STRAYED = WALKED | {"com_error_m": {"max": 0.011}}
FELL = {"outcome": "fell", "reason": "fell at 5.00 s"}


def known_from(time):
    """A log in which k is known that long after the start; the ground changes at 2 s."""
    return walked_log(np.where(time > CHANGE_TIMES, 1e6, 2e6))


def test_what_is_known_within_a_second_is_met():
    stiffness, damping = rows_of("k", known_from(2.5), WALKED)
    assert (stiffness["outcome"], stiffness["before"], stiffness["truth"]) == ("met", 1e6, 2e6)
    assert stiffness["value"] == pytest.approx(0.5)
    assert (damping["parameter"], damping["outcome"], damping["value"]) == ("damping", "met", 0.0)


def test_what_is_known_later_is_missed():
    assert next(rows_of("k", known_from(3.2), WALKED))["outcome"] == "missed"


@pytest.mark.parametrize(
    ("result", "outcome", "reason"),
    [
        (FELL, "fell", "fell at 5.00 s"),
        (STRAYED, "inaccurate", "walked, but CoM 11.0 mm, 10 mm is the limit"),
    ],
)
def test_a_fall_and_a_centre_of_mass_that_strays_spoil_all_rows_of_their_walk(result, outcome, reason):
    rows = list(rows_of("k", known_from(2.5), result))
    assert [(row["outcome"], row["reason"]) for row in rows] == [(outcome, reason)] * 2


@pytest.mark.parametrize(("result", "outcome"), [(WALKED, "missed"), (FELL, "fell")])
@pytest.mark.parametrize("log", [SignalLog(), walked_log(1e6, truth=1e6)])
def test_a_walk_that_meets_no_other_ground_has_a_row_that_fails(log, result, outcome):
    (row,) = rows_of("k", log, result)
    assert (row["varies"], row["value"], row["outcome"]) == ("k", None, outcome)


SPRING = ERROR_GROUND.stiffness * LENGTH * WIDTH / 12


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
    experiment = find_experiment("figure_8_3")
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)
    experiment.run(run)
    assert [(row["axis"], row["angle_deg"]) for row in run.rows[-3:]] == [("yaw", 10.0), ("yaw", 30.0), ("yaw", 60.0)]
    assert {row["outcome"] for row in run.rows} == {"met"}
    assert {row["axis"]: row["paper"] for row in run.rows} == {"roll": "alike", "pitch": "alike", "yaw": "figure only"}
    yaw = [row["value"] for row in run.rows[-3:]]
    assert 0.0 < yaw[0] < yaw[1] < yaw[2]
    assert len(run.figures) == 2
