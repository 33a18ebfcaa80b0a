"""DCM, CoM and ZMP against their references, as the thesis draws them."""

from __future__ import annotations

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.telemetry import SignalLog
from gradiva.telemetry.plot_style import COM, DCM, REFERENCE, STYLE, ZMP

_PANELS = (("(a) DCM", "dcm::position", DCM), ("(b) CoM", "com::position", COM), ("(c) ZMP", "zmp", ZMP))
_SIZE = (9.0, 7.0)  # [inch]


def tracking_figure(log: SignalLog, title: str) -> Figure:
    """Return three rows of panels, x to the left and y to the right.

    Args:
        log: Of a walk.
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(_PANELS), 2, sharex=True)
        for row, (name, signal, colour) in zip(axes, _PANELS, strict=True):
            for column, axis in enumerate(row):
                _draw(axis, log, signal, column, colour)
                axis.set_title(f"{name}, {'xy'[column]} [m]")
        axes[0][0].legend(loc="upper left")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]", loc="right")
        return figure


def _draw(axis: Axes, log: SignalLog, signal: str, column: int, colour: str) -> None:
    axis.plot(log.times, log[f"{signal}::measured"][:, column], color=colour, label="measured")
    axis.plot(
        log.times,
        log[f"{signal}::desired"][:, column],
        color=REFERENCE,
        linewidth=0.9,
        dashes=(3.0, 1.6),
        label="desired",
    )
