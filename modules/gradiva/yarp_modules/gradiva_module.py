"""The base of all modules: ports, RPC, ticks on a schedule; a module as the program of a process."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, TypeVar, cast

from gradiva.common import ConfigError, nearest_name
from gradiva.middleware import (
    NAMED_ERRORS,
    Element,
    NetworkError,
    RateLimitedLog,
    TerminationSignals,
    as_bottle,
    as_items,
    fill_bottle,
    follow_clock,
    is_there,
    leave_network,
    open_port,
    yarp,
)
from gradiva.robot_model import Environment
from gradiva.session import GarbageKeeper, ModuleHealth, TickSchedule
from gradiva.session.tick_timing import raise_priority, share_turns_often
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, parse_options
from gradiva.yarp_modules.network_clock import CLOCK, present_time
from gradiva.yarp_modules.rpc_commands import FAREWELLS, fail, is_called, many, ok, pairs, word

_HEALTH_PERIOD = 1.0  # [s]
_WARNING_PERIOD = 2.0  # [s] between two warnings of failing ticks
_LOGGER = logging.getLogger("gradiva.module")
T = TypeVar("T")
MODULES: dict[str, str] = {  # title: file:class
    "walking": "walking_module:WalkingModule",
    "planner": "layer_modules:PlannerModule",
    "model_control": "layer_modules:ModelControlModule",
    "whole_body": "layer_modules:WholeBodyModule",
    "logger": "logger.logger_module:LoggerModule",
    "joypad": "joypad.joypad_module:JoypadModule",
    "panel": "panel_module:PanelModule",
    "simulator": "simulator.simulator_module:Simulator",
}
_LOG_PERIOD = 5.0  # [s] between two lines while it waits
_LOOK_PERIOD = 0.2  # [s]
_CLOCK_TIMEOUT = 1.0  # [s] for a time of the simulated clock, which may pass slowly, before it is asked for again


class GradivaModule(yarp.RFModule):
    """Runs a periodic module with the ports ``<name>/rpc`` and ``<name>/health:o``.

    No exception leaves what YARP calls: out of `respond` it would abort the process behind the real bindings, out of
    `configure` and `updateModule` it would end the module without `close`.

    A subclass describes itself in class attributes, makes its plain object in ``__init__`` (`WalkingError` there is
    wrong input and ends the program with status 2), and overrides

    - `open_ports`, `close_ports`: its own ports (`WalkingError` there ends the program with status 1);
    - `tick`: one cycle; any exception is logged, rate limited, and the next tick comes;
    - `answer`: commands over RPC, called in the thread of the connection, several at a time;
    - `wait_for_tick` where a tick is due by something else than the clock; `unblock` where it waits.

    Attributes:
        options: How it was started.
        health: How well it keeps time.
        lateness: By how much the present tick began late, [s]; set by `wait_for_tick`.
        failure: Why the module ended by itself; None while it has not.
        refusal: Why it did not begin; empty while it may.
        signals: Those that may end it; None where it is not the program of a process.
    """

    TITLE: ClassVar[str] = ""  # as in ``gradiva module TITLE``
    SUMMARY: ClassVar[str] = ""
    NAME: ClassVar[str] = ""  # usual prefix of its ports
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = ()
    NEEDS_ROBOT: ClassVar[bool] = True
    IS_CLOCK: ClassVar[bool] = False  # it follows the machine's time, as the source of a simulated one does
    COMMANDS: ClassVar[tuple[str, ...]] = ()  # lines for help, besides those of all modules

    def __init__(self, options: ModuleOptions, period: float = 1.0) -> None:
        """Prepare; no port is opened.

        Args:
            options: How it was started.
            period: Of its ticks, [s].
        """
        super().__init__()
        self.options = options
        self.setName(options.name or self.NAME)
        self.health = ModuleHealth(self.TITLE, period)
        self.lateness = 0.0
        self.failure: Exception | None = None
        self.refusal = ""
        self.signals: TerminationSignals | None = None
        self._schedule = TickSchedule(period, CLOCK)
        self._garbage = GarbageKeeper()
        self._rpc = yarp.RpcServer()
        self._health_port = yarp.BufferedPortBottle()
        self._health_due = 0.0
        self._failures = RateLimitedLog(_LOGGER, _WARNING_PERIOD)

    # -- for subclasses ----------------------------------------------------------------------------------------

    def open_ports(self) -> None:
        """Open the ports of the module besides RPC and health."""

    def close_ports(self) -> None:
        """Close what `open_ports` opened, as far as it is open."""

    def tick(self) -> bool:
        """Do one cycle; False ends the module."""
        return True

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Return the reply to a command, or None if it is not known; called in the thread of its connection.

        Commands of other connections may be answered at the same time.
        """
        return None

    def wait_for_tick(self) -> int | None:
        """Wait until a tick is due; return how many were missed, or None if there is none now (bounded wait)."""
        missed = self._schedule.wait(self.isStopping)
        self.lateness = self._schedule.lateness
        return missed

    def time_left(self) -> float:
        """Return the time until the next tick, [s]."""
        return self._schedule.time_left()

    def unblock(self) -> None:
        """End the waits within `tick` and `wait_for_tick`: the module stops. Called from another thread."""

    def keep_from_collector(self) -> None:
        """Exempt objects that were built beside the ticks, and will last, from garbage collection."""
        self._garbage.keep()

    def port_name(self, suffix: str) -> str:
        """Return the full name of one of the module's own ports."""
        return str(self.getName(f"/{suffix}" if suffix else ""))

    # -- what YARP calls ---------------------------------------------------------------------------------------

    def configure(self, rf: yarp.ResourceFinder) -> bool:
        """Open the ports; False, and one line in the log, when that fails: then nothing stays open."""
        try:
            self._refuse_a_twin()
            open_port(self._health_port, self.port_name("health:o"))
            self.open_ports()
            self.attach_rpc_server(self._rpc)
            open_port(self._rpc, self.port_name("rpc"))  # the last one: a client that finds it finds the module ready
        except Exception as error:
            self.refusal = f"{self.TITLE}: {error}"
            _LOGGER.error("%s", self.refusal, exc_info=not isinstance(error, NAMED_ERRORS))
            self.close()  # YARP's own RFModule does not, after configure has failed
            return False
        self._begin_real_time()
        _LOGGER.info("%s: ready at %s, %s", self.TITLE, self.port_name("rpc"), self.health.real_time)
        return True

    def getPeriod(self) -> float:
        """Return zero: `updateModule` itself waits for the next tick, on a schedule that does not drift."""
        return 0.0

    def updateModule(self) -> bool:
        """Wait for the next tick, do it, and use the time that is left."""
        missed = self._guarded(self.wait_for_tick, otherwise=None)
        goes_on = True
        if missed is not None:  # also where the module stops since: a simulator in lockstep waits for the answer
            with self.health.tick(self.lateness, missed):
                goes_on = self._guarded(self.tick, otherwise=True)
        if self.isStopping():
            return False
        self._guarded(self._use_idle_time, otherwise=None)
        return bool(goes_on)

    def safeRespond(self, command: yarp.Bottle, reply: yarp.Bottle) -> bool:
        """Answer while others are being answered: YARP's own lets an emergency stop wait for the plan of a goal."""
        return self.respond(command, reply)

    def respond(self, command: yarp.Bottle, reply: yarp.Bottle) -> bool:
        """Answer a command over RPC; never without a reply, for which the other side would wait for ever."""
        try:
            items = as_items(command)
            if items and word(items[0]) in FAREWELLS:
                return bool(super().respond(command, reply))
            fill_bottle(reply, self._reply_to(items))
        except NAMED_ERRORS as error:
            fill_bottle(reply, fail(str(error)))
        except Exception as error:
            text = command.toString()
            self._failures.warning("%s: the command %.80s failed: %s", self.TITLE, text, error, trace=True)
            fill_bottle(reply, fail(f"{type(error).__name__}: {error}"))
        return True

    def interruptModule(self) -> bool:
        """Unblock `tick` and `wait_for_tick`; commands are still answered until the module has closed."""
        self._guarded(self.unblock, otherwise=None)
        return True

    def close(self) -> bool:
        """Close all ports; those of the commands last: an emergency stop is taken while a walk is being finished."""
        self._garbage.end()
        self._guarded(self.close_ports, otherwise=None)
        for port in (self._rpc, self._health_port):
            port.interrupt()
            port.close()
        return True

    # ----------------------------------------------------------------------------------------------------------

    def _refuse_a_twin(self) -> None:
        """Raise NetworkError where our name answers already: a twin's ports could be free, its motors are not."""
        name = self.port_name("rpc")
        if is_there(name):
            raise NetworkError(f"port {name} answers already: is this module running?")

    def _begin_real_time(self) -> None:
        share_turns_often()
        is_real = self.options.environment is Environment.HARDWARE
        self.health.real_time = raise_priority() if is_real else "ordinary priority (simulation)"
        self._garbage.begin()

    def _guarded(self, action: Callable[[], T], otherwise: T) -> T:
        """Return what ``action`` returns; where it fails, log that and return ``otherwise``."""
        try:
            return action()
        except Exception as error:
            self.health.errors += 1
            is_known = isinstance(error, NAMED_ERRORS)
            name = getattr(action, "__name__", "an action").strip("_")
            self._failures.warning("%s: %s failed: %s", self.TITLE, name, error, trace=not is_known)
            return otherwise

    def _use_idle_time(self) -> None:
        if present_time() >= self._health_due or self._health_due - present_time() > 2.0 * _HEALTH_PERIOD:
            self._health_due = present_time() + _HEALTH_PERIOD
            self._publish_health()
        self._garbage.use_idle_time(self.time_left())

    def _publish_health(self) -> None:
        if self._health_port.getOutputCount() > 0:
            fill_bottle(self._health_port.prepare(), pairs(self.health.report()))
            self._health_port.write()

    def _reply_to(self, items: list[Element]) -> list[Element]:
        if not items:
            return fail("an empty command; help lists the commands")
        if is_called(items[0], "help"):
            return many([*self.COMMANDS, "getHealth   how well this module keeps time", "quit   end this module"])
        if is_called(items[0], "getHealth"):
            return ok(*pairs(self.health.report()))
        reply = self.answer(items)
        return reply if reply else fail(f"{_said(items)} is no command; help lists the commands")


