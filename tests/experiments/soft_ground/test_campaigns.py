"""Campaigns of walks, in pools that do not walk."""

from pathlib import Path

import pytest

from gradiva.experiments.asked import is_fulfilled

from .fake_pool import FakePool, run_with


def test_table_8_1_walks_sixteen_steps_on_six_grounds_with_both_controllers(tmp_path):
    run = run_with("table_8_1", tmp_path, FakePool())
    grounds = [(k, b) for b in (1e4, 1e3) for k in (8e5, 1e6, 2e6)]
    found = [(row["controller"], row["step_m"], row["stiffness"], row["damping"]) for row in run.rows]
    gaits = [("compliant", 0.155), ("rigid", 0.155)]
    assert found == [(*gait, *ground) for gait in gaits for ground in grounds]
    assert {row["steps"] for row in run.rows} == {16}
    assert [row["outcome"] for row in run.rows] == ["walked"] * 6 + ["fell"] * 6
    assert [row["paper"] for row in run.rows] == ["success"] * 6 + ["failure"] * 2 + ["success"] + ["failure"] * 3
    assert [row["value"] for row in run.rows] == [0.002] * 6 + [0.1] * 6
    assert [Path(figure).name for figure in run.figures] == ["table_8_1.png", "table_8_1.svg"]
    assert run.is_fulfilled


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
    assert [len(of_one) for of_one in rows] == [4, 5, 4]
    assert max(row["steps"] for of_one in rows for row in of_one) <= 3
    assert len({row["noise"] for row in rows[1]}) == 5
    assert [(row["stiffness"], row["damping"]) for row in rows[2][:2]] == [(3e5, 1e4), (8e5, 100.0)]
