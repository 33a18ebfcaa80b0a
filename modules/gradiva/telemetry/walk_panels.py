"""Describe what the plots of a walk show: panels of curves over time, the walk from above, a row for each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.telemetry.plot_style import ACTIVE, BAND, COM, DCM, FOOT, INK, REFERENCE, WARNING, ZMP
from gradiva.telemetry.signal_log import SignalLog
from gradiva.telemetry.walk_record import BoolArray, Footprint, WalkRecord, footprints, nominal_footprints

_COLOURS = (FOOT[Side.LEFT], DCM, FOOT[Side.RIGHT], COM)
_AXES = {"roll": ZMP, "pitch": COM, "yaw": DCM}
CONTACT_SIGNALS = tuple(f"{side}_foot::contact::{what}" for side in Side for what in ("is_active", "stiffness"))
_SOIL = (("stiffness", "stiffness [10⁶ N/m³]", 1e-6), ("damping", "damping [10³ N·s/m³]", 1e-3))
_IN_SOIL = (("sinkage", "depth of the middle [mm]", 1e3), ("tilt", "tilt [deg]", np.degrees(1.0)))
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
_PATHS = (
    ("ZMP", "zmp::measured", ZMP),
    ("DCM", "dcm::position::measured", DCM),
    ("CoM", "com::position::measured", COM),
)
_MARGIN = 0.08  # m, around the footprints
_TIGHT_MARGIN = 3.0  # deg
TIGHT = f"less than the joint's largest tracking error, and than {_TIGHT_MARGIN:g}°"
"""Margin to a position limit that is drawn in red: an error of tracking alone might bring the joint to its stop."""
_LAYERS = {"estimation": COM, "model_control": DCM, "whole_body": ZMP, "total": INK}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A signal over the times of its log.

    Attributes:
        values: Shape (T,); NaN is a gap.
        colour: ``#rrggbb``.
        name: In the legend; empty for one that needs none.
        is_reference: Whether it is drawn dashed: desired, commanded or true.
    """

    values: NDArray
    colour: str
    name: str = ""
    is_reference: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves of one quantity.

    Attributes:
        title: The quantity and its unit.
        curves: Those behind first.
        extent: Lower and upper end of an area behind the curves, shape (T,) each: the loaded soles.
        shade: When the background is shaded, shape (T,).
        shade_colour: ``#rrggbb``.
        shown: Least and greatest value to show; None: all of them.
        least: Where the axis begins; None: below the least value.
        levels: Limits, drawn as red lines.
        is_logarithmic: Whether its axis is.
    """

    title: str
    curves: Sequence[Curve]
    extent: tuple[NDArray, NDArray] | None = None
    shade: BoolArray | None = None
    shade_colour: str = BAND
    shown: tuple[float, float] | None = None
    least: float | None = None
    levels: tuple[float, ...] = ()
    is_logarithmic: bool = False


def dcm_panels(record: WalkRecord) -> list[Panel]:
    """Return the divergent component of motion, measured and desired, and their distance."""
    measured, desired = record.log["dcm::position::measured"], record.log["dcm::position::desired"]
    panels = _both(record, ["x [m]", "y [m]"], measured, desired, DCM)
    return [*panels, _distance(record, "distance to the reference [mm]", measured, desired, DCM)]


def zmp_panels(record: WalkRecord) -> list[Panel]:
    """Return the zero moment point, measured and desired, within the extent of the support polygon."""
    log, extent = record.log, _support_extent(record)
    measured, desired = log["zmp::measured"], log["zmp::desired"]
    panels = []
    for column, axis in enumerate("xy"):
        curves = [Curve(measured[:, column], ZMP, "measured")]
        if "zmp::desired_planner" in log:
            curves.append(Curve(log["zmp::desired_planner"][:, column], INK, "planned"))
        curves.append(Curve(desired[:, column], REFERENCE, "commanded", is_reference=True))
        area = None if extent is None else (extent[0][:, column], extent[1][:, column])
        panels.append(Panel(f"{axis} [m]", curves, area, shown=_range_of(desired[:, column], measured[:, column])))
    return [*panels, Panel("distance to the command [mm]", [Curve(_distance_mm(measured, desired), ZMP)])]


def stepping_panels(record: WalkRecord) -> list[Panel]:
    """Return how step adaptation moves the running step in place and time, with gaps in double support."""
    log = record.log
    nominal, adapted = (log[f"step_adaptation::{kind}_foothold"] for kind in ("nominal", "adapted"))
    yaw, moved = nominal[:, 2], 1e3 * (adapted - nominal)[:, :2]
    changes = {
        "foothold, ahead [mm]": np.cos(yaw) * moved[:, 0] + np.sin(yaw) * moved[:, 1],
        "foothold, left [mm]": np.cos(yaw) * moved[:, 1] - np.sin(yaw) * moved[:, 0],
        "touch-down [ms]": np.where(np.isfinite(yaw), 1e3 * log["step_adaptation::delay"][:, 0], np.nan),
    }
    shade, colour = record.in_double_support(), FOOT[Side.LEFT]
    panels = [
        Panel(title, [Curve(values, colour, "adapted less planned")], shade=shade) for title, values in changes.items()
    ]
    error = Curve(_distance_mm(log["dcm::position::measured"], log["dcm::position::desired"]), DCM)
    is_active = log["step_adaptation::is_active"][:, 0] > 0.5
    return [*panels, Panel("DCM to its reference [mm]", [error], shade=is_active, shade_colour=ACTIVE)]


def com_panels(record: WalkRecord) -> list[Panel]:
    """Return the centre of mass, measured and desired, and their horizontal distance."""
    measured, desired = record.log["com::position::measured"], record.log["com::position::desired"]
    panels = _both(record, ["x [m]", "y [m]", "height [m]"], measured, desired, COM)
    return [*panels, _distance(record, "distance to the reference [mm]", measured, desired, COM)]


def com_velocity_panels(record: WalkRecord) -> list[Panel]:
    """Return the velocity of the centre of mass, measured and desired."""
    measured, desired = record.log["com::velocity::measured"], record.log["com::velocity::desired"]
    return _both(record, ["x [m/s]", "y [m/s]", "z [m/s]"], measured, desired, COM)


def foot_panels(record: WalkRecord) -> list[Panel]:
    """Return the heights of the soles, measured and desired, and how far they are from their references."""
    log, shade = record.log, record.in_double_support()
    panels, distances = [], []
    for side in Side:
        measured, desired = (log[f"{side}_foot::position::{kind}"] for kind in ("measured", "desired"))
        reference = Curve(1e3 * desired[:, 2], REFERENCE, "desired", is_reference=True)
        panels.append(
            Panel(f"{side} height [mm]", [Curve(1e3 * measured[:, 2], FOOT[side], str(side)), reference], shade=shade)
        )
        distances.append(Curve(_distance_mm(measured, desired), FOOT[side], str(side)))
    return [*panels, Panel("distance to the reference [mm]", distances, shade=shade)]


def force_panels(record: WalkRecord) -> list[Panel]:
    """Return the vertical forces of the ground on the feet, and their sum."""
    force = {side: record.log[f"{side}_foot::linear_force::measured"][:, 2] for side in Side}
    feet = [Curve(values, FOOT[side], str(side)) for side, values in force.items()]
    together = [Curve(force[Side.LEFT] + force[Side.RIGHT], INK, "both")]
    shade = record.in_double_support()
    return [Panel("vertical force of each foot [N]", feet, shade=shade), Panel("sum [N]", together, shade=shade)]


def external_wrench_panels(record: WalkRecord) -> list[Panel]:
    """Return the estimated external force, its moment about the CoM, and those of the simulated pushes."""
    log, panels = record.log, []
    for title, signal in zip(("force [N]", "moment about the CoM [N·m]"), PUSH_SIGNALS, strict=True):
        curves = _columns(log[signal], [f"{axis} estimated" for axis in "xyz"])
        truth = log[f"simulation::{signal}"] if f"simulation::{signal}" in log else np.zeros((len(log), 3))
        shown = _range_of(truth, log[signal]) if f"simulation::{signal}" in log else None
        curves += [Curve(true, REFERENCE, "true", is_reference=True) for true in truth.T if true.any()]
        panels.append(Panel(title, curves, shade=record.in_double_support(), shown=shown))
    return panels


def attitude_panels(record: WalkRecord) -> list[Panel]:
    """Return the estimated orientation of the base, yaw 0 where the robot walks along x."""
    angles = _columns(np.degrees(np.unwrap(_forward_attitude(record.log), axis=0)), tuple(_AXES))
    shade = record.in_double_support()
    return [Panel("roll and pitch [deg]", angles[:2], shade=shade), Panel("yaw [deg]", angles[2:], shade=shade)]


def _forward_attitude(log: SignalLog) -> NDArray:
    """Return roll, pitch and yaw of the base, [rad], shape (T, 3); of a base that looks backward, turned by 180°.

    The heading of the feet shows which way it looks: R(roll, pitch, yaw) Rz(180°) = R(-roll, -pitch, yaw + 180°).
    """
    attitude, heading = log["root_link::orientation::measured"], "left_foot::orientation::measured"
    if heading not in log or np.cos(attitude[0, 2] - log[heading][0, 2]) >= 0.0:
        return attitude
    yaw = attitude[:, 2] + np.pi
    return np.column_stack([-attitude[:, 0], -attitude[:, 1], np.arctan2(np.sin(yaw), np.cos(yaw))])


def drift_panels(record: WalkRecord) -> list[Panel]:
    """Return how far the estimate of the base is from the simulated robot; on the ground by its own odometry."""
    log, shade = record.log, record.in_double_support()
    error = 1e3 * (_odometry(record) - log["simulation::root_link::position"])
    turn = log["root_link::orientation::measured"] - log["simulation::root_link::orientation"]
    turn = np.degrees(np.arctan2(np.sin(turn), np.cos(turn)))
    return [
        Panel("position [mm]", _columns(error, "xyz"), shade=shade),
        Panel("orientation [deg]", _columns(turn, tuple(_AXES)), shade=shade),
    ]


def _odometry(record: WalkRecord) -> NDArray:
    """Return where the base is by the robot's odometry, [m], shape (T, 3); without it in the log, by the estimate."""
    position = record.log["root_link::position::measured"].copy()
    if "odometry::root_link::position" in record.log:
        position[:, :2] = record.log["odometry::root_link::position"][:, :2]
    return position


