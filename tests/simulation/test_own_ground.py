"""A ground of a package outside of Gradiva, as in examples/own_ground."""

import numpy as np
import pytest

from gradiva.cli.walk_options import WalkOptions
from gradiva.common import ConfigError
from gradiva.setup import load_setup
from gradiva.simulated_walk import run_walk
from gradiva.simulation import MujocoRobot, ground_names, ground_table
from tests.installed import EXAMPLES, install
from tests.simulation.standing import standing_posture

EXAMPLE = EXAMPLES / "own_ground"
TABLE = EXAMPLE / "rubber.toml"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    install(EXAMPLE, tmp_path / "site", monkeypatch)


def test_an_installed_package_adds_a_ground(installed):
    assert list(ground_names().values()) == ["rigid", "soft", "penalty", "rubber"]
    assert ground_table("rubber") == "simulation.grounds.rubber"


def test_a_robot_sinks_into_it_as_deep_as_its_table_says(installed, icub):
    depths = []
    for time_constant in (0.005, 0.02):
        setup = load_setup(
            "icub_v2_7",
            {"simulation.ground.kind": "rubber", "simulation.grounds.rubber.time_constant": time_constant},
            [TABLE],
        )
        robot = MujocoRobot(setup.robot, setup.simulation, standing_posture(setup.robot))
        robot.advance(0.5)
        assert robot.fall is None
        depths.append(-float(np.mean([robot.truth().left_foot_position[2], robot.truth().right_foot_position[2]])))
    assert 1e-5 < depths[0] < depths[1] < 0.02


@pytest.mark.walk
def test_a_robot_walks_on_it_by_the_command_line(installed):
    options = WalkOptions(ground="rubber", files=(str(TABLE),), speed=0.1, duration=3.0)
    outcome = run_walk(options.request())
    assert (outcome.result["outcome"], outcome.result["ground"]) == ("walked", "rubber")
    assert outcome.result["distance_m"] > 0.1


def test_without_an_installation_it_is_found_by_its_class(monkeypatch, icub):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    setup = load_setup("icub_v2_7", {"simulation.ground.kind": "rubber:Rubber"})
    with pytest.raises(ConfigError, match=r"\[simulation.grounds.rubber:Rubber\].*time_constant"):
        MujocoRobot(setup.robot, setup.simulation, standing_posture(setup.robot))


def test_a_ground_that_there_is_not_is_refused_with_the_nearest(installed):
    with pytest.raises(ConfigError, match="kind='ruber': no such ground; did you mean 'rubber'"):
        load_setup("icub_v2_7", {"simulation.ground.kind": "ruber"})
    with pytest.raises(ConfigError, match="unknown --ground 'sof'; did you mean 'soft'"):
        WalkOptions(ground="sof").request()


def test_a_wrong_key_of_its_table_is_refused_by_its_place(installed):
    setup = load_setup(
        "icub_v2_7", {"simulation.ground.kind": "rubber", "simulation.grounds.rubber.time": 1.0}, [TABLE]
    )
    with pytest.raises(ConfigError, match=r"\[simulation.grounds.rubber\].*'time'"):
        MujocoRobot(setup.robot, setup.simulation, standing_posture(setup.robot))
