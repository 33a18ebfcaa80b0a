"""Draw the plots over time: DCM, ZMP, CoM, feet, forces, soft ground, torques, tick times, estimate against truth."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import (
    ACTIVE,
    COM,
    DCM,
    FOOT,
    FULL_WIDTH,
    INK,
    STYLE,
    SUPPORT,
    WARNING,
    ZMP,
    legend,
    line,
    mark,
    panels,
    reference,
    shade,
    zero,
)
from gradiva.telemetry.signal_log import SignalLog
from gradiva.telemetry.walk_record import WalkRecord

_JOINT_COLOURS = (FOOT[Side.LEFT], DCM, FOOT[Side.RIGHT], COM)
_AXES = {"roll": ZMP, "pitch": COM, "yaw": DCM}
CONTACT_SIGNALS = tuple(f"{side}_foot::contact::{what}" for side in Side for what in ("is_active", "stiffness"))
_PARAMETERS = (("stiffness", "stiffness [10⁶ N/m³]", 1e-6), ("damping", "damping [10³ N·s/m³]", 1e-3))
_PANELS = (("sinkage", "depth of the middle [mm]", 1e3), ("tilt", "tilt [deg]", np.degrees(1.0)))
SOLE_SIGNALS = tuple(
    f"simulation::{side}_foot::{quantity}" for side in Side for quantity in ("contact::stiffness", "sinkage", "tilt")
)
"""The true stiffness is known of soft ground alone."""
TORQUE_SIGNALS = ("joints_state::torques::command",)
STEPPING_SIGNALS = (
    *(f"step_adaptation::{name}" for name in ("nominal_foothold", "adapted_foothold", "delay", "is_active")),
    "dcm::position::measured",
    "dcm::position::desired",
)
DEFLECTION_SIGNALS = ("simulation::flexible_joints::positions",)
SOLVER_SIGNALS = ("mpc::solve_time", "mpc::fallbacks", "mpc::late_decisions")
PUSH_SIGNALS = ("external_wrench::force", "external_wrench::torque")
_COLOURS = {"estimation": COM, "model_control": DCM, "whole_body": ZMP, "total": INK}
_HEIGHT = 2.6  # inch
_BINS = 60
_SMALL_CHANGE = 10.0  # [mm, ms] of a step, below which its panel shows no more detail
_WIDE = 300.0  # [-] from the shortest to the longest tick, beyond which the labels of 1, 2, 5 overlap


def plot_signals(log: SignalLog, names: Sequence[str]) -> Figure:
    """Draw signals over time, one below the other, each element with its name."""
    with matplotlib.rc_context(STYLE):
        figure, axes = panels([f"{name} [{log.info(name).unit}]" for name in names], log.times)
        for axis, name in zip(axes, names, strict=True):
            for element, values in zip(log.info(name).elements, log[name].T, strict=True):
                axis.plot(log.times, values, label=element)
            if log[name].shape[1] > 1:
                axis.legend(loc="upper right", ncols=4)
    return figure


def plot_dcm(record: WalkRecord) -> Figure:
    """Draw the divergent component of motion, measured and desired, and their distance."""
    log, times = record.log, record.log.times
    measured, desired = log["dcm::position::measured"], log["dcm::position::desired"]
    figure, axes = panels(["x [m]", "y [m]", "distance to the reference [mm]"], times)
    _draw_both(axes[:2], times, measured, desired, DCM)
    line(axes[2], times, _distance_mm(measured, desired), DCM)
    return _finish(figure, axes, record)


def plot_zmp(record: WalkRecord) -> Figure:
    """Draw the zero moment point, measured and desired, within the extent of the support polygon."""
    log, times = record.log, record.log.times
    measured, desired = log["zmp::measured"], log["zmp::desired"]
    figure, axes = panels(["x [m]", "y [m]", "distance to the command [mm]"], times)
    extent = _support_extent(record)
    for column, axis in enumerate(axes[:2]):
        if extent is not None:
            lower, upper = extent[0][:, column], extent[1][:, column]
            axis.fill_between(times, lower, upper, color=SUPPORT, linewidth=0, step="post", label="support")
        line(axis, times, measured[:, column], ZMP, "measured", width=1.0)
        if "zmp::desired_planner" in log:
            line(axis, times, log["zmp::desired_planner"][:, column], INK, "planned", width=0.6)
        reference(axis, times, desired[:, column], "commanded")
        axis.set_ylim(*_range_of(desired[:, column], measured[:, column]))
    line(axes[2], times, _distance_mm(measured, desired), ZMP, width=1.0)
    return _named(figure, axes[0], record)


def plot_stepping(record: WalkRecord) -> Figure:
    """Draw how step adaptation moves the running step in place and time, with gaps in double support."""
    log, times = record.log, record.log.times
    nominal, adapted = (log[f"step_adaptation::{kind}_foothold"] for kind in ("nominal", "adapted"))
    yaw, moved = nominal[:, 2], 1e3 * (adapted - nominal)[:, :2]
    ahead = np.cos(yaw) * moved[:, 0] + np.sin(yaw) * moved[:, 1]
    left = np.cos(yaw) * moved[:, 1] - np.sin(yaw) * moved[:, 0]
    delay = np.where(np.isfinite(yaw), 1e3 * log["step_adaptation::delay"][:, 0], np.nan)
    titles = ["foothold, ahead [mm]", "foothold, left [mm]", "touch-down [ms]", "DCM to its reference [mm]"]
    figure, axes = panels(titles, times)
    for axis, samples in zip(axes, (ahead, left, delay), strict=False):
        zero(axis)
        largest = np.nanmax(np.abs(samples), initial=_SMALL_CHANGE)
        axis.set_ylim(
            1.1 * min(np.nanmin(samples, initial=0.0), -0.2 * largest),
            1.1 * max(np.nanmax(samples, initial=0.0), 0.2 * largest),
        )
        line(axis, times, samples, FOOT[Side.LEFT], "adapted less planned" if axis is axes[0] else "")
    line(axes[3], times, _distance_mm(log["dcm::position::measured"], log["dcm::position::desired"]), DCM)
    shade(axes[3], times, log["step_adaptation::is_active"][:, 0] > 0.5, ACTIVE)
    return _finish(figure, axes[:3], record)


def plot_com(record: WalkRecord) -> Figure:
    """Draw the centre of mass, measured and desired, and their horizontal distance."""
    log, times = record.log, record.log.times
    measured, desired = log["com::position::measured"], log["com::position::desired"]
    figure, axes = panels(["x [m]", "y [m]", "height [m]", "distance to the reference [mm]"], times)
    _draw_both(axes[:3], times, measured, desired, COM)
    line(axes[3], times, _distance_mm(measured, desired), COM)
    return _finish(figure, axes, record)


def plot_com_velocity(record: WalkRecord) -> Figure:
    """Draw the velocity of the centre of mass, measured and desired."""
    log, times = record.log, record.log.times
    measured, desired = log["com::velocity::measured"], log["com::velocity::desired"]
    figure, axes = panels(["x [m/s]", "y [m/s]", "z [m/s]"], times)
    _draw_both(axes, times, measured, desired, COM, width=1.0)
    return _finish(figure, axes, record)


def plot_feet(record: WalkRecord) -> Figure:
    """Draw the heights of the soles, measured and desired, and how far they are from their references, horizontally."""
    log, times = record.log, record.log.times
    figure, axes = panels(["left height [mm]", "right height [mm]", "distance to the reference [mm]"], times)
    for side, axis in zip(Side, axes[:2], strict=True):
        measured = log[f"{side}_foot::position::measured"]
        desired = log[f"{side}_foot::position::desired"]
        line(axis, times, 1e3 * measured[:, 2], FOOT[side])
        reference(axis, times, 1e3 * desired[:, 2], "desired" if side is Side.LEFT else "")
        line(axes[2], times, _distance_mm(measured, desired), FOOT[side], str(side), width=1.0)
    return _finish(figure, axes, record, axes[2])


def plot_forces(record: WalkRecord) -> Figure:
    """Draw the vertical forces of the ground on the feet, and their sum."""
    log, times = record.log, record.log.times
    force = {side: log[f"{side}_foot::linear_force::measured"][:, 2] for side in Side}
    figure, axes = panels(["vertical force of each foot [N]", "sum of both [N]"], times, height=1.7)
    for side in Side:
        line(axes[0], times, force[side], FOOT[side], str(side), width=1.0)
    line(axes[1], times, force[Side.LEFT] + force[Side.RIGHT], INK, width=0.8)
    return _finish(figure, axes, record)


def plot_external_wrench(record: WalkRecord) -> Figure:
    """Draw the estimated external force, its moment about the CoM, and those of the simulated pushes."""
    log, times = record.log, record.log.times
    figure, axes = panels(["force [N]", "moment about the CoM [N·m]"], times, height=1.7)
    for axis, signal in zip(axes, PUSH_SIGNALS, strict=True):
        zero(axis)
        for column, (name, colour) in enumerate(zip("xyz", _AXES.values(), strict=True)):
            line(axis, times, log[signal][:, column], colour, f"{name} estimated", width=1.0)
        if f"simulation::{signal}" in log:
            truth = log[f"simulation::{signal}"]
            for true in truth.T:
                if true.any():
                    reference(axis, times, true, "true")
            axis.set_ylim(*_range_of(truth, log[signal]))
    return _finish(figure, axes, record)


def plot_attitude(record: WalkRecord) -> Figure:
    """Draw the estimated orientation of the base, yaw 0 where the robot walks along x."""
    times = record.log.times
    angles = np.degrees(np.unwrap(_forward_attitude(record.log), axis=0))
    figure, axes = panels(["roll and pitch [deg]", "yaw [deg]"], times, height=1.7)
    for column, (name, colour) in enumerate(_AXES.items()):
        line(axes[column // 2], times, angles[:, column], colour, name, width=1.0)
    return _finish(figure, axes, record)


def _forward_attitude(log: SignalLog) -> NDArray:
    """Return roll, pitch and yaw of the base, [rad], shape (T, 3); of a base that looks backward, turned by 180°.

    The heading of the feet shows which way it looks: R(roll, pitch, yaw) Rz(180°) = R(-roll, -pitch, yaw + 180°).
    """
    attitude, heading = log["root_link::orientation::measured"], "left_foot::orientation::measured"
    if heading not in log or np.cos(attitude[0, 2] - log[heading][0, 2]) >= 0.0:
        return attitude
    yaw = attitude[:, 2] + np.pi
    return np.column_stack([-attitude[:, 0], -attitude[:, 1], np.arctan2(np.sin(yaw), np.cos(yaw))])


def plot_drift(record: WalkRecord) -> Figure:
    """Draw how far the estimate of the base is from the simulated robot; on the ground by its own odometry."""
    log, times = record.log, record.log.times
    error = _odometry(record) - log["simulation::root_link::position"]
    turn = log["root_link::orientation::measured"] - log["simulation::root_link::orientation"]
    turn = np.degrees(np.arctan2(np.sin(turn), np.cos(turn)))
    figure, axes = panels(["position [mm]", "orientation [deg]"], times, height=1.7)
    for column, (name, colour) in enumerate(_AXES.items()):
        line(axes[0], times, 1e3 * error[:, column], colour, f"{'xyz'[column]}, {name}", width=1.0)
        line(axes[1], times, turn[:, column], colour, width=1.0)
    return _finish(figure, axes, record)


def _odometry(record: WalkRecord) -> NDArray:
    """Return where the base is by the robot's odometry, [m], shape (T, 3); without it in the log, by the estimate."""
    position = record.log["root_link::position::measured"].copy()
    if "odometry::root_link::position" in record.log:
        position[:, :2] = record.log["odometry::root_link::position"][:, :2]
    return position