def _said(items: list[Element]) -> str:
    return f"{as_bottle(items[:1]).toString():.40}"


def module_class(title: str) -> type[GradivaModule]:
    """Return the class of the module called ``title``.

    Raises:
        ConfigError: There is none.
    """
    if title not in MODULES:
        raise ConfigError(f"there is no module '{title}'{nearest_name(title, MODULES)}")
    file, _, name = MODULES[title].partition(":")
    kind = getattr(importlib.import_module(f"gradiva.yarp_modules.{file}"), name)
    return cast("type[GradivaModule]", kind)


def run_module(kind: type[GradivaModule], arguments: Sequence[str]) -> int:
    """Run a module until it is stopped; return the exit status: 0, or 1 where its ports could not be opened.

    Args:
        kind: Which one.
        arguments: As on the command line, without the program.

    Raises:
        WalkingError: The options or the configuration are wrong, or building a part of the module failed.
        KeyboardInterrupt: Ctrl-C or SIGTERM before it had begun.
        SystemExit: Help was asked for.
    """
    options = parse_options(arguments, program_name(kind.TITLE), kind.SUMMARY, kind.OPTIONS, kind.NEEDS_ROBOT)
    set_up_log(options)
    module = kind(options)
    try:
        with _interrupted_by_signals():
            join_network("" if kind.IS_CLOCK else _clock_of(options), kind.IS_CLOCK)
        # YARP's own handler runs Python in the midst of Python: it crashes
        with TerminationSignals(module.stopModule) as signals:
            module.signals = signals
            status = int(module.runModule(yarp.ResourceFinder()))
    finally:
        leave_network()
    if module.failure is not None:
        raise module.failure
    if module.refusal:  # once more, behind YARP's lines: a runner reports the last words of a module that failed
        _LOGGER.error("%s", module.refusal)
    return status


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Within it SIGINT and SIGTERM raise ``KeyboardInterrupt``; YARP's own handler waits for a module that runs."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def program_name(title: str) -> str:
    """Return the name of a module's console script."""
    return "gradiva-" + title.replace("_", "-")


