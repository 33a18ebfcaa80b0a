"""Centroidal MPC in closed loop: hopping and running go on after a push."""

from dataclasses import replace

import imageio.v2 as imageio
import numpy as np
import pytest

from gradiva.reduced_model import CentroidalMpc, CentroidalSolution, com_reference
from gradiva.simulated_walk import (
    CentroidalPlant,
    centroidal_config,
    hopping,
    simulate_gait,
)
from gradiva_experiments import ExperimentOptions, find_experiment
from gradiva_experiments.shipped.centroidal_gaits import Push, write_film
from tests.conftest import long


@pytest.mark.parametrize(("name", "paper"), [("figure_11_3", 0.10), long("figure_11_4", 0.06)])
def test_the_gait_goes_on_after_the_push_with_contacts_adjusted_as_in_the_thesis(tmp_path, name, paper):
    experiment = find_experiment(name)
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)
    experiment.run(run)
    free, pushed = run.rows
    assert run.is_fulfilled
    assert free["value"] < 0.012
    assert paper / 2.0 < pushed["value"] < 2.0 * paper
    assert "within a factor of 2 of the paper's" in pushed["reason"]
    assert "factor" not in free["reason"]
    assert (free["fallbacks"], pushed["fallbacks"]) == (0, 0)
    assert (tmp_path / run.folder.path / f"{name}.png").is_file()


def test_two_pushed_legs_walk_on_with_whole_soles_on_their_stepping_stones(tmp_path):
    experiment = find_experiment("stepping_stones")
    run = experiment.start(ExperimentOptions(quick=True), tmp_path, None, lambda done, total, text: None)
    experiment.run(run)
    free, pushed = run.rows
    assert run.is_fulfilled
    assert max(free["overhang_m"], pushed["overhang_m"]) < 1e-9
    assert 0.01 < pushed["largest_adjustment_m"] < 0.075  # the stones leave 4 cm and 3 cm, less or more by half of it
    assert free["largest_adjustment_m"] < pushed["largest_adjustment_m"]


def test_the_plant_falls_freely_between_hops_and_takes_the_push():
    gait = hopping(1.0)
    plant = CentroidalPlant(gait, np.array([0.0, 0.0, 0.6]))
    shape = (1, 1, 3)
    nothing = CentroidalSolution(
        *(np.zeros(2), np.zeros((1, 1), dtype=bool), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))),
        *(np.zeros((2, 1, 3)), np.zeros(shape), np.full(shape, 0.5), 0.0, 0.0, 0, 0.0, False),
    )
    push = Push(np.array([0.0, 5.0, 0.0]), 0.4, 0.05)
    plant.advance(0.4, 0.1, nothing, push.at)
    np.testing.assert_allclose(plant.state.com_position, [0.0, 0.01875, 0.6 - 0.5 * 9.81 * 0.01], atol=1e-12)
    np.testing.assert_allclose(plant.state.com_velocity, [0.0, 0.25, -0.981], atol=1e-12)
    np.testing.assert_allclose(plant.state.contact_positions, [[0.05, 0.05, 0.05]], atol=1e-12)


def test_a_film_has_a_picture_for_each_solution(tmp_path):
    gait = hopping(0.2)
    mpc, com = CentroidalMpc(replace(centroidal_config(), deadline=60.0), gait.body), com_reference(gait.plan, 0.6)
    push = Push(np.array([0.0, 5.0, 0.0]), 0.1, 0.1)
    done = simulate_gait(gait, lambda now, state, wrench: mpc.update(now, state, gait.plan, com, wrench), push.at)
    write_film(done, push, tmp_path / "hopping.mp4")
    with imageio.get_reader(tmp_path / "hopping.mp4") as film:
        assert film.count_frames() == len(done.times) == 4
        assert film.get_data(0).shape == (360, 640, 3)
