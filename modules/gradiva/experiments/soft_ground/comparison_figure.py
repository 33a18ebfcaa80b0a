"""Centre of mass, wrench and path of the left foot, one column a controller."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import Side
from gradiva.telemetry import SignalLog
from gradiva.telemetry.plot_style import COM, FOOT, REFERENCE, STYLE, ZMP

_SIZE = (10.0, 9.0)  # [inch]
_FOOT = FOOT[Side.LEFT]
_PANELS = (
    ("centre of mass, x [m]", "com::position", 0, COM),
    ("centre of mass, y [m]", "com::position", 1, COM),
    ("centre of mass, height [m]", "com::position", 2, COM),
    ("left foot, normal force [N]", "left_foot::linear_force", 2, ZMP),
    ("left foot, moment about y [N·m]", "left_foot::angular_torque", 1, ZMP),
    ("left foot, height [m]", "left_foot::position", 2, _FOOT),
)


def comparison_figure(logs: Mapping[str, SignalLog], title: str) -> Figure:
    """Return a column of panels a log; panels of a row share their axis.

    Args:
        logs: By the name of the controller; one in which nothing was recorded stays empty.
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(_PANELS), len(logs), sharey="row", sharex=True, squeeze=False)
        for column, (name, log) in enumerate(logs.items()):
            for row, (quantity, signal, axis_index, colour) in enumerate(_PANELS):
                axes[row][column].set_title(f"{name}: {quantity}")
                if len(log):
                    _draw(axes[row][column], log, signal, axis_index, colour)
            axes[-1][column].set_xlabel("time [s]", loc="right")
        axes[0][0].legend(loc="upper left")
        return figure


def _draw(axis: Axes, log: SignalLog, signal: str, column: int, colour: str) -> None:
    axis.plot(log.times, log[f"{signal}::measured"][:, column], color=colour, linewidth=1.0, label="measured")
    if f"{signal}::desired" in log:
        desired = log[f"{signal}::desired"][:, column]
        axis.plot(log.times, desired, color=REFERENCE, linewidth=0.9, dashes=(3.0, 1.6), label="desired")
