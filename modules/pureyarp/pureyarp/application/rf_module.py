"""Run a module: configured once, updated periodically, asked over RPC, closed in the end."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.data.conversions import checked_bool
from pureyarp.data.streams import ConnectionReader, ConnectionWriter
from pureyarp.data.values import Bottle
from pureyarp.network import clock
from pureyarp.network.ports import Port, PortReader, RpcServer
from pureyarp.wire.elements import Vocab32, decode_vocab
from pureyarp.wire.text import to_text

_LOGGER = logging.getLogger("pureyarp")
_DEFAULT_PERIOD = 1.0  # [s]
_MOST_KINDS = 100  # remembered; beyond that a module is broken in a way that its log cannot help
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LAST_HANDLED_SIGNAL = 3
_FAREWELLS = ("quit", "exit", "bye")
_REPLY_TIMEOUT = 1.0  # [s] for replies that are on their way when the module stops
_SENDING = 0.05  # [s] a port sends a reply after `read` has returned


class RFModule:
    """To be subclassed: `configure`, `updateModule`, `getPeriod`, `respond`, `interruptModule`, `close`.

    ``runModule(resource_finder)`` calls `configure`, then `updateModule` every `getPeriod` seconds of YARP's clock
    until it returns False, `respond` takes ``quit``, or SIGINT or SIGTERM comes; then `close`. Where `configure`
    returns False there is no `close`. An exception in `configure` or `updateModule`, and anything but a bool that they
    return (TypeError), leaves `runModule` at once, without `close`; one in `respond` is answered by
    ``[fail] "message"``. A module runs once.
    """

    def __init__(self) -> None:
        if type(self) is RFModule:
            raise RuntimeError("RFModule has to be subclassed")
        self._name = ""
        self._has_run = False
        self._stop = threading.Event()
        self._has_ended = threading.Event()
        self._has_ended.set()
        self._interrupt_lock = threading.Lock()
        self._is_interrupted = False
        self._respond_lock = threading.Lock()
        self._responder = ModuleResponder(self._answer)
        self._runner: threading.Thread | None = None
        self._report = ExceptionReport(type(self).__name__)

    def configure(self, rf: ResourceFinder) -> bool:
        """Make the module ready; False ends it."""
        return True

    def updateModule(self) -> bool:
        """Do one cycle; False ends the module."""
        return False

    def getPeriod(self) -> float:
        """Return the time from the beginning of one cycle to that of the next, [s]."""
        return _DEFAULT_PERIOD

    def interruptModule(self) -> bool:
        """Unblock what `updateModule` may be waiting for; called once, from another thread, when the module stops."""
        return True

    def close(self) -> bool:
        """Give back what `configure` took."""
        return True

    def respond(self, command: Bottle, reply: Bottle) -> bool:
        """Say that the command is not known.

        A subclass answers what it knows and returns True; after False this method's answer is appended to its own.
        ``quit``, ``exit`` and ``bye`` stop the module, if the subclass leaves them to this method.
        """
        if is_farewell(command):
            reply.addVocab32("bye")
            self._stop_after_the_reply()
            return True
        reply.addString("command not recognized")
        return False

    def safeRespond(self, command: Bottle, reply: Bottle) -> bool:
        """Call `respond`, one call at a time from all connections; an exception becomes ``[fail] "message"``."""
        with self._respond_lock:
            try:
                return self.respond(command, reply)
            except Exception as error:
                self._report.log(error, "respond")
                reply.clear()
                reply.addVocab32("fail")
                reply.addString(str(error) or type(error).__name__)
                return True

    def attach(self, source: Port) -> bool:
        """Answer what comes in at ``source``."""
        if not isinstance(source, Port):
            raise TypeError(f"a Port is expected, not {source!r}")
        source.setReader(self._responder)
        return True

    def attach_rpc_server(self, source: RpcServer) -> bool:
        """Answer what comes in at ``source``."""
        if not isinstance(source, RpcServer):
            raise TypeError(f"an RpcServer is expected, not {source!r}")
        source.setReader(self._responder)
        return True

    def getName(self, subName: str = "") -> str:
        """Return the module's name with ``/subName`` behind it."""
        separator = "" if not subName or subName.startswith("/") else "/"
        return f"{self._name}{separator}{subName}"

    def setName(self, name: str) -> None:
        """Set the name that `getName` returns."""
        self._name = name

    def runModule(self, rf: ResourceFinder | None = None) -> int:
        """Run until the end; return 0, or 1 if `configure` returns False or the module has run before.

        Without ``rf`` the module is configured already.
        """
        if self._has_run:
            return 1
        self._begin()
        with TerminationSignals(self.stopModule):
            return self._run(rf)

    def runModuleThreaded(self, rf: ResourceFinder | None = None) -> int:
        """Configure in this thread and run in another one; return 0, or 1 as `runModule` does."""
        if self._has_run:
            return 1
        self._begin()
        if rf is not None and not self._is_configured(rf):
            self._has_ended.set()
            return 1
        threading.Thread(target=self._run, name=f"module {type(self).__name__}", daemon=True).start()
        return 0

    def joinModule(self, seconds: float = -1) -> bool:
        """Wait for the end, at most ``seconds`` unless they are negative; return whether it has come."""
        return self._has_ended.wait(None if seconds < 0 else seconds)

    def stopModule(self, wait: bool = False) -> None:
        """Stop after the present cycle; with ``wait`` return when the module has closed (not in its own thread)."""
        self._stop.set()
        with self._interrupt_lock:
            is_first = not self._is_interrupted
            self._is_interrupted = True
        if is_first:
            self._guarded_interrupt()
        if wait and threading.current_thread() is not self._runner:
            self.joinModule()

    def isStopping(self) -> bool:
        """Return whether the module is stopping."""
        return self._stop.is_set()

    def _answer(self, command: Bottle) -> Bottle:
        reply = Bottle()
        if not self.safeRespond(command, reply):
            RFModule.respond(self, command, reply)
        if not reply.items:
            reply.addVocab32("ok")  # the asker waits for it
        return reply

    def _begin(self) -> None:
        self._has_run = True
        self._stop.clear()
        self._is_interrupted = False
        self._has_ended.clear()

    def _run(self, rf: ResourceFinder | None = None) -> int:
        self._runner = threading.current_thread()
        try:
            if rf is not None and not self._is_configured(rf):
                return 1
            self._cycle()
            self._end()
            return 0
        finally:
            self._stop.set()
            self._has_ended.set()

    def _end(self) -> None:
        self._stop.set()
        try:
            self._responder.wait_for_replies()
            self.close()
        except Exception as error:
            self._report.log(error, "close")
        finally:
            self._report.log_counts()

    def _is_configured(self, rf: ResourceFinder) -> bool:
        if checked_bool(self.configure(rf)):
            return True
        _LOGGER.error("%s: configure returned False, the module ends", type(self).__name__)
        return False

    def _cycle(self) -> None:
        schedule = PeriodicSchedule(clock.now())
        while not self._stop.is_set() and checked_bool(self.updateModule()):
            clock.pause(schedule.time_left(self.getPeriod(), clock.now()), self._stop)

    def _guarded_interrupt(self) -> None:
        try:
            self.interruptModule()
        except Exception as error:
            self._report.log(error, "interruptModule")

    def _stop_after_the_reply(self) -> None:
        """Stop from another thread, because `interruptModule` may close the connection that waits for the reply."""
        threading.Thread(target=self._stop_when_replied, name="module stop", daemon=True).start()

    def _stop_when_replied(self) -> None:
        self._responder.wait_for_replies()
        self.stopModule()


