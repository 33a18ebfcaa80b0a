import numpy as np
import pytest

from gradiva.common import FootContact, Side, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.estimation.normal_force import normal_force_function
from gradiva.robot_model import interpreted
from tests.estimation.soft_feet import SOLE

NORMAL = 2


def foot(random):
    """Return the motion of a sole that is about halfway in the ground, and its contact."""
    rotation = so3.exp(random.normal(size=3) * [0.1, 0.1, 0.5])
    position = random.normal(size=3) * [0.2, 0.2, 0.003] - [0.0, 0.0, SOLE.z]
    rest = FootContact(True, np.zeros(3) - [0.0, 0.0, SOLE.z], so3.rotation_z(0.2), *random.uniform(1e4, 1e6, size=2))
    return SoleMotion(position, rotation, 0.05 * random.normal(size=6)), rest


def inputs_of(side, motion, contact):
    return {
        f"{side}_position": motion.position,
        f"{side}_rotation": motion.rotation,
        f"{side}_twist": motion.twist,
        f"{side}_rest_position": contact.rest_position,
        f"{side}_rest_rotation": contact.rest_rotation,
        f"{side}_ground": (contact.stiffness, contact.damping),
    }


def test_both_feet_have_the_regressors_and_areas_of_a_single_sole():
    function, random = normal_force_function(SOLE, interpreted), np.random.default_rng(11)
    areas = []
    for _ in range(20):
        feet = {side: foot(random) for side in Side}
        function.set(**{name: value for side in Side for name, value in inputs_of(side, *feet[side]).items()})
        outputs = function()
        for side, (motion, contact) in feet.items():
            model = ViscoElasticContact(SOLE, side)
            area = model.loaded_moments(motion, contact).area
            expected = (*model.regressor(motion, contact)[NORMAL], area)
            np.testing.assert_allclose(outputs[f"{side}_normal_force"], expected, rtol=1e-9, atol=1e-15)
            areas.append(area)
    assert min(areas) < 0.3 * max(areas)


def test_a_sole_in_the_air_has_no_area():
    function = normal_force_function(SOLE, interpreted)
    motion = SoleMotion(np.array([0.0, 0.0, 0.05]), np.eye(3), np.zeros(6))
    function.set(**inputs_of(Side.LEFT, motion, FootContact(True, np.zeros(3), np.eye(3), 1e6, 1e4)))
    assert function()["left_normal_force"].tolist() == pytest.approx([0.0, 0.0, 0.0], abs=0.0)
