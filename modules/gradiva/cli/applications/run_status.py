"""A run as JSON tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradiva.yarp_modules.application.application_run import ApplicationRun
from gradiva.yarp_modules.application.running_module import RunningModule

STATUS_FILE = "status.json"


def status_of(name: str, run: ApplicationRun, outcome: str, folder: Path) -> dict[str, Any]:
    """Return how a run and its modules fare.

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


def write_status(folder: Path, status: dict[str, Any]) -> None:
    """Keep the status in the run's folder, whole or not at all."""
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
