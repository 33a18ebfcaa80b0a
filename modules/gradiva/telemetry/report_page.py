"""The parts of a report page that are text."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from gradiva.telemetry.key_figures import ERRORS, KEY_FIGURES, number

_GOOD, _BAD = ("walked",), ("fell", "failed")
_SETTINGS = ("control", "model", "ground", "seed")
_LAYERS = ("estimation", "model_control", "whole_body", "total")


def heading(result: Mapping[str, Any], run_name: str) -> str:
    """Return the robot, the outcome with its reason and advice, the command, the pushes and what was run."""
    outcome = str(result.get("outcome", "no result"))
    kind = "good" if outcome in _GOOD else "bad" if outcome in _BAD else "open"
    settings = [f"{key} {result[key]}" for key in _SETTINGS if result.get(key) is not None]
    reason, robot = result.get("reason") or "", result.get("title") or result.get("robot") or "Walk"
    command = f"gradiva walk {result['command']}" if result.get("command") else ""
    advice = (result.get("diagnosis") or {}).get("advice")
    pushes = [str(push) for push in result.get("pushes") or []]
    return (
        f'<header><div class="line"><h1>{escape(str(robot))}</h1>'
        f'<span class="outcome {kind}">{escape(outcome)}</span></div>'
        f'<p class="reason">{escape(str(reason))}</p>'
        + "".join(
            f'<p class="run">{escape(line)}</p>'
            for line in (advice and f"next: {advice}", command, " · ".join(pushes))
            if line
        )
        + f'<p class="run">{escape(" · ".join([*settings, run_name]))}</p></header>'
    )


def tiles(result: Mapping[str, Any]) -> str:
    """Return the key figures; those that the result lacks are left out."""
    cells = [
        f'<div class="tile"><div class="label">{figure.label}</div>'
        f'<div class="value">{figure.number(result)} <span class="unit">{figure.unit}</span></div></div>'
        for figure in KEY_FIGURES
        if figure.is_shown(result)
    ]
    return f'<div class="tiles">{"".join(cells)}</div>' if cells else ""


def tables(result: Mapping[str, Any]) -> str:
    """Return the tracking errors and the tick times side by side."""
    errors = [
        (label, [number(result[key].get(column), 1e3, 1) for column in ("rms", "max")])
        for key, label in ERRORS
        if isinstance(result.get(key), Mapping)
    ]
    ticks = result.get("tick_us") or {}
    times = [
        (layer.replace("_", " "), [number(ticks[layer].get(column), 1.0, 0) for column in ("median", "p99", "max")])
        for layer in _LAYERS
        if isinstance(ticks.get(layer), Mapping)
    ]
    shown = [
        _table("tracking error [mm]", ["rms", "max"], errors),
        _table("tick time [µs]", ["median", "p99", "max"], times),
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
