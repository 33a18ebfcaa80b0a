"""How long the robot walked on each ground, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import Side
from gradiva.experiments.asked import INACCURATE, but_com
from gradiva.experiments.experiment import as_text
from gradiva.telemetry.plot_style import COM, FOOT, STYLE, WARNING

_WIDTH, _ROW_HEIGHT, _MARGIN = 8.0, 0.34, 1.0  # [inch]
_COLOURS = {"walked": COM, INACCURATE: FOOT[Side.RIGHT]}  # all else is a warning


def outcome_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Return a bar a row.

    Args:
        rows: With ``controller``, ``stiffness``, ``damping``, ``lasted_s``, ``paper``, ``value`` and
            ``outcome``, perhaps with a ``case``.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _MARGIN + _ROW_HEIGHT * len(rows)), layout="constrained")
        axis = figure.subplots()
        _draw(axis, rows)
        return figure


def _draw(axis: Axes, rows: Sequence[dict[str, Any]]) -> None:
    places = np.arange(len(rows))
    lasted = [row["lasted_s"] or 0.0 for row in rows]
    colours = [_COLOURS.get(row["outcome"], WARNING) for row in rows]
    bars = axis.barh(places, lasted, 0.62, color=colours)
    axis.bar_label(bars, labels=[_label(row) for row in rows], padding=3)
    axis.set_yticks(places, [_name(row) for row in rows])
    axis.invert_yaxis()
    axis.set_xlim(0.0, 2.1 * max([*lasted, 1.0]))  # room for the labels
    axis.set_title("ground: k [N/m³], b [N·s/m³]")
    axis.set_xlabel("time until the walk was done, or over [s]", loc="right")
    axis.grid(visible=False, axis="y")


def _name(row: dict[str, Any]) -> str:
    case = f"\n{row['case']}" if "case" in row else ""
    return f"{row['controller']}, k = {as_text(row['stiffness'])}, b = {as_text(row['damping'])}{case}"


def _label(row: dict[str, Any]) -> str:
    paper = "" if row["paper"] is None else f" (thesis: {row['paper']})"
    return f"{_outcome(row)}{paper}"


def _outcome(row: dict[str, Any]) -> str:
    if row["outcome"] == INACCURATE:
        return but_com(row["value"])
    error = f", CoM within {1e3 * row['value']:.1f} mm" if row["outcome"] == "walked" else ""
    return f"{row['outcome']}{error}"
