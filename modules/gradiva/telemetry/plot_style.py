"""Style plots: colours by quantity, and how Matplotlib draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradiva.common import NDArray, Side
from gradiva.telemetry.walk_record import BoolArray, runs_of

if TYPE_CHECKING:  # takes a moment to import, which no page needs
    from matplotlib.axes import Axes

COM = "#2a8c5a"
DCM = "#7b52b9"
ZMP = "#cf4a3e"
FOOT = {Side.LEFT: "#2878b5", Side.RIGHT: "#e08a1e"}
REFERENCE = "#2b2f36"  # of every quantity: dark and dashed
BAND = "#eceff3"  # double support
ACTIVE = "#f6dfc4"  # step adaptation
SUPPORT = "#d9e2ea"  # support polygon
INK = "#22262b"
MUTED = "#6d7580"
GRID = "#e6e9ed"
WARNING = "#c8302b"
PUSH = "#f3c1bd"

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": "#c3c9d0",
    "axes.linewidth": 0.7,
    "axes.labelcolor": MUTED,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.titlecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "gradiva",
    "path.simplify_threshold": 0.3,
}


def shade(axis: Axes, times: NDArray, where: BoolArray | None, colour: str = BAND) -> None:
    """Shade the intervals in which ``where`` (shape (T,)) holds, over the full height of a panel."""
    if where is None:
        return
    spans = [(times[first], times[last] - times[first]) for first, last in runs_of(where)]
    axis.broken_barh(spans, (0.0, 1.0), transform=axis.get_xaxis_transform(), color=colour, linewidth=0, zorder=0)
