"""The parts of a report page that are text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

_GOOD, _BAD = ("walked",), ("fell", "failed")
_SETTINGS = ("control", "model", "ground", "seed")
_TILES = (  # key of the result, label, unit, factor from SI, digits
    ("duration_s", "duration", "s", 1.0, 1),
    ("distance_m", "distance", "m", 1.0, 2),
    ("mean_speed_mps", "mean speed", "m/s", 1.0, 3),
    ("peak_speed_mps", "peak speed", "m/s", 1.0, 3),
    ("goal_error_m", "distance to the goal", "mm", 1e3, 0),
    ("max_tilt_rad", "greatest tilt", "°", math.degrees(1.0), 1),
    ("foot_slip_m", "foot slip", "mm", 1e3, 1),
    ("foot_tilt_rad", "greatest tilt of a loaded foot", "°", math.degrees(1.0), 1),
    ("sinkage_m", "deepest sinkage", "mm", 1e3, 1),
    ("odometry_drift_m", "odometry drift", "mm", 1e3, 0),
    ("specific_energetic_cost", "specific energetic cost", "J/(kg·m)", 1.0, 2),
    ("real_time_factor", "real-time factor", "", 1.0, 1),
    ("qp_failures", "QP failures", "", 1.0, 0),
    ("held_ticks", "held ticks", "", 1.0, 0),
    ("deadline_misses", "deadline misses", "", 1.0, 0),
)
_ERRORS = (
    ("dcm_error_m", "divergent component of motion"),
    ("zmp_error_m", "zero moment point"),
    ("com_error_m", "centre of mass"),
    ("foot_error_m", "feet"),
)
_LAYERS = ("estimation", "model_control", "whole_body", "total")


def heading(result: Mapping[str, Any], run_name: str) -> str:
    """Return the robot, the outcome with its reason, the command, the pushes and what was run."""
    outcome = str(result.get("outcome", "no result"))
    kind = "good" if outcome in _GOOD else "bad" if outcome in _BAD else "open"
    settings = [f"{key} {result[key]}" for key in _SETTINGS if result.get(key) is not None]
    reason, robot = result.get("reason") or "", result.get("title") or result.get("robot") or "Walk"
    command = f"gradiva walk {result['command']}" if result.get("command") else ""
    pushes = [str(push) for push in result.get("pushes") or []]
    return (
        f'<header><div class="line"><h1>{escape(str(robot))}</h1>'
        f'<span class="outcome {kind}">{escape(outcome)}</span></div>'
        f'<p class="reason">{escape(str(reason))}</p>'
        + "".join(f'<p class="run">{escape(line)}</p>' for line in (command, " · ".join(pushes)) if line)
        + f'<p class="run">{escape(" · ".join([*settings, run_name]))}</p></header>'
    )


def tiles(result: Mapping[str, Any]) -> str:
    """Return the key figures; those that the result lacks are left out."""
    cells = [
        f'<div class="tile"><div class="label">{label}</div>'
        f'<div class="value">{number(result[key], factor, digits)} <span class="unit">{unit}</span></div></div>'
        for key, label, unit, factor, digits in _TILES
        if result.get(key) is not None
    ]
    return f'<div class="tiles">{"".join(cells)}</div>' if cells else ""


def tables(result: Mapping[str, Any]) -> str:
    """Return the tracking errors and the computation times side by side."""
    errors = [
        (label, [number(result[key].get(column), 1e3, 1) for column in ("rms", "max")])
        for key, label in _ERRORS
        if isinstance(result.get(key), Mapping)
    ]
    ticks = result.get("tick_us") or {}
    times = [
        (layer.replace("_", " "), [number(ticks[layer].get(column), 1.0, 0) for column in ("median", "p99", "max")])
        for layer in _LAYERS
        if isinstance(ticks.get(layer), Mapping)
    ]
    shown = [
        _table("tracking error [mm]", ["rms", "greatest"], errors),
        _table("computation time [µs]", ["median", "99 %", "greatest"], times),
    ]
    return f'<div class="columns" style="margin-top:18px">{"".join(shown)}</div>' if errors or times else ""


def events(result: Mapping[str, Any]) -> str:
    """Return the safety events as a list, nothing if there were none."""
    found = result.get("safety_events") or []
    items = "".join(f"<li>{escape(_event(event))}</li>" for event in found)
    return f'<h2>Safety events</h2><div class="card"><ul>{items}</ul></div>' if found else ""


def _event(event: Any) -> str:
    if not isinstance(event, Mapping):
        return str(event)
    return f"{event['time_s']:.2f} s, {event['kind']}: {event['text']} ({event['response']})"


def folded(title: str, text: str) -> str:
    """Return a text that opens at a click."""
    return f'<details class="card"><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>'


def number(value: Any, factor: float, digits: int) -> str:
    """Return a number of a result for people; a dash for what is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else escape(str(value))
    return f"{value * factor:,.{digits}f}".replace(",", "\u202f").replace("-", "−")


def _table(title: str, columns: list[str], rows: list[tuple[str, list[str]]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(label)}</th>{''.join(f'<td>{value}</td>' for value in values)}</tr>" for label, values in rows
    )
    return (
        f'<div class="card"><table><thead><tr><th>{escape(title)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
