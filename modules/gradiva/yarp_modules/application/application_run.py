"""Starts, connects, watches and ends the modules of an application on one machine."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gradiva.common import WalkingError
from gradiva.middleware import NAMED_ERRORS, PersistentConnections
from gradiva.yarp_modules.application.application import Application, PortDependency
from gradiva.yarp_modules.application.running_module import (
    ApplicationNetwork,
    Ending,
    EndTimeouts,
    ModuleState,
    RestartBackoff,
    RunningModule,
    end_process,
)

LOOK_PERIOD = 0.1  # [s]
_LOG_PERIOD = 5.0  # [s] between two lines while it waits


class StartFailed(WalkingError):  # noqa: N818
    """Reports a module that could not be started, or whose dependency did not come; carries which and why."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Holds the options of a run.

    Attributes:
        restarts: Start modules again that end by themselves.
        end_timeouts: Of the end of each module.
        timeout_factor: Factor on the timeouts of dependencies.
    """

    restarts: bool = False
    end_timeouts: EndTimeouts = field(default_factory=EndTimeouts)
    timeout_factor: float = 1.0


class ApplicationRun:
    """Runs an application once.

    Attributes:
        modules: In the order in which they start.
        failure: Why the run did not go as it should; empty if it did.
    """

    def __init__(
        self,
        application: Application,
        folder: Path,
        mark: str,
        options: RunOptions | None = None,
        log: Callable[[str], None] = print,
        note_start: Callable[[RunningModule], None] = lambda module: None,
    ) -> None:
        """Prepare; nothing is started.

        Args:
            application: What to run.
            folder: Where the modules' output goes.
            mark: What its processes carry.
            options: How.
            log: Called with lines about the run.
            note_start: Called with each process as soon as there is one.

        Raises:
            ConfigError: A program or a folder is missing.
        """
        self._network = ApplicationNetwork()
        self._application = application
        self._mark = mark
        self._options = options or RunOptions()
        self._log = log
        self._note_start = note_start
        titles = application.titles().items()
        self.modules = [RunningModule(title, module, folder, self._network) for title, module in titles]
        self.failure = ""
        self._connections = PersistentConnections(
            (each.source, each.destination, each.carrier) for each in application.connections
        )
        self._delays = {module.title: RestartBackoff() for module in self.modules}

    def start(self, stop: threading.Event) -> None:
        """Start all modules, each when what it depends on is there; ends early when ``stop`` is set.

        Raises:
            StartFailed: A module ended at once, or waited in vain.
        """
        self._look_at_dependencies()
        for module in self.modules:
            if not module.is_local:
                self._log(f"{module.title} belongs on {module.module.node}: {_by_hand(module)}")
                continue
            self._await_dependencies(module, stop)
            if stop.is_set():
                return
            self._start(module)
            self._pause(module.module.wait_after_start, stop)
        self._connections.start()

    def watch(self, stop: threading.Event) -> None:
        """Watch the modules until ``stop`` is set or none is left that runs or will be started again."""
        while not stop.is_set():
            for module in self.modules:
                if module.look():
                    self._note_end(module)
                elif module.state in (ModuleState.ENDED, ModuleState.FAILED) and self._is_due(module):
                    self._start(module)
            if not self._options.restarts and not any(module.is_alive for module in self.modules):
                return
            stop.wait(LOOK_PERIOD)

    def stop(self, hurry: threading.Event) -> None:
        """End all modules, the last one first; ``hurry`` leaves out the request to quit."""
        self._connections.stop()
        for module in reversed(self.modules):
            module.look()
            if module.is_alive:
                module.state = ModuleState.STOPPING
                ending = end_process(module, self._options.end_timeouts, hurry)
                module.note_end()
                self._report_end(module, ending)
                hurry.wait(module.module.wait_after_stop)

    def look_at_health(self) -> None:
        """Ask every running module for its health."""
        for module in self.modules:
            if module.is_alive and module.module.port:
                module.health = dict(self._network.health(module.module.port))

    def connections(self) -> list[dict[str, object]]:
        """Return the state of each connection."""
        return [
            {"from": each.source, "to": each.destination, "carrier": each.carrier, "connected": each.is_connected}
            for each in self._connections.status()
        ]

    def _look_at_dependencies(self) -> None:
        missing = [each.port for each in self._application.dependencies if not self._network.has(each.port)]
        if missing:
            self._log(f"not there yet: {', '.join(missing)}")

    def _start(self, module: RunningModule) -> None:
        try:
            module.start(self._mark)
        except NAMED_ERRORS as error:
            raise StartFailed(str(error)) from None
        self._note_start(module)
        again = f" again ({module.restarts})" if module.restarts else ""
        self._log(f"{module.title} started{again}, process {module.process}")

    def _await_dependencies(self, module: RunningModule, stop: threading.Event) -> None:
        for dependency in module.module.dependencies:
            module.waits_for = dependency.port
            begin, logged = time.monotonic(), time.monotonic()
            while not stop.is_set() and not self._is_met(dependency):
                self._refuse_early_end()
                waited = time.monotonic() - begin
                if waited > dependency.timeout * self._options.timeout_factor:
                    raise StartFailed(
                        f"{module.title} needs {_text_of(dependency)}, which did not come in {waited:.0f} s"
                    )
                if time.monotonic() - logged > _LOG_PERIOD:
                    logged = time.monotonic()
                    self._log(f"{module.title} waits for {_text_of(dependency)}")
                stop.wait(LOOK_PERIOD)
        module.waits_for = ""

    def _is_met(self, dependency: PortDependency) -> bool:
        if not self._network.has(dependency.port):
            return False
        return not dependency.request or self._network.replies(dependency.port, dependency.request, dependency.reply)

    def _refuse_early_end(self) -> None:
        for module in self.modules:
            if module.look() and module.state is ModuleState.FAILED:
                raise StartFailed(_end_text(module))

    def _pause(self, duration: float, stop: threading.Event) -> None:
        deadline = time.monotonic() + duration
        while not stop.is_set() and time.monotonic() < deadline:
            self._refuse_early_end()
            stop.wait(LOOK_PERIOD)

    def _note_end(self, module: RunningModule) -> None:
        text = _end_text(module)
        self._log(text if self._options.restarts else f"{text}; --restart starts such modules again")
        if self._options.restarts:
            self._delays[module.title].note_end(module.lifetime)
        elif module.state is ModuleState.FAILED and not self.failure:
            self.failure = text

    def _is_due(self, module: RunningModule) -> bool:
        return self._options.restarts and self._delays[module.title].is_over()

    def _report_end(self, module: RunningModule, ending: Ending) -> None:
        failure, signals = "", {Ending.TERMINATED: signal.SIGTERM, Ending.KILLED: signal.SIGKILL}
        status = module.exit_status or 0
        if ending in (Ending.KILLED, Ending.IMMORTAL):
            failure = f"{module.title} had to be killed" if ending is Ending.KILLED else f"{module.title} {ending}"
        elif status < 0 and -status != signals.get(ending):
            failure = f"{module.title} crashed at its end by signal {-status} (see {module.log_file})"
        elif status > 0 and ending is Ending.QUIT:
            failure = _end_text(module)
        self.failure = self.failure or failure
        self._log(failure or f"{module.title} stopped ({ending})")


def _end_text(module: RunningModule) -> str:
    status = module.exit_status or 0
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    words = module.last_words()
    said = f"; it said last: {words}" if words else ""
    return f"{module.title} ended {how}{said} (see {module.log_file})"


def _by_hand(module: RunningModule) -> str:
    return f"yarpmanager starts it there, or you: {module.module.program} {module.module.parameters}"


def _text_of(dependency: PortDependency) -> str:
    if not dependency.request:
        return f"port {dependency.port}"
    return f"the answer {dependency.reply or 'of any kind'} of {dependency.port} to {dependency.request}"
