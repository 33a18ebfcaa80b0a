"""Style the plots of a report: colours by quantity, panels over time, thinned lines, SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.telemetry.walk_record import BoolArray

COM = "#2a8c5a"
DCM = "#7b52b9"
ZMP = "#cf4a3e"
FOOT = {Side.LEFT: "#2878b5", Side.RIGHT: "#e08a1e"}
REFERENCE = "#2b2f36"  # of every quantity: dark and dashed
BAND = "#eceff3"  # double support
ACTIVE = "#f6dfc4"  # step adaptation
SUPPORT = "#d9e2ea"  # support polygon
INK = "#22262b"
MUTED = "#6d7580"
GRID = "#e6e9ed"
WARNING = "#c8302b"
PUSH = "#f3c1bd"

HALF_WIDTH = 5.9  # inch, one of two columns
FULL_WIDTH = 12.1  # inch, both columns
_PANEL_HEIGHT = 1.05  # inch
_TOP, _BOTTOM, _LEFT, _RIGHT, _GAP = 0.42, 0.42, 0.52, 0.1, 0.26  # inch
_BUCKETS = 500  # per line: one a pixel of a column
_WIDE_LEGEND = 4  # entries, of which more get less space each

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": "#c3c9d0",
    "axes.linewidth": 0.7,
    "axes.labelcolor": MUTED,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.titlecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "gradiva",
    "path.simplify_threshold": 0.3,
}


def panels(titles: Sequence[str], times: NDArray, height: float = _PANEL_HEIGHT) -> tuple[Figure, list[Axes]]:
    """Return panels one above the other over a common time axis.

    Args:
        titles: One a panel: what it shows and its unit.
        times: [s], shape (T,); sets the axis.
        height: Of each panel, inch.
    """
    rows = len(titles)
    total = _TOP + _BOTTOM + rows * height + (rows - 1) * _GAP
    figure = Figure(figsize=(HALF_WIDTH, total))
    axes: list[Axes] = []
    for row, title in enumerate(titles):
        bottom = _BOTTOM + (rows - 1 - row) * (height + _GAP)
        width = HALF_WIDTH - _LEFT - _RIGHT
        axis = figure.add_axes(
            (_LEFT / HALF_WIDTH, bottom / total, width / HALF_WIDTH, height / total),
            sharex=axes[0] if axes else None,
        )
        axis.set_title(title)
        axis.tick_params(labelbottom=row == rows - 1)
        axis.locator_params(axis="y", nbins=4)
        axes.append(axis)
    axes[-1].set_xlabel("time [s]", loc="right", labelpad=1.0)
    axes[0].set_xlim(float(times[0]), max(float(times[-1]), float(times[0]) + 1e-3))
    return figure, axes


def legend(figure: Figure, axis: Axes) -> None:
    """Put the legend of one panel into the upper right corner of the figure."""
    handles, labels = axis.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))  # one entry for lines of one name
    place = (1.0 - _RIGHT / figure.get_figwidth(), 1.0)
    narrow = {"columnspacing": 1.0, "handlelength": 1.3} if len(named) > _WIDE_LEGEND else {}
    figure.legend(
        named.values(), named, loc="upper right", bbox_to_anchor=place, ncols=len(named), borderaxespad=0.1, **narrow
    )


def line(axis: Axes, times: NDArray, samples: NDArray, colour: str, label: str = "", width: float = 1.3) -> None:
    """Draw a measured signal as a solid line."""
    axis.plot(*thin(times, samples), color=colour, label=label or None, linewidth=width)


def reference(axis: Axes, times: NDArray, samples: NDArray, label: str = "") -> None:
    """Draw a reference as a dashed line."""
    axis.plot(
        *thin(times, samples),
        color=REFERENCE,
        label=label or None,
        linewidth=0.9,
        dashes=(3.0, 1.6),
        alpha=0.85,
    )


def zero(axis: Axes) -> None:
    """Draw the zero line of a panel."""
    axis.axhline(0.0, color=MUTED, linewidth=0.7)


def mark(axis: Axes, pushes: Sequence[tuple[float, float]], first_sign: float | None, label: bool = False) -> None:
    """Mark from when to when the robot was pushed, [s], and when the first sign of its fall was, [s].

    Args:
        axis: Over time.
        pushes: Begin and end of each.
        first_sign: None where there was none.
        label: Whether the legend names them.
    """
    for begin, end in pushes:
        axis.axvspan(begin, end, color=PUSH, linewidth=1.0, zorder=0.5, label="push" if label else None)
    if first_sign is not None:
        text = "first sign" if label else None
        axis.axvline(first_sign, color=WARNING, linewidth=1.0, dashes=(1.0, 1.2), zorder=0.6, label=text)


def shade(axis: Axes, times: NDArray, where: BoolArray | None, colour: str = BAND) -> None:
    """Shade the intervals in which ``where`` (shape (T,)) holds, over the full height of a panel."""
    if where is None:
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(np.int8))).reshape(-1, 2)
    spans = [(times[first], times[last - 1] - times[first]) for first, last in edges]
    axis.broken_barh(spans, (0.0, 1.0), transform=axis.get_xaxis_transform(), color=colour, linewidth=0, zorder=0)


def thin(times: NDArray, samples: NDArray) -> tuple[NDArray, NDArray]:
    """Return a line with at most 1000 points that looks the same: least and greatest of each bucket.

    Args:
        times: Shape (T,).
        samples: Shape (T,).
    """
    if len(samples) <= 2 * _BUCKETS or not np.isfinite(samples).all():
        return times, samples
    edges = np.linspace(0, len(samples), _BUCKETS + 1).astype(int).tolist()
    picks = [
        first + extreme(samples[first:last]) for first, last in pairwise(edges) for extreme in (np.argmin, np.argmax)
    ]
    order = np.unique([0, *picks, len(samples) - 1])
    return times[order], samples[order]


def svg(figure: Figure) -> str:
    """Return the figure as an SVG element that fits the width of its container."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    return re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), text)  # texts keep their digits
