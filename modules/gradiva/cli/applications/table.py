"""The modules of a run as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

_COLOURS = {"running": "green", "failed": "red", "waiting": "yellow", "stopping": "yellow"}


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
    missing = [each for each in connections if not each["connected"]]
    made = f"{len(connections) - len(missing)} of {len(connections)} connections"
    return made + (f"; not yet {missing[0]['from']}" if missing else "") + f" · {status['folder']} · Ctrl-C stops"
