"""What went wrong first: reads a log backward from a fall."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray
from gradiva.telemetry import SignalLog


def diagnose(log: SignalLog) -> str:
    """Return "; first sign: …" for a walk that ended badly, or an empty string.

    The quantities of a healthy walk stay within known bounds; the one that left its bound first and did not come
    back is named, with its time and the support phase in which it happened.
    """
    if len(log) == 0:
        return ""
    signs = [sign for sign in (_last_departure(log, *watched) for watched in _watched(log)) if sign is not None]
    if not signs:
        return ""
    when, text = min(signs)
    return f"; first sign: {text} at {when:.2f} s, {_phase(log, when)}"


def _watched(log: SignalLog) -> list[tuple[str, NDArray, float, str, float]]:
    """Name, values, bound, unit and its scale of what is watched."""
    return [
        ("DCM error", _gap(log, "dcm::position::measured", "dcm::position::desired"), 0.06, "cm", 100.0),
        ("ZMP error", _gap(log, "zmp::measured", "zmp::desired"), 0.08, "cm", 100.0),
        ("CoM error", _gap(log, "com::position::measured", "com::position::desired"), 0.04, "cm", 100.0),
        ("left foot off its path", _foot_gap(log, "left"), 0.04, "cm", 100.0),
        ("right foot off its path", _foot_gap(log, "right"), 0.04, "cm", 100.0),
        ("left foot turned", _foot_turn(log, "left"), np.radians(6.0), "°", 180.0 / np.pi),
        ("right foot turned", _foot_turn(log, "right"), np.radians(6.0), "°", 180.0 / np.pi),
    ]


def _last_departure(
    log: SignalLog, name: str, values: NDArray, bound: float, unit: str, scale: float
) -> tuple[float, str] | None:
    outside = values > bound
    if not outside[-5:].any():
        return None
    inside = np.flatnonzero(~outside)
    first = int(inside[-6]) + 1 if len(inside) > 5 and inside[-1] == len(values) - 1 else None
    if first is None:
        first = int(inside[-1]) + 1 if len(inside) else 0
    first = min(first, len(values) - 1)
    return float(log.times[first]), f"{name} {scale * values[first]:.0f} {unit}"


def _phase(log: SignalLog, when: float) -> str:
    row = int(np.searchsorted(log.times, when))
    if log["walking::is_double_support"][row, 0] > 0.5:
        return "in double support"
    stance = "left" if log["stance_foot::is_left"][row, 0] > 0.5 else "right"
    return f"while the {stance} foot carried the robot"


def _gap(log: SignalLog, measured: str, desired: str) -> NDArray:
    return np.linalg.norm(log[measured] - log[desired], axis=1)


def _foot_gap(log: SignalLog, side: str) -> NDArray:
    return _gap(log, f"{side}_foot::position::measured", f"{side}_foot::position::desired")


def _foot_turn(log: SignalLog, side: str) -> NDArray:
    turn = log[f"{side}_foot::orientation::measured"][:, 2] - log[f"{side}_foot::orientation::desired"][:, 2]
    return np.abs(np.arctan2(np.sin(turn), np.cos(turn)))
