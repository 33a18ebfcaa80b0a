"""Solvers on the same recorded ticks: ours is at the optimum, peers that are missing say what to install."""

import sys

import pytest

from gradiva.robot_model import interpreted
from gradiva_experiments.peers import centroidal, comparison
from tests.blf.recorded_problems import STAND_IN


@pytest.fixture(autouse=True)
def once(monkeypatch):
    monkeypatch.setattr(comparison, "_REPEATS", 1)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def test_ours_is_at_the_optimum_and_recorded_figures_are_marked():
    rows = comparison.compared("", "", interpreted)
    ours, framework, pink = next(rows), next(rows), next(rows)
    assert ours.distance < 1e-9
    assert ours.violation < 1e-9
    assert framework.source.startswith("recorded: bipedal-locomotion-framework 0.22")
    assert framework.violation == pytest.approx(1.1e-3)
    assert pink.source.startswith("measured") or comparison.INSTALL in pink.source


def test_the_framework_is_measured_where_it_is_installed(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    row = comparison._framework(comparison._Ticks(False), sys.executable)
    assert row.source == "measured"
    assert row.distance < 1e-6


def test_the_recorded_mpc_is_solved_near_its_optimum_and_recorded_figures_are_marked(monkeypatch):
    whole = centroidal.recorded()
    case = whole["cases"]["unit_test"]
    few = {**whole, "cases": {"unit_test": {**case, "samples": case["samples"][:3]}}}
    monkeypatch.setattr(centroidal, "recorded", lambda: few)
    ours, ipopt, framework = centroidal.centroidal_rows("", interpreted)
    assert max(ours.distance, ipopt.distance) < 5e-3
    assert ours.violation < 1e-9
    assert framework.source.startswith("recorded: bipedal-locomotion-framework 0.22")
    assert framework.violation < 1e-6


def test_a_peer_that_fails_says_so_and_ends_nothing(tmp_path):
    row = comparison._peer("pink", "pink_program.py", comparison._Ticks(False), str(tmp_path / "python"))
    assert row.source.startswith("failed: ")
    assert row.distance is None
