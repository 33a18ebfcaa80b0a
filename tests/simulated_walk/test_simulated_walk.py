"""`SimulatedWalk` in a notebook: the examples of its pages, and what its arguments reach."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gradiva_experiments
from gradiva import experiments
from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.setup import load_setup
from gradiva.simplified_model import BalanceLayer, balance_layer
from gradiva.simulated_walk import SimulatedWalk
from gradiva.walking import WalkingState

SITE = Path(__file__).parents[2] / "docs"
PAGES = (SITE / "how_it_works" / "results_and_falls.md", SITE / "how_to" / "extend.md")
EXAMPLES = re.findall(r"```python\n(.*?)```", "".join(page.read_text(encoding="utf-8") for page in PAGES), re.DOTALL)


def run(example):
    namespace = {}
    exec(compile(example, "page", "exec"), namespace)
    return namespace


def test_the_former_import_path_finds_walks_and_experiments():
    assert experiments.SimulatedWalk is SimulatedWalk
    assert experiments.Trial is gradiva_experiments.Trial
    with pytest.raises(AttributeError, match="'Trail' is neither in"):
        experiments.Trail  # noqa: B018


@pytest.mark.walk
def test_the_first_example_walks_and_keeps_its_log(capsys):
    names = run(EXAMPLES[0])
    assert capsys.readouterr().out.startswith("walked {'rms': 0.0")
    assert names["com"].shape == (len(names["outcome"].log), 3)
    assert names["com"][-1, 0] > 0.4
    assert names["outcome"].walked


@pytest.fixture(scope="module")
def second():
    return run(EXAMPLES[1])


@pytest.mark.walk
def test_the_second_example_walks_with_a_law_of_its_own(second):
    names = dict(second)
    assert names["outcome"].result["model"] == "Proportional"
    assert names["outcome"].walked
    assert 1e-4 < names["errors"][3.0] < 0.05
    assert names["errors"][3.0] != names["errors"][1.2]


@pytest.mark.walk
def test_the_third_example_ends_the_walk_by_a_check_of_its_own(capsys):
    names = run(EXAMPLES[2])
    assert "three steps are enough" in capsys.readouterr().out
    assert names["outcome"].result["outcome"] == "stopped"
    assert names["walk"].time < 12.0


class Recorder(BalanceLayer):
    """Hands every call on to the shipped layer, and counts them."""

    def __init__(self, layer):
        self._layer = layer
        self.updates = 0

    def update(self, state, plan, time, period):
        self.updates += 1
        return self._layer.update(state, plan, time, period)

    def reset(self):
        self._layer.reset()


def test_a_whole_layer_2_takes_the_place_of_the_configured_one():
    setup = load_setup("icub_v2_7")
    layer = Recorder(balance_layer(setup.walking.balance, setup.robot))
    walk = SimulatedWalk(setup, dcm_law=layer)
    assert walk.get_ready(settle=0.1)
    assert walk.run(0.2)
    assert walk.model == "Recorder"
    assert layer.updates >= 20


@pytest.mark.walk
def test_the_signals_of_a_law_are_in_the_log(second):
    namespace = dict(second)
    exec(compile(EXAMPLES[3], "page", "exec"), namespace)
    log = namespace["outcome"].log
    assert namespace["asked"] > 100.0
    assert (log["own::law::asked"][1:] > log["own::law::asked"][:-1]).all()


class EndlessWalk(SimulatedWalk):
    """Steps on for good, as a robot does that is caught again and again."""

    time, is_down, overdue = 0.0, False, ""

    def __init__(self):
        plan = SimpleNamespace(end_time=7.0)
        self.controller = SimpleNamespace(walk=lambda _: None, plan=plan, state=WalkingState.WALKING, reason="walking")

    def tick(self):
        self.time += 0.5


def test_a_walk_that_does_not_end_is_given_up_long_after_the_end_of_its_plan():
    walk = EndlessWalk()
    assert not walk.follow(VelocityCommand(0.1, duration=4.0))
    assert walk.time == 17.0
    assert walk.overdue.startswith("still steps 10 s after the planned end of the walk")


class StandingWalk(EndlessWalk):
    """Has ended its walk, and sways until a time [s]; falls at another one."""

    def __init__(self, until, falls=math.inf, hops=0.0):
        super().__init__()
        self._until, self._falls, self._hops, self.times = until, falls, hops, []

    log = recorder = chatter = property(lambda self: self)
    is_down = property(lambda self: self.time >= self._falls)

    def tick(self):
        self.time += 0.05
        self.times = np.append(self.times, self.time)

    def loads(self):
        left = np.where((self.times < self._hops) & (self.times % 0.1 < 0.05), 0.0, 0.5)
        return self.times, None, np.stack([left, np.full_like(left, 0.5)], axis=1)

    def __len__(self):
        return len(self.times)

    def __getitem__(self, name):
        size = 0.05 if name == "simulation::com::position" else 0.1  # [m], [rad]
        return np.outer(size * np.sin(6.0 * self.times) * (self.times < self._until), [0.0, 1.0, 0.0])


def test_a_robot_that_moves_after_its_walk_is_watched_until_it_rests_or_falls():
    rests, rocks, falls, still = StandingWalk(9.0), StandingWalk(99.0), StandingWalk(99.0, 8.475), StandingWalk(0.0)
    for walk in (rests, rocks, falls, still):
        assert walk.run_until(lambda walk=walk: walk.time >= 8.0, 9.0)
    assert not rests.rests
    assert rests.come_to_stand()
    assert rests.time == pytest.approx(9.55)
    assert not rocks.come_to_stand()
    assert re.fullmatch(
        r"still moves 10 s after others stand, at 18\.0\d s: it does not come to a stand", rocks.overdue
    )
    assert not falls.come_to_stand()
    assert (falls.overdue, falls.time) == ("", pytest.approx(8.5))
    hops = StandingWalk(0.0, hops=9.0)
    assert hops.run_until(lambda: hops.time >= 8.0, 9.0)
    assert hops.come_to_stand()
    assert 9.4 < hops.time < 9.7
    begin = still.time
    assert still.come_to_stand()
    assert still.time == begin  # no walk that ends at rest is longer
    still.controller.plan.end_time = 8.7  # a step is planned
    assert not still.rests


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigError, match="seed=-1: expected a whole number"):
        SimulatedWalk(load_setup("icub_v2_7"), seed=-1)