def _draw_both(
    axes: list[Axes], times: NDArray, measured: NDArray, desired: NDArray, colour: str, width: float = 1.3
) -> None:
    """Draw the first columns of both, one a panel."""
    for column, axis in enumerate(axes):
        line(axis, times, measured[:, column], colour, "measured", width)
        reference(axis, times, desired[:, column], "desired")


def _finish(figure: Figure, axes: list[Axes], record: WalkRecord, legend_axis: Axes | None = None) -> Figure:
    for axis in axes:
        shade(axis, record.log.times, record.in_double_support())
    return _named(figure, legend_axis or axes[0], record)


def _named(figure: Figure, legend_axis: Axes, record: WalkRecord) -> Figure:
    """Mark pushes and the first sign of a fall in all panels, write the legend of one, and return the figure."""
    pushes, first_sign = record.pushes(), record.first_sign()
    for axis in figure.axes:
        mark(axis, pushes, first_sign, label=axis is legend_axis)
    legend(figure, legend_axis)
    return figure


def _distance_mm(a: NDArray, b: NDArray) -> NDArray:
    return 1e3 * np.linalg.norm(a[:, :2] - b[:, :2], axis=1)


def _range_of(desired: NDArray, measured: NDArray) -> tuple[float, float]:
    """Return an axis range that shows the command and most of the measurement: a fall spoils no plot."""
    low, high = np.nanpercentile(measured, (1.0, 99.0))
    low, high = min(low, np.nanmin(desired)), max(high, np.nanmax(desired))
    margin = 0.08 * (high - low) + 0.01  # m, so that a flat line has a range
    return float(low - margin), float(high + margin)


