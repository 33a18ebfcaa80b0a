from dataclasses import replace

import pytest

from gradiva.common import ConfigError
from gradiva.whole_body.compliant_torque_control import LinearMomentumConfig
from tests.whole_body.standing_robot import walking_config

SHIPPED = walking_config().compliant_torque_control


@pytest.mark.parametrize("integral", [200.0, 1000.0])
def test_gains_that_let_the_centre_of_mass_swing_up_are_refused(integral):
    with pytest.raises(ConfigError, match=rf"integral={integral}, must be below damping · stiffness = 200"):
        LinearMomentumConfig(weight=1.0, damping=5.0, stiffness=40.0, integral=integral)
    assert LinearMomentumConfig(weight=1.0, damping=5.0, stiffness=40.0, integral=199.0).integral == 199.0


@pytest.mark.parametrize("name", ["weight", "damping", "stiffness", "integral"])
def test_the_momentum_wants_each_of_its_gains(name):
    with pytest.raises(ConfigError, match=f"{name}=0.0, must be positive"):
        replace(SHIPPED.linear_momentum, **{name: 0.0})


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("angular_momentum", {"recovery": {"torso": -1.0}}, "recovery.torso=-1.0, must not be negative"),
        ("standing_foot", {"unloaded_force": 0.0}, "unloaded_force=0.0, must be positive"),
        ("wrench_rate", {"bandwidth": -1.0}, "bandwidth=-1.0, must not be negative"),
    ],
)
def test_parts_that_make_no_sense_are_refused(part, changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(getattr(SHIPPED, part), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference_damping": 0.0}, "reference_damping=0.0, must be positive"),
        ({"cone_horizon": 0.0}, "cone_horizon=0.0, must be positive"),
        ({"wrench_age": -1e-3}, "wrench_age=-0.001, must not be negative"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(SHIPPED, **changes)
