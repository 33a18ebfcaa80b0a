"""One run of an application from its first process to the last one's end."""

from __future__ import annotations

import dataclasses
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from gradiva.cli.applications.monitor import RunMonitor
from gradiva.cli.applications.name_service import end_name_service, name_service, network
from gradiva.cli.applications.stop_signals import StopRequest
from gradiva.middleware import current_settings
from gradiva.yarp_modules.application import Application
from gradiva.yarp_modules.application.application_network import ApplicationNetwork
from gradiva.yarp_modules.application.application_run import ApplicationRun, RunOptions, StartFailed
from gradiva.yarp_modules.application.leftovers import end_marked, forget_ports
from gradiva.yarp_modules.application.process_end import Patience
from gradiva.yarp_modules.application.run_claim import RunClaim, RunOrigin, RunRecord, StartedProcess
from gradiva.yarp_modules.application.running_module import RunningModule


class ApplicationSession:
    """Runs an application and leaves nothing behind; what it starts is in the record before anybody can miss it."""

    def __init__(
        self,
        application: Application,
        claim: RunClaim,
        folder: Path,
        options: RunOptions,
        console: Console,
        prints_output: bool,
    ) -> None:
        """Prepare the run; makes its folder.

        Args:
            application: What to run.
            claim: Held by the caller.
            folder: Of the run; must not exist.
            options: How to run it.
            console: Where people read.
            prints_output: Whether they read what the modules print.

        Raises:
            ConfigError: A program is missing.
            OSError: The folder cannot be made.
        """
        self._claim, self._folder, self._console = claim, folder, console
        mark = uuid.uuid4().hex
        self._record = RunRecord(
            application.name,
            os.getpid(),
            mark,
            str(folder.absolute()),
            origin=RunOrigin.here(current_settings().namespace),
        )
        self._run = ApplicationRun(application, folder, mark, options, self._tell, self._note_start)
        self._monitor = RunMonitor(application.name, self._run, folder, console, prints_output)
        folder.mkdir(parents=True)
        shutil.copyfile(application.file, folder / "application.xml")

    def run(self, signals: StopRequest, duration: float | None) -> dict[str, Any]:
        """Run until a signal, the end of ``duration`` [s] or of all modules; return the status.

        Raises:
            ToolFailure: There is no name server, and none can be started here.
        """
        with self._on_record(signals), name_service(self._record.mark, self._folder), network():
            self._note(ports_before=tuple(sorted(ApplicationNetwork().names())))
            with self._monitor.shown():
                self._live(signals, duration)
        return self._monitor.status()

    def _live(self, signals: StopRequest, duration: float | None) -> None:
        try:
            self._run.start(signals.stop)
            self._monitor.outcome = "running"
            with _ending_after(duration, signals.stop):
                self._run.watch(signals.stop)
        except StartFailed as error:
            self._run.failure = str(error)
        finally:
            self._monitor.outcome = "stopping"
            self._stop(signals.hurry)
            asked_for = "stopped" if signals.stop.is_set() else "ended"
            self._monitor.outcome = "failed" if self._run.failure else asked_for

    def _stop(self, hurry: threading.Event) -> None:
        self._run.stop(hurry)
        end_marked(self._record.mark, Patience(), hurry)
        forget_ports(self._record.ports_before, ApplicationNetwork())

    @contextmanager
    def _on_record(self, signals: StopRequest) -> Iterator[None]:
        self._claim.write(self._record)
        try:
            yield
        finally:
            end_marked(self._record.mark, Patience(), signals.hurry)
            end_name_service(self._record.mark)
            self._claim.clear()

    def _note_start(self, module: RunningModule) -> None:
        started = StartedProcess(module.title, module.process or 0, module.module.port)
        others = (each for each in self._record.started if each.title != module.title)
        self._note(started=(*others, started))

    def _note(self, **changes: Any) -> None:
        self._record = dataclasses.replace(self._record, **changes)
        self._claim.write(self._record)

    def _tell(self, text: str) -> None:
        self._console.print(text, markup=False)


@contextmanager
def _ending_after(duration: float | None, stop: threading.Event) -> Iterator[None]:
    if duration is None:
        yield
        return
    timer = threading.Timer(duration, stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
