"""Something goes wrong with an application that walks, a foot in the air: the robot stands, says why, walks again."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from gradiva.setup import load_setup
from gradiva.simulated_walk import plan_from_start
from gradiva_experiments.shipped import drilled_walk, drills
from gradiva_experiments.shipped.drilled_walk import COMMAND, DrilledWalk, drilled_application, swing_time
from gradiva_experiments.shipped.drills import Drill, bump_below, lockstep_drills, most_bent_joint, quick_drills
from gradiva_experiments.shipped.fault_drill import drilled
from tests.conftest import long

SETUP = load_setup("icub_v2_7")
DRILLS = {f"{drill.fault}, {drill.done}": drill for drill in quick_drills(SETUP)}


@pytest.mark.walk
@pytest.mark.parametrize("names", [(list(DRILLS)[-1],), long(list(DRILLS))], ids=["one", "all"])
def test_whatever_fails_in_the_middle_of_a_step_the_robot_stands_says_why_and_walks_again(names):
    """Five processes for all of them, however the tests are divided among workers."""
    with drilled_application(SETUP, is_lockstep=True) as walk:
        walk.get_ready()
        last = names[-1]
        rows = {name: drilled(walk, DRILLS[name], prepares=name == last) for name in names}
    assert {name: row["reason"] for name, row in rows.items() if row["outcome"] != "met"} == {}
    assert all(row["stands"] and row["recovered"] is not False for row in rows.values())
    assert rows[last]["recovered"] is True
    for name in names:
        drill = DRILLS[name]
        assert rows[name]["event"] in {drill.event, drill.may_stop, "clock_jump" if drill.may_jump else drill.event}


@pytest.mark.parametrize(
    ("robot", "knee"),
    [("icub_v2_7", "l_knee"), ("icub_v3", "l_knee"), ("talos", "leg_left_4_joint"), ("g1", "left_knee_joint")],
)
def test_each_robot_has_the_drills_of_its_own_knee_and_feet(robot, knee):
    setup = load_setup(robot)
    assert most_bent_joint(setup) == knee
    done = {drill.fault: drill.done for drill in lockstep_drills(setup)}
    assert done["weak motor"] == f"fault weak_motor 2 {knee} 0.4"
    sensors = [sensor.name for sensor in setup.robot.force_torque_sensors]
    assert sum(name in done["dead foot sensor"] for name in sensors) == len(sensors) // 2
    assert bump_below(setup).y > 0.0


def test_a_drill_complains_of_state_event_and_reason():
    drill = Drill("stall", "", lambda walk: None, "paused", "plan is done")
    assert drill.complaint("paused", "the plan is done", "") == ""
    assert drill.complaint("stopped", "the plan is done", "") == "state stopped, event '' instead of paused, ''"
    assert drill.complaint("paused", "no reason", "") == "the reason does not contain 'plan is done'"
    assert drill.complaint("stopped", "silent", "stale_measurement") != ""
    stall = replace(drill, may_stop="stale_measurement", may_jump=True)
    assert stall.complaint("stopped", "silent", "stale_measurement") == ""
    assert stall.complaint("paused", "the plan is done", "clock_jump") == ""
    assert drill.complaint("paused", "the plan is done", "clock_jump") != ""


def test_every_fault_that_has_to_be_survived_is_drilled():
    killed = {f"{name} is killed" for name in ("planner", "model_control", "whole_body", "logger", "name server")}
    faults = {fault for drill in DRILLS.values() for fault in drill.fault.split(", ")}
    assert killed <= faults
    assert {"network stalls", "frozen force-torque sensor", "references stop", "planner hangs", "RPC flood"} <= faults


class _SlowApplication:
    """Stands for an application whose coordinator is away for some looks, and that notes what it is asked."""

    def __init__(self, monkeypatch, looks: int) -> None:
        self.looks, self.asked, self.names = looks, [], set()
        monkeypatch.setattr(drilled_walk, "ask", lambda port, command, timeout: self._reply())
        monkeypatch.setattr(drills, "registered_names", lambda: frozenset(self.names))
        monkeypatch.setattr(drills, "_NAMELESS", 0.0)

    def _reply(self):
        self.looks -= 1
        return None if self.looks >= 0 else "ok"

    def wait_until(self, condition, what):
        self.asked.append(f"wait until {what}")
        while not condition():
            self.names |= set(sorted(drills._NEEDED_NAMES - self.names)[:1])

    def ask(self, port, command):
        self.asked.append(command)
        return []

    def status(self):
        assert self.looks < 0, "a coordinator that is away is asked"
        return {"safety_events": 0, "last_event": ""}


def _stand_in(application, **more):
    walk = SimpleNamespace(application=application, **more)
    walk.await_port = partial(DrilledWalk.await_port, walk)
    return walk


def test_a_coordinator_that_a_fault_ended_is_awaited_before_it_is_asked(monkeypatch):
    application = _SlowApplication(monkeypatch, 0)
    application.looks = -1

    def end_coordinator(walk):
        application.looks = 3

    walk = _stand_in(
        application,
        walker=application,
        walk_to_swing=lambda: None,
        truth=lambda: {"tilt": 1.0},
        state="configured",
        reason="",
        is_standing=lambda: True,
        get_ready=lambda: None,
    )
    row = drilled(walk, Drill("end", "", end_coordinator, "configured", ""))
    assert (row["outcome"], row["recovered"]) == ("met", True)


def test_after_a_restart_of_the_name_server_the_names_that_later_drills_need_are_awaited(monkeypatch):
    application = _SlowApplication(monkeypatch, 2)
    names = SimpleNamespace(kill=lambda: None, start=lambda: None)
    drills._kill_name_server(_stand_in(application, names=names))
    assert application.names == drills._NEEDED_NAMES
    assert application.asked[:3] == ["resume", "wait until /simulator/rpc answers again", "pause"]


@pytest.mark.parametrize("robot", ["icub_v2_7", "icub_v3", "talos"])
def test_the_drill_begins_with_a_foot_in_the_air(robot):
    setup = load_setup(robot)
    plan, time = plan_from_start(setup, COMMAND), swing_time(setup)
    for moment in (time - 0.1, time, time + 0.1):
        assert not plan.at(moment).is_double_support
