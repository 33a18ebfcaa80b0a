"""One tick of the controller as a log entry, and as named signals for loggers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    ConfigError,
    ControlMode,
    FootContact,
    FootReference,
    JointCommand,
    Measurement,
    NDArray,
    PlanarPose,
    RobotState,
    Side,
    WalkingReference,
    so3,
)
from gradiva.push_recovery import SteppingLog
from gradiva.simplified_model import BalanceReference
from gradiva.walking.walking_state import WalkingState


@dataclass(frozen=True, slots=True, eq=False)
class WalkingLog:
    """One tick of the controller; the quantities of the loop are None while it does not run (preparing, fault).

    Attributes:
        time: [s].
        state: Of the state machine after the tick.
        reason: Why it is in this state.
        command: Sent to the robot.
        reference: Of the plan.
        robot_state: Estimated.
        desired: Of layer 2.
        desired_joint_positions: Commanded, feed-forward left out, [rad], shape (n,).
        desired_joint_velocities: [rad/s], shape (n,).
        relaxed_task: Relaxed task of layer 3 with the largest residual; empty where all are met, or none is known.
        stepping: Of reactive stepping.
        own: Signals of laws, tasks, checks, planners and estimators of the user's own, see ``walking_signals``.
    """

    time: float
    state: WalkingState
    reason: str
    command: JointCommand
    reference: WalkingReference | None = None
    robot_state: RobotState | None = None
    desired: BalanceReference | None = None
    desired_joint_positions: NDArray | None = None
    desired_joint_velocities: NDArray | None = None
    relaxed_task: str = ""
    stepping: SteppingLog | None = None
    own: Mapping[str, float | npt.ArrayLike] = field(default_factory=dict)


OWN = "own::"
"""Beginning of the names of signals of the user's own: ``own::NAME::SIGNAL``."""
Signals = dict[str, float | npt.ArrayLike]
"""By name, with ``::`` between its parts; SI units, world frame unless the name says otherwise."""

_AXES = ("x", "y", "z")
_ANGLES = ("roll", "pitch", "yaw")
_COMMANDED = {
    ControlMode.POSITION: "positions",
    ControlMode.VELOCITY: "velocities",
    ControlMode.TORQUE: "torques",
}  # while the loop runs all commands of a controller are alike


def walking_signals(log: WalkingLog, measurement: Measurement) -> Signals:
    """Return the signals of a tick of the control loop.

    Raises:
        ValueError: The loop did not run.
    """
    reference, state, desired = log.reference, log.robot_state, log.desired
    if reference is None or state is None or desired is None:
        raise ValueError("only ticks of the control loop can be recorded")
    signals = _pendulum(reference, state, desired) | _joints(log, state, measurement) | _gait(reference, state)
    signals |= _deflections(state)
    signals |= log.own
    signals |= _imu(measurement) | _stepping(log.stepping) | _external_wrench(state)
    for side in Side:
        signals |= _foot(side, reference.foot(side), state) | _contact(side, state.foot_contact(side))
    return signals


def own_signals(sources: Iterable[tuple[str, Any]], shapes: dict[str, tuple[int, ...]]) -> Signals:
    """Return the signals of the user's own parts.

    Args:
        sources: Parts, with the beginnings of the names of their signals.
        shapes: Of the signals in the first tick, in which it is empty and filled.

    Raises:
        ConfigError: Names or shapes are not those of the first tick.
    """
    signals = {name + signal: value for name, own in sources for signal, value in own.signals().items()}
    now = {name: np.shape(value) for name, value in signals.items()}
    if not shapes:
        shapes.update(now)
    if now != shapes:
        changed = min(name for name, _ in now.items() ^ shapes.items())
        raise ConfigError(f"signals(): '{changed}' is not what it was in the first tick: the same names and shapes")
    return signals


