"""Plots over time: DCM, ZMP, CoM, feet, forces, estimate against truth."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import COM, DCM, FOOT, INK, SUPPORT, ZMP, legend, line, panels, reference, shade
from gradiva.telemetry.signal_log import SignalLog
from gradiva.telemetry.walk_record import WalkRecord

_AXES = {"roll": ZMP, "pitch": COM, "yaw": DCM}


def plot_dcm(record: WalkRecord) -> Figure:
    """Draw the divergent component of motion, measured and desired, and their distance."""
    log, times = record.log, record.log.times
    measured, desired = log["dcm::position::measured"], log["dcm::position::desired"]
    figure, axes = panels(["x [m]", "y [m]", "distance to the reference [mm]"], times)
    for column, axis in enumerate(axes[:2]):
        line(axis, times, measured[:, column], DCM, "measured")
        reference(axis, times, desired[:, column], "desired")
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
    legend(figure, axes[0])
    return figure


def plot_com(record: WalkRecord) -> Figure:
    """Draw the centre of mass, measured and desired, and their horizontal distance."""
    log, times = record.log, record.log.times
    measured, desired = log["com::position::measured"], log["com::position::desired"]
    figure, axes = panels(["x [m]", "y [m]", "height [m]", "distance to the reference [mm]"], times)
    for column, axis in enumerate(axes[:3]):
        line(axis, times, measured[:, column], COM, "measured")
        reference(axis, times, desired[:, column], "desired")
    line(axes[3], times, _distance_mm(measured, desired), COM)
    return _finish(figure, axes, record)


def plot_com_velocity(record: WalkRecord) -> Figure:
    """Draw the velocity of the centre of mass, measured and desired."""
    log, times = record.log, record.log.times
    measured, desired = log["com::velocity::measured"], log["com::velocity::desired"]
    figure, axes = panels(["x [m/s]", "y [m/s]", "z [m/s]"], times)
    for column, axis in enumerate(axes):
        line(axis, times, measured[:, column], COM, "measured", width=1.0)
        reference(axis, times, desired[:, column], "desired")
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


def _finish(figure: Figure, axes: list[Axes], record: WalkRecord, told: Axes | None = None) -> Figure:
    for axis in axes:
        shade(axis, record.log.times, record.in_double_support())
    legend(figure, told or axes[0])
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
