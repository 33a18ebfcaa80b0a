import json
import os
import signal
import threading
from pathlib import Path

import pytest

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import RFModule
from pureyarp.data.streams import ConnectionReader, ConnectionWriter
from pureyarp.data.values import Bottle
from pureyarp.network.ports import Port
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
