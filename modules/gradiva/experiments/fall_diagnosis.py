"""What went wrong first: reads a log backward from a fall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.simulation import Push
from gradiva.telemetry import SignalLog

_DEGREES = 180.0 / np.pi
_TILTED_SOLE = np.radians(8.0)  # [rad] soles of walks that do not fall tilt by up to 6°
_RECENT = 2.0  # [s] for so long a push is suspected of what goes wrong after it
_TAIL = 5  # [ticks] at the end of the log, in any of which a departed quantity is still outside


@dataclass(frozen=True, slots=True, eq=False)
class WatchedQuantity:
    """A quantity that stays small while the robot walks well.

    Attributes:
        name: For people.
        values: Its size over the log, shape (T,).
        bound: What healthy walks stay below.
        unit: In which it is told.
        scale: From the values to that unit.
    """

    name: str
    values: NDArray
    bound: float
    unit: str
    scale: float

    def departure(self) -> int | None:
        """Return the row at which the quantity left its bound for good; None when it did not."""
        outside = self.values > self.bound
        if not outside[-_TAIL:].any():
            return None
        inside = np.flatnonzero(~outside[:-_TAIL])
        return int(inside[-1]) + 1 if len(inside) else 0


def diagnose(log: SignalLog, pushes: Sequence[Push] = (), end: float = math.inf) -> str:
    """Return "; first sign: …" for a walk that ended badly, or an empty string.

    Of the quantities that are outside the bounds of a healthy walk at the end, the one that left first is named,
    with its value then, the time and the support phase; then the pushes that acted shortly before.

    Args:
        log: Of the walk.
        pushes: That were to come.
        end: When the walk ended, [s].
    """
    row, sign = _first_sign(log)
    moment = end if row is None else float(log.times[row])
    return sign + "".join(f"; before it, a {push}" for push in pushes if push.start <= moment <= push.end + _RECENT)


def _first_sign(log: SignalLog) -> tuple[int | None, str]:
    """Return the row of the log at which something left its bounds, and what."""
    watched = _watched(log) if len(log) else []
    departures = [(row, quantity) for quantity in watched if (row := quantity.departure()) is not None]
    if not departures:
        return None, ""
    row, first = min(departures, key=lambda departure: departure[0])
    value = first.scale * first.values[row]
    return row, f"; first sign: {first.name} {value:.0f} {first.unit} at {log.times[row]:.2f} s, {_phase(log, row)}"


def _watched(log: SignalLog) -> list[WatchedQuantity]:
    quantities = [
        WatchedQuantity("DCM error", _gap(log, "dcm::position"), 0.06, "cm", 100.0),
        WatchedQuantity("ZMP error", _gap(log, "zmp"), 0.08, "cm", 100.0),
        WatchedQuantity("CoM error", _gap(log, "com::position"), 0.04, "cm", 100.0),
    ]
    for side in Side:
        path, turn = _gap(log, f"{side}_foot::position", 2), _foot_turn(log, side)
        quantities += [
            WatchedQuantity(f"{side} foot off its path by", path, 0.04, "cm", 100.0),
            WatchedQuantity(f"{side} foot turned by", turn, np.radians(6.0), "°", _DEGREES),
            *_watched_of_sole(log, side),
        ]
    return quantities


def _watched_of_sole(log: SignalLog, side: Side) -> list[WatchedQuantity]:
    """How a sole that carries load stands in the ground; nothing where nobody logged it."""
    tilt, sinkage = (f"simulation::{side}_foot::{quantity}" for quantity in ("tilt", "sinkage"))
    if tilt not in log:
        return []
    return [
        WatchedQuantity(f"{side} sole tilted by", log[tilt][:, 0], _TILTED_SOLE, "°", _DEGREES),
        WatchedQuantity(f"{side} sole sunk by", log[sinkage][:, 0], 0.10, "cm", 100.0),
    ]


def _phase(log: SignalLog, row: int) -> str:
    if log["walking::is_double_support"][row, 0] > 0.5:
        return "in double support"
    stance = Side.LEFT if log["stance_foot::is_left"][row, 0] > 0.5 else Side.RIGHT
    return f"while the {stance} foot carried the robot"


def _gap(log: SignalLog, quantity: str, axes: int = 3) -> NDArray:
    """How far the first axes of a quantity are from its reference."""
    gap = log[f"{quantity}::measured"] - log[f"{quantity}::desired"]
    return np.linalg.norm(gap[:, :axes], axis=1)


def _foot_turn(log: SignalLog, side: Side) -> NDArray:
    turn = log[f"{side}_foot::orientation::measured"][:, 2] - log[f"{side}_foot::orientation::desired"][:, 2]
    return np.abs(np.arctan2(np.sin(turn), np.cos(turn)))
