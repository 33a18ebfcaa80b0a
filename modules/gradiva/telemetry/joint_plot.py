"""How close the joints came to their limits, and to their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray
from gradiva.telemetry.plot_style import FULL_WIDTH, MUTED, WARNING
from gradiva.telemetry.walk_record import WalkRecord

_TIGHT_MARGIN = 3.0  # deg, less is worth a look
_BAR, _PALE_BAR = "#5f8fb4", "#c9d9e6"
_ROW, _LEFT, _GAP, _TOP, _BOTTOM = 0.19, 1.3, 0.35, 0.28, 0.05  # inch


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One number a joint, drawn as bars.

    Attributes:
        title: What and in which unit.
        values: Length of the bars, shape (n,).
        dark: Length of a darker bar inside, shape (n,), or None.
        warning: Bars shorter than this are red, which the title says where there are any.
    """

    title: str
    values: NDArray
    dark: NDArray | None = None
    warning: float = -np.inf

    def draw(self, axis: Axes, names: Sequence[str]) -> None:
        rows = range(len(self.values))
        lengths = np.maximum(np.nan_to_num(self.values), 0.0)
        plain = _PALE_BAR if self.dark is not None else _BAR
        colours = [WARNING if value < self.warning else plain for value in self.values]
        axis.barh(rows, lengths, color=colours, height=0.66)
        if self.dark is not None:
            axis.barh(rows, np.nan_to_num(self.dark), color=_BAR, height=0.66)
        for row, (length, value) in enumerate(zip(lengths, self.values, strict=True)):
            text = f"{value:.2f}" if abs(value) < 10.0 else f"{value:.0f}"
            end = (float(length), row)
            axis.annotate(text, end, (4, 0), textcoords="offset points", color=MUTED, va="center_baseline")
        axis.set_title(self.title, pad=6.0)
        if any(value < self.warning for value in self.values):
            note = f"red: less than {self.warning:g}°"
            axis.set_title(note, loc="right", color=WARNING, pad=6.0)
        axis.set_yticks(rows, names)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlim(0.0, 1.15 * max(float(lengths.max(initial=0.0)), 1e-6))
        axis.tick_params(labelbottom=False)
        axis.grid(False)
        axis.spines["bottom"].set_visible(False)


def plot_joints(record: WalkRecord) -> Figure:
    """Draw one row a joint: margin to the limits, tracking error, and the largest torque, where they are known."""
    columns = [column for column in (_margins(record), _errors(record), _torques(record)) if column]
    joints = len(columns[0].values)
    names = record.joints if len(record.joints) == joints else [f"joint {index}" for index in range(joints)]
    height = _TOP + _BOTTOM + _ROW * joints
    width = (FULL_WIDTH - _LEFT - 0.15 - _GAP * (len(columns) - 1)) / len(columns)
    figure = Figure(figsize=(FULL_WIDTH, height))
    for index, column in enumerate(columns):
        left = (_LEFT + index * (width + _GAP)) / FULL_WIDTH
        axis = figure.add_axes((left, _BOTTOM / height, width / FULL_WIDTH, 1.0 - (_BOTTOM + _TOP) / height))
        column.draw(axis, names if index == 0 else [""] * joints)
    return figure


def _margins(record: WalkRecord) -> _Column | None:
    if record.joint_limits is None:
        return None
    lower, upper = record.joint_limits
    positions = record.log["joints_state::positions::measured"]
    margin = np.degrees(np.nanmin(np.minimum(positions - lower, upper - positions), axis=0))
    return _Column("least margin to a position limit [deg]", margin, warning=_TIGHT_MARGIN)


def _errors(record: WalkRecord) -> _Column:
    measured = record.log["joints_state::positions::measured"]
    error = np.degrees(np.abs(measured - record.log["joints_state::positions::desired"]))
    root_mean_square = np.sqrt(np.nanmean(error**2, axis=0))
    return _Column("tracking error, rms (dark) and max [deg]", np.nanmax(error, axis=0), root_mean_square)


def _torques(record: WalkRecord) -> _Column | None:
    if "joints_state::torques::measured" not in record.log:
        return None
    torques = np.abs(record.log["joints_state::torques::measured"])
    root_mean_square = np.sqrt(np.nanmean(torques**2, axis=0))
    return _Column("torque, rms (dark) and max [N·m]", np.nanmax(torques, axis=0), root_mean_square)