def element_names(signal: str, joints: Sequence[str], flexible: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the elements of a signal, of a robot with these joints and flexible joints.

    Elements of signals of the user's own have no names.
    """
    if signal.startswith(OWN):
        return ()
    if signal.removeprefix("simulation::").startswith("flexible_joints::"):
        return tuple(flexible)
    if signal.startswith("joints_state::"):
        return tuple(joints)
    if signal.startswith("step_adaptation::") and signal.endswith("_foothold"):
        return ("x", "y", "yaw")
    if signal.startswith(("stance_foot::", "walking::", "step_adaptation::", "mpc::")) or "::contact::" in signal:
        return (signal.rsplit("::", maxsplit=1)[-1],)
    if "::orientation" in signal:
        return _ANGLES
    return _AXES[:2] if signal.startswith(("dcm::", "zmp::")) else _AXES


def _pendulum(reference: WalkingReference, state: RobotState, desired: BalanceReference) -> Signals:
    return {
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
    }


def _joints(log: WalkingLog, state: RobotState, measurement: Measurement) -> Signals:
    return {
        "joints_state::positions::measured": state.joint_positions,
        "joints_state::positions::desired": log.desired_joint_positions,  # type: ignore[dict-item]
        f"joints_state::{_COMMANDED[log.command.mode]}::command": log.command.values,
        "joints_state::velocities::measured": state.joint_velocities,
        "joints_state::velocities::desired": log.desired_joint_velocities,  # type: ignore[dict-item]
        "joints_state::torques::measured": measurement.joint_torques,
    }


def _deflections(state: RobotState) -> Signals:
    """Return the estimates of the flexible joints; nothing of a rigid robot."""
    if not state.flexible_positions.size:
        return {}
    return {
        "flexible_joints::positions::estimated": state.flexible_positions,
        "flexible_joints::velocities::estimated": state.flexible_velocities,
        "flexible_joints::torques::estimated": state.flexible_torques,
        "flexible_joints::stiffness::estimated": state.flexible_stiffness,
    }


def _gait(reference: WalkingReference, state: RobotState) -> Signals:
    """Return the base, which has no reference, and the phase of the gait."""
    return {
        "root_link::position::measured": state.base_position,
        "root_link::orientation::measured": so3.roll_pitch_yaw(state.base_rotation),
        "odometry::root_link::position": _by_odometry(state),
        "stance_foot::is_left": float(reference.stance_foot is Side.LEFT),
        "walking::is_double_support": float(reference.is_double_support),
        "walking::is_walking": float(reference.is_walking),
    }


def _imu(measurement: Measurement) -> Signals:
    """Return the measurements of the IMU, in its own axes and against gravity; nothing where the robot has none."""
    imu = measurement.imu
    if imu is None:
        return {}
    return {
        "imu::orientation::measured": so3.roll_pitch_yaw(imu.rotation),
        "imu::angular_velocity::measured": imu.angular_velocity,
    }


def _stepping(log: SteppingLog | None) -> Signals:
    """Return the footholds of the swinging foot, NaN in double support and while step adaptation is off."""
    if log is None:
        return {}
    footholds = {"nominal": log.nominal, "adapted": log.adapted}
    return {
        "step_adaptation::is_active": float(log.is_active),
        "step_adaptation::delay": log.delay,
        **{
            f"step_adaptation::{name}_foothold": [math.nan] * 3 if pose is None else [pose.x, pose.y, pose.yaw]
            for name, pose in footholds.items()
        },
    }


def _external_wrench(state: RobotState) -> Signals:
    """Return force and moment about the CoM; nothing where they are not estimated."""
    wrench = state.external_wrench
    if wrench is None:
        return {}
    return {"external_wrench::force": wrench[:3], "external_wrench::torque": wrench[3:]}


def _foot(side: Side, foot: FootReference, state: RobotState) -> Signals:
    name, wrench = f"{side}_foot", state.foot_wrench(side)
    return {
        f"{name}::position::measured": state.foot_position(side),
        f"{name}::position::desired": foot.position,
        f"{name}::orientation::measured": so3.roll_pitch_yaw(state.foot_rotation(side)),
        f"{name}::orientation::desired": so3.roll_pitch_yaw(foot.rotation),
        f"{name}::linear_force::measured": wrench[:3],
        f"{name}::angular_torque::measured": wrench[3:],
    }


def _contact(side: Side, contact: FootContact | None) -> Signals:
    """Return the estimates of soft ground; nothing where it is not estimated."""
    if contact is None:
        return {}
    name = f"{side}_foot::contact"
    return {
        f"{name}::is_active": float(contact.is_active),
        f"{name}::stiffness": contact.stiffness,
        f"{name}::damping": contact.damping,
    }


def _by_odometry(state: RobotState) -> NDArray:
    """Return the base position by the robot's odometry, [m], shape (3,)."""
    base = state.plan_origin @ PlanarPose.of(state.base_position, state.base_rotation)
    return np.array([base.x, base.y, state.base_position[2]])
