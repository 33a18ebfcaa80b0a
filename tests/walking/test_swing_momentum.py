from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import GRAVITY, ConfigError, Side, so3
from gradiva.walking import SwingMomentum, SwingMomentumConfig
from gradiva.whole_body import solve_start_posture, torso_rotation, upright_torso
from tests.conftest import model_of
from tests.walking.momentum_of_legs import momentum_of_legs
from tests.whole_body.conftest import inverse_kinematics_of


@lru_cache
def swing_momentum_of(name, gain=1.0):
    model, kinematics = model_of(name), inverse_kinematics_of(name)
    posture = solve_start_posture(model, kinematics, np.zeros(2), upright_torso(model))
    config = SwingMomentumConfig(gain)
    return SwingMomentum(config, model, kinematics, posture, torso_rotation(model, posture))


def reference(side, acceleration, heading=0.0):
    feet = {
        foot: SimpleNamespace(in_contact=foot is not side, acceleration=np.array([*acceleration, 0.0, 0.0, 0.0]))
        for foot in Side
    }
    return SimpleNamespace(heading=heading, foot=feet.__getitem__)


@pytest.mark.parametrize("name", ["icub_v2_7", "icub_v3", "talos"])
def test_a_leg_that_swings_forward_moves_the_zmp_forward(name):
    shift = swing_momentum_of(name).zmp_shift(reference(Side.LEFT, [5.0, 0.0, 0.0]))
    assert 0.005 < shift[0] < 0.06
    assert abs(shift[1]) < 0.1 * shift[0]


def test_left_and_right_mirror_each_other():
    momentum = swing_momentum_of("icub_v2_7")
    left = momentum.zmp_shift(reference(Side.LEFT, [3.0, 1.0, 2.0]))
    right = momentum.zmp_shift(reference(Side.RIGHT, [3.0, -1.0, 2.0]))
    np.testing.assert_allclose(right, left * [1.0, -1.0], rtol=0.02, atol=1e-4)


def test_a_turned_robot_turns_the_shift():
    momentum, heading = swing_momentum_of("icub_v2_7"), 0.9
    turn = so3.rotation_z(heading)
    ahead = momentum.zmp_shift(reference(Side.LEFT, [4.0, 0.5, 1.0]))
    turned = momentum.zmp_shift(reference(Side.LEFT, turn @ [4.0, 0.5, 1.0], heading))
    np.testing.assert_allclose(turned, turn[:2, :2] @ ahead, atol=1e-12)


def test_a_robot_that_moves_as_a_whole_turns_nothing():
    legs, velocity = swing_momentum_of("icub_v2_7"), np.array([0.3, -0.2, 0.1])
    twist = np.array([*velocity, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(momentum_of_legs(legs, twist, twist, velocity, 0.4), 0.0, atol=1e-12)


def test_a_leg_that_swings_forward_turns_the_robot_backward_and_a_com_that_does_forward():
    legs, ahead = swing_momentum_of("icub_v2_7"), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    swung = momentum_of_legs(legs, ahead, np.zeros(6), np.zeros(3), 0.0)
    swayed = momentum_of_legs(legs, np.zeros(6), np.zeros(6), ahead[:3], 0.0)
    assert -2.5 < swung[1] < -1.0
    assert swayed[1] == pytest.approx(-2.0 * swung[1], rel=0.02)


def test_the_shift_of_the_zmp_is_that_of_the_momentum_of_the_swinging_leg():
    swing, acceleration = swing_momentum_of("icub_v2_7"), np.array([4.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    rate = momentum_of_legs(swing, acceleration, np.zeros(6), np.zeros(3), 0.9)
    shift = np.array([-rate[1], rate[0]]) / (model_of("icub_v2_7").mass * GRAVITY)
    np.testing.assert_allclose(swing.zmp_shift(reference(Side.LEFT, acceleration[:3], 0.9)), shift, rtol=1e-12)


def test_feet_on_the_ground_move_nothing():
    np.testing.assert_array_equal(swing_momentum_of("icub_v2_7").zmp_shift(reference(None, [5.0, 0.0, 0.0])), [0, 0])


def test_half_the_gain_is_half_the_shift():
    whole = swing_momentum_of("icub_v2_7").zmp_shift(reference(Side.LEFT, [5.0, 0.0, 0.0]))
    half = swing_momentum_of("icub_v2_7", 0.5).zmp_shift(reference(Side.LEFT, [5.0, 0.0, 0.0]))
    np.testing.assert_allclose(half, 0.5 * whole)


def test_a_negative_gain_is_refused():
    with pytest.raises(ConfigError, match=r"gain=-0\.1"):
        SwingMomentumConfig(-0.1)
