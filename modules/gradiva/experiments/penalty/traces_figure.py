"""Quantities over time, one panel below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.telemetry.plot_style import STYLE

_WIDTH, _PANEL_HEIGHT = 9.0, 2.6  # [inch]


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One line.

    Attributes:
        name: For the legend.
        times: [s], shape (t,).
        values: Shape (t,).
    """

    name: str
    times: NDArray
    values: NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Lines that share their axes.

    Attributes:
        title: Quantity and unit.
        traces: The lines.
        limits: Of the vertical axis, which then shows a part of the lines and says so; None: what the lines need.
    """

    title: str
    traces: Sequence[Trace]
    limits: tuple[float, float] | None = None

    @property
    def names(self) -> list[str]:
        """What the lines are called."""
        return [trace.name for trace in self.traces]


def traces_figure(title: str, panels: Sequence[Panel]) -> Figure:
    """Return a figure; a legend stands beside each panel whose lines are called otherwise than those above."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _PANEL_HEIGHT * len(panels)), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        named: list[str] = []
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel)
            if panel.names != named:
                axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            named = panel.names
        axes[-1].set_xlabel("time [s]", loc="right")
        return figure


def _draw(axis: Axes, panel: Panel) -> None:
    for trace in panel.traces:
        axis.plot(trace.times, trace.values, label=trace.name)
    axis.set_title(panel.title if panel.limits is None else f"{panel.title}, enlarged")
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
