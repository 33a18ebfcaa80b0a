"""The highest speeds as bars, the thesis' beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gradiva.telemetry.plot_style import DCM, MUTED, STYLE

_SIZE = (7.0, 2.8)  # [inch]
_BAR = 0.36  # [-] of the distance of two architectures


def speed_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Return two bars an architecture.

    Args:
        rows: With ``model``, ``control``, ``paper`` and ``value`` [m/s], the latter perhaps None.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(rows))
        for shift, key, colour, label in ((-0.5, "paper", MUTED, "thesis, robot"), (0.5, "value", DCM, "simulation")):
            speeds = [row[key] or 0.0 for row in rows]
            bars = axis.barh(places + shift * _BAR, speeds, _BAR, color=colour, label=label)
            axis.bar_label(bars, labels=[f"{speed:.2f}" if speed else "–" for speed in speeds], padding=3)
        axis.set_yticks(places, [f"{row['model']}, {row['control']}" for row in rows])
        axis.invert_yaxis()
        axis.set_xlabel("highest straight speed [m/s]", loc="right")
        figure.legend(loc="outside upper right", ncols=2)
        return figure
