"""The walk from above."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.telemetry.footprint import footprints
from gradiva.telemetry.plot_style import COM, DCM, FOOT, FULL_WIDTH, ZMP
from gradiva.telemetry.walk_record import WalkRecord

_HEIGHT = (2.6, 7.0)  # inch, of the figure: least and greatest
_MARGIN = 0.08  # m, around the footprints


def plot_ground(record: WalkRecord) -> Figure:
    """Draw the footsteps with their soles, and the paths of CoM, DCM and ZMP on the ground."""
    prints = {
        side: [footprint.corners(record.sole) for footprint in footprints(record.log) if footprint.side is side]
        for side in Side
    }
    low, high = _extent(record, [corner for corners in prints.values() for corner in corners])
    aspect = (high[1] - low[1]) / (high[0] - low[0])
    height = float(np.clip(0.75 + (FULL_WIDTH - 0.7) * aspect, *_HEIGHT))
    figure = Figure(figsize=(FULL_WIDTH, height))
    axis = figure.add_axes((0.5 / FULL_WIDTH, 0.4 / height, 1.0 - 0.6 / FULL_WIDTH, 1.0 - 0.75 / height))
    for side in Side:
        soles = PolyCollection(prints[side], facecolor=FOOT[side] + "22", edgecolor=FOOT[side], linewidth=0.9)
        soles.set_label(f"{side} sole")
        axis.add_collection(soles)
    for name, colour, label, width in _PATHS:
        if name in record.log:
            x, y = _thin_path(record.log[name][:, :2])
            axis.plot(x, y, color=colour, linewidth=width, label=label)
    x_range, y_range = _equal_ranges(low, high, axis.bbox.width / axis.bbox.height)
    axis.set_xlim(*x_range)
    axis.set_ylim(*y_range)
    axis.set_title("y [m]")
    axis.set_xlabel("x [m]", loc="right", labelpad=1.0)
    figure.legend(loc="upper right", ncols=5, bbox_to_anchor=(1.0 - 0.1 / FULL_WIDTH, 1.0), borderaxespad=0.1)
    return figure


_PATHS = (
    ("zmp::measured", ZMP, "ZMP", 0.7),
    ("dcm::position::measured", DCM, "DCM", 0.9),
    ("com::position::measured", COM, "CoM", 1.5),
)


def _extent(record: WalkRecord, soles: list[NDArray]) -> tuple[NDArray, NDArray]:
    points = np.vstack([record.log["com::position::measured"][:, :2], *soles])
    return np.nanmin(points, axis=0) - _MARGIN, np.nanmax(points, axis=0) + _MARGIN


def _equal_ranges(low: NDArray, high: NDArray, shape: float) -> NDArray:
    """Return the ranges of x and y, shape (2, 2), in which a metre is as long on both axes.

    Args:
        low: Least x and y to show.
        high: Greatest x and y to show.
        shape: Width of the axes over their height.
    """
    half_height = 0.5 * max((high[0] - low[0]) / shape, high[1] - low[1])
    half = half_height * np.array([shape, 1.0])
    middle = 0.5 * (low + high)
    return np.column_stack([middle - half, middle + half])


def _thin_path(path: NDArray, spacing: float = 2e-3) -> tuple[NDArray, NDArray]:
    """Return the points of a path that lie ``spacing`` [m] or more along it from each other."""
    along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(np.hypot(*np.diff(path, axis=0).T)))])
    _, kept = np.unique((along / spacing).astype(int), return_index=True)
    return path[kept, 0], path[kept, 1]
