"""Turns the controller's logs and the simulator's truth into named signals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gradiva.common import Measurement, NDArray, PlanarPose, RobotState, Side, so3
from gradiva.simulation import SimulatedState
from gradiva.telemetry import SignalLog
from gradiva.walking import WalkingLog


class WalkingRecorder:
    """Records the ticks of the balancing robot.

    Attributes:
        log: The signals.
    """

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.log = SignalLog()
        for name in ("positions::measured", "positions::desired", "positions::command"):
            self.log.describe(f"joints_state::{name}", joints, "rad")
        for name in ("velocities::measured", "velocities::desired"):
            self.log.describe(f"joints_state::{name}", joints, "rad/s")
        self.log.describe("joints_state::torques::measured", joints, "N m")
        self.log.describe("simulation::joint_positions", joints, "rad")

    def record(
        self, log: WalkingLog, measurement: Measurement, truth: SimulatedState, laps: Mapping[str, float]
    ) -> None:
        """Append one tick; ticks in which the control loop did not run are left out."""
        if log.desired is not None:
            self.log.append(log.time, _signals(log, measurement, truth, laps))


def _signals(
    log: WalkingLog, measurement: Measurement, truth: SimulatedState, laps: Mapping[str, float]
) -> dict[str, float | npt.ArrayLike]:
    reference, state, desired, posture = log.reference, log.robot_state, log.desired, log.desired_posture
    if reference is None or state is None or desired is None or posture is None:
        raise ValueError("only ticks of the control loop can be recorded")
    signals: dict[str, float | npt.ArrayLike] = {
        "dcm::position::measured": state.dcm_position,
        "dcm::position::desired": reference.dcm.position,
        "dcm::velocity::desired": reference.dcm.velocity,
        "zmp::measured": state.zmp_position,
        "zmp::desired": desired.zmp_position,
        "zmp::desired_planner": reference.dcm.zmp_position,
        "com::position::measured": state.com_position,
        "com::position::desired": reference.com_position,
        "com::position::commanded": desired.com_position,
        "com::velocity::measured": state.com_velocity,
        "com::velocity::desired": reference.com_velocity,
        "joints_state::positions::measured": state.joint_positions,
        "joints_state::positions::desired": posture.joint_positions,
        "joints_state::positions::command": log.command.values,
        "joints_state::velocities::measured": state.joint_velocities,
        "joints_state::velocities::desired": log.desired_joint_velocities,  # type: ignore[dict-item]
        "joints_state::torques::measured": measurement.joint_torques,
        "root_link::position::measured": state.base_position,
        "root_link::orientation::measured": roll_pitch_yaw(state.base_rotation),
        "odometry::root_link::position": _by_odometry(state),
        "stance_foot::is_left": float(reference.stance_foot is Side.LEFT),
        "walking::is_double_support": float(reference.is_double_support),
        "walking::is_walking": float(reference.is_walking),
        "simulation::root_link::position": truth.base_position,
        "simulation::root_link::orientation": roll_pitch_yaw(truth.base_rotation),
        "simulation::joint_positions": truth.joint_positions,
        "simulation::com::position": truth.com_position,
    }
    for side in Side:
        foot, wrench = reference.foot(side), state.foot_wrench(side)
        signals[f"{side}_foot::position::measured"] = state.foot_position(side)
        signals[f"{side}_foot::position::desired"] = foot.position
        signals[f"{side}_foot::orientation::measured"] = roll_pitch_yaw(state.foot_rotation(side))
        signals[f"{side}_foot::orientation::desired"] = roll_pitch_yaw(foot.rotation)
        signals[f"{side}_foot::linear_force::measured"] = wrench[:3]
        signals[f"{side}_foot::angular_torque::measured"] = wrench[3:]
        signals[f"simulation::{side}_foot::position"] = truth.foot_position(side)
        signals[f"simulation::{side}_foot::orientation"] = roll_pitch_yaw(truth.foot_rotation(side))
    for part, duration in laps.items():
        signals[f"tick::{part}"] = duration
    return signals


def _by_odometry(state: RobotState) -> NDArray:
    """Where the base is by the robot's own odometry, [m], shape (3,)."""
    base = state.plan_origin @ PlanarPose.of(state.base_position, state.base_rotation)
    return np.array([base.x, base.y, state.base_position[2]])


def roll_pitch_yaw(rotation: NDArray) -> NDArray:
    """Return the angles of Rz(yaw) Ry(pitch) Rx(roll), [rad], shape (3,)."""
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[2, 1], rotation[2, 2]))
    return np.array([np.arctan2(rotation[2, 1], rotation[2, 2]), pitch, so3.yaw(rotation)])
