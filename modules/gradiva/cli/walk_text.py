"""A walk in words: what will be done, how it went."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from gradiva.experiments import GROUND_NAMES, WalkRequest, footing_note
from gradiva.planner import WalkingPlan
from gradiva.simulation import GroundKind

_COLOURS = {"walked": "bold green", "fell": "bold red", "stopped": "bold yellow"}


def opening(request: WalkRequest, plan: WalkingPlan) -> list[str]:
    """Return the lines with which a walk begins: what the robot is going to do, and what its ground does to it."""
    note = footing_note(request.setup)
    return [describe_command(request, plan), *([note] if note else [])]


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
    cells = _figures(result)
    for (name, value), (name_2, value_2) in zip(cells[::2], cells[1::2], strict=True):
        table.add_row(name, value, name_2, value_2)
    return table


def _figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    x, y, yaw = result["final_pose"]
    goal = result["goal_error_m"]
    return [
        ("distance", _metres(result["distance_m"])),
        ("simulated", f"{result['duration_s']:.1f} s"),
        ("mean speed", f"{result['mean_speed_mps']:.3f} m/s"),
        ("peak speed", f"{result['peak_speed_mps']:.3f} m/s"),
        ("ends at", f"({x:.2f}, {y:.2f}) m, {math.degrees(yaw):.0f}°"),
        ("from the goal", "–" if goal is None else _millimetres(goal)),
        ("DCM error rms, max", _pair(result["dcm_error_m"])),
        ("CoM error rms, max", _pair(result["com_error_m"])),
        ("ZMP error rms, max", _pair(result["zmp_error_m"])),
        ("foot error rms, max", _pair(result["foot_error_m"])),
        ("foot slip", _millimetres(result["foot_slip_m"])),
        ("odometry drift", _millimetres(result["odometry_drift_m"])),
        ("largest tilt", _degrees(result["max_tilt_rad"])),
        ("failed optimisations", str(result["qp_failures"])),
        *_soft_ground_figures(result),
        ("tick median, p99", _tick(result["tick_us"]["total"])),
        ("faster than real time", f"{result['real_time_factor']:.1f} ×"),
    ]


def _soft_ground_figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    if result["ground"] != GROUND_NAMES[GroundKind.VISCOELASTIC]:
        return []
    return [
        ("deepest sinkage", _millimetres(result["sinkage_m"])),
        ("largest foot tilt", _degrees(result["foot_tilt_rad"])),
    ]


def _metres(value: float) -> str:
    return f"{value:.2f} m"


def _millimetres(value: float | None) -> str:
    return "–" if value is None else f"{1e3 * value:.1f} mm"


def _degrees(value: float | None) -> str:
    return "–" if value is None else f"{math.degrees(value):.1f}°"


def _pair(error: Mapping[str, float | None]) -> str:
    if error["rms"] is None or error["max"] is None:
        return "–"
    return f"{1e3 * error['rms']:.0f}, {1e3 * error['max']:.0f} mm"


def _tick(spread: Mapping[str, float | None]) -> str:
    if spread["median"] is None or spread["p99"] is None:
        return "–"
    return f"{spread['median']:.0f}, {spread['p99']:.0f} µs"
