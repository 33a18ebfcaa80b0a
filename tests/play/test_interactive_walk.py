import tomllib

import numpy as np
import pytest

from gradiva.common import ConfigError, Side
from gradiva.play import InteractiveWalk, Tuning
from gradiva.setup import load_setup
from gradiva.simplified_model import balance_layer
from gradiva.telemetry import RunFolder
from gradiva.walking import WalkingState

GAIN = "dcm_controller.proportional_gain"
_LONGEST = 150.0  # [s] of a script: a state that no look at it has seen is waited for without end


class ScriptedPage:
    """Asks for one thing after the other, each when something is the case, and keeps what is reported."""

    def __init__(self, *script):
        """Take pairs: of what is asked of `InteractiveWalk` before a message is sent, and the message."""
        self._script, self.is_open, self.play = list(script), True, None
        self.states, self.pictures, self.seen = [], 0, []

    def messages(self):
        assert self.play.walk.time < _LONGEST, f"nothing came after {self.seen[-1][1:]}"
        if self._script and self._script[0][0](self.play):
            _, message = self._script.pop(0)
            self.seen.append((self.play.walk.time, message, self.play.status()))
            yield message
        self.is_open = bool(self._script)

    def show(self, picture):
        self.pictures += 1
        self.size = len(picture)

    def plot(self, columns, row):
        self.plotted = dict(zip(columns, row[1:], strict=True))

    def report(self, status):
        self.states.append(status)

    def status_at(self, message):
        """Return the status when a message was sent."""
        return next(status for _, sent, status in self.seen if sent == message)

    def time_of(self, message):
        return next(time for time, sent, _ in self.seen if sent == message)


def in_state(word, *, reason="", notice=""):
    def holds(play):
        status = play.status()
        return status["state"] == word and reason in status["reason"] and notice in status["notice"]

    return holds


def at_once(play):
    return True


DRIVE, HANDS_OFF, GOAL = {"drive": [1, 0, 0]}, {"drive": [0, 0, 0]}, {"goal": [0.6, 0.0, None]}
SIDE, STOP, TUNE, END = {"drive": [0, 0, 1]}, {"stop": True}, {"tune": {"key": GAIN, "value": 1.3}}, {"undo": True}
PUSH = {"push": {"link": "torso", "force": 20.0, "direction": 90.0, "duration": 0.1}}
DRAGGED = {"push": {"link": "chest", "vector": [3.0, -4.0], "duration": 0.1}}


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """Return a robot that was driven, let go, pushed, tuned, stopped, sent to a goal, and the page that did it."""
    page = ScriptedPage(
        (at_once, {"pace": 5.0}),
        (in_state("stands, ready"), DRIVE),
        (in_state("walks", reason="forward"), TUNE),
        (lambda play: play.walk.layers.model_control is not None, PUSH),
        (at_once, DRAGGED),
        (in_state("walks", reason="to a stand", notice="silent"), {"save": "overlay"}),
        (in_state("stands, ready"), SIDE),
        (in_state("walks", reason="to the left"), HANDS_OFF),
        (in_state("walks", reason="to a stand"), GOAL),
        (in_state("walks", reason="to (0."), {"command": ["setStepAdaptation", "off"]}),
        (lambda play: play.status()["stepping"] == "off", {"save": "run"}),
        (at_once, {"nonsense": 1}),
        (in_state("stands, ready"), {"command": ["emergencyStop"]}),
        (in_state("frozen"), END),
    )
    page.play = InteractiveWalk(load_setup("icub_v2_7"), page, out=tmp_path_factory.mktemp("runs"))
    page.play.run()
    return page


@pytest.mark.walk
def test_the_robot_stands_is_driven_and_stands_again(driven):
    assert driven.status_at(DRIVE)["reason"] == "started"
    assert driven.status_at(TUNE)["state"] == "walks"
    assert driven.play.walk.robot.fall is None
    assert driven.pictures > 10
    assert driven.states[-1]["robot"] == "iCub v2.7"
    assert driven.plotted["left_foot::linear_force::measured::z"] > 0.0


@pytest.mark.walk
def test_a_silent_driver_and_one_who_lets_go_are_zero_commands(driven):
    assert "the driver is silent" in driven.status_at({"save": "overlay"})["notice"]
    assert driven.status_at(GOAL)["reason"] == "walking to a stand"


@pytest.mark.walk
def test_a_goal_is_reached(driven):
    state = driven.status_at({"command": ["emergencyStop"]})
    assert state["state"] == "stands, ready"
    truth = driven.play.walk.robot.truth()
    middle = 0.5 * (truth.foot_position(Side.LEFT) + truth.foot_position(Side.RIGHT))
    assert np.linalg.norm(middle[:2] - [0.6, 0.0]) < 0.03


