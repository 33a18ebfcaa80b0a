"""Where robots went, from above."""

from __future__ import annotations

import math
from collections.abc import Mapping

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.experiments.planned_walk import Pose
from gradiva.telemetry.plot_style import COM, REFERENCE, STYLE

_COLUMNS = 3
_PANEL = 2.6  # [inch]
_ARROW = 0.12  # [m] shows a heading
_LEAST_EXTENT = 0.3  # [m] of a panel to each side, so that a spot stays a spot


def tracks_figure(tracks: Mapping[str, tuple[NDArray, Pose | None]]) -> Figure:
    """Return one panel a walk.

    Args:
        tracks: Name to the way of the middle of the feet, [m], shape (k, 2), and the pose in which the plan ends.
    """
    rows = math.ceil(len(tracks) / _COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_COLUMNS * _PANEL, rows * _PANEL), layout="constrained")
        axes = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for axis, (name, (track, end)) in zip(axes, tracks.items(), strict=False):
            _draw(axis, track, end)
            axis.set_title(name)
            axis.set_xlabel("x [m]", loc="right")
            axis.set_ylabel("y [m]", loc="top")
        for axis in axes[len(tracks) :]:
            axis.set_axis_off()
        return figure


def _draw(axis: Axes, track: NDArray, end: Pose | None) -> None:
    axis.plot(track[:, 0], track[:, 1], color=COM)
    if end is not None:
        x, y, yaw = end
        axis.plot(x, y, "o", color=REFERENCE, markersize=4)
        axis.annotate(
            "",
            (x + _ARROW * math.cos(yaw), y + _ARROW * math.sin(yaw)),
            (x, y),
            arrowprops={"arrowstyle": "->", "color": REFERENCE},
        )
    axis.set_aspect("equal", adjustable="datalim")
    axis.plot([-_LEAST_EXTENT, _LEAST_EXTENT], [-_LEAST_EXTENT, _LEAST_EXTENT], alpha=0.0)
