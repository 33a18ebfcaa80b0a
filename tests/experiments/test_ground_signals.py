import numpy as np
import pytest

from gradiva.experiments.ground_signals import ground_signals
from gradiva.setup import load_robot
from gradiva.simulation import MujocoRobot
from tests.simulation.standing import configured, moved, standing_posture

FEET = [f"simulation::{side}_foot::contact" for side in ("left", "right")]


@pytest.mark.parametrize("name", ["icub_v2_7", "icub_v3"])
def test_ground_below_standing_feet_is_told_and_in_the_air_there_is_none(name):
    robot = load_robot(name)
    config = configured(ground={"kind": "viscoelastic"}, viscoelastic={"stiffness": 1e6, "damping": 2e4})
    posture = standing_posture(robot)
    told = [ground_signals(MujocoRobot(robot, config, start).ground, robot) for start in _on_and_above(posture)]
    for foot in FEET:
        assert (told[0][f"{foot}::stiffness"], told[0][f"{foot}::damping"]) == (1e6, 2e4)
        assert np.isnan([told[1][f"{foot}::stiffness"], told[1][f"{foot}::damping"]]).all()


def test_rigid_ground_has_no_such_signals():
    robot = load_robot("icub_v2_7")
    assert ground_signals(MujocoRobot(robot, configured(), standing_posture(robot)).ground, robot) == {}


def _on_and_above(posture):
    return posture, moved(posture, np.array([0.0, 0.0, 0.1]))