@pytest.mark.walk
def test_a_push_comes_from_the_side_that_was_asked_for(driven):
    push, dragged = driven.play.walk.robot.pushes
    assert (dragged.link, dragged.force) == ("chest", (3.0, -4.0, 0.0)), "of the world"
    assert push.force == pytest.approx((0.0, 20.0, 0.0), abs=3.0), "the trunk sways by some degrees"
    assert push.start == pytest.approx(driven.time_of(PUSH))
    assert push.duration == 0.1


@pytest.mark.walk
def test_a_slider_changes_the_gain_while_it_walks_and_the_overlay_repeats_it(driven):
    play, saved = driven.play, driven.status_at({"save": "overlay"})
    assert saved["changed"] == {GAIN: 1.3}
    (file,) = play._out.glob("*.toml")
    assert tomllib.loads(file.read_text()) == {"dcm_controller": {"proportional_gain": 1.3}}
    assert load_setup("icub_v2_7", files=[file]).walking.dcm_controller.proportional_gain == 1.3


@pytest.mark.walk
def test_the_run_is_saved_with_the_gains_as_they_are(driven):
    (path,) = [path for path in driven.play._out.iterdir() if path.is_dir()]
    folder = RunFolder(path)
    assert folder.read_config()["dcm_controller"]["proportional_gain"] == 1.3
    assert folder.read_result()["outcome"] == "walks"
    assert driven.states[-1]["run"] == str(path)
    assert folder.read_log().log.times[-1] == pytest.approx(driven.time_of({"save": "run"}), abs=0.02)


@pytest.mark.walk
def test_an_emergency_stop_freezes_and_nonsense_is_a_notice(driven):
    assert driven.play.walk.controller.state is WalkingState.FAULT
    assert driven.status_at({"command": ["emergencyStop"]})["notice"] == "not understood: nonsense"


@pytest.fixture
def tuned(monkeypatch):
    setup, gains = load_setup("icub_v2_7"), []
    layer = balance_layer(setup.walking.balance, setup.robot)
    monkeypatch.setattr(layer, "tune", lambda config: gains.append(config.law.proportional_gain))
    return Tuning(setup), layer, gains


def test_a_changed_gain_reaches_the_law_and_is_undone(tuned):
    tuning, layer, gains = tuned
    sliders = {one.key: one for one in tuning.sliders(layer)}
    assert sliders[GAIN].low < sliders[GAIN].value < sliders[GAIN].high
    assert "zmp_com_controller.walking.zmp" in sliders
    tuning.change(layer, GAIN, 1.5)
    assert dict(tuning.changed) == {GAIN: 1.5}
    assert tuning.setup.tables["dcm_controller"]["proportional_gain"] == 1.5
    tuning.undo(layer)
    assert tuning.overlay() == ""
    tuning.change(layer, GAIN, 1.4)
    tuning.change(layer, GAIN, None)
    assert gains == [1.5, sliders[GAIN].value, 1.4, sliders[GAIN].value]


def test_what_may_not_change_and_what_would_fall_are_refused(tuned):
    tuning, layer, gains = tuned
    with pytest.raises(ConfigError, match="cannot change while the robot walks"):
        tuning.change(layer, "planner.com_height", 0.6)
    with pytest.raises(ConfigError, match="falls"):
        tuning.change(layer, "zmp_com_controller.walking.com", 11.0)
    with pytest.raises(ConfigError, match="above 1"):
        tuning.change(layer, GAIN, 0.5)
    assert gains == []
    assert dict(tuning.changed) == {}


@pytest.mark.parametrize("message", [{"pace": 1e-6}, {"pace": "nan"}, {"pace": 10**400}, {"advance": None}])
def test_a_pace_that_cannot_be_is_refused_and_the_walk_goes_on(tmp_path, message):
    page = ScriptedPage((at_once, {"pace": 20.0}), (at_once, message), (at_once, END))
    page.play = InteractiveWalk(load_setup("icub_v2_7"), page, out=tmp_path)
    page.play.run()
    assert page.status_at(END)["pace"] == 20.0
    assert page.status_at(END)["notice"]


class PlantMenu:
    """Offers plants."""

    def as_table(self):
        return {"plant": {"value": "ideal", "values": ["ideal", "robot"]}}

    def check(self, chosen):
        if chosen != {"plant": "robot"}:
            raise ConfigError("no such choice")


def test_another_walk_that_is_chosen_ends_this_one(tmp_path):
    asked = [{"choose": {"plant": "cheese"}}, {"choose": None}, {"choose": {"plant": "robot", "control": ""}}]
    page = ScriptedPage((at_once, {"pace": 20.0}), *((at_once, message) for message in asked), (at_once, END))
    page.play = InteractiveWalk(load_setup("icub_v2_7"), page, out=tmp_path, menu=PlantMenu(), notice="the former one")
    assert page.play.status()["notice"] == "the former one"
    page.play.run()
    assert page.play.chosen == {"plant": "robot"}
    assert [page.status_at(message)["notice"] for message in asked[1:]] == ["no such choice", "not understood: choose"]
    assert page.play.status()["menu"] == PlantMenu().as_table()
