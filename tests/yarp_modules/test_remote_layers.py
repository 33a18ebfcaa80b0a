"""Both layers over ports, each side killed and started again."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from gradiva.middleware import yarp
from gradiva.planner import VelocityCommand, WalkingPlanner, planned_polygon
from gradiva.setup import load_setup
from gradiva.simplified_model import BalancePlan, balance_layer
from gradiva.simulated_walk import SimulatedWalk
from gradiva.walking import PlanRequest, WalkingController
from gradiva.yarp_modules.layer_modules import ModelControlModule, PlannerModule
from gradiva.yarp_modules.message_ports import MessageHeader, MessageReader, MessageWriter
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.remote_layers import RemoteLayers
from gradiva.yarp_modules.remote_model_control import BalanceReply
from gradiva.yarp_modules.remote_planner import PlanAnswer, plan_codec
from tests.middleware.conftest import isolated_config_home, own_name_server  # noqa: F401 (fixtures)
from tests.waiting import TIMEOUT, wait_until
from tests.yarp_modules.made_up_state import state_near

SETUP = load_setup("icub_v2_7", ["remote.lockstep_timeout=10.0", "remote.healthy_look_period=0.2"])
PERIOD = SETUP.walking.walking.period
PLANNER = WalkingPlanner(SETUP.walking.planner)
PLAN = PLANNER.plan(VelocityCommand(0.15, duration=4.0), PLANNER.at_origin(0.0))


class Running:
    """A module in a thread."""

    def __init__(self, kind):
        self.module = kind(ModuleOptions(robot="icub_v2_7"))
        self._thread = threading.Thread(target=lambda: self.module.runModule(yarp.ResourceFinder()), daemon=True)
        self._thread.start()

    def stop(self):
        self.module.stopModule()
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()


@pytest.fixture
def modules(own_name_server):  # noqa: F811
    running = {kind: Running(kind) for kind in (PlannerModule, ModelControlModule)}
    yield running
    for module in running.values():
        module.stop()


@pytest.fixture
def remote(modules):
    layers = RemoteLayers(SETUP, is_lockstep=True)
    layers.open("/whole-body")
    wait_until(layers.are_connected, "connected")
    yield layers
    layers.close()


def update(control, tick):
    reference = PLAN.at(tick * PERIOD)
    state = state_near(reference, len(SETUP.robot.joints), tick)
    polygon = planned_polygon(reference, SETUP.robot.sole)
    plan = BalancePlan(reference, polygon, lambda *_: None, np.zeros(2))
    return control.update(state, plan, reference.time, PERIOD)


def walk(remote, local, ticks):
    for tick in ticks:
        np.testing.assert_array_equal(update(remote, tick).com_position, update(local, tick).com_position)


def test_layer_2_over_ports_is_layer_2_in_this_process_also_after_it_was_started_again(remote, modules):
    local = balance_layer(SETUP.walking.balance, SETUP.robot)
    walk(remote.model_control, local, range(20))
    assert remote.model_control.fallback_ticks == 0
    modules[ModelControlModule].stop()
    remote.model_control._timeout = 0.002
    walk(remote.model_control, local, range(20, 80))
    assert remote.model_control.fallback_ticks == 60
    assert "not connected" in remote.model_control.warning
    remote.model_control._timeout = 10.0
    modules[ModelControlModule] = Running(ModelControlModule)
    answered = remote.model_control.record.answered
    tick = 80
    while remote.model_control.record.answered < answered + 20:
        walk(remote.model_control, local, [tick])
        tick += 1
        time.sleep(0.01)
        assert tick < 2000
    assert remote.model_control.warning == ""


def test_whole_body_may_be_started_again_as_well(remote, modules):
    local = balance_layer(SETUP.walking.balance, SETUP.robot)
    walk(remote.model_control, local, range(10))
    remote.close()
    again, local = RemoteLayers(SETUP, is_lockstep=True), balance_layer(SETUP.walking.balance, SETUP.robot)
    again.open("/whole-body")
    wait_until(again.are_connected, "connected again")
    walk(again.model_control, local, range(10))
    assert again.model_control.fallback_ticks == 0
    again.close()


def plan(remote, number, command, present, at, is_moving):
    remote.planner.submit(PlanRequest(number, command, present, at, is_moving))
    return remote.planner.poll()


def test_a_plan_comes_over_ports_and_is_continued_by_a_planner_that_was_started_again(remote, modules):
    first = plan(remote, 1, VelocityCommand(0.15, duration=4.0), PLANNER.standing(PLANNER.at_origin(0.0)), 0.0, False)
    assert first.plan.end_time == pytest.approx(PLAN.end_time)
    modules[PlannerModule].stop()
    wait_until(lambda: not remote.are_connected(), "the planner is gone")
    assert plan(remote, 2, VelocityCommand(0.1), first.plan, 2.0, True) is None
    modules[PlannerModule] = Running(PlannerModule)
    wait_until(remote.are_connected, "connected again")
    second = plan(remote, 3, VelocityCommand(0.1, duration=3.0), first.plan, 2.0, True)
    expected = PLANNER.replan(first.plan, VelocityCommand(0.1, duration=3.0), 2.0)
    assert second.plan.end_time == expected.end_time
    np.testing.assert_array_equal(second.plan.at(4.0).dcm.position, expected.at(4.0).dcm.position)
    assert remote.planner.sent_plans == 1


def test_garbage_is_counted_and_does_no_harm(remote, modules):
    service = modules[ModelControlModule].module
    garbage = yarp.BufferedPortBottle()
    assert garbage.open("/garbage")
    assert yarp.Network.connect("/garbage", "/model-control/state:i")
    for _ in range(5):
        garbage.prepare().fromString("1 (2 3) garbage")
        garbage.writeStrict()
    wait_until(lambda: service._requests.malformed == 5, "refused")
    walk(remote.model_control, balance_layer(SETUP.walking.balance, SETUP.robot), range(5))
    garbage.close()
    assert remote.model_control.fallback_ticks == 0


def test_the_ports_of_the_page_of_the_modules_exist(remote, modules):
    text = (Path(__file__).parents[2] / "docs/how_it_works/yarp_modules.md").read_text(encoding="utf-8")
    for name in ("/planner/request:i", "/planner/plan:o", "/model-control/state:i", "/model-control/desired:o"):
        assert yarp.Network.exists(name)
        assert name in text


def walked(remote=None):
    """Walk a little in simulation, the layers in this process or behind ports; return the log."""
    walk = SimulatedWalk(SETUP)
    if remote is not None:
        walk.layers.model_control = remote.model_control
        walk.controller = WalkingController(walk.layers, walk.stopwatch.lap, remote.planner)
    assert walk.get_ready(settle=0.2)
    assert walk.follow(VelocityCommand(0.15, duration=2.0), settle=0.2)
    return walk.recorder.log


@pytest.mark.walk
def test_a_walk_with_both_layers_behind_ports_is_the_walk_in_one_process_to_the_last_digit(remote):
    one, three = walked(), walked(remote)
    assert remote.model_control.fallback_ticks == 0
    for name in ("joints_state::positions::command", "com::position::measured", "dcm::position::desired"):
        np.testing.assert_array_equal(three[name], one[name])
    assert one["com::position::measured"][-1, 0] > 0.1


@dataclass(frozen=True)
class FormerRequest:
    """A request of another version."""

    HEADER: ClassVar[MessageHeader] = MessageHeader(1234, 1, 0.5)

    header: MessageHeader = HEADER
    configuration: str = "12345678"


def test_a_request_of_another_version_is_answered_with_the_mismatch(modules):
    for request_port, reply_port, kind, name in (
        ("/model-control/state:i", "/model-control/desired:o", BalanceReply, "BalanceRequest"),
        ("/planner/request:i", "/planner/plan:o", PlanAnswer, "PlanQuestion"),
    ):
        reply = reply_to_a_former_request(request_port, reply_port, kind)
        assert reply.header == FormerRequest.HEADER
        assert reply.refusal == f"{name}: another version of Gradiva packs it otherwise"


def reply_to_a_former_request(request_port, reply_port, kind):
    writer, reader = MessageWriter(plan_codec()), MessageReader(kind, plan_codec())
    writer.open("/former/request:o")
    reader.open("/former/reply:i")
    for pair in (("/former/request:o", request_port), (reply_port, "/former/reply:i")):
        wait_until(lambda pair=pair: yarp.Network.connect(*pair, "fast_tcp", True), pair)
    writer.write(FormerRequest())
    reply = reader.take(TIMEOUT)
    writer.close()
    reader.close()
    return reply
