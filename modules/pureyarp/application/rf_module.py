"""A module: configured once, updated periodically, asked over RPC, closed in the end."""

from __future__ import annotations

import logging
import threading
import traceback

from pureyarp.application.module_responder import ModuleResponder, is_farewell
from pureyarp.application.periodic_schedule import PeriodicSchedule
from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.termination_signals import TerminationSignals
from pureyarp.data.conversions import checked_bool
from pureyarp.data.values import Bottle
from pureyarp.network import clock
from pureyarp.network.port import Port
from pureyarp.network.rpc_server import RpcServer

_LOGGER = logging.getLogger("pureyarp")
_DEFAULT_PERIOD = 1.0  # [s]
_MOST_KINDS = 100  # remembered; beyond that a module is broken in a way that its log cannot help


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
        """Call `respond`, one call at a time whoever asks; an exception becomes ``[fail] "message"``."""
        with self._respond_lock:
            try:
                return self.respond(command, reply)
            except Exception as error:
                self._report.tell(error, "respond")
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
        """Return whether the module has been told to stop."""
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
            self._report.tell(error, "close")
        finally:
            self._report.tell_counts()

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
            self._report.tell(error, "interruptModule")

    def _stop_after_the_reply(self) -> None:
        """Stop from another thread, because `interruptModule` may close the connection that waits for the reply."""
        threading.Thread(target=self._stop_when_replied, name="module stop", daemon=True).start()

    def _stop_when_replied(self) -> None:
        self._responder.wait_for_replies()
        self.stopModule()


class ExceptionReport:
    """Logs an exception with its traceback when it comes for the first time from its place in the code.

    Args:
        owner: Name of the module in the log.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._counts: dict[tuple[str, str, str, int], int] = {}

    def tell(self, error: BaseException, where: str) -> None:
        """Log ``error`` that left the function ``where``, unless this kind was logged before."""
        kind = (where, *_kind(error))
        if kind not in self._counts and len(self._counts) < _MOST_KINDS:
            self._counts[kind] = 0
            _LOGGER.error("%s: %s failed: %s", self._owner, where, error, exc_info=error)
        if kind in self._counts:
            self._counts[kind] += 1

    def tell_counts(self) -> None:
        """Log how often each kind came, where it was more than once."""
        for (where, name, file, line), count in self._counts.items():
            if count > 1:
                _LOGGER.error("%s: %s in %s at %s:%d came %d times", self._owner, name, where, file, line, count)


def _kind(error: BaseException) -> tuple[str, str, int]:
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
    return type(error).__name__, *place