def _columns(values: NDArray, names: Sequence[str]) -> list[Curve]:
    """Return a curve for each of three columns, in the colours of x, y and z."""
    return [Curve(*each) for each in zip(values.T, _AXES.values(), names, strict=True)]


def _both(record: WalkRecord, titles: Sequence[str], measured: NDArray, desired: NDArray, colour: str) -> list[Panel]:
    """Return a panel for each of the first columns, with what was measured and what was desired."""
    shade = record.in_double_support()
    pairs = [
        [
            Curve(measured[:, column], colour, "measured"),
            Curve(desired[:, column], REFERENCE, "desired", is_reference=True),
        ]
        for column in range(len(titles))
    ]
    return [Panel(title, pair, shade=shade) for title, pair in zip(titles, pairs, strict=True)]


def _distance(record: WalkRecord, title: str, measured: NDArray, desired: NDArray, colour: str) -> Panel:
    return Panel(title, [Curve(_distance_mm(measured, desired), colour)], shade=record.in_double_support())


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


def contact_panels(record: WalkRecord) -> list[Panel]:
    """Return what is estimated of the ground while a foot carries load, and the truth where it was simulated."""
    shade, log = record.in_double_support(), record.log
    panels = [
        Panel(title, [curve for side in Side for curve in _soil(record, side, name, scale)], shade=shade, least=0.0)
        for name, title, scale in _SOIL
    ]
    loaded = [Curve(log[f"{side}_foot::contact::is_active"][:, 0], FOOT[side], str(side)) for side in Side]
    return [*panels, Panel("foot carries load", loaded, shade=shade)]


