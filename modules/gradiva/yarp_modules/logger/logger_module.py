"""The logger module: records the signals of a walking module."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gradiva.middleware import NAMED_ERRORS, Element, PersistentConnections, VectorsCollectionClient, VectorsSample
from gradiva.telemetry import RunFolder
from gradiva.yarp_modules.gradiva_module import GradivaModule
from gradiva.yarp_modules.logger.log_recorder import LogRecorder, RunDescription, finish_left_over
from gradiva.yarp_modules.module_options import ModuleOption, ModuleOptions, setup_of
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.rpc_commands import fail, is_called, ok

_PERIOD = 0.05  # [s] between two looks for messages, and longest time at them; none is lost meanwhile
_LAST_SAMPLES = 5.0  # [s] for what has come when the logger ends: a third of what its runner waits for the log
_FLUSH_PERIOD = 1.0  # [s] a crash loses at most that
_FINISH_AFTER = 10.0  # [s] without a message: then the run is over
_NAMES_TIMEOUT = 2.0  # [s] then elements are numbered instead of named
_SAME_RESTART = 5.0  # [s] in which one restart may be noticed in two ways
_SOURCE = "/walking-coordinator/logger"
_LOGGER = logging.getLogger("gradiva.module")


class LoggerModule(GradivaModule):
    """Records the signals of a walking module as soon as they come, run after run, until it is stopped.

    The connections are made again whenever the source was restarted; each of its runs is a run folder.
    """

    TITLE = "logger"
    SUMMARY = "Writes the signals of a walking module to run folders."
    NAME = "/logger"
    NEEDS_ROBOT = False
    OPTIONS = (
        ModuleOption("remote", f"beginning of the source's ports (default {_SOURCE})", "/NAME"),
        ModuleOption("out", "folder of the run folders (default runs)", "DIR"),
        ModuleOption("wait", "record only after the command start"),
        ModuleOption("carrier", "of the signals (default fast_tcp)", "CARRIER"),
    )
    COMMANDS = (
        "start   record the signals that come",
        "stop   write the log of the present run, record no more",
        "getStatus   whether it records, samples, lost ones, the present run folder",
    )

    def __init__(self, options: ModuleOptions) -> None:
        """Take the description of the robot.

        Raises:
            WalkingError: The configuration is wrong.
        """
        super().__init__(options, _PERIOD)
        self._description = _description(options)
        self._recorder = LogRecorder(self._description)
        self._is_recording = "wait" not in options.extras
        source = options.extras.get("remote", _SOURCE)
        self._client = VectorsCollectionClient(source, self.port_name(""), options.extras.get("carrier", "fast_tcp"))
        self._connections = PersistentConnections(self._client.connections, healthy_period=1.0)
        self._names: dict[str, list[str]] = {}
        self._names_version: int | None = None
        self._arrival = self._flushed = time.monotonic()
        self._orders: list[bool] = []
        self._connection = (False, 0)
        self._restart = -float("inf")

    def open_ports(self) -> None:
        """Finish the logs that a killed logger left, open the ports, begin to connect."""
        for run in finish_left_over(self._description.parent):
            _LOGGER.info("logger: %s, left behind by a logger that was killed, has its log now", run.path)
        self._client.open(should_connect=False)
        self._connections.start()

    def close_ports(self) -> None:
        """Write the samples since the last tick, close the ports, write the log of the present run."""
        self._connections.stop()
        try:
            self._take_samples(_LAST_SAMPLES)
        except NAMED_ERRORS as error:
            _LOGGER.error("logger: %s", error)
        if left := self._client.pending:
            _LOGGER.warning("logger: the %d messages that came last are not in the log", left)
        self._client.close()
        try:
            self._finish("the logger received quit")
        except NAMED_ERRORS as error:
            _LOGGER.error("logger: %s", error)

    def tick(self) -> bool:
        """Write the samples that have come."""
        while self._orders:
            self._obey(self._orders.pop(0))
        self._look_at_connection()
        self._take_samples(_PERIOD)
        if time.monotonic() - self._flushed > _FLUSH_PERIOD:
            self._flushed = time.monotonic()
            self._recorder.flush()
        if self._recorder.run is not None and time.monotonic() - self._arrival > _FINISH_AFTER:
            self._finish(f"nothing has come for {_FINISH_AFTER:g} s")
        self.health.state = self._state()
        return True

    def answer(self, command: Sequence[Element]) -> list[Element] | None:
        """Answer ``start``, ``stop``, ``getStatus``; the first two are carried out by the next tick."""
        if is_called(command[0], "getStatus"):
            connected: Element = int(self._connections.are_connected())
            return ok(self._state(), ["connected", connected], *self._recorder.status())
        for word, order in (("start", True), ("stop", False)):
            if is_called(command[0], word):
                if order is self._is_recording:
                    return fail("it is recording already" if order else "it is not recording")
                self._orders.append(order)
                return ok()
        return None

    def _state(self) -> str:
        if not self._is_recording:
            return "stopped" if self._recorder.run is None else "writing the log"
        return "recording" if self._recorder.run is not None else "waiting for signals"

    def _obey(self, should_record: bool) -> None:
        self._is_recording = should_record
        if not should_record:
            self._finish("stopped by command")

    def _take_samples(self, duration: float) -> None:
        """Write the messages that have come, as many as ``duration`` [s] allows; a source may be faster than that."""
        deadline = time.monotonic() + duration
        for _ in range(self._client.pending):
            if (sample := self._client.read()) is None:
                return
            self._arrival = time.monotonic()
            if self._is_recording:
                self._record(sample)
            if self._arrival > deadline:
                break

    def _record(self, sample: VectorsSample) -> None:
        if sample.time is None:
            sample = replace(sample, time=control_time())  # steady: a wall clock that is set would end the run
        if self._recorder.is_restart(sample):
            self._forget_source("the source was restarted")
        if self._names_version != sample.version:
            self._ask_for_names(sample)
        self._recorder.take(sample, self._names)

    def _look_at_connection(self) -> None:
        """End the run when the connection was lost or made again: a source that comes back may be another one."""
        status = self._connections.status()[0]
        was, self._connection = self._connection, (status.is_connected, status.times_made)
        is_lost = was[0] and (not status.is_connected or status.times_made > was[1])
        if is_lost and time.monotonic() - self._restart > _SAME_RESTART:
            self._forget_source("the connection to the source was lost")

    def _forget_source(self, reason: str) -> None:
        self._restart = time.monotonic()
        self._client.forget_names()
        self._names_version = None
        self._finish(reason)

    def _ask_for_names(self, sample: VectorsSample) -> None:
        """Wait a moment for the connection by which the names come: it is made just after that of the signals."""
        deadline = time.monotonic() + _NAMES_TIMEOUT
        while not self.isStopping():
            try:
                self._names = self._client.element_names()
                break
            except NAMED_ERRORS as error:
                if time.monotonic() > deadline:
                    _LOGGER.warning("logger: the signals have no names: %s", error)
                    break
                time.sleep(_PERIOD)
        self._names_version = sample.version

    def _finish(self, reason: str) -> RunFolder | None:
        run = self._recorder.finish(reason)
        if run is not None:
            _LOGGER.info("logger: %s is written: %s", run.log_path, reason)
        return run


def _description(options: ModuleOptions) -> RunDescription:
    parent = Path(options.extras.get("out", "runs"))
    if not options.robot:
        return RunDescription(parent)
    setup = setup_of(options)
    sole = {"x": list(setup.robot.sole.x), "y": list(setup.robot.sole.y)}
    return RunDescription(parent, setup.robot.name, setup.tables, {"sole": sole})
