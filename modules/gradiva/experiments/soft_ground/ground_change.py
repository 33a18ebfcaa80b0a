"""A foot that steps on other ground, and how soon the controller knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side
from gradiva.telemetry import SignalLog

PARAMETERS = ("stiffness", "damping")


@dataclass(frozen=True, slots=True)
class GroundChange:
    """One parameter of the ground at one touch-down.

    Attributes:
        side: Of the foot.
        parameter: ``stiffness`` [N/m³] or ``damping`` [N·s/m³].
        time: Of the touch-down, [s].
        before: What it was below this foot before.
        truth: What it is.
        estimate: At the end of the stance.
        settled_after: Time from touch-down after which the estimate stays near the truth, [s]; None: it does not.
    """

    side: Side
    parameter: str
    time: float
    before: float
    truth: float
    estimate: float
    settled_after: float | None


def ground_changes(log: SignalLog, tolerance: float) -> list[GroundChange]:
    """Return both parameters of each touch-down on ground that differs from the last, in the order of time.

    Args:
        log: Of a walk on soft ground.
        tolerance: Of the estimate, over the truth, [-].
    """
    if not len(log):
        return []
    changes = [change for side in Side for change in _changes_below(log, side, tolerance)]
    return sorted(changes, key=lambda change: change.time)


def _changes_below(log: SignalLog, side: Side, tolerance: float) -> Iterator[GroundChange]:
    for last, now in pairwise(_stances(log[f"{side}_foot::contact::is_active"][:, 0] > 0.5)):
        truths = {name: log[f"simulation::{side}_foot::contact::{name}"][:, 0] for name in PARAMETERS}
        if all(truth[last[-1]] == truth[now[-1]] for truth in truths.values()):
            continue
        for name, truth in truths.items():
            estimate = log[f"{side}_foot::contact::{name}"][now, 0]
            yield GroundChange(
                side=side,
                parameter=name,
                time=float(log.times[now[0]]),
                before=float(truth[last[-1]]),
                truth=float(truth[now[-1]]),
                estimate=float(estimate[-1]),
                settled_after=_settled_after(log.times[now], estimate / truth[now[-1]], tolerance),
            )


def _stances(is_active: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Return the rows of each stance."""
    rows = np.flatnonzero(is_active)
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []


def _settled_after(times: NDArray, ratio: NDArray, tolerance: float) -> float | None:
    """Return when the ratio is near one for good; the first row of a stance is what was known before."""
    outside = np.flatnonzero(np.abs(ratio - 1.0) > tolerance)
    if not len(outside):
        return 0.0
    return None if outside[-1] == len(ratio) - 1 else float(times[outside[-1] + 1] - times[0])
