"""Plot of how the soles stand in soft ground."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gradiva.common import Side
from gradiva.telemetry.plot_style import FOOT, legend, line, panels, shade
from gradiva.telemetry.walk_record import WalkRecord

_PANELS = (("sinkage", "depth of the middle [mm]", 1e3), ("tilt", "tilt [deg]", np.degrees(1.0)))
SOLE_SIGNALS = tuple(
    f"simulation::{side}_foot::{quantity}" for side in Side for quantity in ("contact::stiffness", "sinkage", "tilt")
)
"""The true stiffness is known of soft ground alone."""


def plot_soles(record: WalkRecord) -> Figure:
    """Draw how deep and how tilted the soles are, with gaps where a foot carries nothing."""
    times = record.log.times
    figure, axes = panels([title for _, title, _ in _PANELS], times, height=1.7)
    for axis, (quantity, _, scale) in zip(axes, _PANELS, strict=True):
        for side in Side:
            samples = record.log[f"simulation::{side}_foot::{quantity}"][:, 0]
            line(axis, times, scale * samples, FOOT[side], str(side), width=1.0)
        axis.set_ylim(bottom=0.0)
        shade(axis, times, record.in_double_support())
    legend(figure, axes[0])
    return figure
