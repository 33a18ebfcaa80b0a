import numpy as np
import pytest

from gradiva.common import FootContact, Side, SoleRectangle, so3
from gradiva.contacts import LinearContact, SoleMotion, ViscoElasticContact, ViscoElasticParameters
from gradiva.contacts.viscoelastic_contact import roll_pitch_yaw, roll_pitch_yaw_rates

LENGTH, WIDTH, GROUND = 0.19, 0.09, ViscoElasticParameters(1e6, 1e4)
LINEAR = LinearContact(LENGTH, WIDTH, GROUND)
SOLE = SoleRectangle(x=(-LENGTH / 2, LENGTH / 2), y=(-WIDTH / 2, WIDTH / 2), z=0.0)
EXACT = ViscoElasticContact(SOLE, Side.LEFT, is_unilateral=False)
AT_REST = FootContact(True, np.zeros(3), np.eye(3), *GROUND)


def difference(scale):
    """Between both models for a motion that is small with ``scale``."""
    displacement = scale * np.array([0.02, -0.01, -0.03])
    rotation = so3.exp(scale * np.array([0.3, -0.2, 0.5]))
    twist = scale * np.array([0.1, 0.2, -0.3, 1.0, -2.0, 1.5])
    exact = EXACT.wrench(SoleMotion(displacement, rotation, twist), AT_REST)
    return np.abs(exact - LINEAR.wrench(displacement, rotation, twist)).max() / np.abs(exact).max()


def test_for_small_motions_both_models_agree_to_first_order():
    errors = [difference(scale) for scale in (1e-2, 1e-3, 1e-4)]
    assert errors[-1] < 1e-4
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 10.0, rtol=0.1)


def test_each_rotational_spring_pulls_back_with_its_own_stiffness():
    for axis, spread in enumerate((WIDTH**2, LENGTH**2, LENGTH**2 + WIDTH**2)):
        turn = np.zeros(3)
        turn[axis] = 0.1
        wrench = LINEAR.wrench(np.zeros(3), so3.exp(turn), np.zeros(6))
        expected = np.zeros(6)
        expected[3 + axis] = -1e6 * LENGTH * WIDTH / 12 * spread * 0.1
        np.testing.assert_allclose(wrench, expected, atol=1e-12)


def test_in_yaw_the_exact_moment_goes_with_the_sine():
    for yaw in (0.1, 0.5, 1.2):
        exact = EXACT.wrench(SoleMotion(np.zeros(3), so3.rotation_z(yaw), np.zeros(6)), AT_REST)
        linear = LINEAR.wrench(np.zeros(3), so3.rotation_z(yaw), np.zeros(6))
        assert exact[5] / linear[5] == pytest.approx(np.sin(yaw) / yaw)


def test_angles_and_their_rates_are_those_of_the_rotation():
    angles, omega, step = np.array([0.3, -0.7, 1.1]), np.array([0.5, -0.4, 0.9]), 1e-6
    roll, pitch, yaw = (so3.exp(angle * axis) for angle, axis in zip(angles, np.eye(3), strict=True))
    rotation = yaw @ pitch @ roll
    np.testing.assert_allclose(roll_pitch_yaw(rotation), angles, atol=1e-14)
    ahead, back = (roll_pitch_yaw(so3.exp(sign * step * omega) @ rotation) for sign in (1, -1))
    np.testing.assert_allclose(roll_pitch_yaw_rates(angles, omega), (ahead - back) / (2 * step), atol=1e-8)


def test_a_sole_on_end_has_no_angles():
    with pytest.raises(ValueError, match="±90°"):
        LINEAR.wrench(np.zeros(3), so3.exp(np.array([0.0, np.pi / 2, 0.0])), np.zeros(6))
