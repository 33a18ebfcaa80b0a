"""Plot of soft ground: stiffness and damping as estimated and as they are, and which feet carry load."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import FOOT, STYLE, legend, line, panels, reference, shade
from gradiva.telemetry.walk_record import WalkRecord

CONTACT_SIGNALS = tuple(f"{side}_foot::contact::{what}" for side in Side for what in ("is_active", "stiffness"))
_PARAMETERS = (("stiffness", "stiffness [10⁶ N/m³]", 1e-6), ("damping", "damping [10³ N·s/m³]", 1e-3))


def plot_contacts(record: WalkRecord) -> Figure:
    """Draw what is estimated of the ground while a foot carries load, and the truth where it was simulated."""
    times = record.log.times
    figure, axes = panels([*(title for _, title, _ in _PARAMETERS), "foot carries load"], times)
    for axis, (parameter, _, scale) in zip(axes, _PARAMETERS, strict=False):
        for side in Side:
            _draw_parameter(axis, record, side, parameter, scale)
        axis.set_ylim(bottom=0.0)
        shade(axis, times, record.in_double_support())
    for side in Side:
        line(axes[-1], times, record.log[f"{side}_foot::contact::is_active"][:, 0], FOOT[side])
    legend(figure, axes[0])
    return figure


def contact_figure(record: WalkRecord, title: str) -> Figure:
    """Return the plot as a figure of its own."""
    with matplotlib.rc_context(STYLE):
        figure = plot_contacts(record)
        figure.text(0.01, 0.99, title, va="top")
        return figure


def _draw_parameter(axis: Axes, record: WalkRecord, side: Side, parameter: str, scale: float) -> None:
    log, name = record.log, f"{side}_foot::contact::{parameter}"
    line(axis, log.times, scale * _where_loaded(record, side, log[name][:, 0]), FOOT[side], str(side))
    if f"simulation::{name}" in log:
        truth = scale * _where_loaded(record, side, log[f"simulation::{name}"][:, 0])
        reference(axis, log.times, truth, "truth" if side is Side.LEFT else "")


def _where_loaded(record: WalkRecord, side: Side, values: NDArray) -> NDArray:
    """Return the values with gaps where the foot carries nothing: what is kept from before is no estimate."""
    return np.where(record.log[f"{side}_foot::contact::is_active"][:, 0] > 0.5, values, np.nan)
