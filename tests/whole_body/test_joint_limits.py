import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.robot_model import FlatFunction, SymbolicDynamics
from gradiva.whole_body import Priority
from gradiva.whole_body.limits import (
    JointLimitConfig,
    TorqueLimitConfig,
    acceleration_bounds,
    narrowed_limits,
    torque_bounds,
)
from gradiva.whole_body.whole_body_reference import Parameters

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
