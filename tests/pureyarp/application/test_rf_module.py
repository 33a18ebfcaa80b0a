"""Modules: their cycle, their answers over ports, exceptions, simulated time."""

import itertools
import json
import logging
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import (
    ExceptionReport,
    ModuleResponder,
    PeriodicSchedule,
    RFModule,
    is_farewell,
    lines_of,
)
from pureyarp.data.streams import ConnectionReader, ConnectionWriter
from pureyarp.data.values import Bottle
from pureyarp.network import clock
from pureyarp.network.buffered_ports import BufferedPortBottle
from pureyarp.network.clock import NetworkClock
from pureyarp.network.peers import NameClient, request
from pureyarp.network.ports import Port, RpcServer
from pureyarp.wire.binary import decode_list
from pureyarp.wire.text import from_text, to_text
from tests.waiting import TIMEOUT, wait_until

RECORDINGS = Path(__file__).parents[2] / "middleware" / "recordings" / "yarp_3_12.json"


class Walker(RFModule):
    """Notes what is called; ``fails`` names the methods that raise."""

    def __init__(self, period: float = 0.001, *, last_cycle: int | None = None, fails: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.cycles = 0
        self._period, self._last_cycle, self._fails = period, last_cycle, fails

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call in self._fails:
            raise ValueError(f"no {call} today")

    def configure(self, rf: ResourceFinder) -> bool:
        self._note("configure")
        return rf.check("name")

    def updateModule(self) -> bool:
        self.cycles += 1
        if "update" in self._fails:
            raise ValueError("no update today")
        return self.cycles != self._last_cycle

    def getPeriod(self) -> float:
        return self._period

    def interruptModule(self) -> bool:
        self._note("interrupt")
        return True

    def close(self) -> bool:
        self._note("close")
        return True

    def respond(self, command: Bottle, reply: Bottle) -> bool:
        match command.get(0).asString():
            case "ping":
                reply.addString("pong")
            case "many":
                reply.fromString('[many] "line1" "line2"')
            case "silent":
                pass
            case "fail":
                raise ValueError("the knee is stuck")
            case _:
                return super().respond(command, reply)
        return True


class Outlet(Port):
    """A port without a network: keeps the reader that it is given."""

    def setReader(self, reader) -> None:
        self.reader = reader

    def ask(self, payload: bytes | str) -> bytes:
        writer = ConnectionWriter(is_text=isinstance(payload, str))
        assert self.reader.read(ConnectionReader(payload, writer=writer))
        return bytes(writer.data)


def finder(*arguments: str) -> ResourceFinder:
    rf = ResourceFinder()
    rf.configure(["program", *arguments])
    return rf


def asked(module: RFModule, command: str) -> str:
    outlet = Outlet()
    module.attach(outlet)
    return outlet.ask(command).decode().strip()


def test_a_module_is_configured_updated_and_closed():
    module = Walker(last_cycle=3)
    assert module.runModule(finder("--name", "/walker")) == 0
    assert module.cycles == 3
    assert module.calls == ["configure", "close"]
    assert module.isStopping()


def test_a_module_that_refuses_its_configuration_ends_with_one(caplog):
    module = Walker()
    assert module.runModule(finder()) == 1
    assert module.calls == ["configure"]
    assert module.cycles == 0
    assert "Walker: configure returned False" in caplog.text


@pytest.mark.parametrize("method", ["configure", "update"])
def test_an_exception_leaves_the_run_at_once_and_nothing_is_closed(method):
    module = Walker(fails=(method,))
    with pytest.raises(ValueError, match=f"no {method} today"):
        module.runModule(finder("--name", "/walker"))
    assert module.calls == ["configure"]
    assert module.joinModule(0.0)


def test_failing_to_interrupt_or_close_does_not_keep_a_module_alive(caplog):
    module = Walker(fails=("interrupt", "close"))
    module.runModuleThreaded(finder("--name", "/walker"))
    module.stopModule()
    assert module.joinModule(TIMEOUT)
    assert "interruptModule failed" in caplog.text
    assert "close failed" in caplog.text


def test_a_threaded_module_stops_on_request_and_interrupts_once():
    module = Walker(period=3600.0)
    assert module.runModuleThreaded(finder("--name", "/walker")) == 0
    wait_until(lambda: module.cycles == 1)
    assert not module.joinModule(0.0)
    module.stopModule()
    module.stopModule(True)
    assert module.calls == ["configure", "interrupt", "close"]
    assert module.cycles == 1


def test_a_module_that_waits_for_its_own_end_goes_on_to_it():
    class Impatient(Walker):
        def updateModule(self) -> bool:
            self.stopModule(True)
            return super().updateModule()

    module = Impatient()
    module.runModuleThreaded(finder("--name", "/walker"))
    assert module.joinModule(TIMEOUT)
    assert module.calls == ["configure", "interrupt", "close"]


def test_a_threaded_module_returns_at_once_that_it_is_not_configured():
    assert Walker().runModuleThreaded(finder()) == 1


def test_a_module_runs_once():
    module = Walker(last_cycle=2)
    module.runModule(finder("--name", "/walker"))
    assert module.runModule() == 1
    assert module.runModuleThreaded() == 1
    assert module.cycles == 2


@pytest.mark.parametrize("farewell", ["quit", "[exit]", "bye"])
def test_a_farewell_is_answered_and_stops(farewell):
    module = Walker(period=3600.0)
    module.runModuleThreaded(finder("--name", "/walker"))
    assert asked(module, farewell) == "[bye]"
    assert module.joinModule(TIMEOUT)
    assert module.calls == ["configure", "interrupt", "close"]


def test_the_replies_are_those_of_a_recorded_module_byte_for_byte():
    recording = next(entry for entry in json.loads(RECORDINGS.read_text()) if entry["name"] == "rfmodule")
    messages = [bytes.fromhex(frame["hex"]) for frame in recording["frames"] if frame.get("what") == "message"]
    replies = [frame["hex"] for frame in recording["frames"] if frame.get("what") == "reply"]
    requests = [message[-frame_size:] for message, frame_size in zip(messages, sizes(recording), strict=True)]
    outlet = Outlet()
    Walker().attach(outlet)
    assert [outlet.ask(request).hex() for request in requests] == replies


def sizes(recording) -> list[int]:
    """Return how many bytes of each message are the Bottle: all of its block but the 8 bytes of the port command."""
    return [sum(frame["blocks"]) - 8 for frame in recording["frames"] if frame.get("what") == "message"]


def test_an_exception_in_respond_is_answered_and_logged_once(caplog):
    module = Walker()
    assert asked(module, "fail") == '[fail] "the knee is stuck"'
    assert asked(module, "fail now") == '[fail] "the knee is stuck"'
    assert caplog.text.count("respond failed") == 1
    assert asked(module, "ping") == "pong"


def test_an_empty_reply_becomes_ok():
    assert asked(Walker(), "silent") == "[ok]"


def test_answers_are_given_one_at_a_time():
    inside, most = [], []

    class Slow(RFModule):
        def respond(self, command: Bottle, reply: Bottle) -> bool:
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.01)
            inside.pop()
            return True

    module = Slow()
    askers = [threading.Thread(target=asked, args=[module, "go"]) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert most == [1] * 4


def test_a_name_gets_its_parts():
    module = Walker()
    module.setName("/walker")
    assert (module.getName(), module.getName("rpc"), module.getName("/rpc")) == (
        "/walker",
        "/walker/rpc",
        "/walker/rpc",
    )


def test_a_signal_ends_a_module_between_two_cycles_and_the_handlers_come_back():
    before = signal.getsignal(signal.SIGTERM)

    class Signalled(Walker):
        def updateModule(self) -> bool:
            if super().updateModule() and self.cycles == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            return True

    module = Signalled()
    assert module.runModule(finder("--name", "/walker")) == 0
    assert module.calls == ["configure", "interrupt", "close"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_no_thread_stays_behind():
    before = set(threading.enumerate())
    module = Walker()
    module.runModuleThreaded(finder("--name", "/walker"))
    asked(module, "quit")
    assert module.joinModule(TIMEOUT)
    wait_until(lambda: set(threading.enumerate()) <= before)


def answered(payload: bytes | str, reply: str) -> ConnectionWriter:
    writer = ConnectionWriter(is_text=isinstance(payload, str))
    responder = ModuleResponder(lambda command: Bottle(reply))
    assert responder.read(ConnectionReader(payload, writer=writer))
    return writer


@pytest.mark.parametrize("text", ["quit", "[quit]", "exit", "bye now", "[bye]"])
def test_farewells_are_known_as_strings_and_vocabs(text):
    assert is_farewell(Bottle(text))


@pytest.mark.parametrize("text", ["", "quitter", "5", "(quit)", '"good bye"'])
def test_other_words_are_no_farewells(text):
    assert not is_farewell(Bottle(text))


def test_on_a_binary_connection_many_lines_are_an_ordinary_bottle():
    writer = answered(Bottle("help").to_wire(), '[many] "one line" two')
    assert to_text(decode_list(bytes(writer.data)).items) == '[many] "one line" two'


def test_on_a_text_connection_many_lines_are_lines():
    assert bytes(answered("help", '[many] "one line" two').data) == b"one line\ntwo\n"
    assert bytes(answered("help", '"one line" two').data) == b'"one line" two\n'


def test_a_reply_is_read_line_by_line_only_where_it_says_so():
    assert lines_of(Bottle("[many] 1 2.5 (3 4)")) == ["1", "2.5", "(3 4)"]
    assert lines_of(Bottle("one 2")) == ["one 2"]


def test_a_sender_that_wants_no_reply_is_answered_all_the_same():
    heard = []

    def answer(command: Bottle) -> Bottle:
        heard.append(command.toString())
        return Bottle("[ok]")

    assert ModuleResponder(answer).read(ConnectionReader(Bottle("go").to_wire(), writer=None))
    assert heard == ["go"]


def test_what_is_no_bottle_or_the_end_of_a_connection_is_not_answered():
    responder = ModuleResponder(lambda command: pytest.fail("answered"))
    assert not responder.read(ConnectionReader(b"\xff" * 8, writer=ConnectionWriter()))
    assert not responder.read(ConnectionReader(b"", is_valid=False))


def test_one_can_wait_for_replies_that_are_on_their_way():
    may_answer, order = threading.Event(), []

    def answer(command: Bottle) -> Bottle:
        may_answer.wait()
        order.append("answered")
        return Bottle("[ok]")

    responder = ModuleResponder(answer)
    reading = threading.Thread(target=responder.read, args=[ConnectionReader("go", writer=ConnectionWriter(True))])
    reading.start()
    while responder._at_work == 0:
        pass
    may_answer.set()
    responder.wait_for_replies()
    order.append("waited")
    reading.join()
    assert order == ["answered", "waited"]


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


PERIOD = 0.01


def beginnings(durations, start=100.0) -> list[float]:
    """Return when cycles begin that take so long, relative to the first one."""
    schedule = PeriodicSchedule(start)
    now, begun = start, []
    for duration in durations:
        begun.append(now - start)
        now += duration
        now += schedule.time_left(PERIOD, now)
    return begun


def test_cycles_begin_on_the_grid_of_the_period():
    assert beginnings([0.002, 0.009, 0.0, 0.01]) == pytest.approx([0.0, 0.01, 0.02, 0.03])


def test_a_small_lateness_is_made_up_for_so_that_nothing_drifts():
    assert beginnings([0.014, 0.001, 0.001]) == pytest.approx([0.0, 0.014, 0.02])


def test_missed_cycles_are_not_caught_up_with():
    assert beginnings([0.055, 0.001, 0.001, 0.001]) == pytest.approx([0.0, 0.055, 0.065, 0.075])


def test_constant_overruns_do_not_accumulate():
    begun = beginnings([0.013] * 20 + [0.001] * 5)
    assert begun[-1] - begun[-2] == pytest.approx(PERIOD)


def test_a_clock_that_jumps_back_starts_a_new_grid():
    schedule = PeriodicSchedule(100.0)
    assert schedule.time_left(PERIOD, 2.0) == 0.0
    assert schedule.time_left(PERIOD, 2.004) == pytest.approx(0.006)


def test_without_a_period_there_is_nothing_to_wait_for():
    schedule = PeriodicSchedule(0.0)
    assert [schedule.time_left(0.0, now) for now in (0.0, 0.5, 1.0)] == [0.0, 0.0, 0.0]


def fail(kind, message):
    raise kind(message)


def error_of(kind, message="no") -> Exception:
    try:
        fail(kind, message)
    except Exception as error:
        return error
    raise AssertionError


def test_a_kind_of_exception_is_logged_once_with_its_traceback(caplog):
    report = ExceptionReport("Walker")
    for count in range(5):
        report.log(error_of(ValueError, f"number {count}"), "updateModule")
    report.log(error_of(KeyError), "updateModule")
    first, second = caplog.records
    assert first.getMessage() == "Walker: updateModule failed: number 0"
    assert first.exc_info is not None
    assert "KeyError" in caplog.text
    assert second.levelno == logging.ERROR


def test_its_count_is_logged_at_the_end(caplog):
    report = ExceptionReport("Walker")
    for _ in range(5):
        report.log(error_of(ValueError), "updateModule")
    report.log(error_of(KeyError), "updateModule")
    caplog.clear()
    report.log_counts()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("Walker: ValueError in updateModule at")
    assert line.endswith("came 5 times")


class Counting(RFModule):
    def __init__(self, period: float) -> None:
        super().__init__()
        self._period = period
        self.times: list[float] = []

    def getPeriod(self) -> float:
        return self._period

    def updateModule(self) -> bool:
        self.times.append(clock.now())
        return True

    def stop(self) -> None:
        self.stopModule(True)


@pytest.fixture
def simulation(monkeypatch):
    """A clock without a publisher, moved by hand."""
    moved = NetworkClock("/clock", "/clock/test:i")
    moved.set_time(100.0)
    monkeypatch.setattr(clock, "_network_clock", moved)
    return moved


def test_cycles_follow_the_simulated_time(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: len(module.times) == 1)
    for cycle in range(1, 4):
        simulation.set_time(100.0 + cycle * 0.01 + 1e-6)
        wait_until(lambda wanted=cycle + 1: len(module.times) == wanted)
    module.stop()
    assert module.times == pytest.approx([100.0, 100.01, 100.02, 100.03], abs=1e-5)


def test_a_simulation_that_stands_still_does_not_hold_up_the_stop(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: module.times)
    stopper = threading.Thread(target=module.stop)
    stopper.start()
    stopper.join(TIMEOUT)
    assert module.joinModule(0.0)


def test_a_simulation_that_begins_anew_begins_a_new_grid(simulation):
    module = Counting(0.01)
    module.runModuleThreaded()
    wait_until(lambda: len(module.times) == 1)
    for time in itertools.count(0.0, 0.001):
        simulation.set_time(time)
        if len(module.times) >= 2 or time > 1e3:
            break
    module.stop()
    assert module.times[0] == 100.0
    assert 0.01 <= module.times[1] < 1e3
