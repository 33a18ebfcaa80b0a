import numpy as np
import pytest

from gradiva.common import FootContact, Side, SoleRectangle, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.robot_model import interpreted
from gradiva.simulation.soft_ground_function import SolePlaces, soft_ground_function

SITES, HEIGHT = 5, 0.02  # [-], [m]
SOLES = (SolePlaces(face=1, sensor=3, half_size=(0.08, 0.036)), SolePlaces(face=4, sensor=0, half_size=(0.1, 0.05)))


def situation(random):
    """Return inputs of soles that are about halfway in the ground, tilted, and moving."""
    rotations = [so3.exp(random.normal(size=3) * [0.15, 0.1, 0.5]) for _ in range(SITES)]
    return {
        "site_positions": random.normal(size=(SITES, 3)) * [0.2, 0.2, 0.003],
        "site_rotations": np.array([rotation.ravel() for rotation in rotations]),
        "face_twists": random.normal(size=(2, 6)) * 0.1,
        "rest_positions": random.normal(size=(2, 3)) * [0.2, 0.2, 0.003],
        "rest_rotations": np.array([so3.rotation_z(yaw).ravel() for yaw in random.normal(size=2) * 0.5]),
        "grounds": random.uniform((5e5, 1e3), (2e6, 1e4), size=(2, 2)),
        "touches": np.ones(2),
        "noises": random.normal(size=(2, 6)),
    }


def expected(inputs, index, pulls):
    """Return the wrench about the middle of a face and the loaded area by the equations of one sole."""
    sole, twist = SOLES[index], inputs["face_twists"][index]
    (x, y), rotation = sole.half_size, inputs["site_rotations"][sole.face].reshape(3, 3)
    motion = SoleMotion(inputs["site_positions"][sole.face], rotation, np.concatenate((twist[3:], twist[:3])))
    rest = inputs["rest_rotations"][index].reshape(3, 3)
    contact = FootContact(True, inputs["rest_positions"][index], rest, *inputs["grounds"][index])
    model = ViscoElasticContact(SoleRectangle((-x, x), (-y, y), 0.0), Side.LEFT, is_unilateral=not pulls)
    return model.wrench(motion, contact), abs(rotation[2, 2]) * model.loaded_moments(motion, contact).area


def about_sensor(inputs, index, wrench):
    """Return a wrench about the middle of the face as one about the sensor, in world axes."""
    arm = inputs["site_positions"][SOLES[index].face] - inputs["site_positions"][SOLES[index].sensor]
    return np.concatenate((wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])))


@pytest.mark.parametrize("pulls", [False, True])
def test_wrenches_are_those_of_single_soles_at_the_face_and_at_the_sensor(pulls):
    function, random = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=pulls), np.random.default_rng(3)
    shares = []
    for _ in range(20):
        inputs = situation(random)
        function.set(**inputs)
        told = {name: value.copy() for name, value in function().items()}
        for index, sole in enumerate(SOLES):
            wrench, area = expected(inputs, index, pulls)
            felt, disturbed = (about_sensor(inputs, index, one) for one in (wrench, wrench + inputs["noises"][index]))
            axes = np.kron(np.eye(2), inputs["site_rotations"][sole.sensor].reshape(3, 3).T)
            shares.append(area / (4.0 * sole.half_size[0] * sole.half_size[1]))
            np.testing.assert_allclose(told["wrenches"][index], wrench, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(told["felt"][index], felt, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(told["felt_disturbed"][index], disturbed, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(told["told"][index], axes @ felt, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(told["told_disturbed"][index], axes @ disturbed, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(told["projected_areas"][index], area, rtol=1e-9, atol=1e-12)
    assert (np.ptp(shares) > 0.8) != pulls  # on ground that only pushes, all shares of a sole are seen


def test_a_sole_without_a_contact_feels_nothing_not_even_noise():
    function = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=False)
    inputs = situation(np.random.default_rng(5)) | {"touches": np.array([0.0, 1.0])}
    function.set(**inputs)
    outputs = function()
    for name in ("wrenches", "felt", "felt_disturbed", "told", "told_disturbed"):
        np.testing.assert_array_equal(outputs[name][0], 0.0)
    assert np.abs(outputs["felt_disturbed"][1]).max() > 0.1


def test_places_are_middle_heading_and_lowest_corner():
    function = soft_ground_function(SOLES, SITES, HEIGHT, interpreted, pulls=False)
    inputs = situation(np.random.default_rng(7))
    function.set(**inputs)
    places = function()["places"]
    for (x, y, yaw, lowest), sole in zip(places, SOLES, strict=True):
        rotation, position = inputs["site_rotations"][sole.face].reshape(3, 3), inputs["site_positions"][sole.face]
        corners = np.array([(a, b, 0.0) for a in (-1, 1) for b in (-1, 1)]) * (*sole.half_size, 0.0) @ rotation.T
        np.testing.assert_allclose((x, y), position[:2], atol=1e-15)
        assert yaw == pytest.approx(so3.yaw(rotation), abs=1e-12)
        assert lowest == pytest.approx(position[2] + corners[:, 2].min() - HEIGHT, abs=1e-12)
