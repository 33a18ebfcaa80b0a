"""List the plots of a report with the signals that each needs; draw the walk from above and the joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side, nearest_name
from gradiva.telemetry.plot_style import COM, DCM, FOOT, FULL_WIDTH, MUTED, STYLE, WARNING, ZMP, svg
from gradiva.telemetry.signal_log import LogError
from gradiva.telemetry.time_plots import (
    CONTACT_SIGNALS,
    DEFLECTION_SIGNALS,
    PUSH_SIGNALS,
    SOLE_SIGNALS,
    SOLVER_SIGNALS,
    STEPPING_SIGNALS,
    TORQUE_SIGNALS,
    plot_attitude,
    plot_com,
    plot_com_velocity,
    plot_contacts,
    plot_dcm,
    plot_deflections,
    plot_drift,
    plot_external_wrench,
    plot_feet,
    plot_forces,
    plot_leg_torques,
    plot_soles,
    plot_solutions,
    plot_stepping,
    plot_ticks,
    plot_zmp,
)
from gradiva.telemetry.walk_record import WalkRecord, footprints, nominal_footprints

_HEIGHT = (2.6, 7.0)  # inch, of the figure: least and greatest
_MARGIN = 0.08  # m, around the footprints
_PATHS = (
    ("zmp::measured", ZMP, "ZMP", 0.7),
    ("dcm::position::measured", DCM, "DCM", 0.9),
    ("com::position::measured", COM, "CoM", 1.5),
)
_TIGHT_MARGIN = 3.0  # deg, less is worth a look
_BAR, _PALE_BAR = "#5f8fb4", "#c9d9e6"
_ROW, _LEFT, _GAP, _TOP, _BOTTOM = 0.19, 1.3, 0.35, 0.28, 0.25  # inch
_LETTER = 0.078  # inch, of a joint's name


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
        moved = [one.corners(record.sole) for one in nominal_footprints(record.log) if one.side is side]
        planned = PolyCollection(moved, facecolor="none", edgecolor=FOOT[side], linewidth=0.9, linestyle=":")
        planned.set_label(f"{side}, planned" if moved else "")
        axis.add_collection(planned)
    for name, colour, label, width in _PATHS:
        if name in record.log:
            x, y = _thin_path(record.log[name][:, :2])
            axis.plot(x, y, color=colour, linewidth=width, label=label)
    x_range, y_range = _equal_ranges(low, high, axis.bbox.width / axis.bbox.height)
    axis.set_xlim(*x_range)
    axis.set_ylim(*y_range)
    axis.set_title("y [m]")
    axis.set_xlabel("x [m]", loc="right", labelpad=1.0)
    figure.legend(loc="upper right", ncols=7, bbox_to_anchor=(1.0 - 0.1 / FULL_WIDTH, 1.0), borderaxespad=0.1)
    return figure


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


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One number a joint, drawn as bars.

    Attributes:
        title: What and in which unit.
        values: Length of the bars, shape (n,).
        dark: Length of a darker bar inside, shape (n,), or None.
        warning: Bars shorter than this are red, which a line below says where there are any.
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
            colour = WARNING if value < self.warning else MUTED  # a bar of a negative value has no length to be red
            axis.annotate(text, end, (4, 0), textcoords="offset points", color=colour, va="center_baseline")
        axis.set_title(self.title, pad=6.0)
        if any(value < self.warning for value in self.values):
            beyond = int(np.sum(self.values < 0.0))
            note = f"red: less than {self.warning:g}°" + f", {beyond} beyond the limit" * bool(beyond)
            axis.set_xlabel(note, loc="left", color=WARNING)
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
    names_width = max(_LEFT, _LETTER * max(map(len, names)))
    width = (FULL_WIDTH - names_width - 0.15 - _GAP * (len(columns) - 1)) / len(columns)
    figure = Figure(figsize=(FULL_WIDTH, height))
    for index, column in enumerate(columns):
        left = (names_width + index * (width + _GAP)) / FULL_WIDTH
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


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of a report.

    Attributes:
        title: Its heading.
        caption: What to see in it.
        signals: What it cannot do without.
        draw: Makes the figure.
        is_wide: Whether it takes both columns of the page.
        is_special: Whether most runs have no such signals, so that its absence is not reported.
        figures: Keys of the result that it cannot do without either.
    """

    title: str
    caption: str
    signals: tuple[str, ...]
    draw: Callable[[WalkRecord], Figure]
    is_wide: bool = False
    is_special: bool = False
    figures: tuple[str, ...] = ()

    def missing(self, record: WalkRecord) -> list[str]:
        """Return the signals that the log lacks (a special one: without a finite sample), and the missing figures."""
        log, figures = record.log, [name for name in self.figures if name not in record.result]

        def is_there(name: str) -> bool:
            return name in log and (not self.is_special or bool(np.isfinite(log[name]).any()))

        return [name for name in self.signals if not is_there(name)] + figures

    def svg(self, record: WalkRecord) -> str:
        """Return the drawn plot as an SVG element."""
        with matplotlib.rc_context(STYLE):
            return svg(self.draw(record))


