"""List the plots of a walk with the signals that each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradiva.common import nearest_name
from gradiva.telemetry.signal_log import LogError
from gradiva.telemetry.walk_panels import (
    CONTACT_SIGNALS,
    DEFLECTION_SIGNALS,
    PUSH_SIGNALS,
    SOLE_SIGNALS,
    SOLVER_SIGNALS,
    STEPPING_SIGNALS,
    TIGHT,
    TORQUE_SIGNALS,
    FromAbove,
    Panel,
    attitude_panels,
    com_panels,
    com_velocity_panels,
    contact_panels,
    dcm_panels,
    deflection_panels,
    drift_panels,
    external_wrench_panels,
    foot_panels,
    force_panels,
    joint_figures,
    leg_torque_panels,
    sole_panels,
    solver_panels,
    stepping_panels,
    tick_panels,
    zmp_panels,
)
from gradiva.telemetry.walk_record import WalkRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of a walk.

    Attributes:
        title: Its heading.
        caption: What to see in it.
        signals: What it cannot do without.
        panels: Makes what it draws over time; nothing of one that is no plot over time.
        is_special: Whether most runs have no such signals, so that its absence is not reported.
        figures: Keys of the result that it cannot do without either.
    """

    title: str
    caption: str
    signals: tuple[str, ...]
    panels: Callable[[WalkRecord], list[Panel]] = lambda record: []
    is_special: bool = False
    figures: tuple[str, ...] = ()

    def missing(self, record: WalkRecord) -> list[str]:
        """Return the signals that the log lacks (a special one: without a finite sample), and the missing figures."""
        log, figures = record.log, [name for name in self.figures if name not in record.result]

        def is_there(name: str) -> bool:
            return name in log and (not self.is_special or bool(np.isfinite(log[name]).any()))

        return [name for name in self.signals if not is_there(name)] + figures


def _both(stem: str) -> tuple[str, str]:
    return f"{stem}::measured", f"{stem}::desired"


FROM_ABOVE = Plot(
    "From above",
    "Soles where the plan put them, dotted where step adaptation moved them from; the paths of CoM, DCM and ZMP.",
    ("com::position::measured",),
)
JOINTS = Plot(
    "Joints",
    f"First how far each joint stayed from the nearer end of its range; a red bar is {TIGHT}, so close that the limit"
    " may have held the joint back: worth a look, and no fault where the walk is good. In the others a dark bar is the"
    " rms, the pale one the maximum.",
    _both("joints_state::positions"),
)
PLOTS = (
    Plot(
        "Divergent component of motion",
        "Solid measured, dashed desired; grey bands are double supports.",
        _both("dcm::position"),
        dcm_panels,
    ),
    Plot(
        "Zero moment point",
        "Solid measured, dashed that of the commanded pendulum, from which a swinging leg moves it away, within the"
        " extent of the loaded soles.",
        _both("zmp"),
        zmp_panels,
    ),
    Plot(
        "Centre of mass",
        "Solid measured, dashed desired; the distance is horizontal.",
        _both("com::position"),
        com_panels,
    ),
    Plot(
        "Feet",
        "Height of the sole frames, solid measured, dashed desired; horizontal distance.",
        (*_both("left_foot::position"), *_both("right_foot::position")),
        foot_panels,
    ),
    Plot(
        "Step adaptation",
        "Change of the running step's landing, ahead and to the left of the planned foothold, and of its touch-down,"
        " beside the error of the DCM that causes it.",
        STEPPING_SIGNALS,
        stepping_panels,
        is_special=True,
    ),
    Plot(
        "External wrench",
        "Solid estimated by the momentum: what neither ground nor gravity explains; dashed the simulated pushes.",
        PUSH_SIGNALS,
        external_wrench_panels,
        is_special=True,
    ),
    Plot(
        "Decisions of the centroidal MPC",
        "Time of the solver for the last decision. One without a solution of its own takes the last one, shifted; a"
        " late one comes when the next is due already.",
        SOLVER_SIGNALS,
        solver_panels,
        is_special=True,
    ),
    Plot(
        "Velocity of the centre of mass",
        "Solid measured, dashed desired.",
        _both("com::velocity"),
        com_velocity_panels,
    ),
    Plot(
        "Ground forces",
        "Vertical force on each foot; the sum swings about the robot's weight.",
        ("left_foot::linear_force::measured", "right_foot::linear_force::measured"),
        force_panels,
    ),
    Plot(
        "Soft ground",
        "Stiffness and damping below the feet that carry load: solid estimated, dashed true.",
        CONTACT_SIGNALS,
        contact_panels,
        is_special=True,
    ),
    Plot(
        "Soles in soft ground",
        "Depth of the middle and tilt of each sole, by the simulator's truth, while it carries a tenth of the weight.",
        SOLE_SIGNALS,
        sole_panels,
        is_special=True,
    ),
    Plot(
        "Flexible joints",
        "Deflection of the links that bend: solid estimated, dashed true; last the errors of the estimates, in the same"
        " colours.",
        DEFLECTION_SIGNALS,
        deflection_panels,
        is_special=True,
    ),
    Plot(
        "Attitude of the base",
        "Estimated roll, pitch and yaw, seen in the direction of walking: where the x axis of the base points backward,"
        " as that of iCub v2.7, the base frame is turned by 180° about its z axis.",
        ("root_link::orientation::measured",),
        attitude_panels,
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
        drift_panels,
    ),
    Plot(
        "Torques of the legs",
        "As commanded, at the rate of the log; a dashed red line is a limit that they come near to.",
        TORQUE_SIGNALS,
        leg_torque_panels,
        is_special=True,
        figures=("legs", "torque_limits"),
    ),
    Plot(
        "Tick time",
        "Computation time of each layer of the tick, and of the whole.",
        ("tick::total",),
        tick_panels,
    ),
)


def draw_plot(title: str, record: WalkRecord) -> Figure:
    """Return a plot of a walk by its title, drawn with Matplotlib.

    Raises:
        LogError: There is no such plot, or the log lacks signals that it needs.
    """
    from gradiva.telemetry.matplotlib_plots import draw_from_above, draw_joints, draw_panels

    by_title = {plot.title: plot for plot in (FROM_ABOVE, *PLOTS, JOINTS)}
    if title not in by_title:
        raise LogError(f"no plot '{title}'{nearest_name(title, by_title)}")
    plot = by_title[title]
    if missing := plot.missing(record):
        raise LogError(f"no plot '{title}': the log has no {', '.join(missing)}")
    if plot is FROM_ABOVE:
        return draw_from_above(FromAbove.of(record))
    if plot is JOINTS:
        return draw_joints(joint_figures(record), record.joints)
    return draw_panels(plot.panels(record), record.log.times, record.pushes(), record.first_sign())
