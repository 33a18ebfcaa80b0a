"""Where the feet stood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side, SoleRectangle, freeze_arrays
from gradiva.telemetry.signal_log import SignalLog

_REST_SPEED = {"desired": 2e-3, "measured": 2e-2}  # m/s, a slower foot stands; the measured one trembles
_REST_TIME = 0.08  # s, a shorter rest is the apex of a swing or noise
_SAME_PLACE = 5e-3  # m, two rests closer than this are one footprint


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """A foot that rested.

    Attributes:
        side: Which foot.
        position: Of the sole frame, world, [m], shape (3,).
        yaw: Heading, [rad].
        time: When the rest began, [s].
    """

    side: Side
    position: NDArray
    yaw: float
    time: float

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,))

    def corners(self, sole: SoleRectangle) -> NDArray:
        """Return the corners of the sole, world, counter-clockwise from above, [m], shape (4, 2)."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return self.position[:2] + sole.corners(self.side) @ np.array([[c, s], [-s, c]])


def footprints(log: SignalLog) -> list[Footprint]:
    """Return all footprints of a walk, the first ones first.

    They come from the desired foot positions, or from the measured ones where no desired are logged; empty
    without either.
    """
    found = [footprint for side in Side for footprint in _of_one_foot(log, side)]
    return sorted(found, key=lambda footprint: footprint.time)


def _of_one_foot(log: SignalLog, side: Side) -> list[Footprint]:
    kind = next((kind for kind in _REST_SPEED if f"{side}_foot::position::{kind}" in log), None)
    if kind is None or len(log) < 2:
        return []
    positions = log[f"{side}_foot::position::{kind}"]
    orientation = f"{side}_foot::orientation::{kind}"
    yaws = log[orientation][:, 2] if orientation in log else np.zeros(len(log))
    prints: list[Footprint] = []
    for first, last in _rests(log.times, positions, _REST_SPEED[kind]):
        middle = (first + last) // 2
        position = np.median(positions[first : last + 1], axis=0)
        if not prints or np.linalg.norm(position - prints[-1].position) > _SAME_PLACE:
            prints.append(Footprint(side, position, float(yaws[middle]), float(log.times[first])))
    return prints


def _rests(times: NDArray, positions: NDArray, speed_limit: float) -> list[tuple[int, int]]:
    steps = np.maximum(np.diff(times), 1e-9)
    at_rest = np.linalg.norm(np.diff(positions, axis=0), axis=1) / steps < speed_limit
    edges = np.flatnonzero(np.diff(np.concatenate([[False], at_rest, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2) if times[last] - times[first] >= _REST_TIME]
