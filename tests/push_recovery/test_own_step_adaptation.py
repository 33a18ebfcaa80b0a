"""A step adaptation of a package outside of Gradiva, as in examples/own_step_adaptation."""

import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.push_recovery import AdaptedSteps, SteppingMode
from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.simulation import Push
from gradiva.walking import WalkingLayers
from gradiva_experiments.continued_walks import phase_times
from tests.conftest import long
from tests.installed import EXAMPLES, install
from tests.whole_body.standing_robot import state

EXAMPLE = EXAMPLES / "own_step_adaptation"
TABLE = EXAMPLE / "linear_steps.toml"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    install(EXAMPLE, tmp_path / "site", monkeypatch)


def steps_of(*overrides, files=()):
    setup = load_setup("icub_v2_7", overrides, files)
    return WalkingLayers(setup.robot, setup.walking).push_recovery.steps


@pytest.mark.walk
@pytest.mark.parametrize("sign", [long(-1.0), 1.0])
def test_the_installed_law_moves_a_pushed_step_ahead_or_back_and_the_log_has_it(installed, sign):
    walk = SimulatedWalk(load_setup("icub_v2_7", {"walking.prepare_duration": 0.5}, [TABLE]))
    assert walk.get_ready(0.3)
    walk.controller.walk(VelocityCommand(0.1, duration=10.0))
    time = phase_times(walk.controller.plan)["early"]
    walk.robot.push(Push(walk.setup.robot.torso_frame, (sign * 60.0, 0.0, 0.0), time, 0.1))
    assert walk.run_until(lambda: walk.controller.adaptations > 0, 10.0)
    stepping = walk.log.stepping
    assert np.sign(stepping.adapted.x - stepping.nominal.x) == sign
    assert stepping.changes == walk.controller.adaptations == 1
    landing = walk.controller.plan.landings[walk.controller.plan.landings.after(walk.time)].footstep
    assert landing.side is stepping.side
    assert landing.pose.x == pytest.approx(stepping.adapted.x, abs=1e-9)
    assert walk.run(3.0)


def test_off_it_is_not_asked_and_a_mode_is_its_own(installed):
    steps = steps_of("step_adaptation.mode=place", files=[TABLE])
    assert (type(steps).__name__, steps.mode) == ("LinearSteps", SteppingMode.PLACE)
    walk = SimulatedWalk(load_setup("icub_v2_7", ["step_adaptation.mode=off"], [TABLE]))
    recovery, robot = walk.layers.push_recovery, state()
    assert recovery.update(robot, SimpleNamespace(time=1.0), None) == (robot, None)
    assert recovery.steps.log.mode is SteppingMode.OFF


def test_without_an_installation_it_is_found_by_its_class_and_without_a_name_the_shipped_one_is_taken(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    laws = tomllib.loads(TABLE.read_text(encoding="utf-8"))["step_adaptation"]["laws"]
    own = [f"step_adaptation.laws.LinearSteps.{key}={value}" for key, value in laws["linear"].items()]
    assert type(steps_of("step_adaptation.law=linear_steps:LinearSteps", *own)).__name__ == "LinearSteps"
    assert isinstance(steps_of(), AdaptedSteps)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["step_adaptation.law=linaer"],
            "unknown step adaptation 'linaer'; did you mean 'linear'.*is set by an override",
        ),
        (["step_adaptation.law=linear_steps:LinearStep"], "has no 'LinearStep'; did you mean 'LinearSteps'"),
        (["step_adaptation.law=linear_steps:LinearStepsConfig"], "no StepAdaptation of gradiva.push_recovery"),
        (["step_adaptation.laws.linear.gain=0.0"], r"\[step_adaptation.laws.linear\]: gain=0.0, must be positive"),
        (["step_adaptation.laws.linear.gian=1.0"], "did you mean 'gain'"),
    ],
)
def test_one_that_cannot_be_built_is_refused_with_its_name_and_place(installed, overrides, message):
    with pytest.raises(ConfigError, match=message):
        steps_of(*overrides, files=[TABLE])
