from dataclasses import dataclass, field

import numpy as np
import pytest

from gradiva.common import (
    ConfigError,
    ControlMode,
    DcmReference,
    FootContact,
    JointCommand,
    Side,
    SoleRectangle,
    altered,
    sealed,
    unchecked,
)


def test_the_arrays_of_a_value_cannot_be_written():
    command = JointCommand(ControlMode.POSITION, np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        command.values[0] = 1.0


def test_a_value_keeps_its_own_copy():
    positions = np.zeros(3)
    command = JointCommand(ControlMode.POSITION, positions)
    positions[0] = 1.0
    assert command.values[0] == 0.0


def test_an_array_that_cannot_be_written_is_shared():
    command = JointCommand(ControlMode.POSITION, np.zeros(3))
    assert JointCommand(ControlMode.TORQUE, command.values).values is command.values
    for seemingly in (command.values[:2], command.values.reshape(3)):  # views of memory that may be written elsewhere
        assert JointCommand(ControlMode.TORQUE, seemingly).values is not seemingly


def test_a_sealed_array_is_shared_and_cannot_be_written():
    values = sealed(np.zeros(3))
    assert JointCommand(ControlMode.POSITION, values).values is values
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1.0


def test_a_wrong_shape_is_named():
    with pytest.raises(ValueError, match=r"DcmReference.velocity: expected an array of shape \(2,\)"):
        DcmReference(np.zeros(2), np.zeros(3), 4.3, 4.3, np.zeros(2))


def test_the_zmp_of_a_dcm_reference_pushes_it_away():
    reference = DcmReference(np.array([0.1, 0.0]), np.array([0.43, 0.0]), 4.3, 4.3, np.zeros(2))
    np.testing.assert_allclose(reference.zmp_position, [0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(("side", "y"), [(Side.LEFT, 0.005), (Side.RIGHT, -0.005)])
def test_the_middle_of_a_sole_lies_on_its_touching_surface(side, y):
    sole = SoleRectangle(x=(-0.05, 0.1), y=(-0.03, 0.04), z=-0.01)
    np.testing.assert_allclose(sole.middle(side), [0.025, y, -0.01])
    assert (sole.length, sole.width) == pytest.approx((0.15, 0.07))


def test_the_right_sole_mirrors_the_left_one():
    sole = SoleRectangle(x=(-0.05, 0.1), y=(-0.03, 0.04), z=0.0)
    left, right = sole.corners(Side.LEFT), sole.corners(Side.RIGHT)
    assert sorted(map(tuple, left * [1, -1])) == sorted(map(tuple, right))
    np.testing.assert_allclose(sole.corners(Side.LEFT, margin=0.01)[0], [0.09, -0.02])
    with pytest.raises(ConfigError, match="lower bound"):
        SoleRectangle(x=(0.1, -0.1), y=(-0.03, 0.04), z=0.0)


def test_the_rest_pose_of_a_contact_has_a_known_shape_and_cannot_be_written():
    contact = FootContact(True, [0.1, 0.2, 0.0], np.eye(3), 1e6, 1e4)
    with pytest.raises(ValueError, match="read-only"):
        contact.rest_position[2] = 1.0
    with pytest.raises(ValueError, match=r"FootContact.rest_rotation: expected an array of shape \(3, 3\)"):
        FootContact(True, np.zeros(3), np.zeros(3), 1e6, 1e4)


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A value that has been given fields since its makers were written."""

    time: float
    place: np.ndarray
    weight: float = 2.0
    rest: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, slots=True, eq=False)
class GrownTwice(Grown):
    name: str = "left"


def test_an_unchecked_value_has_its_defaults():
    value = unchecked(GrownTwice, time=1.0, place=np.ones(3))
    assert (value.time, value.weight, value.name) == (1.0, 2.0, "left")
    assert value.place.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        value.rest[0] = 1.0
    assert unchecked(Grown, time=1.0, place=np.ones(3)).rest is not value.rest
    assert unchecked(Grown, time=1.0, place=np.ones(3), weight=3.0, rest=None).weight == 3.0


def test_an_unchecked_value_without_a_field_that_has_no_default_is_refused_by_name():
    with pytest.raises(TypeError, match="GrownTwice without place, which has no default"):
        unchecked(GrownTwice, time=1.0)
    with pytest.raises(TypeError, match="Grown has no field plaice; its fields are time, place"):
        unchecked(Grown, time=1.0, plaice=np.ones(3))
    with pytest.raises(AttributeError, match="plaice"):
        unchecked(Grown, time=1.0, plaice=np.ones(3), weight=1.0, rest=None)


def test_an_altered_value_keeps_the_fields_of_its_base():
    value = altered(unchecked(GrownTwice, time=1.0, place=np.ones(3)), name="right")
    assert (value.time, value.weight, value.name) == (1.0, 2.0, "right")


def test_an_altered_value_shares_what_it_keeps():
    contact = FootContact(True, [0.1, 0.2, 0.0], np.eye(3), 1e6, 1e4)
    softer = contact.with_ground(8e5, 300.0)
    assert (softer.stiffness, softer.damping, softer.is_active) == (8e5, 300.0, True)
    assert softer.rest_position is contact.rest_position
    assert contact.stiffness == 1e6


def test_an_unchecked_value_holds_the_very_arrays_of_its_maker_and_cannot_be_changed():
    values = sealed(np.zeros(3))
    command = unchecked(JointCommand, mode=ControlMode.TORQUE, values=values)
    assert type(command) is JointCommand
    assert command.mode is ControlMode.TORQUE
    assert command.values is values
    with pytest.raises(AttributeError):
        command.values = np.ones(3)
