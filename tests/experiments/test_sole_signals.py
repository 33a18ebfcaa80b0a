from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import Side, so3
from gradiva.experiments.sole_signals import sole_signals
from gradiva.setup import load_robot
from gradiva.simulation import MujocoRobot
from tests.simulation.standing import configured, moved, standing_posture

ROBOT = load_robot("icub_v2_7")
SIDES = ("left", "right")


def signals_of(posture, **ground):
    return sole_signals(MujocoRobot(ROBOT, configured(**ground), posture).truth(), ROBOT)


def test_soles_on_a_rigid_floor_are_level_and_do_not_sink():
    told = signals_of(standing_posture(ROBOT))
    assert [told[f"simulation::{side}_foot::sinkage"] for side in SIDES] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert [told[f"simulation::{side}_foot::tilt"] for side in SIDES] == pytest.approx([0.0, 0.0], abs=np.radians(1.0))


def test_both_soles_sink_by_the_weight_over_stiffness_and_area():
    ground = {"ground": {"kind": "viscoelastic"}, "viscoelastic": {"stiffness": 1e6}}
    told = signals_of(standing_posture(ROBOT), **ground)
    depth = ROBOT.mass * 9.81 / (2.0 * ROBOT.sole.length * ROBOT.sole.width * 1e6)
    assert depth == pytest.approx(0.0141, abs=1e-4)
    assert np.mean([told[f"simulation::{side}_foot::sinkage"] for side in SIDES]) == pytest.approx(depth, rel=0.02)


def test_of_a_foot_that_carries_nothing_nothing_is_told():
    told = signals_of(moved(standing_posture(ROBOT), np.array([0.0, 0.0, 0.1])))
    assert np.isnan(list(told.values())).all()


def test_depth_is_that_of_the_middle_and_tilt_that_of_the_normal():
    truth = _state(so3.exp(np.array([0.2, 0.0, 0.0])))
    told = sole_signals(truth, ROBOT)
    assert told["simulation::left_foot::tilt"] == pytest.approx(0.2)
    assert told["simulation::left_foot::sinkage"] == pytest.approx(0.03)
    assert np.isnan(told["simulation::right_foot::tilt"])


def _state(rotation):
    """Return the truth of a robot whose left sole's middle is 3 cm deep, turned by ``rotation``; it carries all."""
    surface = np.array([0.4, 0.1, ROBOT.sole.z - 0.03])
    positions = {Side.LEFT: surface - rotation @ ROBOT.sole.middle(Side.LEFT), Side.RIGHT: np.zeros(3)}
    forces = {Side.LEFT: ROBOT.mass * 9.81, Side.RIGHT: 0.0}
    return SimpleNamespace(
        foot_position=positions.__getitem__,
        foot_rotation=lambda side: rotation,
        foot_wrench=lambda side: np.array([0.0, 0.0, forces[side], 0.0, 0.0, 0.0]),
    )