def _soil(record: WalkRecord, side: Side, parameter: str, scale: float) -> list[Curve]:
    """Return a parameter of the ground below a foot, with gaps where the foot carries nothing, and its truth."""
    log, name = record.log, f"{side}_foot::contact::{parameter}"
    is_active = log[f"{side}_foot::contact::is_active"][:, 0] > 0.5
    curves = [Curve(np.where(is_active, scale * log[name][:, 0], np.nan), FOOT[side], str(side))]
    if f"simulation::{name}" in log:
        truth = np.where(is_active, scale * log[f"simulation::{name}"][:, 0], np.nan)
        curves.append(Curve(truth, REFERENCE, "true", is_reference=True))
    return curves


def sole_panels(record: WalkRecord) -> list[Panel]:
    """Return how deep and how tilted the soles are, with gaps where a foot carries nothing."""
    names = {side: f"simulation::{side}_foot" for side in Side}
    return [
        Panel(
            title,
            [Curve(scale * record.log[f"{name}::{what}"][:, 0], FOOT[side], str(side)) for side, name in names.items()],
            shade=record.in_double_support(),
            least=0.0,
        )
        for what, title, scale in _IN_SOIL
    ]


def deflection_panels(record: WalkRecord) -> list[Panel]:
    """Return the deflection of each flexible joint, estimated where the controller knows of it, and true."""
    log, shade = record.log, record.in_double_support()
    true, joints = np.degrees(log[DEFLECTION_SIGNALS[0]]), log.info(DEFLECTION_SIGNALS[0]).elements
    name = "flexible_joints::positions::estimated"
    known = dict(zip(log.info(name).elements, np.degrees(log[name]).T, strict=True)) if name in log else {}
    panels, errors = [], []
    for column, joint in enumerate(joints):
        colour, reference = _COLOURS[column % len(_COLOURS)], Curve(true[:, column], REFERENCE, "true", True)
        estimated = [Curve(known[joint], colour, "estimated")] if joint in known else []
        errors += [Curve(curve.values - true[:, column], colour, joint) for curve in estimated]
        panels.append(Panel(f"{joint} [deg]", [*estimated, reference], shade=shade))
    return [*panels, *[Panel("estimated less true [deg]", errors, shade=shade)] * bool(errors)]


