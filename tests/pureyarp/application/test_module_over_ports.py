"""A module that is asked over the network, as `gradiva rpc` and its peers do."""

import threading
from collections.abc import Iterator

import pytest

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import RFModule
from pureyarp.data.values import Bottle
from pureyarp.network.buffered_ports import BufferedPortBottle
from pureyarp.network.peers import NameClient, request
from pureyarp.network.ports import Port, RpcServer
from pureyarp.wire.text import from_text, to_text
from tests.waiting import TIMEOUT, wait_until


class Coordinator(RFModule):
    """Waits for goals in its update and answers at ``/coordinator/rpc``; closes its ports itself."""

    def __init__(self, rpc: Port) -> None:
        super().__init__()
        self.rpc = rpc
        self.goals = BufferedPortBottle()
        self.seen: list[str] = []

    def configure(self, rf: ResourceFinder) -> bool:
        self.setName(rf.find("name").asString())
        if isinstance(self.rpc, RpcServer):
            self.attach_rpc_server(self.rpc)
        else:
            self.attach(self.rpc)
        return self.rpc.open(self.getName("rpc")) and self.goals.open(self.getName("goal:i"))

    def getPeriod(self) -> float:
        return 0.001

    def updateModule(self) -> bool:
        goal = self.goals.read()  # blocks until interruptModule
        if goal is not None:
            self.seen.append(goal.toString())
        return True

    def respond(self, command: Bottle, reply: Bottle) -> bool:
        if command.get(0).asString() == "help":
            reply.fromString('[many] "startWalking" "stopWalking"')
            return True
        return super().respond(command, reply)

    def interruptModule(self) -> bool:
        self.rpc.interrupt()
        self.goals.interrupt()
        return True

    def close(self) -> bool:
        self.rpc.close()
        self.goals.close()
        return True


@pytest.fixture(params=[Port, RpcServer])
def module(request, names) -> Iterator[Coordinator]:
    coordinator = Coordinator(request.param())
    finder = ResourceFinder()
    finder.configure(["program", "--name", "/coordinator"])
    assert coordinator.runModuleThreaded(finder) == 0
    yield coordinator
    coordinator.stopModule(True)


def ask(names: NameClient, command: str, carrier: str = "tcp") -> str:
    reply = request(names.query("/coordinator/rpc"), from_text(command), carrier=carrier, timeout=TIMEOUT)
    return to_text(reply or [])


def test_commands_are_answered_on_binary_and_text_connections(module, names):
    assert ask(names, "help") == "[many] startWalking stopWalking"
    assert ask(names, "dance") == '"command not recognized" "command not recognized"'
    assert ask(names, "help", "fast_tcp") == "[many] startWalking stopWalking"


def test_quit_is_answered_before_the_module_closes_though_its_update_waits(module, names):
    assert ask(names, "quit") == "[bye]"
    assert module.joinModule(TIMEOUT)
    assert not names.query("/coordinator/rpc").isValid()


def test_a_text_client_can_end_a_module_as_yarp_terminate_does(module, names):
    assert ask(names, "quit", "text_ack") == "[bye]"
    assert module.joinModule(TIMEOUT)


def test_no_thread_of_a_module_stays_behind(names):
    before = set(threading.enumerate())
    for _ in range(3):
        coordinator = Coordinator(RpcServer())
        finder = ResourceFinder()
        finder.configure(["program", "--name", "/coordinator"])
        assert coordinator.runModuleThreaded(finder) == 0
        assert ask(names, "[bye]") == "[bye]"
        assert coordinator.joinModule(TIMEOUT)

    def left_behind() -> set[str]:
        return {thread.name for thread in set(threading.enumerate()) - before if "registration" not in thread.name}

    wait_until(lambda: left_behind() == set()), left_behind()
