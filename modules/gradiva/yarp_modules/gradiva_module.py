"""The base of all modules: ports, RPC, ticks on a schedule; no failure ends a module."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from gradiva.middleware import (
    NAMED_ERRORS,
    Element,
    NetworkError,
    RateLimitedLog,
    as_bottle,
    as_items,
    fill_bottle,
    is_there,
    yarp,
)
from gradiva.yarp_modules.module_options import Environment, ModuleOption, ModuleOptions
from gradiva.yarp_modules.rpc_commands import FAREWELLS, fail, is_called, many, ok, word
from gradiva.yarp_modules.tick_timing import (
    GarbageKeeper,
    ModuleHealth,
    TickSchedule,
    present_time,
    raise_priority,
    share_turns_often,
)

_HEALTH_PERIOD = 1.0  # [s]
_WARNING_PERIOD = 2.0  # [s] between two warnings of failing ticks
_LOGGER = logging.getLogger("gradiva.module")

T = TypeVar("T")


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
    """

    TITLE: ClassVar[str] = ""  # as in ``gradiva module TITLE``
    SUMMARY: ClassVar[str] = ""
    NAME: ClassVar[str] = ""  # usual prefix of its ports
    OPTIONS: ClassVar[tuple[ModuleOption, ...]] = ()
    NEEDS_ROBOT: ClassVar[bool] = True
    IS_CLOCK: ClassVar[bool] = False  # others follow its time, it follows the machine's
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
        self._schedule = TickSchedule(period)
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
            self._open(self._health_port, "health:o")
            self.open_ports()
            self.attach_rpc_server(self._rpc)
            self._open(self._rpc, "rpc")  # the last one: a client that finds it finds the module ready
        except Exception as error:
            _LOGGER.error("%s: %s", self.TITLE, error, exc_info=not isinstance(error, NAMED_ERRORS))
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
        if self.isStopping():
            return False
        goes_on = True
        if missed is not None:
            with self.health.tick(self.lateness, missed):
                goes_on = self._guarded(self.tick, otherwise=True)
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

    def _open(self, port: yarp.Port | yarp.RpcServer | yarp.BufferedPortBottle, suffix: str) -> None:
        name = self.port_name(suffix)
        if not port.open(name):
            raise NetworkError(f"port {name} could not be opened: is this module running already?")

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
            fill_bottle(self._health_port.prepare(), self.health.report().items())
            self._health_port.write()

    def _reply_to(self, items: list[Element]) -> list[Element]:
        if not items:
            return fail("an empty command; help lists the commands")
        if is_called(items[0], "help"):
            return many([*self.COMMANDS, "getHealth   how well this module keeps time", "quit   end this module"])
        if is_called(items[0], "getHealth"):
            return ok(*self.health.report().items())
        reply = self.answer(items)
        return reply if reply else fail(f"{_said(items)} is no command; help lists the commands")


def _said(items: list[Element]) -> str:
    return f"{as_bottle(items[:1]).toString():.40}"
