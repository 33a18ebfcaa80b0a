"""The registry of layer 2: laws of other packages, as in examples/own_dcm_law, and a layer 2 of another kind."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are
from typer.testing import CliRunner

from gradiva.cli.commands import app
from gradiva.cli.walk_options import WalkOptions, idle_settings
from gradiva.common import ConfigError, PlanarPose
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simplified_model import (
    BalanceLayer,
    BalanceReference,
    SimplifiedModelControl,
    balance_law,
    balance_law_names,
    balance_layer,
)
from gradiva.simulated_walk import SimulatedWalk, run_walk
from gradiva.yarp_modules.remote_layers import model_control_fingerprint
from tests.installed import EXAMPLES, install

EXAMPLE = EXAMPLES / "own_dcm_law"
TABLE = EXAMPLE / "heading_gains.toml"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    install(EXAMPLE, tmp_path / "site", monkeypatch)


def layer_2(setup):
    return balance_layer(setup.walking.balance, setup.robot)


def test_an_installed_package_adds_a_law_with_its_table(installed):
    assert balance_law_names() == ["dcm", "dcm_mpc", "centroidal_mpc", "heading_gains"]
    setup = load_setup("icub_v2_7", ["balance_laws.heading_gains.sideways=2.5"], [TABLE])
    assert (setup.walking.balance.law.forward, setup.walking.balance.law.sideways) == (1.1, 2.5)
    assert isinstance(layer_2(setup), SimplifiedModelControl)


def test_its_gains_are_part_of_the_fingerprint(installed):
    gains = ("1.6", "1.7")
    setups = [load_setup("icub_v2_7", [f"balance_laws.heading_gains.sideways={gain}"], [TABLE]) for gain in gains]
    assert len({model_control_fingerprint(setup.robot, setup.walking) for setup in setups}) == 2


@pytest.mark.walk
def test_a_robot_walks_by_it_from_the_command_line(installed):
    outcome = run_walk(WalkOptions(files=(str(TABLE),), model="heading_gains", speed=0.15, duration=1.5).request())
    assert outcome.result["outcome"] == "walked"
    assert outcome.result["distance_m"] > 0.1
    assert outcome.walk.layers.model_control.failures == 0


def test_without_an_installation_it_is_found_by_its_class(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    gains = {"balance_laws.HeadingGains.forward": 1.2, "balance_laws.HeadingGains.sideways": 1.3}
    setup = load_setup("icub_v2_7", {"walking.model": "heading_gains:HeadingGains", **gains})
    assert setup.walking.balance.law.forward == 1.2
    with pytest.raises(ConfigError, match=r"balance_laws.HeadingGains: missing key 'forward'"):
        load_setup("icub_v2_7", {"walking.model": "heading_gains:HeadingGains"})


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ("dmc", "unknown law 'dmc'; did you mean 'dcm'"),
        ("collections:OrderedDict", "neither a DcmLaw nor a BalanceLayer"),
        ("no_such_package:Law", "importing 'no_such_package' failed"),
    ],
)
def test_a_model_that_is_no_law_is_refused(model, complaint):
    with pytest.raises(ConfigError, match=complaint):
        load_setup("icub_v2_7", {"walking.model": model})


def test_a_table_of_a_law_that_does_not_walk_is_warned_of():
    setup = load_setup("icub_v2_7", ["dcm_mpc.horizon=1.0"])
    assert "--model dcm_mpc" in idle_settings(["dcm_mpc.horizon=1.0"], setup)[0]
    twice = ["planner.swing_height=0.02", "planner.swing_height=0.03"]
    replaced = "warning: --set planner.swing_height: the last value counts; 'gradiva compare' walks with each"
    assert idle_settings(twice, setup) == [replaced]


def test_the_law_of_joints_that_bend_is_warned_of_where_none_bends():
    law = "torque_control.law=flexible"
    rigid, bending = ["walking.control=torque", law], ["walking.control=torque", law, "flexibility.stiffness=3000"]
    (warning,) = idle_settings(rigid, load_setup("talos", rigid))
    assert warning.startswith("warning: --set torque_control.law has no effect in this walk, it needs --flexibility K")
    assert idle_settings(bending, load_setup("talos", bending)) == []


def test_the_help_of_the_command_line_lists_every_law_with_its_summary(installed):
    text = " ".join(CliRunner().invoke(app, ["walk", "--help"], env={"COLUMNS": "400"}).output.split())
    assert all(f"{name}: {balance_law(name).summary}" in text for name in ("dcm", "dcm_mpc", "centroidal_mpc"))
    assert "heading_gains Or package.module:Class." in text


# -- a layer 2 of another kind -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LqrConfig:
    """Weights of the CoM error and of the ZMP, and the gains towards the servos."""

    com_weight: float = 30.0
    zmp_gain: float = 3.0
    com_gain: float = 3.0


class LqrBalance(BalanceLayer):
    """Linear-quadratic regulator of the pendulum's CoM position and velocity, without a DCM."""

    Config = LqrConfig

    def __init__(self, config=None, robot=None):
        self.config = config or LqrConfig()
        self.reset()

    def reset(self):
        self.com_position = None

    def update(self, state, plan, time, period):
        reference, config = plan.reference, self.config
        square = reference.dcm.natural_frequency**2
        dynamics, inputs = np.array([[0.0, 1.0], [square, 0.0]]), np.array([[0.0], [-square]])
        riccati = solve_continuous_are(dynamics, inputs, np.diag([config.com_weight, 1.0]), np.eye(1))
        gains = inputs.T @ riccati  # of the ZMP on the errors of position and velocity
        errors = np.stack([state.com_position - reference.com_position, state.com_velocity - reference.com_velocity])
        zmp = plan.polygon.project(reference.dcm.zmp_position - (gains @ errors[:, :2])[0])
        velocity = reference.com_velocity - config.com_gain * np.append(errors[0, :2], 0.0)
        velocity[:2] -= config.zmp_gain * (zmp + plan.zmp_shift - state.zmp_position)
        start = reference.com_position if self.com_position is None else self.com_position
        self.com_position = np.append((start + period * velocity)[:2], reference.com_position[2])
        acceleration = np.append(square * (reference.com_position[:2] - zmp), 0.0)
        return BalanceReference(self.com_position, velocity, acceleration, zmp)