class PeriodicSchedule:
    """A grid of cycles: lateness below one period is made up for, so that nothing drifts; missed cycles are not.

    Args:
        start: Of the first cycle, [s].
    """

    def __init__(self, start: float) -> None:
        self._due = start

    def time_left(self, period: float, now: float) -> float:
        """Move on to the next cycle and return how long it is until then, [s], zero when it is late."""
        due = self._due + period
        missed_cycles = now - due > period
        clock_went_back = due - now > 2 * period  # one would do, but for sleeps that end a little early
        self._due = now if missed_cycles or clock_went_back else due
        return max(0.0, self._due - now)


class TerminationSignals:
    """While it is entered, SIGINT and SIGTERM call ``stop`` and a fourth one ends the process at once.

    ``stop`` runs in a thread of its own: the signal may come while the main thread holds any lock. Outside the main
    thread Python has no signals, and nothing happens.

    Args:
        stop: What ends the module.

    Attributes:
        first: Name of the first signal that came, here or in an instance entered within; empty before.
    """

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self.first = ""
        self._arrived: queue.SimpleQueue[int | None] = queue.SimpleQueue()  # its put() is safe in a signal handler
        self._previous: dict[signal.Signals, Any] = {}
        self._outer: list[TerminationSignals] = []
        self._count = 0

    def __enter__(self) -> TerminationSignals:
        if threading.current_thread() is threading.main_thread():
            owners = [getattr(signal.getsignal(number), "__self__", None) for number in _SIGNALS]
            self._outer = [owner for owner in owners if isinstance(owner, TerminationSignals)]
            self._watcher = threading.Thread(target=self._watch, name="termination signals", daemon=True)
            self._watcher.start()
            self._previous = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self._previous:
            self._arrived.put(None)
        self._previous = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count > _LAST_HANDLED_SIGNAL:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self._arrived.put(number)

    def _note(self, name: str) -> None:
        """Note the first signal, also in the instances whose handlers are replaced: they do not see it."""
        self.first = self.first or name
        for outer in self._outer:
            outer._note(name)

    def _watch(self) -> None:
        count = 0
        while (number := self._arrived.get()) is not None:
            count += 1
            name = signal.Signals(number).name
            if count == 1:
                self._note(name)
                _LOGGER.info("%s: the module stops", name)
                self._stop()
            else:
                _LOGGER.warning("%s: the module is stopping; the fourth signal ends it at once", name)


