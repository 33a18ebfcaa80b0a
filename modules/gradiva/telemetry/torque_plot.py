"""Plot of the torques of the legs against their limits."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import FOOT, WARNING, legend, line, panels, shade
from gradiva.telemetry.walk_record import WalkRecord

TORQUE_SIGNALS = ("joints_state::torques::command",)


def plot_leg_torques(record: WalkRecord) -> Figure:
    """Draw the commanded torques of the legs' joints, a panel for each pair, and their limits where they are near.

    The result has to tell ``legs``, names by side, and ``torque_limits``, [N·m].
    """
    pairs = _pairs(record)
    times, torques = record.log.times, record.log[TORQUE_SIGNALS[0]]
    limits = np.array(record.result["torque_limits"])
    titles = [f"{record.joints[left].removeprefix('l_')} [N·m], limit ±{limits[left]:g}" for left, _ in pairs]
    figure, axes = panels(titles, times)
    for axis, pair in zip(axes, pairs, strict=True):
        for side, joint in zip(Side, pair, strict=True):
            line(axis, times, torques[:, joint], FOOT[side], str(side), width=1.0)
        _draw_limit(axis, torques[:, list(pair)], limits[pair[0]])
        shade(axis, times, record.in_double_support())
    legend(figure, axes[0])
    return figure


def _pairs(record: WalkRecord) -> list[tuple[int, int]]:
    """Return the columns of each joint of the left leg and of the same joint of the right one."""
    names = [record.result["legs"][str(side)] for side in Side]
    return [(record.joints.index(left), record.joints.index(right)) for left, right in zip(*names, strict=True)]


def _draw_limit(axis: Axes, torques: NDArray, limit: float) -> None:
    """Draw what can be reached from the present range; the rest would flatten the curves."""
    low, high = float(np.nanmin(torques)), float(np.nanmax(torques))
    margin = 0.15 * (high - low)
    for bound in (-limit, limit):
        if low - margin < bound < high + margin:
            axis.axhline(bound, color=WARNING, linewidth=0.9, dashes=(3.0, 1.6))