def solver_panels(record: WalkRecord) -> list[Panel]:
    """Return how long the solver of the MPC took, and how many were fallbacks or late so far."""
    time, fallbacks, late = (record.log[signal][:, 0] for signal in SOLVER_SIGNALS)
    counts = [Curve(fallbacks, WARNING, "last one shifted"), Curve(late, INK, "late")]
    shade = record.in_double_support()
    return [
        Panel("time of the solver [ms]", [Curve(1e3 * time, DCM)], shade=shade, least=0.0),
        Panel("decisions so far [-]", counts, shade=shade, least=0.0),
    ]


def leg_torque_panels(record: WalkRecord) -> list[Panel]:
    """Return the commanded torques of the legs' joints, a panel for each pair, and their limits where they are near.

    The result has to contain ``legs``, names by side, and ``torque_limits``, [N·m].
    """
    torques, limits = record.log[TORQUE_SIGNALS[0]], record.result["torque_limits"]
    panels = []
    for pair in zip(*(record.result["legs"][str(side)] for side in Side), strict=True):
        columns = [record.joints.index(joint) for joint in pair]
        curves = [Curve(torques[:, c], FOOT[side], str(side)) for side, c in zip(Side, columns, strict=True)]
        limit = limits[columns[0]]
        title = f"{pair[0].removeprefix('l_')} [N·m], limit ±{limit:g}"
        levels = _near(torques[:, columns], (-limit, limit))
        panels.append(Panel(title, curves, shade=record.in_double_support(), levels=levels))
    return panels