def _both(stem: str) -> tuple[str, str]:
    return f"{stem}::measured", f"{stem}::desired"


PLOTS = (
    Plot(
        "From above",
        "Soles where the plan put them, dotted where step adaptation moved them from; the paths of CoM, DCM and ZMP.",
        ("com::position::measured",),
        plot_ground,
        is_wide=True,
    ),
    Plot(
        "Divergent component of motion",
        "Solid measured, dashed desired; grey bands are double supports.",
        _both("dcm::position"),
        plot_dcm,
    ),
    Plot(
        "Zero moment point",
        "Solid measured, dashed that of the commanded pendulum, from which a swinging leg moves it away, within the"
        " extent of the loaded soles.",
        _both("zmp"),
        plot_zmp,
    ),
    Plot(
        "Centre of mass",
        "Solid measured, dashed desired; the distance is horizontal.",
        _both("com::position"),
        plot_com,
    ),
    Plot(
        "Feet",
        "Height of the sole frames, solid measured, dashed desired; horizontal distance.",
        (*_both("left_foot::position"), *_both("right_foot::position")),
        plot_feet,
    ),
    Plot(
        "Step adaptation",
        "Change of the running step's landing, ahead and to the left of the planned foothold, and of its touch-down,"
        " beside the error of the DCM that causes it.",
        STEPPING_SIGNALS,
        plot_stepping,
        is_special=True,
    ),
    Plot(
        "External wrench",
        "Solid estimated by the momentum: what neither ground nor gravity explains; dashed the simulated pushes.",
        PUSH_SIGNALS,
        plot_external_wrench,
        is_special=True,
    ),
    Plot(
        "Decisions of the centroidal MPC",
        "Time of the solver for the last decision. One without a solution of its own takes the last one, shifted; a"
        " late one comes when the next is due already.",
        SOLVER_SIGNALS,
        plot_solutions,
        is_special=True,
    ),
    Plot(
        "Velocity of the centre of mass",
        "Solid measured, dashed desired.",
        _both("com::velocity"),
        plot_com_velocity,
    ),
    Plot(
        "Ground forces",
        "Vertical force on each foot; the sum swings about the robot's weight.",
        ("left_foot::linear_force::measured", "right_foot::linear_force::measured"),
        plot_forces,
    ),
    Plot(
        "Soft ground",
        "Stiffness and damping below the feet that carry load: solid estimated, dashed true.",
        CONTACT_SIGNALS,
        plot_contacts,
        is_special=True,
    ),
    Plot(
        "Soles in soft ground",
        "Depth of the middle and tilt of each sole, by the simulator's truth, while it carries a tenth of the weight.",
        SOLE_SIGNALS,
        plot_soles,
        is_special=True,
    ),
    Plot(
        "Flexible joints",
        "Deflection of the links that bend: solid estimated, dashed true; last the errors of the estimates, in the same"
        " colours.",
        DEFLECTION_SIGNALS,
        plot_deflections,
        is_special=True,
    ),
    Plot(
        "Attitude of the base",
        "Estimated roll, pitch and yaw, seen in the direction of walking: where the x axis of the base points backward,"
        " as that of iCub v2.7, the base frame is turned by 180° about its z axis.",
        ("root_link::orientation::measured",),
        plot_attitude,
    ),
    Plot(
        "Estimate against truth",
        "Estimated minus simulated pose of the base; x and y by odometry, so their change is the odometry drift.",
        (
            "root_link::position::measured",
            "root_link::orientation::measured",
            "simulation::root_link::position",
            "simulation::root_link::orientation",
        ),
        plot_drift,
    ),
    Plot(
        "Joints",
        "Left: how far each joint stayed from the nearer end of its range; a red bar is less than 3°, so close that the"
        " limit may have held the joint back. Middle and right: a dark bar is the rms, the pale one the maximum.",
        _both("joints_state::positions"),
        plot_joints,
        is_wide=True,
    ),
    Plot(
        "Torques of the legs",
        "As commanded, at the rate of the log; a dashed red line is a limit that they come near to.",
        TORQUE_SIGNALS,
        plot_leg_torques,
        is_special=True,
        figures=("legs", "torque_limits"),
    ),
    Plot(
        "Tick time",
        "Computation time of each layer of the tick, and of the whole.",
        ("tick::total",),
        plot_ticks,
        is_wide=True,
    ),
)


def draw_plot(title: str, record: WalkRecord) -> Figure:
    """Return a plot of a report by its title.

    Raises:
        LogError: There is no such plot, or the log lacks signals that it needs.
    """
    by_title = {plot.title: plot for plot in PLOTS}
    if title not in by_title:
        raise LogError(f"no plot '{title}'{nearest_name(title, by_title)}")
    if missing := by_title[title].missing(record):
        raise LogError(f"no plot '{title}': the log has no {', '.join(missing)}")
    with matplotlib.rc_context(STYLE):
        return by_title[title].draw(record)
