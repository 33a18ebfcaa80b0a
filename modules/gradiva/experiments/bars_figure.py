"""What each row came to as bars, the thesis' beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.telemetry.plot_style import DCM, MUTED, STYLE

_WIDTH, _ROW_HEIGHT, _MARGIN = 7.0, 0.5, 0.8  # [inch]
_BAR = 0.36  # [-] of the distance of two rows


def bars_figure(rows: Sequence[dict[str, Any]], names: Sequence[str], quantity: str, paper: str) -> Figure:
    """Return two bars a row.

    Args:
        rows: With ``paper`` and ``value``, either perhaps None.
        names: Columns that tell one row from another.
        quantity: What the bars are, with its unit.
        paper: Whose the other bars are.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _MARGIN + _ROW_HEIGHT * len(rows)), layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(rows))
        for shift, key, colour, label in ((-0.5, "paper", MUTED, paper), (0.5, "value", DCM, "Gradiva, simulation")):
            lengths = [row[key] or 0.0 for row in rows]
            bars = axis.barh(places + shift * _BAR, lengths, _BAR, color=colour, label=label)
            axis.bar_label(bars, labels=[f"{length:.2f}" if length else "–" for length in lengths], padding=3)
        axis.set_yticks(places, [", ".join(str(row[name]) for name in names) for row in rows])
        axis.invert_yaxis()
        axis.margins(x=0.08)  # room for the numbers
        axis.set_xlabel(quantity, loc="right")
        figure.legend(loc="outside upper right", ncols=2)
        return figure