def test_a_third_kind_of_layer_2_is_named_like_a_law():
    name = f"{__name__}:LqrBalance"
    setup = load_setup("icub_v2_7", {"walking.model": name, "balance_laws.LqrBalance.zmp_gain": 2.5})
    layer = layer_2(setup)
    assert type(layer).__name__ == "LqrBalance"
    assert layer.config.zmp_gain == 2.5


@pytest.mark.walk
def test_a_robot_walks_by_a_third_kind_of_layer_2():
    walk = SimulatedWalk(load_setup("icub_v2_7", {"walking.prepare_duration": 0.5}), dcm_law=LqrBalance())
    assert walk.get_ready(0.5)
    assert walk.follow(VelocityCommand(0.15, duration=1.5), settle=0.5)
    assert walk.robot.truth().base_position[0] > 0.1


class WiderSteps(BalanceLayer):
    """The shipped layer 2, which lets the left foot land 2 cm farther to the left, once in the middle of its swing."""

    def __init__(self, setup):
        self.shipped, self.aimed = layer_2(setup), None

    def reset(self):
        self.shipped.reset()

    def update(self, state, plan, time, period):
        desired = self.shipped.update(state, plan, time, period)
        left = plan.reference.left_foot
        if self.aimed is not None or left.in_contact or left.position[2] < 0.012:
            return desired
        landing = plan.preview(0.02, 100).left_foot_poses[0]
        self.aimed = PlanarPose(landing[0], landing[1] + 0.02, landing[2])
        return replace(desired, contact_targets=(self.aimed, None))


@pytest.mark.walk
def test_a_layer_2_moves_the_foothold_of_the_running_swing():
    setup = load_setup("icub_v2_7")
    layer = WiderSteps(setup)
    walk = SimulatedWalk(setup, dcm_law=layer)
    assert walk.get_ready()
    walk.controller.walk(VelocityCommand(0.1, duration=2.0))
    assert walk.run_until(lambda: layer.aimed is not None and walk.log.reference.left_foot.in_contact, 6.0)
    landed = walk.log.reference.left_foot.position
    np.testing.assert_allclose(landed[:2], [layer.aimed.x, layer.aimed.y], atol=1e-6)
    assert walk.run(1.0)
