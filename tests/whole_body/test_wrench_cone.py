import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError, Side, SoleRectangle, so3
from gradiva.whole_body import Priority
from gradiva.whole_body.limits import WrenchConeConfig, cone_numbers, cone_rows, in_axes_of

SOLE = SoleRectangle(x=(-0.05, 0.11), y=(-0.03, 0.04), z=-0.01)


def config(**changes):
    values = {
        "priority": Priority.HARD,
        "weight": 1.0,
        "friction": 0.5,
        "torsional_friction": 0.03,
        "sole_fraction": 1.0,
        "minimum_force": 5.0,
    }
    return WrenchConeConfig(**(values | changes))


def excess(wrench, side=Side.LEFT, **changes):
    cone = config(**changes)
    rows = cone_rows(cs.SX(cs.DM(wrench)), cs.SX(cs.DM(cone_numbers(cone, SOLE, side))))
    return float(cs.mmax(cs.DM(rows)))


def at(x, y, force):
    """The wrench of a force at a point of the sole's bottom, about the sole origin."""
    return np.concatenate((force, so3.cross(np.array([x, y, SOLE.z]), np.asarray(force, dtype=float))))


@pytest.mark.parametrize("force", [[49.9, 0, 100], [-49.9, 0, 100], [0, 49.9, 100], [0, -49.9, 100], [0, 0, 5.1]])
def test_forces_within_the_pyramid_are_allowed(force):
    assert excess(at(0.03, 0.005, np.array(force)) * [1, 1, 1, 1, 1, 0]) < 0.0


@pytest.mark.parametrize("force", [[50.1, 0, 100], [-50.1, 0, 100], [0, 50.1, 100], [0, -50.1, 100], [0, 0, 4.9]])
def test_forces_outside_the_pyramid_are_not(force):
    assert excess(at(0.03, 0.005, np.array(force)) * [1, 1, 1, 1, 1, 0]) > 0.0


@pytest.mark.parametrize(("x", "y"), [(0.1099, 0.0), (-0.0499, 0.0), (0.0, 0.0399), (0.0, -0.0299)])
def test_the_centre_of_pressure_may_come_near_the_edge(x, y):
    tilted = np.array([10.0, -20.0, 100.0])
    outwards = 1.002 * np.array([x, y])
    assert excess(at(x, y, tilted), torsional_friction=1.0) < 0.0
    assert excess(at(*(outwards + 2e-4 * np.sign([x, y])), tilted), torsional_friction=1.0) > 0.0


def test_the_right_foot_is_the_mirror_image():
    assert excess(at(0.0, 0.039, [0.0, 0.0, 100.0]), Side.LEFT) < 0.0
    assert excess(at(0.0, 0.039, [0.0, 0.0, 100.0]), Side.RIGHT) > 0.0
    assert excess(at(0.0, -0.039, [0.0, 0.0, 100.0]), Side.RIGHT) < 0.0


def test_a_share_of_the_sole_is_about_its_middle():
    middle = 0.5 * sum(SOLE.x)
    assert excess(at(middle + 0.071, 0.005, [0.0, 0.0, 100.0]), sole_fraction=0.9) < 0.0
    assert excess(at(middle + 0.073, 0.005, [0.0, 0.0, 100.0]), sole_fraction=0.9) > 0.0


def test_torsional_friction_bounds_the_moment_about_the_vertical():
    assert excess(np.array([0.0, 0.0, 100.0, 0.0, 0.0, 2.99])) < 0.0
    assert excess(np.array([0.0, 0.0, 100.0, 0.0, 0.0, -3.01])) > 0.0


def test_a_wrench_is_turned_into_the_axes_of_a_frame():
    rotation = so3.rotation_z(0.5 * np.pi)
    wrench = cs.SX(cs.DM([1, 2, 3, 4, 5, 6]))
    turned = np.array(cs.DM(in_axes_of(cs.SX(cs.DM(rotation)), wrench))).ravel()
    np.testing.assert_allclose(turned, [2, -1, 3, 5, -4, 6], atol=1e-12)


@pytest.mark.parametrize(
    "changes", [{"friction": 0.0}, {"sole_fraction": 1.1}, {"minimum_force": -1.0}, {"weight": 0.0}]
)
def test_what_no_ground_can_be_is_refused(changes):
    with pytest.raises(ConfigError, match=next(iter(changes))):
        config(**changes)