def _support_extent(record: WalkRecord) -> tuple[NDArray, NDArray] | None:
    """Return the least and greatest corner of the loaded soles, world, [m], shape (T, 2) each."""
    lower = np.full((len(record.log), 2), np.inf)
    upper = -lower
    for side in Side:
        contact, name = record.in_contact(side), f"{side}_foot::position::measured"
        if contact is None or name not in record.log:
            return None
        corners = _corners(record, side)
        lower = np.where(contact[:, None], np.minimum(lower, corners.min(axis=1)), lower)
        upper = np.where(contact[:, None], np.maximum(upper, corners.max(axis=1)), upper)
    in_air = ~np.isfinite(lower)
    lower[in_air], upper[in_air] = np.nan, np.nan
    return lower, upper


def _corners(record: WalkRecord, side: Side) -> NDArray:
    """Return the corners of one sole over time, world, [m], shape (T, 4, 2)."""
    log, name = record.log, f"{side}_foot::orientation::measured"
    yaw = log[name][:, 2] if name in log else np.zeros(len(log))
    c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    x, y = record.sole.corners(side).T
    turned = np.stack([c * x - s * y, s * x + c * y], axis=-1)
    return log[f"{side}_foot::position::measured"][:, None, :2] + turned


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
    return _named(figure, axes[0], record)


