"""Gaits of bodies without joints, and what the benchmark compares on them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.reduced_model import CentroidalWeights
from gradiva.simulated_walk import solver_comparison, turning, walking_and_running
from gradiva.simulated_walk.centroidal_loop import centroidal_config
from gradiva.simulated_walk.solver_comparison import SolverComparison, bench_weights, centroidal_rows


def test_two_legs_stand_before_they_walk_and_fly_when_they_run():
    active = walking_and_running(3.0).plan.preview(0.1 * np.arange(31)).active
    both, none = active.all(axis=1), ~active.any(axis=1)
    assert both[:4].all()
    assert np.flatnonzero(both).tolist() == [0, 1, 2, 3, 7]
    assert np.flatnonzero(none).tolist() == [10, 14, 18, 22, 26]


def test_a_turning_gait_keeps_its_contacts_on_circles_that_they_look_along():
    gait = turning(3.0)
    for phases, radius in zip(gait.plan.phases, (3.9, 4.1), strict=True):
        for phase in phases:
            spoke = phase.position - [0.0, 4.0, 0.0]
            assert np.linalg.norm(spoke) == pytest.approx(radius)
            assert phase.rotation[:, 0] @ spoke == pytest.approx(0.0, abs=1e-12)


def test_the_benchmark_compares_the_mpc_with_ipopt_on_the_same_problems():
    ours, reference = centroidal_rows(12, 1.0)
    assert (ours["name"], reference["name"]) == (
        "reduced_model.centroidal_mpc/two_legs_12",
        "reduced_model.centroidal_mpc/two_legs_12.ipopt",
    )
    assert ours["samples"] == reference["samples"] == 19
    assert max(ours["max_violation"], reference["max_violation"]) <= 1e-4
    assert ours["cost_gap"]["median"] < 1e-3
    assert ours["cost_gap"]["max"] < 1e-2
    assert set(ours["ipopt_ratio"]) == {"median", "p99"}


@pytest.mark.parametrize(
    ("gait", "weights", "title"), [("quick", "spin", "quick_12_spin"), ("slow", "shipped", "slow_12")]
)
def test_gait_and_weights_stand_in_the_name_of_their_rows(monkeypatch, gait, weights, title):
    solved = [(0.002, SimpleNamespace(violation=1e-6))] * 3
    asked = []
    compared = SolverComparison(solved, [(0.02, each) for _, each in solved], [1e-4] * 3)
    monkeypatch.setattr(solver_comparison, "compared_solvers", lambda *given: asked.append(given[:4]) or compared)
    ours, reference = centroidal_rows(12, 1.0, gait, weights)
    assert [row["name"].rpartition("/")[2] for row in (ours, reference)] == [title, f"{title}.ipopt"]
    assert asked == [(12, 1.0, gait, weights)]
    assert ours["ipopt_ratio"] == pytest.approx({"median": 10.0, "p99": 10.0})
    assert "failure" not in ours
    fallen = replace(compared, failure="5.70 s: too high")
    monkeypatch.setattr(solver_comparison, "compared_solvers", lambda *given: fallen)
    assert centroidal_rows(12, 1.0, gait, weights)[0]["failure"] == "5.70 s: too high"


@pytest.mark.parametrize("seed", [1, 2])
def test_weights_of_a_decade_are_the_shipped_ones_by_up_to_ten(seed):
    shipped = centroidal_config().weights
    assert bench_weights("shipped", shipped) is shipped
    weights = bench_weights(f"decade_{seed}", shipped)
    for key in CentroidalWeights.__dataclass_fields__:
        factors = np.divide(getattr(weights, key), getattr(shipped, key))
        assert (np.abs(np.log10(factors)) <= 1.0).all()
        assert (factors != 1.0).all()
