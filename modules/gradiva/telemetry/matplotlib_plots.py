"""Draw the plots of a walk with Matplotlib, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.telemetry.plot_style import FOOT, INK, PUSH, STYLE, SUPPORT, WARNING, shade
from gradiva.telemetry.walk_panels import FromAbove, JointFigures, Panel

_WIDTH, _PANEL_HEIGHT = 5.9, 1.05  # inch
_TOP, _BOTTOM, _LEFT, _RIGHT, _GAP = 0.42, 0.42, 0.52, 0.1, 0.26  # inch
_WIDE_LEGEND = 4  # entries, of which more get less space each
_BAR_HEIGHT = 0.17  # inch, of a joint
_ABOVE_WIDTH, _ABOVE_HEIGHT = 12.1, (2.6, 7.0)  # inch, of the walk from above: least and greatest height


def draw_panels(
    panels: Sequence[Panel],
    times: NDArray,
    pushes: Sequence[tuple[float, float]] = (),
    first_sign: float | None = None,
) -> Figure:
    """Return panels one above the other over a common time axis.

    Args:
        panels: The first has the legend.
        times: Of all curves, [s], shape (T,).
        pushes: From when to when the robot was pushed, [s].
        first_sign: When the first sign of a fall was, [s].
    """
    with matplotlib.rc_context(STYLE):
        figure, axes = _empty_panels(panels, times)
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel, times)
            for begin, end in pushes:
                axis.axvspan(begin, end, color=PUSH, linewidth=1.0, zorder=0.5, label="push")
            if first_sign is not None:
                axis.axvline(
                    first_sign, color=WARNING, linewidth=1.0, dashes=(1.0, 1.2), zorder=0.6, label="first sign"
                )
        _write_legend(figure, axes)
    return figure


def _empty_panels(panels: Sequence[Panel], times: NDArray) -> tuple[Figure, list[Axes]]:
    rows, height = len(panels), _PANEL_HEIGHT if len(panels) > 2 else 1.6 * _PANEL_HEIGHT
    total = _TOP + _BOTTOM + rows * height + (rows - 1) * _GAP
    figure = Figure(figsize=(_WIDTH, total))
    axes: list[Axes] = []
    for row, panel in enumerate(panels):
        bottom, width = _BOTTOM + (rows - 1 - row) * (height + _GAP), _WIDTH - _LEFT - _RIGHT
        place = (_LEFT / _WIDTH, bottom / total, width / _WIDTH, height / total)
        axis = figure.add_axes(place, sharex=axes[0] if axes else None)
        axis.set_title(panel.title)
        axis.tick_params(labelbottom=row == rows - 1)
        axis.locator_params(axis="y", nbins=4)
        axes.append(axis)
    axes[-1].set_xlabel("time [s]", loc="right", labelpad=1.0)
    axes[0].set_xlim(float(times[0]), max(float(times[-1]), float(times[0]) + 1e-3))
    return figure, axes


def _draw(axis: Axes, panel: Panel, times: NDArray) -> None:
    shade(axis, times, panel.shade, panel.shade_colour)
    if panel.extent is not None:
        axis.fill_between(times, *panel.extent, color=SUPPORT, linewidth=0, step="post", label="support")
    for curve in panel.curves:
        style = {"linewidth": 0.9, "dashes": (3.0, 1.6), "alpha": 0.85} if curve.is_reference else {"linewidth": 1.1}
        axis.plot(times, curve.values, color=curve.colour, label=curve.name or None, **style)
    for level in panel.levels:
        axis.axhline(level, color=WARNING, linewidth=0.9, dashes=(3.0, 1.6))
    if panel.is_logarithmic:
        axis.set_yscale("log")
    if panel.shown is not None:
        axis.set_ylim(*panel.shown)
    if panel.least is not None:
        axis.set_ylim(bottom=panel.least)


def _write_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put the names of all panels into the upper right corner of the figure, each once."""
    named = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    place = (1.0 - _RIGHT / _WIDTH, 1.0)
    narrow = {"columnspacing": 1.0, "handlelength": 1.3} if len(named) > _WIDE_LEGEND else {}
    figure.legend(
        named.values(), named, loc="upper right", bbox_to_anchor=place, ncols=len(named), borderaxespad=0.1, **narrow
    )


def draw_joints(figures: Sequence[JointFigures], joints: Sequence[str]) -> Figure:
    """Return a column of bars for each number of the joints, pale, with its rms dark; red bars are worth a look."""
    rows, count = np.arange(len(figures[0].values)), len(figures[0].values)
    names = joints if len(joints) == count else [f"joint {index}" for index in range(count)]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_ABOVE_WIDTH, _TOP + _BOTTOM + _BAR_HEIGHT * count), layout="constrained")
        for axis, each in zip(figure.subplots(1, len(figures), sharey=True, squeeze=False)[0], figures, strict=True):
            is_tight = np.zeros(count, bool) if each.tight is None else each.values < each.tight
            axis.barh(rows, each.values, color=np.where(is_tight, WARNING, SUPPORT))
            if each.rms is not None:
                axis.barh(rows, each.rms, color=INK)
            axis.set_title(each.title)
            axis.set_yticks(rows, names)
        axis.invert_yaxis()
    return figure


def draw_from_above(walk: FromAbove) -> Figure:
    """Return the footsteps with their soles, and the paths on the ground; a metre is as long on both axes."""
    low, high = walk.extent()
    aspect = (high[1] - low[1]) / (high[0] - low[0])
    height = float(np.clip(0.75 + (_ABOVE_WIDTH - 0.7) * aspect, *_ABOVE_HEIGHT))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_ABOVE_WIDTH, height))
        axis = figure.add_axes((0.5 / _ABOVE_WIDTH, 0.4 / height, 1.0 - 0.6 / _ABOVE_WIDTH, 1.0 - 0.75 / height))
        for side, soles in walk.soles.items():
            edge, name = FOOT[side], f"{side} sole"
            axis.add_collection(PolyCollection(soles, facecolor=f"{edge}22", edgecolor=edge, linewidth=0.9, label=name))
            if planned := walk.planned_soles[side]:
                moved = PolyCollection(planned, facecolor="none", edgecolor=edge, linestyle=":")
                moved.set_label(f"{name}, as planned")
                axis.add_collection(moved)
        for name, (colour, path) in walk.paths.items():
            axis.plot(*path.T, color=colour, linewidth=1.5 if name == "CoM" else 0.8, label=name)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_xlim(low[0], high[0], auto=True)  # may grow for the aspect, of which fixed limits warn
        axis.set_ylim(low[1], high[1], auto=True)
        axis.set_title("y [m]")
        axis.set_xlabel("x [m]", loc="right", labelpad=1.0)
        figure.legend(loc="upper right", ncols=7, bbox_to_anchor=(0.99, 1.0), borderaxespad=0.1)
    return figure
