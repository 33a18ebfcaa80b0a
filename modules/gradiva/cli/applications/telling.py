"""``gradiva app status``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradiva.cli.applications.claims import all_claims
from gradiva.cli.applications.run_status import read_status
from gradiva.cli.applications.table import module_table
from gradiva.cli.output import JsonTarget, console_beside
from gradiva.yarp_modules.application.run_claim import AlreadyRunsError, RunClaim

_DONE, _FAILED = 0, 1  # exit status


def tell_status(json: str | None) -> int:
    """Print how applications fare; return the exit status."""
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
