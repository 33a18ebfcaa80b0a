import pytest

from gradiva.common import ConfigError
from gradiva.setup import load_setup
from gradiva.walking import WalkingLayers
from tests.conftest import ROBOTS

SOFT = {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"}


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_shipped_legs_are_those_of_the_robot(robot):
    setup = load_setup(robot, SOFT)
    assert setup.walking.planner.leg_momentum.is_planned
    WalkingLayers(setup.robot, setup.walking)


def test_legs_of_another_robot_are_refused_with_the_right_ones():
    setup = load_setup("icub_v2_7", {**SOFT, "planner.leg_momentum.forward": 0.0072})
    with pytest.raises(
        ConfigError, match=r"does not fit the legs of this robot: .* forward = 0\.0051, lateral = 0\.0047"
    ):
        WalkingLayers(setup.robot, setup.walking)