def _near(values: NDArray, levels: tuple[float, float]) -> tuple[float, ...]:
    """Return those levels that lie near the range of the values; a far one would flatten the curves."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.15 * (high - low)
    return tuple(level for level in levels if low - margin < level < high + margin)


def tick_panels(record: WalkRecord) -> list[Panel]:
    """Return the computation time of each layer of the tick."""
    log = record.log
    curves = [
        Curve(log[f"tick::{layer}"][:, 0], colour, layer.replace("_", " "))
        for layer, colour in _LAYERS.items()
        if f"tick::{layer}" in log
    ]
    return [Panel("tick time [µs]", curves, is_logarithmic=True)]


def signal_panels(log: SignalLog, names: Sequence[str]) -> list[Panel]:
    """Return a panel for each signal, with a curve for each of its elements."""
    return [
        Panel(
            f"{name} [{log.info(name).unit}]",
            [
                Curve(values, _COLOURS[k % len(_COLOURS)], element if log[name].shape[1] > 1 else "")
                for k, (element, values) in enumerate(zip(log.info(name).elements, log[name].T, strict=True))
            ],
        )
        for name in names
    ]


@dataclass(frozen=True, slots=True, eq=False)
class FromAbove:
    """The walk on the ground.

    Attributes:
        soles: Corners of the footprints of each foot, world, [m], shape (4, 2) each.
        planned_soles: Those of the planned ones that step adaptation moved.
        paths: Colour and points by name, [m], shape (k, 2).
    """

    soles: dict[Side, list[NDArray]]
    planned_soles: dict[Side, list[NDArray]]
    paths: dict[str, tuple[str, NDArray]]

    @classmethod
    def of(cls, record: WalkRecord) -> FromAbove:
        """Return that of a walk whose CoM is in the log."""
        paths = {
            name: (colour, _thin_path(record.log[signal][:, :2]))
            for name, signal, colour in _PATHS
            if signal in record.log
        }
        return cls(_soles(record, footprints(record.log)), _soles(record, nominal_footprints(record.log)), paths)

    def extent(self) -> tuple[NDArray, NDArray]:
        """Return least and greatest x and y to show, [m], shape (2,) each."""
        points = np.vstack([self.paths["CoM"][1], *(corners for soles in self.soles.values() for corners in soles)])
        return np.nanmin(points, axis=0) - _MARGIN, np.nanmax(points, axis=0) + _MARGIN


def _soles(record: WalkRecord, prints: Sequence[Footprint]) -> dict[Side, list[NDArray]]:
    return {side: [one.corners(record.sole) for one in prints if one.side is side] for side in Side}


def _thin_path(path: NDArray, spacing: float = 2e-3) -> NDArray:
    """Return the points of a path that lie ``spacing`` [m] or more along it from each other."""
    along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(np.hypot(*np.diff(path, axis=0).T)))])
    return path[np.unique((along / spacing).astype(int), return_index=True)[1]]


@dataclass(frozen=True, slots=True, eq=False)
class JointFigures:
    """A number for each joint.

    Attributes:
        title: What and in which unit.
        values: Shape (n,).
        rms: Of what ``values`` is the maximum, shape (n,), or None.
        tight: Values below which a joint is worth a look, shape (n,); None: none is.
    """

    title: str
    values: NDArray
    rms: NDArray | None = None
    tight: NDArray | None = None


def joint_figures(record: WalkRecord) -> list[JointFigures]:
    """Return margin to the limits, tracking error and torque of the joints, where they are known.

    The inverse kinematics keeps desired positions off the limits: a joint is worth a look that comes nearer to one than
    it tracks, by which it may touch its stop.
    """
    measured, figures = record.log["joints_state::positions::measured"], []
    errors = {"tracking error [deg]": np.degrees(measured - record.log["joints_state::positions::desired"])}
    if record.joint_limits is not None:
        lower, upper = record.joint_limits
        margin = np.degrees(np.nanmin(np.minimum(measured - lower, upper - measured), axis=0))
        tight = np.minimum(_TIGHT_MARGIN, np.nanmax(np.abs(errors["tracking error [deg]"]), axis=0))
        figures.append(JointFigures("least margin to a position limit [deg]", margin, tight=tight))
    if "joints_state::torques::measured" in record.log:
        errors["torque [N·m]"] = record.log["joints_state::torques::measured"]
    for title, values in errors.items():
        rms = np.sqrt(np.nanmean(values**2, axis=0))
        figures.append(JointFigures(title, np.nanmax(np.abs(values), axis=0), rms))
    return figures
