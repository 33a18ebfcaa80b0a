"""Records a walk: logs of the controller and the simulator's truth become named signals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, ControlMode, JointCommand, Measurement, NDArray, Side, so3
from gradiva.robot_model import RobotDescription
from gradiva.simplified_model import SolverTimes
from gradiva.simulation import Ground, SimulatedState, ViscoElasticGround
from gradiva.telemetry import SignalLog, unit_of
from gradiva.walking import WalkingLog, WalkingState, element_names, walking_signals
from gradiva.whole_body import TorqueController, WholeBodyController

_ROUNDING = 1e-9  # [s] times are sums of periods
_PERIOD = 0.007  # [s] recording each fast tick takes longer than control; prime to the predictive law's 10 ms


class WalkingRecorder:
    """Records the ticks of the balancing robot, at most 143 a second.

    Attributes:
        log: The signals.
        standing: What was measured before the robot balanced, when nothing else is known of it.
    """

    def __init__(self, robot: RobotDescription, plant: RobotDescription) -> None:
        """Begin an empty log.

        Args:
            robot: As the controller knows it.
            plant: As it is simulated; links may bend in it that the controller takes to be rigid.
        """
        self.log = SignalLog()
        self._joints = joints = robot.joints
        self._flexible = tuple(joint.name for joint in robot.flexible_joints)
        self.standing: list[Measurement] = []
        self._due = 0.0
        for name in ("positions::measured", "positions::desired", "positions::command"):
            self.log.describe(f"joints_state::{name}", joints, "rad")
        for name in ("velocities::measured", "velocities::desired", "velocities::command"):
            self.log.describe(f"joints_state::{name}", joints, "rad/s")
        for name in ("torques::measured", "torques::command"):
            self.log.describe(f"joints_state::{name}", joints, "N m")
        self.log.describe("simulation::joint_positions", joints, "rad")
        bending = tuple(joint.name for joint in plant.flexible_joints)
        for place, names, end in (("simulation::", bending, ""), ("", self._flexible, "::estimated")):
            self.log.describe(f"{place}flexible_joints::positions{end}", names, "rad")
            self.log.describe(f"{place}flexible_joints::velocities{end}", names, "rad/s")
            self.log.describe(f"{place}flexible_joints::torques{end}", names, "N m")
        self.log.describe("flexible_joints::stiffness::estimated", self._flexible, "N m/rad")
        self.log.describe("mpc::solve_time", ("solve_time",), "s")

    def wants(self, log: WalkingLog) -> bool:
        """Return whether to record a tick of the loop: some time after the last, or one in which a foot lands early."""
        return log.desired is not None and (log.time >= self._due or _lands_early(log))

    def record_standing(self, log: WalkingLog, measurement: Measurement) -> None:
        """Keep what is measured in a tick in which the robot is prepared and does not balance yet."""
        if log.state is WalkingState.PREPARING and log.time >= self._due:
            self.standing.append(measurement)
            self._pass(log.time)

    def record(
        self,
        log: WalkingLog,
        measurement: Measurement,
        truth: SimulatedState,
        more: Mapping[str, float | NDArray],
        laps: Mapping[str, float],
    ) -> None:
        """Append one tick of the control loop.

        Args:
            log: Of the controller.
            measurement: Its input.
            truth: Of the simulator.
            more: Beside them: signals of ground, soles, torques, solver and pushes.
            laps: Durations of the parts of the tick, [µs].
        """
        is_first = not len(self.log)
        self.log.append(log.time, {**_signals(log, measurement, truth, laps), **more})
        if is_first:
            self._name_elements()
        self._pass(log.time)

    def _pass(self, time: float) -> None:
        self._due = time + _PERIOD - _ROUNDING

    def _name_elements(self) -> None:
        """Name the elements and units of the signals that are not described yet."""
        for name in self.log:
            if not self.log.info(name).unit.strip("-"):
                self.log.describe(name, element_names(name, self._joints, self._flexible), unit_of(name))


def _lands_early(log: WalkingLog) -> bool:
    """Return whether step adaptation lets the swinging foot stand from this tick on, in which alone it says so."""
    stepping, reference = log.stepping, log.reference
    return (
        stepping is not None and stepping.adapted is not None and reference is not None and reference.is_double_support
    )


def _signals(
    log: WalkingLog, measurement: Measurement, truth: SimulatedState, laps: Mapping[str, float]
) -> dict[str, float | npt.ArrayLike]:
    signals = walking_signals(log, measurement)
    signals["simulation::root_link::position"] = truth.base_position
    signals["simulation::root_link::orientation"] = so3.roll_pitch_yaw(truth.base_rotation)
    signals["simulation::joint_positions"] = truth.joint_positions
    if truth.flexible_positions.size:
        signals["simulation::flexible_joints::positions"] = truth.flexible_positions
        signals["simulation::flexible_joints::velocities"] = truth.flexible_velocities
        signals["simulation::flexible_joints::torques"] = truth.flexible_torques
    signals["simulation::com::position"] = truth.com_position
    signals["simulation::angular_momentum"] = truth.angular_momentum
    for side in Side:
        signals[f"simulation::{side}_foot::position"] = truth.foot_position(side)
        signals[f"simulation::{side}_foot::orientation"] = so3.roll_pitch_yaw(truth.foot_rotation(side))
    for part, duration in laps.items():
        signals[f"tick::{part}"] = duration
    return signals


# -- signals beside those of the controller ----------------------------------------------------------------------------


def ground_signals(ground: Ground, robot: RobotDescription) -> dict[str, float]:
    """Return stiffness [N/m³] and damping [N·s/m³] below each foot; NaN in the air, nothing on ground that is not soft.

    Args:
        ground: Of the simulator, which has a contact a sensor.
        robot: Its description, which has the sensors of each foot; the ground is the same below all of them that touch.
    """
    if not isinstance(ground, ViscoElasticGround):
        return {}
    signals: dict[str, float] = {}
    for side in Side:
        touching = [contact for row in robot.sensors_of(side) if (contact := ground.contacts[row]) is not None]
        name = f"simulation::{side}_foot::contact"
        signals[f"{name}::stiffness"] = touching[0].stiffness if touching else math.nan
        signals[f"{name}::damping"] = touching[0].damping if touching else math.nan
    return signals


_LOADED_FRACTION = 0.1  # [-] of the weight; a foot that carries less is about to land or to leave, and may roll


def sole_signals(truth: SimulatedState, robot: RobotDescription) -> dict[str, float]:
    """Return sinkage [m] and tilt [rad] of each sole; NaN for a foot that carries less than a tenth of the weight.

    Args:
        truth: Of the simulator; the surface of the ground is at the height of the soles' bottoms at the start.
        robot: Its mass and its soles.
    """
    signals: dict[str, float] = {}
    least = _LOADED_FRACTION * robot.mass * GRAVITY
    for side in Side:
        position, rotation = truth.foot_position(side), truth.foot_rotation(side)
        is_loaded = truth.foot_wrench(side)[2] > least
        middle = position + rotation @ robot.sole.middle(side)
        name = f"simulation::{side}_foot"
        signals[f"{name}::sinkage"] = robot.sole.z - float(middle[2]) if is_loaded else math.nan
        signals[f"{name}::tilt"] = so3.tilt(rotation) if is_loaded else math.nan
    return signals


_AT_THE_LIMIT = 1e-3  # [N·m] below a limit that is as good as reached


def torque_signals(command: JointCommand, limits: NDArray, whole_body: WholeBodyController) -> dict[str, float]:
    """Return how many joints are commanded their limit, and by how much layer 3 violates its limits in this tick.

    Args:
        command: That was sent; other than torques have no such signals.
        limits: Of the joints' torques, [N·m], shape (n,).
        whole_body: Layer 3, after its tick; violations are in the units of each group of constraints, of the shipped
            controllers alone.
    """
    if command.mode is not ControlMode.TORQUE:
        return {}
    saturated = np.count_nonzero(np.abs(command.values) > limits - _AT_THE_LIMIT)
    violations = whole_body.problem.violations() if isinstance(whole_body, TorqueController) else {}
    return {
        "torque_control::saturated_joints": float(saturated),
        **{f"torque_control::violation::{_signal_name(group)}": violation for group, violation in violations.items()},
    }


def solver_signals(times: SolverTimes | None) -> dict[str, float]:
    """Return duration [s] and accuracy of the MPC's last decision, and how many were fallbacks and late so far."""
    if times is None:
        return {}
    counts = {"fallbacks": float(times.fallbacks), "late_decisions": float(times.late)}
    estimate, residual = times.accuracy
    last = {"mpc::solve_time": times.last, "mpc::estimate": estimate, "mpc::residual": residual}
    return {**last, **{f"mpc::{name}": count for name, count in counts.items()}}


def push_signals(wrench: NDArray) -> dict[str, NDArray]:
    """Return force [N] and moment about the CoM [N·m] of the pushes that act now."""
    return {"simulation::external_wrench::force": wrench[:3], "simulation::external_wrench::torque": wrench[3:]}


def _signal_name(group: str) -> str:
    """Return a name that MATLAB takes for a field."""
    return group.replace("'s", "").replace(" ", "_")
