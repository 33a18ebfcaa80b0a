import os
import signal
import threading

import pytest

from gradiva.common import PlanningError
from gradiva.middleware import NetworkError, as_items, yarp
from gradiva.yarp_modules import gradiva_module
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.rpc_commands import is_called, ok
from tests.middleware.conftest import isolated_config_home, own_name_server  # noqa: F401 (fixtures)
from tests.waiting import TIMEOUT, wait_until


class Counter(GradivaModule):
    """Counts its ticks, and fails when asked to."""

    TITLE, SUMMARY, NAME = "counter", "Counts.", "/counter"
    COMMANDS = ("count   how many ticks there were",)

    def __init__(self, options, period=0.01):
        super().__init__(options, period)
        self.count = 0
        self.fault = None
        self.wait_fault = None
        self.is_closed = False
        self.at_the_end = lambda: None
        self.has_time, self.is_slow = threading.Event(), threading.Event()

    def tick(self):
        self.count += 1
        if self.fault is not None:
            raise self.fault
        return True

    def wait_for_tick(self):
        if self.wait_fault is not None:
            raise self.wait_fault
        return super().wait_for_tick()

    def answer(self, command):
        if is_called(command[0], "slow"):
            self.is_slow.set()
            return ok(int(self.has_time.wait(TIMEOUT)))
        if is_called(command[0], "count"):
            return ok(self.count)
        if is_called(command[0], "nothing"):
            return []
        if is_called(command[0], "plan"):
            raise PlanningError("no way")
        if is_called(command[0], "crash"):
            raise ZeroDivisionError("by zero")
        return None

    def close_ports(self):
        self.at_the_end()
        self.is_closed = True


@pytest.fixture
def counter(own_name_server):  # noqa: F811
    module = Counter(ModuleOptions())
    assert module.runModuleThreaded(yarp.ResourceFinder()) == 0
    yield module
    module.stopModule(True)


def ask(text, port="/counter/rpc"):
    reply = yarp.Bottle()
    style = yarp.ContactStyle()
    style.timeout = TIMEOUT
    assert yarp.Network.write(yarp.Network.queryName(port), yarp.Bottle(text), reply, style)
    return reply.toString()


def test_commands_are_answered_by_text_and_by_vocab(counter):
    wait_until(lambda: counter.count > 2)
    assert ask("count").startswith("[ok] ")
    assert ask("[coun]").startswith("[ok] ")
    assert ask("[help]").startswith('[many] "count   how many')
    assert "(module counter)" in ask("getHealth")


def test_refusals_carry_their_reason(counter):
    assert ask("plan") == '[fail] "no way"'
    assert ask("crash") == '[fail] "ZeroDivisionError: by zero"'
    assert ask("nothing") == '[fail] "nothing is no command; help lists the commands"'
    assert ask("dance") == '[fail] "dance is no command; help lists the commands"'
    assert ask("()").startswith("[fail]")
    assert ask("count").startswith("[ok]"), "the module goes on"


def test_a_tick_that_fails_is_counted_and_the_next_one_comes(counter):
    counter.fault = RuntimeError("broken")
    before = counter.count
    wait_until(lambda: counter.count > before + 5)
    counter.fault = None
    assert counter.health.errors >= 5


def test_a_tick_that_is_due_when_the_module_is_stopped_is_done(monkeypatch):
    module = Counter(ModuleOptions())
    monkeypatch.setattr(module, "isStopping", lambda: True)
    monkeypatch.setattr(module, "wait_for_tick", lambda: 0)  # it has taken the sample that a simulator waits for
    assert not module.updateModule()
    assert module.count == 1
    monkeypatch.setattr(module, "wait_for_tick", lambda: None)
    assert not module.updateModule()
    assert module.count == 1


def test_a_failure_while_it_waits_for_the_tick_does_not_end_the_module(counter):
    counter.wait_fault = RuntimeError("broken")
    wait_until(lambda: counter.health.errors >= 2)
    counter.wait_fault = None
    before = counter.count
    wait_until(lambda: counter.count > before + 2)


