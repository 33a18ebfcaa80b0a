"""Describes a walk in words: the command before it, the outcome and the key figures after it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from rich.markup import escape
from rich.table import Table

from gradiva.experiments import GROUND_NAMES, WalkRequest, footing_note, slope_note
from gradiva.planner import WalkingPlan
from gradiva.simulation import GroundKind
from gradiva.telemetry.report import ERRORS, KEY_FIGURES, number

_COLOURS = {"walked": "bold green", "fell": "bold red", "stopped": "bold yellow"}


def opening(request: WalkRequest, plan: WalkingPlan) -> list[str]:
    """Return the lines with which a walk begins: what the robot is going to do, and what its ground does to it."""
    notes = footing_note(request.setup), slope_note(request.setup)
    return [describe_command(request, plan), *(note for note in notes if note)]


def describe_command(request: WalkRequest, plan: WalkingPlan) -> str:
    """Return one line about what the robot is going to do."""
    tick = request.setup.walking.walking
    steps = len(plan.steps)
    kind = request.setup.simulation.ground.kind
    ground = "" if kind is GroundKind.RIGID else f" on {GROUND_NAMES[kind]} ground"
    return (
        f"{request.setup.robot.title} walks {request.command}: {steps} step{'s' * (steps != 1)} in"
        f" {plan.end_time - plan.start_time:.1f} s, {tick.model} with {tick.control} control{ground}"
    )


def outcome_line(result: Mapping[str, Any]) -> str:
    """Return one line about how it went, with console markup."""
    outcome = str(result["outcome"])
    return f"[{_COLOURS[outcome]}]{outcome}[/]: {escape(str(result['reason']))}"


def result_table(result: Mapping[str, Any]) -> Table:
    """Return the key figures."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(2):
        table.add_column(style="dim")
        table.add_column(justify="right")
    figures = _figures(result)
    for left, right in zip_longest(figures[::2], figures[1::2], fillvalue=("", "")):
        table.add_row(*left, *right)
    return table


def _figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and value of the key figures, the tracking errors and the tick's duration."""
    x, y, yaw = result["final_pose"]
    figures = [
        (figure.label, f"{figure.number(result)}{_space(figure.unit)}{figure.unit}")
        for figure in KEY_FIGURES
        if figure.is_shown(result)
    ]
    pose = f"({_number(x, 2)}, {_number(y, 2)}) m, {_number(math.degrees(yaw), 0)}°"
    errors = [(f"{name} error rms, max", _pair(result[key])) for key, name in ERRORS]
    return [*figures, ("final pose", pose), *errors, ("tick time median, p99", _tick(result["tick_us"]["total"]))]


def _number(value: float, digits: int) -> str:
    return number(value, 1.0, digits)


def _space(unit: str) -> str:
    return "" if unit in ("", "°") else " "


def _pair(error: Mapping[str, float | None]) -> str:
    if error["rms"] is None or error["max"] is None:
        return "–"
    return f"{number(error['rms'], 1e3, 0)}, {number(error['max'], 1e3, 0)} mm"


def _tick(spread: Mapping[str, float | None]) -> str:
    if spread["median"] is None or spread["p99"] is None:
        return "–"
    return f"{spread['median']:.0f}, {spread['p99']:.0f} µs"
