"""Gaits of bodies without joints, and what the benchmark compares on them."""

import numpy as np
import pytest

from gradiva.simulated_walk import turning, walking_and_running
from gradiva.simulated_walk.benchmark import centroidal_rows


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