def plot_deflections(record: WalkRecord) -> Figure:
    """Draw the deflection of each flexible joint, estimated where the controller knows of it, and true."""
    log, times = record.log, record.log.times
    true, info = log[DEFLECTION_SIGNALS[0]], log.info(DEFLECTION_SIGNALS[0])
    name = "flexible_joints::positions::estimated"
    known = log.info(name).elements if name in log else ()
    has_errors = any(joint in known for joint in info.elements)
    titles = [f"{joint} [deg]" for joint in info.elements]
    figure, axes = panels([*titles, *["estimated less true [deg]"] * has_errors], times)
    for column, (axis, joint) in enumerate(zip(axes, info.elements, strict=False)):
        if joint in known:
            estimated, colour = log[name][:, known.index(joint)], _JOINT_COLOURS[column % len(_JOINT_COLOURS)]
            line(axis, times, np.degrees(estimated), colour, "estimated")
            line(axes[-1], times, np.degrees(estimated - true[:, column]), colour, width=0.8)
        reference(axis, times, np.degrees(true[:, column]), "true")
    return _finish(figure, axes, record)


def plot_solutions(record: WalkRecord) -> Figure:
    """Draw how long the solver of the MPC took, and how many were fallbacks or late so far."""
    log, times = record.log, record.log.times
    figure, axes = panels(["time of the solver [ms]", "decisions so far [-]"], times, height=1.7)
    line(axes[0], times, 1e3 * log[SOLVER_SIGNALS[0]][:, 0], DCM, width=0.8)
    for signal, colour, name in zip(SOLVER_SIGNALS[1:], (WARNING, INK), ("last one shifted", "late"), strict=True):
        line(axes[1], times, log[signal][:, 0], colour, name)
    axes[0].set_ylim(bottom=0.0)
    axes[1].set_ylim(bottom=0.0)
    axes[1].yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return _finish(figure, axes, record, axes[1])


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
    return _named(figure, axes[0], record)


