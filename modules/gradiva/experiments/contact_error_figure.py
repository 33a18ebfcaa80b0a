"""The error of a contact model over the angle of the sole."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.telemetry.plot_style import COM, DCM, STYLE, ZMP

_SIZE = (6.0, 3.4)  # [inch]
_COLOURS = (COM, ZMP, DCM)


def contact_error_figure(angles: NDArray, errors: Mapping[str, NDArray], title: str) -> Figure:
    """Return one curve an axis.

    Args:
        angles: [deg], shape (k,).
        errors: Name of the axis to the error of the moment about it, [N·m], shape (k,).
        title: Above all.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axis = figure.subplots()
        for colour, (name, values) in zip(_COLOURS, errors.items(), strict=True):
            axis.plot(angles, values, color=colour, label=name)
        axis.set_xlabel("angle of the sole [°]", loc="right")
        axis.set_title("exact less linear moment about the same axis [N·m]")
        axis.legend(loc="upper left")
        return figure