def test_a_command_does_not_wait_for_the_reply_to_another_one(counter):
    replies = []
    thread = threading.Thread(target=lambda: replies.append(ask("slow")))
    thread.start()
    assert counter.is_slow.wait(TIMEOUT)
    assert ask("count").startswith("[ok] ")
    assert replies == []
    counter.has_time.set()
    thread.join(TIMEOUT)
    assert replies == ["[ok] 1"]


def test_health_is_published_about_once_a_second(counter):
    port = yarp.BufferedPortBottle()
    assert port.open("/listener")
    assert yarp.Network.connect("/counter/health:o", "/listener")
    reports = []
    wait_until(lambda: (message := port.read(False)) is not None and (reports.append(as_items(message)) or True))
    assert dict(reports[0])["module"] == "counter"
    assert dict(reports[0])["period_ms"] == 10.0
    port.close()


def test_quit_closes_all_ports(counter):
    assert ask("quit") == "[bye]"
    assert counter.joinModule(TIMEOUT)
    assert counter.is_closed
    assert not yarp.Network.exists("/counter/rpc")
    assert not yarp.Network.exists("/counter/health:o")


def test_commands_are_answered_until_the_module_has_closed(counter):
    replies = []
    counter.at_the_end = lambda: replies.append(ask("count"))
    assert ask("quit") == "[bye]"
    assert counter.joinModule(TIMEOUT)
    assert replies == [f"[ok] {counter.count}"]


def test_a_second_one_of_the_same_name_is_refused_and_leaves_nothing_behind(counter):
    second = Counter(ModuleOptions())
    assert second.runModuleThreaded(yarp.ResourceFinder()) == 1
    assert second.is_closed
    assert ask("count").startswith("[ok]")


def test_a_module_whose_ports_cannot_be_opened_ends(own_name_server, monkeypatch):  # noqa: F811
    module = Counter(ModuleOptions(name="/other"))

    def refuse():
        raise NetworkError("taken")

    monkeypatch.setattr(module, "open_ports", refuse)
    assert module.runModuleThreaded(yarp.ResourceFinder()) == 1
    assert not yarp.Network.exists("/other/health:o")


def test_an_exception_while_ports_are_opened_leaves_none_open(own_name_server, monkeypatch):  # noqa: F811
    module = Counter(ModuleOptions(name="/other"))
    monkeypatch.setattr(module, "open_ports", lambda: 1 / 0)
    assert module.runModuleThreaded(yarp.ResourceFinder()) == 1
    assert module.is_closed
    assert not yarp.Network.exists("/other/health:o")


def test_an_exception_at_the_end_leaves_no_port_open(counter):
    counter.at_the_end = lambda: 1 / 0
    assert ask("quit") == "[bye]"
    assert counter.joinModule(TIMEOUT)
    assert not yarp.Network.exists("/counter/rpc")


def test_a_flood_of_garbage_neither_ends_nor_stops_the_module(counter):
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            ask("(nonsense (1 2 3) [x]) 4.5")

    threads = [threading.Thread(target=flood) for _ in range(2)]
    for thread in threads:
        thread.start()
    before = counter.count
    wait_until(lambda: counter.count > before + 20)
    assert ask("count").startswith("[ok]")
    stop.set()
    for thread in threads:
        thread.join(TIMEOUT)


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_the_name_server_although_the_bindings_handle_signals(monkeypatch, number, is_there):
    monkeypatch.setattr(yarp.Network, "checkNetwork", lambda: os.kill(os.getpid(), number) or is_there)
    monkeypatch.setattr(gradiva_module, "_LOOK_PERIOD", 0.01)
    kind = gradiva_module.module_class("logger")
    handled_by_yarp = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(KeyboardInterrupt):
            gradiva_module.run_module(kind, ["--robot", "icub_v2_7", "--environment", "simulation"])
    finally:
        for each, before in handled_by_yarp.items():
            signal.signal(each, before)
