"""Shows a run while it lasts: a live table on a terminal, lines elsewhere, and the status in its folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape

from gradiva.cli.applications.output_follower import OutputFollower
from gradiva.cli.applications.run_status import status_of, write_status
from gradiva.cli.applications.table import module_table
from gradiva.yarp_modules.application.application_run import ApplicationRun

_PERIOD = 1.0  # [s] between two looks at the modules' health
_JOIN = 5.0  # [s]


class RunMonitor:
    """Looks at a run from a thread of its own.

    Attributes:
        outcome: What the run is at.
    """

    def __init__(self, name: str, run: ApplicationRun, folder: Path, console: Console, prints_output: bool) -> None:
        self.outcome = "starting"
        self._name, self._run, self._folder = name, run, folder
        self._console = console
        self._end = threading.Event()
        files = {module.title: module.log_file for module in run.modules if module.is_local}
        self._follower = OutputFollower(files if prints_output else {})

    def status(self) -> dict[str, Any]:
        """Return the status of the run."""
        return status_of(self._name, self._run, self.outcome, self._folder)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the run until the end of this context."""
        thread = threading.Thread(target=self._look_often, name="application monitor", daemon=True)
        with self._live():
            thread.start()
            try:
                yield
            finally:
                self._end.set()
                thread.join(_JOIN)
                self._look()

    @contextmanager
    def _live(self) -> Iterator[None]:
        if not self._console.is_terminal:
            yield
            return
        with Live(console=self._console, get_renderable=lambda: module_table(self.status()), transient=True):
            yield

    def _look_often(self) -> None:
        while not self._end.wait(_PERIOD):
            self._run.look_at_health()
            self._look()

    def _look(self) -> None:
        for title, line in self._follower.new_lines():
            self._console.print(f"[bold]{escape(title)}[/] {escape(line)}")
        with suppress(OSError):  # a full disk must not end a walk
            write_status(self._folder, self.status())