def is_farewell(command: Bottle) -> bool:
    """Return whether ``command`` asks the module to stop: ``quit``, ``exit`` or ``bye``, as a string or a vocab."""
    return first_word(command) in _FAREWELLS


def first_word(bottle: Bottle) -> str:
    """Return the first value where it is a string or a vocab, else an empty string."""
    first = bottle.items[0] if bottle.items else ""
    if isinstance(first, Vocab32):
        return decode_vocab(first)
    return first if isinstance(first, str) else ""


def lines_of(reply: Bottle) -> list[str]:
    """Return a reply as people read it: ``[many] "line" "line"`` line by line, anything else in one."""
    if first_word(reply) == "many":
        return [item if isinstance(item, str) else to_text([item]) for item in reply.items[1:]]
    return [reply.toString()]


class ModuleResponder(PortReader):
    """Reads one Bottle, has it answered, writes one Bottle.

    Args:
        answer: Returns the reply to a command, never an empty one.
    """

    def __init__(self, answer: Callable[[Bottle], Bottle]) -> None:
        super().__init__()
        self._answer = answer
        self._at_work = 0
        self._changed = threading.Condition()

    def read(self, reader: ConnectionReader) -> bool:
        """Answer one message."""
        command = Bottle()
        if not reader.isValid() or not command.read(reader):
            return False
        self._count(1)
        try:
            _write(self._answer(command), reader.getWriter())
        finally:
            self._count(-1)
        return True

    def wait_for_replies(self) -> None:
        """Return when no command is being answered and the last reply is sent, at the latest after a second."""
        with self._changed:
            self._changed.wait_for(lambda: self._at_work == 0, _REPLY_TIMEOUT)
        time.sleep(_SENDING)

    def _count(self, change: int) -> None:
        with self._changed:
            self._at_work += change
            self._changed.notify_all()


def _write(reply: Bottle, writer: ConnectionWriter | None) -> None:
    if writer is None:
        return  # the sender wants no reply
    if writer.isTextMode() and first_word(reply) == "many":
        for line in lines_of(reply):
            writer.appendText(line)
    else:
        reply.write(writer)


class ExceptionReport:
    """Logs an exception with its traceback when it comes for the first time from its place in the code.

    Args:
        owner: Name of the module in the log.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._counts: dict[tuple[str, str, str, int], int] = {}

    def log(self, error: BaseException, where: str) -> None:
        """Log ``error`` that left the function ``where``, unless this kind was logged before."""
        kind = (where, *_kind(error))
        if kind not in self._counts and len(self._counts) < _MOST_KINDS:
            self._counts[kind] = 0
            _LOGGER.error("%s: %s failed: %s", self._owner, where, error, exc_info=error)
        if kind in self._counts:
            self._counts[kind] += 1

    def log_counts(self) -> None:
        """Log how often each kind came, where it was more than once."""
        for (where, name, file, line), count in self._counts.items():
            if count > 1:
                _LOGGER.error("%s: %s in %s at %s:%d came %d times", self._owner, name, where, file, line, count)


def _kind(error: BaseException) -> tuple[str, str, int]:
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
    return type(error).__name__, *place
