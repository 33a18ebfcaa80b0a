"""Plots beside the picture, of the last half minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.play.picture import Picture
from gradiva.telemetry import COM, DCM, FOOT, MUTED, ZMP

_PERIOD = 0.1  # [s] between two points
_POINTS = 300  # half a minute

_MM = 1e3
_LINES: dict[str, list[tuple[str, str, Callable[[Picture], Any]]]] = {
    "Errors ahead [mm]": [
        ("DCM", DCM, lambda picture: _MM * picture["dcm_error"][0]),
        ("ZMP", ZMP, lambda picture: _MM * picture["zmp_error"][0]),
        ("CoM", COM, lambda picture: _MM * picture["com_error"][0]),
    ],
    "Errors to the left [mm]": [
        ("DCM", DCM, lambda picture: _MM * picture["dcm_error"][1]),
        ("ZMP", ZMP, lambda picture: _MM * picture["zmp_error"][1]),
        ("CoM", COM, lambda picture: _MM * picture["com_error"][1]),
    ],
    "Ground on the feet [N]": [
        ("left", FOOT[Side.LEFT], lambda picture: picture["left_force"][2]),
        ("right", FOOT[Side.RIGHT], lambda picture: picture["right_force"][2]),
    ],
    "Time of a tick [µs]": [("tick", MUTED, lambda picture: picture["tick_us"])],
}


class LivePlots:
    """Draws pictures over time with the plots of viser; a switch holds them still."""

    def __init__(self, gui: Any) -> None:
        """Add the plots to the panel of a page."""
        self._times = np.full(_POINTS, np.nan)
        self._values = [[np.full(_POINTS, np.nan) for _ in lines] for lines in _LINES.values()]
        with gui.add_folder("Plots", expand_by_default=False):
            self._freezes = gui.add_checkbox("Hold still", False)
            self._plots = [
                gui.add_uplot(
                    (np.arange(2.0), *(np.zeros(2) for _ in lines)),
                    ({"label": "s"}, *({"label": name, "stroke": colour, "width": 1} for name, colour, _ in lines)),
                    title=title,
                    scales={"x": {"time": False}},
                    aspect=2.0,
                )
                for title, lines in _LINES.items()
            ]

    def add(self, picture: Picture) -> None:
        """Take a picture when a point is due; those of a robot that begins anew begin the plots anew."""
        time, last = float(picture["time"]), float(self._times[-1])
        if abs(time - last) < _PERIOD:
            return
        rows = [self._times, *(row for rows in self._values for row in rows)]
        if time < last:
            for row in rows:
                row.fill(np.nan)
        values = [time, *(float(value(picture)) for lines in _LINES.values() for _, _, value in lines)]
        for row, number in zip(rows, values, strict=True):
            row[:-1], row[-1] = row[1:], number
        if not self._freezes.value:
            self._draw()

    def _draw(self) -> None:
        known = np.isfinite(self._times)
        for plot, rows in zip(self._plots, self._values, strict=True):
            plot.data = (self._times[known], *map(_drawable(known), rows))


def _drawable(known: NDArray) -> Callable[[NDArray], NDArray]:
    return lambda row: np.nan_to_num(row[known])
