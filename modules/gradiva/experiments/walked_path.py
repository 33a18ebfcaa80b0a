"""How far a robot has walked, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side
from gradiva.telemetry import SignalLog
from gradiva.telemetry.walk_record import BoolArray

IntArray = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """The way of the middle of the feet.

    Attributes:
        length: Along it, [m].
        peak_speed: Of the fastest stride, [m/s]; zero before a whole one.
        stepping_time: From the first lift-off to the last touch-down, [s]; zero before a whole step.
    """

    length: float
    peak_speed: float
    stepping_time: float


def walked_path(log: SignalLog, window: slice) -> WalkedPath:
    r"""Return the way of the middle of the feet from stride to stride, by the simulator's truth.

    Its points lie in the middles of double supports, where both feet rest. From each of them to the next but one both
    feet have stepped, so that neither the body's sway nor the turn of a single foot about the middle is a way; a last
    step that is left over counts alone, one that was not ended not at all. Two points are taken to lie on an arc, as
    those of a unicycle do: of the chord c and the change of heading :math:`\Delta\psi` its length is

    .. math:: s = c \, \frac{\Delta\psi / 2}{\sin(\Delta\psi / 2)}

    Args:
        log: With ``simulation::*_foot::*`` and ``walking::is_double_support``.
        window: The rows that count.
    """
    begins, ends, middles = _double_supports(log["walking::is_double_support"][window, 0] > 0.5)
    positions, headings = _middle_of_feet(log, window, middles)
    times = log.times[window][begins]
    strides, steps = _arcs(positions, headings, 2), _arcs(positions, headings, 1)
    left_over = steps[-1:] if len(steps) % 2 else steps[:0]
    speeds = strides / (times[2:] - times[:-2])
    stepping = float(times[-1] - log.times[window][ends[0]]) if len(times) > 1 else 0.0
    return WalkedPath(float(strides[::2].sum() + left_over.sum()), float(np.max(speeds, initial=0.0)), stepping)


def _arcs(positions: NDArray, headings: NDArray, steps: int) -> NDArray:
    """Return the lengths of the arcs from each point to the one ``steps`` later, [m]."""
    chords = np.linalg.norm(positions[steps:] - positions[:-steps], axis=1)
    turns = headings[steps:] - headings[:-steps]
    return chords / np.sinc(0.5 * turns / np.pi)


def _double_supports(is_double_support: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first row of each, the first row after it, and its middle row, shape (n,) each."""
    changes = np.diff(np.concatenate([[0], is_double_support.astype(int), [0]]))
    begins, ends = np.flatnonzero(changes > 0), np.flatnonzero(changes < 0)
    return begins, ends, (begins + ends) // 2


def _middle_of_feet(log: SignalLog, window: slice, rows: IntArray) -> tuple[NDArray, NDArray]:
    """Return where it is, [m], shape (n, 2), and its heading, [rad], shape (n,), in rows of the window."""
    feet = [log[f"simulation::{side}_foot::position"][window][rows, :2] for side in Side]
    yaws = [log[f"simulation::{side}_foot::orientation"][window][rows, 2] for side in Side]
    return np.mean(feet, axis=0), np.unwrap(np.unwrap(yaws, axis=0).mean(axis=0))