def plot_leg_torques(record: WalkRecord) -> Figure:
    """Draw the commanded torques of the legs' joints, a panel for each pair, and their limits where they are near.

    The result has to contain ``legs``, names by side, and ``torque_limits``, [N·m].
    """
    pairs = _pairs(record)
    times, torques = record.log.times, record.log[TORQUE_SIGNALS[0]]
    limits = np.array(record.result["torque_limits"])
    titles = [f"{record.joints[left].removeprefix('l_')} [N·m], limit ±{limits[left]:g}" for left, _ in pairs]
    figure, axes = panels(titles, times)
    for axis, pair in zip(axes, pairs, strict=True):
        for side, joint in zip(Side, pair, strict=True):
            line(axis, times, torques[:, joint], FOOT[side], str(side), width=1.0)
        _draw_limit(axis, torques[:, list(pair)], limits[pair[0]])
        shade(axis, times, record.in_double_support())
    return _named(figure, axes[0], record)


def _pairs(record: WalkRecord) -> list[tuple[int, int]]:
    """Return the columns of each joint of the left leg and of the same joint of the right one."""
    names = [record.result["legs"][str(side)] for side in Side]
    return [(record.joints.index(left), record.joints.index(right)) for left, right in zip(*names, strict=True)]


def _draw_limit(axis: Axes, torques: NDArray, limit: float) -> None:
    """Draw a limit that lies near the range of the torques; a far one would flatten the curves."""
    low, high = float(np.nanmin(torques)), float(np.nanmax(torques))
    margin = 0.15 * (high - low)
    for bound in (-limit, limit):
        if low - margin < bound < high + margin:
            axis.axhline(bound, color=WARNING, linewidth=0.9, dashes=(3.0, 1.6))


def plot_ticks(record: WalkRecord) -> Figure:
    """Draw the computation time of each layer over time, and its distribution, on one scale of microseconds."""
    log = record.log
    layers = {name: log[f"tick::{name}"][:, 0] for name in _COLOURS if f"tick::{name}" in log}
    figure = Figure(figsize=(FULL_WIDTH, _HEIGHT))
    bottom, height = 0.42 / _HEIGHT, 1.0 - 0.84 / _HEIGHT
    over_time = figure.add_axes((0.55 / FULL_WIDTH, bottom, 0.55, height))
    counts = figure.add_axes((0.66, bottom, 0.335, height))
    positive = np.concatenate([samples[samples > 0.0] for samples in layers.values()])
    ends = (positive.min(), positive.max()) if len(positive) else (1.0, 10.0)
    bins = np.geomspace(ends[0], 1.05 * ends[1], _BINS)
    for name, samples in layers.items():
        colour = _COLOURS[name]
        line(over_time, log.times, samples, colour, name.replace("_", " "), width=0.8)
        counts.hist(samples, bins=bins.tolist(), histtype="stepfilled", color=colour, alpha=0.55, linewidth=0)
    over_time.set_yscale("log")
    _plain_numbers(over_time.yaxis)
    over_time.set_xlim(log.times[0], max(log.times[-1], log.times[0] + 1e-3))
    over_time.set_title("tick time [µs]")
    over_time.set_xlabel("time [s]", loc="right", labelpad=1.0)
    counts.set_xscale("log")
    _plain_numbers(counts.xaxis, is_wide=ends[1] > _WIDE * ends[0])
    counts.set_yscale("log")
    _plain_numbers(counts.yaxis)
    counts.set_ylim(bottom=0.7)
    counts.set_title("number of ticks")
    counts.set_xlabel("tick time [µs]", loc="right", labelpad=1.0)
    figure.legend(loc="upper right", ncols=4, bbox_to_anchor=(0.995, 1.0), borderaxespad=0.1)
    return figure


def _plain_numbers(axis: Axis, is_wide: bool = False) -> None:
    """Write 1, 2, 5, 10, 20 … at a logarithmic axis; powers of ten at a wide one."""
    axis.set_major_locator(LogLocator(subs=(1.0,) if is_wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
