"""Show a run while it lasts: a live table on a terminal, lines elsewhere, and the status in its folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from gradiva.yarp_modules.application import ApplicationRun, RunningModule

STATUS_FILE = "status.json"
_MOST = 65536  # [bytes] of one file at a time
_COLOURS = {"running": "green", "failed": "red", "waiting": "yellow", "stopping": "yellow"}
_PERIOD = 1.0  # [s] between two looks at the modules' health
_JOIN = 5.0  # [s]


class RunMonitor:
    """Watch a run from a thread of its own.

    Attributes:
        outcome: State of the run, as in its status.
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


class OutputFollower:
    """Yield the lines that were added to files since the last look, whole lines only."""

    def __init__(self, files: dict[str, Path]) -> None:
        """Take the files by the titles of their modules."""
        self._files = files
        self._read = dict.fromkeys(files, 0)

    def new_lines(self) -> Iterator[tuple[str, str]]:
        """Yield (title, line)."""
        for title, path in self._files.items():
            for line in self._lines_of(title, path):
                yield title, line

    def _lines_of(self, title: str, path: Path) -> list[str]:
        try:
            with path.open("rb") as file:
                file.seek(self._read[title])
                text = file.read(_MOST)
        except OSError:  # it has not printed anything yet
            return []
        whole = text[: text.rfind(b"\n") + 1] if len(text) < _MOST or b"\n" in text else text
        self._read[title] += len(whole)
        return whole.decode("utf-8", "replace").splitlines()


def status_of(name: str, run: ApplicationRun, outcome: str, folder: Path) -> dict[str, Any]:
    """Return the status of a run and its modules.

    Args:
        name: Of the application.
        run: The run.
        outcome: ``starting``, ``running``, ``stopping``; at the end ``stopped``, ``ended`` or ``failed``.
        folder: Of the run.
    """
    return {
        "application": name,
        "outcome": outcome,
        "reason": run.failure,
        "folder": str(folder),
        "modules": [_module_status(module) for module in run.modules],
        "connections": run.connections(),
    }


def _module_status(module: RunningModule) -> dict[str, Any]:
    return {
        "name": module.title,
        "state": str(module.state),
        "waits_for": module.waits_for,
        "node": module.module.node,
        "rank": module.module.rank,
        "process": module.process,
        "uptime_s": round(module.uptime, 1),
        "restarts": module.restarts,
        "exit_status": module.exit_status,
        "log": str(module.log_file),
        "health": module.health,
    }


def write_status(folder: Path, status: dict[str, Any]) -> None:
    """Write the status in the run's folder, whole or not at all."""
    draft = folder / f"{STATUS_FILE}.new"
    draft.write_text(json.dumps(status, indent=2) + "\n", encoding="utf-8")
    draft.replace(folder / STATUS_FILE)


def read_status(folder: Path) -> dict[str, Any]:
    """Return the status in a run's folder; empty if there is none."""
    try:
        status = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return status if isinstance(status, dict) else {}


def module_table(status: Mapping[str, Any]) -> Table:
    """Return the table of a run's status."""
    table = Table(title=f"{status['application']}: {status['outcome']}", caption=_caption(status), title_justify="left")
    for heading in ("module", "state", "process", "since", "restarts", "ticks", "p99", "missed", "says"):
        table.add_column(heading, justify="left" if heading in ("module", "state", "says") else "right")
    for module in status["modules"]:
        table.add_row(*_row(module))
    return table


def _row(module: Mapping[str, Any]) -> list[str]:
    health = module["health"]
    state, waits_for = module["state"], module["waits_for"]
    text = f"waits for {waits_for}" if waits_for else state
    if module["exit_status"] not in (None, 0) and state == "failed":
        text = f"failed ({module['exit_status']})"
    return [
        module["name"],
        f"[{_COLOURS.get(state, 'dim')}]{text}[/]",
        str(module["process"] or ""),
        f"{module['uptime_s']:.0f} s" if module["process"] else "",
        str(module["restarts"] or ""),
        _number(health.get("ticks"), "{:.0f}"),
        _number(health.get("tick_p99_us"), "{:.0f} µs"),
        _number(health.get("deadline_misses"), "{:.0f}"),
        str(health.get("state", "")),
    ]


def _number(value: object, form: str) -> str:
    return form.format(value) if isinstance(value, (int, float)) else ""


def _caption(status: Mapping[str, Any]) -> str:
    connections: Sequence[Mapping[str, Any]] = status["connections"]
    unconnected = [each for each in connections if not each["connected"]]
    made = f"{len(connections) - len(unconnected)} of {len(connections)} connections"
    missing = f"; not yet {unconnected[0]['from']}" if unconnected else ""
    parts = [made + missing] if connections else []  # modules in one process have none
    return " · ".join([*parts, status["folder"], "Ctrl-C stops"])
