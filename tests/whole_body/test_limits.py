"""Limits of joints, torques and wrenches, against their closed forms."""

from types import SimpleNamespace

import casadi as cs
import numpy as np
import pytest

from gradiva.common import ConfigError, Side, SoleRectangle, so3
from gradiva.robot_model import FlatFunction, SymbolicDynamics
from gradiva.whole_body import Priority
from gradiva.whole_body.limits import (
    UNBOUNDED,
    JointLimitConfig,
    TorqueLimitConfig,
    WrenchConeConfig,
    acceleration_bounds,
    cone_numbers,
    cone_rows,
    in_axes_of,
    limit_contact,
    narrowed_limits,
    torque_bounds,
)
from gradiva.whole_body.reference_symbols import Parameters

HORIZON, MARGIN = 0.03, 0.002


def evaluated(icub, parameters, bounds, dynamics, **values):
    inputs = {
        "joint_positions": dynamics.joint_positions,
        "joint_velocities": dynamics.joint_velocities,
        **parameters.symbols,
    }
    function = FlatFunction("bounds", inputs, {"lower": bounds[0], "upper": bounds[1]})
    function.set(**parameters.constants, **values)
    outputs = function()
    return outputs["lower"].copy(), outputs["upper"].copy()


def test_at_the_bound_a_joint_reaches_its_limit_after_the_horizon(icub):
    dynamics, parameters = SymbolicDynamics(icub), Parameters()
    config = JointLimitConfig(Priority.HARD, 1.0, HORIZON, MARGIN, {})
    rng = np.random.default_rng(0)
    lowest, highest = icub.joint_limits()
    positions = lowest + rng.uniform(size=23) * (highest - lowest)
    velocities = rng.normal(size=23)
    lower, upper = evaluated(
        icub,
        parameters,
        acceleration_bounds(config, dynamics, parameters),
        dynamics,
        joint_positions=positions,
        joint_velocities=velocities,
    )
    for bound, limit in ((lower, lowest + MARGIN), (upper, highest - MARGIN)):
        reached = positions + HORIZON * velocities + 0.5 * HORIZON**2 * bound
        np.testing.assert_allclose(reached, limit, atol=1e-12)


def test_joints_stay_within_less_than_they_can_but_never_within_more(icub):
    limits = {"l_knee": (-1.5, -0.05), "r_knee": (-9.0, 9.0)}
    config = JointLimitConfig(Priority.HARD, 1.0, HORIZON, MARGIN, limits)
    lower, upper = narrowed_limits(config, icub)
    lowest, highest = icub.joint_limits()
    knee = icub.description.joints.index("l_knee")
    assert (lower[knee], upper[knee]) == (-1.5, -0.05)
    others = np.arange(len(lower)) != knee
    np.testing.assert_array_equal(lower[others], lowest[others])
    np.testing.assert_array_equal(upper[others], highest[others])


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"l_kne": (-1.0, 0.0)}, "no joint 'l_kne'; did you mean 'l_knee'"), ({"l_knee": (0.5, 1.0)}, "no room")],
)
def test_limits_of_joints_that_are_unknown_or_left_without_room_are_refused(icub, limits, message):
    config = JointLimitConfig(Priority.HARD, 1.0, HORIZON, MARGIN, limits)
    with pytest.raises(ConfigError, match=message):
        narrowed_limits(config, icub)


def test_torques_keep_their_limits_and_their_rate(icub):
    dynamics, parameters = SymbolicDynamics(icub), Parameters()
    limits = icub.torque_limits()
    last = np.zeros(23)
    last[0], last[1], last[2] = limits[0], -limits[1] - 3.0, 1.0
    bounds = torque_bounds(dynamics, parameters)
    lower, upper = evaluated(icub, parameters, bounds, dynamics, last_torques=last, torque_step=2.0)
    np.testing.assert_allclose(upper[:3], [limits[0], -limits[1], 3.0])
    np.testing.assert_allclose(lower[:3], [limits[0] - 2.0, -limits[1], -1.0])
    np.testing.assert_allclose(upper[3:], 2.0)


def test_torque_limits_are_the_lower_of_model_and_description(icub):
    limits = dict(zip(icub.description.joints, icub.torque_limits(), strict=True))
    assert limits["l_knee"] == 37.0
    assert limits["l_hip_pitch"] == 55.5
    assert limits["torso_pitch"] == 60.0


@pytest.mark.parametrize("changes", [{"horizon": 0.0}, {"weight": 0.0}, {"margin": -0.1}])
def test_limits_that_make_no_sense_are_refused(changes):
    values = {"priority": Priority.SOFT, "weight": 1.0, "horizon": 0.03, "margin": 0.0, "narrowed": {}}
    with pytest.raises(ConfigError, match=next(iter(changes))):
        JointLimitConfig(**(values | changes))
    with pytest.raises(ConfigError, match="weight"):
        TorqueLimitConfig(Priority.SOFT, 0.0)


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
    rows = cone_rows(cs.SX(cs.DM(wrench)), cs.SX(cs.DM(cone_numbers(cone, SOLE.corners(side), SOLE.z))))
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


def test_a_fraction_of_the_sole_is_about_its_middle():
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


@pytest.mark.parametrize("is_loaded", [1.0, 0.0])
def test_the_cone_of_a_contact_holds_while_it_is_loaded(is_loaded):
    feet = {"hand": SimpleNamespace(rotation=cs.SX.eye(3), is_loaded=cs.SX(is_loaded))}
    body = SimpleNamespace(feet=feet, reference=SimpleNamespace(feet=feet), parameters=Parameters())
    composer = SimpleNamespace(limit=lambda *limit: limits.append(limit))
    limits, numbers = [], cs.SX(cs.DM(cone_numbers(config(), SOLE.corners(Side.LEFT), SOLE.z)))
    limit_contact(composer, body, "hand", "hand's wrench", cs.SX.zeros(6), numbers, config())
    ((name, _, lower, upper, priority, weight),) = limits
    assert (name, priority, weight) == ("hand's wrench", Priority.HARD, 1.0)
    np.testing.assert_array_equal(np.array(cs.DM(upper)).ravel(), np.full(11, (1.0 - is_loaded) * UNBOUNDED))
    np.testing.assert_array_equal(np.array(cs.DM(lower)).ravel(), np.full(11, -UNBOUNDED))


@pytest.mark.parametrize(
    "changes", [{"friction": 0.0}, {"sole_fraction": 1.1}, {"minimum_force": -1.0}, {"weight": 0.0}]
)
def test_what_no_ground_can_be_is_refused(changes):
    with pytest.raises(ConfigError, match=next(iter(changes))):
        config(**changes)
