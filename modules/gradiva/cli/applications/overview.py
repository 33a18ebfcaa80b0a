"""List, show and stop applications: ``gradiva app list``, ``status`` and ``stop``."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.table import Table

from gradiva.cli.applications.claims import all_claims, claim_of, remove_leftovers
from gradiva.cli.applications.monitor import module_table, read_status
from gradiva.cli.output import JsonTarget, console_beside
from gradiva.cli.yarp.failures import say
from gradiva.common import ConfigError
from gradiva.yarp_modules.application import (
    AlreadyRunsError,
    RunClaim,
    application_files,
    find_application,
    load_application,
    read_application,
)

_DONE, _FAILED = 0, 1  # exit status
_STOP_TIMEOUT = 60.0  # [s] for a runner to end its modules; each may take some seconds
_POLLING_PERIOD = 0.1  # [s]


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
