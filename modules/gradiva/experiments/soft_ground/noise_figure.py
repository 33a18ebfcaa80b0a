"""The error of the centre of mass over the noise of the wrenches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.experiments.asked import COM_LIMIT, INACCURATE
from gradiva.telemetry.plot_style import MUTED, STYLE

_SIZE = (8.0, 4.0)  # [inch]


def noise_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Return a line a kind of noise, as far as the robot walked, below the limit or above it; a cross marks a fall.

    Args:
        rows: With ``noise``, ``sigma``, ``value`` and ``outcome``.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axis = figure.subplots()
        for name in dict.fromkeys(row["noise"] for row in rows):
            _draw(axis, name, [row for row in rows if row["noise"] == name])
        axis.axhline(1e3 * COM_LIMIT, color=MUTED, linewidth=0.9, dashes=(3.0, 1.6), label="limit")
        axis.plot([], [], "x", color=MUTED, label="fell, whatever the error")
        axis.set_title("largest error of the centre of mass [mm]")
        axis.set_xlabel("standard deviation of the noise [N, N·m]", loc="right")
        axis.set_ylim(bottom=-0.5)
        figure.legend(loc="outside right upper")
        return figure


def _draw(axis: Axes, name: str, rows: Sequence[dict[str, Any]]) -> None:
    walked = [row for row in rows if row["outcome"] in ("walked", INACCURATE)]
    (line,) = axis.plot(
        [row["sigma"] for row in walked], [1e3 * row["value"] for row in walked], marker="o", markersize=3, label=name
    )
    fallen = [row["sigma"] for row in rows if row not in walked]
    axis.plot(fallen, [0.0] * len(fallen), "x", color=line.get_color())
