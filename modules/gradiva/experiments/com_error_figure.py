"""How far the CoM is from its reference, over time, for several ways to run the same walk."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
from matplotlib.figure import Figure

from gradiva.experiments.walk_score import com_error
from gradiva.telemetry import SignalLog
from gradiva.telemetry.plot_style import COM, DCM, REFERENCE, STYLE

_COLOURS = (REFERENCE, COM, DCM)
_WIDTHS = (2.2, 1.0, 0.8)  # the first lies below the others
_WIDTH, _HEIGHT = 9.0, 2.2  # [inch], of each robot


def com_error_figure(logs: Mapping[str, Mapping[str, SignalLog]]) -> Figure:
    """Return one panel a robot.

    Args:
        logs: By robot, and by the way in which the walk was run; from the start of the walk on.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT * len(logs)), layout="constrained")
        axes = figure.subplots(len(logs), 1, squeeze=False)[:, 0]
        for axis, (robot, ways) in zip(axes, logs.items(), strict=True):
            axis.set_title(f"{robot}: distance of the CoM from its reference [mm]")
            for (way, log), colour, width in zip(ways.items(), _COLOURS, _WIDTHS, strict=False):
                times, errors = com_error(log)
                axis.plot(times - times[0], 1e3 * errors, color=colour, linewidth=width, label=way)
        axes[0].legend(loc="upper right")
        axes[-1].set_xlabel("time [s]", loc="right")
        return figure
