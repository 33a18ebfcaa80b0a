"""Planner and estimator of other packages, as in examples/own_planner and examples/own_estimator."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from gradiva.common import ConfigError, EstimationError
from gradiva.estimation import Estimator, StateEstimator
from gradiva.planner import PLANNERS, VelocityCommand, WalkingPlanner
from gradiva.setup import load_setup
from gradiva.setup.robot import load_robot
from gradiva.simulated_walk import SimulatedWalk, plan_from_start, simulate
from gradiva.telemetry import read_mat
from gradiva.walking import WalkingLayers
from gradiva.whole_body import OwnController
from gradiva.yarp_modules.remote_layers import planner_fingerprint
from tests.installed import EXAMPLES, install

ROBOT, COMMAND = "icub_v2_7", VelocityCommand(0.15, duration=3.0)
TABLES = {
    name: EXAMPLES / name / file for name, file in (("own_planner", "tiles.toml"), ("own_estimator", "smooth_com.toml"))
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    for name in TABLES:
        install(EXAMPLES / name, tmp_path / name, monkeypatch)


def setup_with(name, *overrides):
    return load_setup(ROBOT, overrides, [TABLES[name]])


def test_a_planner_of_an_installed_package_moves_the_footsteps(installed):
    shipped, own = (plan_from_start(setup, COMMAND) for setup in (load_setup(ROBOT), setup_with("own_planner")))
    moves = [one.footstep.pose.x - other.footstep.pose.x for one, other in zip(own.steps, shipped.steps, strict=True)]
    assert max(map(abs, moves)) == pytest.approx(0.03)
    assert moves[-2:] == [0.0, 0.0]
    assert own.end_time == shipped.end_time


@pytest.mark.walk
def test_a_robot_walks_by_both_and_their_signals_are_in_the_log_file(installed, tmp_path):
    files = list(TABLES.values())
    walk = SimulatedWalk(load_setup(ROBOT, {"walking.prepare_duration": 0.5}, files))
    outcome = walk.execute(COMMAND)
    assert outcome.walked, outcome
    assert isinstance(walk.layers.estimator, Estimator)
    log = read_mat(outcome.save(tmp_path) / "log.mat").log
    assert 0.0 < np.abs(log["own::planner::moved"]).max() <= 0.03
    gain = log["own::estimator::gain"][:, 0]
    assert np.all((gain > 0.0) & (gain < 1.0))
    assert outcome.report(tmp_path).stat().st_size > 10_000
    assert repr(outcome).startswith("<WalkOutcome: iCub v2.7 forward at 0.15 m/s, ")
    assert outcome.plot().axes
    with pytest.raises(Exception, match="no plot 'From abvoe'; did you mean 'From above'"):
        outcome.plot("From abvoe")


class Blind(Estimator):
    """Sees nothing after a second of walking."""

    def __init__(self, shipped, config):
        self._shipped = shipped

    def reset(self):
        self._shipped.reset()

    def update(self, measurement, reference, time=None, commanded_zmp=None):
        if measurement.time > 3.2:
            return {}["the state"]
        return self._shipped.update(measurement, reference, time, commanded_zmp)


@pytest.mark.walk
def test_an_exception_of_an_estimator_is_the_reason_with_its_line():
    robot = load_robot(ROBOT, {"walking.estimator": f"{__name__}:Blind"})
    outcome = simulate(robot, VelocityCommand(0.1, duration=4.0))
    assert not outcome.stands or outcome.result["outcome"] != "walked"
    assert "KeyError 'the state'" in outcome.result["reason"]
    assert "test_own_planner_and_estimator.py:" in outcome.result["reason"]


class Unfinished:
    """Is no planner."""


class Raising(WalkingPlanner):
    """Cannot be made."""

    def __init__(self, config, own):
        np.linalg.inv(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tils", r"planner=tils: unknown planner 'tils'; did you mean 'tiles'"),
        (f"{__name__}:Unfinished", "no WalkingPlanner of gradiva.planner"),
        (f"{__name__}:Missing", "has no 'Missing'"),
    ],
)
def test_what_is_no_planner_is_refused_by_name(installed, name, said):
    with pytest.raises(ConfigError, match=said):
        load_setup(ROBOT, {"walking.planner": name})


def test_tables_and_constructors_of_planners_are_checked_with_the_line_that_raised(installed):
    limits = load_setup(ROBOT).walking.planner

    with pytest.raises(ConfigError, match=r"\[planners\.tiles\]: unknown key 'lenght'; did you mean 'length'"):
        PLANNERS.make("tiles", {"tiles": {"lenght": 0.3}}, limits)
    with pytest.raises(ConfigError, match=r"\[planners\.Raising\]: unknown key 'a', Raising has no settings"):
        PLANNERS.make(f"{__name__}:Raising", {"Raising": {"a": 1}}, limits)
    with pytest.raises(ConfigError, match=r"LinAlgError: Singular matrix \(.*test_own_planner_and.*: np\.linalg\.inv"):
        PLANNERS.make(f"{__name__}:Raising", {}, limits)


def test_an_estimator_alone_is_made_of_a_robot():
    robot, walk = load_robot(ROBOT), SimulatedWalk(load_setup(ROBOT))
    estimator, plan = StateEstimator(robot), WalkingPlanner(robot).plan(COMMAND)
    state = estimator.update(walk.measurement, plan.at(0.0))
    np.testing.assert_allclose(state.com_position, walk.robot.truth().com_position, atol=2e-3)
    with pytest.raises(EstimationError, match="contact_wrenches has shape"):
        estimator.update(SimulatedWalk(load_setup("icub_v3")).measurement, plan.at(0.1))


def test_a_planner_of_ones_own_has_another_fingerprint():
    config = load_setup(ROBOT).walking.planner
    assert planner_fingerprint(config, "unicycle", {}) != planner_fingerprint(
        config, "tiles", {"tiles": {"most": 0.03}}
    )


def test_the_shipped_names_are_the_shipped_classes():
    layers = WalkingLayers(load_setup(ROBOT).robot, load_setup(ROBOT).walking)
    assert type(layers.planner) is WalkingPlanner
    assert type(layers.estimator) is StateEstimator
    assert layers.own_signal_sources == []


@dataclass(frozen=True, slots=True)
class GentleConfig:
    fraction: float


class Gentle(OwnController):
    """Sends a fraction of the shipped controller's torques."""

    Config = GentleConfig

    def __init__(self, shipped, own):
        super().__init__(shipped, own)
        self.fraction, self.sent = own.fraction, 0.0

    def command(self, state, reference, period, relaxed=False):
        command = self.shipped.command(state, reference, period, relaxed)
        self.sent = float(np.abs(command.values).max())
        return replace(command, values=self.fraction * command.values)

    def signals(self):
        return {"sent": self.sent}


@pytest.mark.walk
def test_a_whole_body_controller_of_ones_own_commands_the_robot():
    settings = {"walking.control": "torque", "walking.whole_body": f"{__name__}:Gentle"}
    with pytest.raises(ConfigError, match=r"\[whole_body_controllers\.Gentle\]: missing key 'fraction'"):
        SimulatedWalk(load_setup(ROBOT, settings))
    walk = SimulatedWalk(load_setup(ROBOT, settings | {"whole_body_controllers.Gentle.fraction": 0.99}))
    assert walk.get_ready(0.3)
    assert walk.run(0.3)
    sent, commanded = (walk.recorder.log[name] for name in ("own::whole_body::sent", "joints_state::torques::command"))
    np.testing.assert_allclose(np.abs(commanded[-1]).max(), 0.99 * sent[-1, 0], rtol=1e-9)