def set_up_log(options: ModuleOptions) -> None:
    """Log to standard error."""
    level = logging.WARNING if options.quiet else logging.DEBUG if options.verbose else logging.INFO
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    for noisy in ("matplotlib", "h5py", "trimesh"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def join_network(clock: str, is_clock: bool) -> None:
    """Wait for the name server, and for the first time of a simulated clock where there is one.

    Args:
        clock: Port of the simulated clock; empty for the machine's, or ``YARP_CLOCK``'s.
        is_clock: Whether this process is the clock of others: it follows the machine's, even if ``YARP_CLOCK`` is set.
    """
    yarp.Network.init(yarp.YARP_CLOCK_SYSTEM)  # the clock may not run yet, see `follow_clock`
    _wait("the name server", yarp.Network.checkNetwork)
    followed = "" if is_clock else clock or os.environ.get("YARP_CLOCK", "")
    if followed:
        _wait(f"the clock {followed}", lambda: follow_clock(followed, _CLOCK_TIMEOUT))


def _clock_of(options: ModuleOptions) -> str:
    """Return the port of the clock to follow: lockstep is with a simulator, whose time is the only one."""
    return options.clock or ("/clock" if options.lockstep else "")


def _wait(for_what: str, is_there: Callable[[], bool]) -> None:
    logged = -float("inf")
    while not is_there():
        if time.monotonic() - logged > _LOG_PERIOD:
            logged = time.monotonic()
            _LOGGER.warning("waiting for %s", for_what)
        time.sleep(_LOOK_PERIOD)
