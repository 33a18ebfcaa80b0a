"""A safety check of a package outside of Gradiva, as in examples/own_safety_check."""

import pytest

from gradiva.common import ConfigError
from gradiva.planner import VelocityCommand
from gradiva.safety import Response, SafetyKind
from gradiva.safety.supervisor import CHECKS
from gradiva.setup import load_robot, load_setup
from gradiva.simulated_walk import SimulatedWalk
from gradiva.walking import WalkingState
from tests.installed import EXAMPLES, install

EXAMPLE = EXAMPLES / "own_safety_check"
TABLE = EXAMPLE / "fence.toml"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    install(EXAMPLE, tmp_path / "site", monkeypatch)


@pytest.mark.walk
def test_a_walk_stops_with_the_finding_of_the_installed_check_in_the_log(installed):
    changes = {"walking.prepare_duration": 0.5, "safety.checks.fence.radius": 0.15}
    walk = SimulatedWalk(load_setup("icub_v2_7", changes, [TABLE]))
    assert walk.get_ready(0.3)
    walk.controller.walk(VelocityCommand(0.25))
    assert walk.run_until(lambda: walk.controller.state is WalkingState.STOPPED, 10.0)
    (event,) = walk.controller.safety_events
    assert (event.kind, event.subject, event.response) == (SafetyKind.OWN_CHECK, "fence", Response.FINISH_STEP)
    assert event.text == "the robot is 0.15 m from its start, the fence is at 0.15 m"
    assert walk.controller.reason == event.text
    assert walk.log.reason == event.text
    assert walk.robot.fall is None


def test_without_an_installation_it_is_found_by_its_class(monkeypatch, icub):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    tables = {"yard": {"class": "fence:FenceCheck", "radius": 1.0}}
    (check,) = CHECKS.make_all(tables, icub.description)
    assert type(check).__name__ == "FenceCheck"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"fence": {}}, r"\[safety.checks.fence\]: missing key 'radius'"),
        ({"fence": {"radius": -1.0}}, r"\[safety.checks.fence\]: radius=-1.0"),
        ({"fence": {"radius": 1.0, "raduis": 1.0}}, "did you mean 'radius'"),
        ({"fense": {"radius": 1.0}}, "unknown safety check 'fense'; did you mean 'fence'"),
        ({"fence": {"class": "fence:Fence"}}, "'fence' has no 'Fence'; did you mean 'FenceCheck'"),
    ],
)
def test_a_check_that_cannot_be_built_is_refused_by_its_place(installed, icub, tables, message):
    with pytest.raises(ConfigError, match=message):
        CHECKS.make_all(tables, icub.description)


class WithoutReset:
    Config = None

    def __init__(self, config=None, robot=None):
        pass

    def findings(self, measurement, state, reference, time):
        return []


def test_a_check_without_a_method_is_refused_by_name():
    said = "WithoutReset has no method 'reset', which a safety check needs"
    with pytest.raises(ConfigError, match=said):
        CHECKS.make_all({"mine": {"class": f"{__name__}:WithoutReset"}}, load_robot("icub_v2_7"))
    with pytest.raises(ConfigError, match=said):
        SimulatedWalk(load_setup("icub_v2_7"), checks=[WithoutReset()])
