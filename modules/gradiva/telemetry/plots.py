"""The plots of a report, and the signals that each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure

from gradiva.telemetry.contact_plot import CONTACT_SIGNALS, plot_contacts
from gradiva.telemetry.ground_plot import plot_ground
from gradiva.telemetry.joint_plot import plot_joints
from gradiva.telemetry.plot_style import STYLE, svg
from gradiva.telemetry.sole_plot import SOLE_SIGNALS, plot_soles
from gradiva.telemetry.tick_plot import plot_ticks
from gradiva.telemetry.time_plots import (
    plot_attitude,
    plot_com,
    plot_com_velocity,
    plot_dcm,
    plot_drift,
    plot_feet,
    plot_forces,
    plot_zmp,
)
from gradiva.telemetry.torque_plot import TORQUE_SIGNALS, plot_leg_torques
from gradiva.telemetry.walk_record import WalkRecord


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of a report.

    Attributes:
        title: Its heading.
        caption: What to see in it.
        signals: What it cannot do without.
        draw: Makes the figure.
        is_wide: Whether it takes both columns of the page.
        is_special: Whether most runs have no such signals, so that nobody misses it.
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
        """Return the signals that the log lacks, and the figures that the result lacks."""
        figures = [name for name in self.figures if name not in record.result]
        return [name for name in self.signals if name not in record.log] + figures

    def svg(self, record: WalkRecord) -> str:
        """Return the drawn plot as an SVG element."""
        with matplotlib.rc_context(STYLE):
            return svg(self.draw(record))


def _both(stem: str) -> tuple[str, str]:
    return f"{stem}::measured", f"{stem}::desired"


PLOTS = (
    Plot(
        "From above",
        "Soles where the plan put them; the measured paths of CoM, DCM and ZMP.",
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
