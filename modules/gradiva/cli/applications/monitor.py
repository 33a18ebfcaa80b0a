"""Show a run while it lasts, and keep its status; ``gradiva app list``, ``status`` and ``stop``."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from gradiva.cli.applications.claims import all_claims, claim_of, remove_leftovers
from gradiva.cli.output import JsonTarget, console_beside
from gradiva.cli.yarp.failures import say
from gradiva.common import ConfigError
from gradiva.yarp_modules.application import (
    AlreadyRunsError,
    ApplicationRun,
    RunClaim,
    RunningModule,
    application_files,
    find_application,
    load_application,
    read_application,
)

STATUS_FILE = "status.json"
_MOST = 65536  # [bytes] of one file at a time
_COLOURS = {"running": "green", "failed": "red", "waiting": "yellow", "stopping": "yellow"}
_PERIOD = 1.0  # [s] between two looks at the modules' health
_JOIN = 5.0  # [s]
_DONE, _FAILED = 0, 1  # exit status
_STOP_TIMEOUT = 60.0  # [s] for a runner to end its modules; each may take some seconds
_POLLING_PERIOD = 0.1  # [s]


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


# -- all applications --------------------------------------------------------------------------------------------------


def list_all(json: str | None) -> int:
    """Print the installed applications; return the exit status."""
    target = JsonTarget(json)
    found = [_described(name, path) for name, path in application_files().items()]
    target.write({"applications": found})
    table = Table("application", "description", "modules", title_justify="left")
    for each in found:
        table.add_row(each["name"], each["description"], ", ".join(each["modules"]))
    console_beside(target).print(table)
    return 0


def _described(name: str, path: Path) -> dict[str, Any]:
    try:
        application = read_application(path, find_application)
    except ConfigError as error:
        return {"name": name, "file": str(path), "description": f"wrong: {error}", "modules": []}
    return {
        "name": name,
        "file": str(path),
        "description": application.description,
        "modules": list(application.titles()),
    }


def print_status(json: str | None) -> int:
    """Print the state of the running applications; return the exit status."""
    target = JsonTarget(json)
    found = [status for claim in all_claims() if (status := _status(claim))]
    target.write({"applications": found})
    console = console_beside(target)
    for status in found:
        console.print(module_table(status))
    if not found:
        console.print("no application runs")
    return _FAILED if any(status["reason"] for status in found) else _DONE


def _status(claim: RunClaim) -> dict[str, Any]:
    record = claim.read()
    if record is None:
        return {}
    empty: dict[str, Any] = {"outcome": "starting", "reason": "", "modules": [], "connections": []}
    named = {"application": record.application, "folder": record.folder, "runner": record.runner}
    status = {**empty, **read_status(Path(record.folder)), **named}
    if not _has_runner(claim):
        return {
            **status,
            "outcome": "left behind",
            "reason": f"its runner was killed: gradiva app stop {record.application}",
        }
    return status


def _has_runner(claim: RunClaim) -> bool:
    try:
        with claim.held():
            return False
    except AlreadyRunsError:
        return True


def stop_applications(name: str | None) -> int:
    """Stop one application, or all; return the exit status."""
    claims = all_claims() if name is None else [claim_of(_own_name(name))]
    if not any(claim.read() for claim in claims):
        print("no application runs" if name is None else f"{name} does not run")
        return _DONE
    are_stopped = [_stop(claim) for claim in claims]
    return _DONE if all(are_stopped) else _FAILED


def _stop(claim: RunClaim) -> bool:
    deadline = time.monotonic() + _STOP_TIMEOUT
    asked: int | None = None
    while time.monotonic() < deadline:
        try:
            with claim.held():
                is_clean = remove_leftovers(claim, threading.Event())
            if is_clean:
                print(f"{claim.application} stopped")
            return is_clean
        except AlreadyRunsError as error:
            if error.record is not None and not error.record.origin.is_here:
                say(f"error: {error}")
                return False
            asked = _ask(error, asked)
            time.sleep(_POLLING_PERIOD)
    say(f"error: {claim.application}: its runner, process {asked}, does not end")
    return False


def _ask(error: AlreadyRunsError, asked: int | None) -> int | None:
    """Ask the runner to end, once; return the process that was asked."""
    if error.record is None or error.record.runner == asked:
        return asked
    with suppress(ProcessLookupError, PermissionError):
        os.kill(error.record.runner, signal.SIGTERM)
    return error.record.runner


def _own_name(name: str) -> str:
    """Return an application's own name, by which its claim is called; its file may be gone meanwhile."""
    try:
        return load_application(name).name
    except ConfigError:
        if claim_of(name).read() is None:
            raise
        return name
