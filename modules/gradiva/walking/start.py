"""Start of a walk: the move to the start posture, or the stand of a robot that is on the ground already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradiva.common import (
    ControlMode,
    NDArray,
    PlanarPose,
    RobotPosture,
    RobotState,
    StateError,
    WalkingReference,
    altered,
    minimum_jerk,
    so3,
)
from gradiva.planner import FootPose, PlannerConfig, PlanningState, WalkingPlan, standing_time
from gradiva.robot_model import IdynTreeModel
from gradiva.whole_body import SLIGHT_SLOPE, SlopedBegin, lean_of_soles

if TYPE_CHECKING:
    from gradiva.walking.walking_layers import WalkingLayers

_PEAK = 1.875  # of ds/dσ of the minimum-jerk law
_MAX_HEIGHT_DIFFERENCE = 0.02  # [m] between the soles, as measured by the joints of a robot on a floor
_MAX_TILT = 0.06  # [rad] of one sole against the other
_MAX_SINK = 0.04  # [m] the CoM may be higher or lower than it is walked with: it is moved there at once, but slowly
_MAX_JOINT_OFF = 0.3  # [rad] from the start posture, which the whole body is drawn to within a second
_MAX_OFF_CENTRE = 0.06  # [m] of the CoM from where the feet are loaded alike
_NEAR = 0.01  # [m] of the CoM from where it is planned, at which the plan may as well begin there
Pose = tuple[NDArray, NDArray]


class Preparation:
    """Minimum-jerk move of all joints to the start posture.

    Attributes:
        duration: [s].
    """

    def __init__(self, start_time: float, start: NDArray, goal: NDArray, shortest: float, highest_speed: float) -> None:
        """Plan the move.

        Args:
            start_time: [s].
            start: Measured joint positions, [rad], shape (n,).
            goal: Start posture with its servo offsets, [rad], shape (n,).
            shortest: Least duration, [s].
            highest_speed: Of any joint, [rad/s].
        """
        self._start_time = start_time
        self._start = start
        self._goal = goal
        self.duration = max(shortest, _PEAK * float(np.max(np.abs(goal - start))) / highest_speed)

    def at(self, time: float) -> NDArray:
        """Return the joint positions at ``time`` [s], [rad], shape (n,)."""
        fraction, _, _ = minimum_jerk((time - self._start_time) / self.duration)
        return self._start + fraction * (self._goal - self._start)

    def is_done(self, time: float) -> bool:
        """Return whether the goal has been reached."""
        return time >= self._start_time + self.duration


@dataclass(frozen=True, slots=True, eq=False)
class StandingStart:
    """Stand of a robot; the world lies on the floor between the soles, x ahead.

    Attributes:
        posture: Of the robot, in that world.
        left_foot: Left sole.
        right_foot: Right sole.
        com_position: [m], shape (3,); its height is that of walking.
    """

    posture: RobotPosture
    left_foot: FootPose
    right_foot: FootPose
    com_position: NDArray

    def at(self, time: float) -> PlanningState:
        """Return the state from which a plan starts at ``time`` [s]."""
        return PlanningState.at_rest(time, self.left_foot, self.right_foot, self.com_position)


def standing_start(
    model: IdynTreeModel, config: PlannerConfig, usual: NDArray, joint_positions: NDArray
) -> StandingStart:
    """Return the stand of a robot with its joints at ``joint_positions`` [rad] and its soles on a floor.

    Args:
        model: The robot.
        config: Limits of a step.
        usual: Joint positions of the start posture, [rad], shape (n,).
        joint_positions: Measured, [rad], shape (n,).

    Raises:
        StateError: It cannot stand and walk so; the message names the obstacle.
    """
    if not np.isfinite(joint_positions).all():
        raise StateError("cannot prepare on the fly: the joint positions are not finite")
    _check_joints(joint_positions, usual, model.description.joints)
    base, left, right = _placed(*_seen_from_base(model, joint_positions))
    posture = RobotPosture(base[0], base[1], joint_positions)
    com = model.com_position(posture)
    _check_feet(left, right, config)
    _check_com(com, config)
    return StandingStart(
        posture,
        _foot(left),
        _foot(right),
        np.array([com[0], com[1], config.com_height]),
    )


def _seen_from_base(model: IdynTreeModel, joint_positions: NDArray) -> tuple[Pose, Pose]:
    description = model.description
    frames = (description.left_foot_frame, description.right_foot_frame)
    left, right = model.poses_seen_from(description.base_link, frames, joint_positions)
    return left, right


def _placed(left: Pose, right: Pose) -> tuple[Pose, Pose, Pose]:
    """Return base, left and right sole with the world midway between the soles; up is as the left sole has it."""
    turn = so3.yaw(left[1].T @ right[1])
    rotation = so3.rotation_z(-0.5 * turn) @ left[1].T  # of the base
    middle = 0.5 * (left[0] + right[0])
    base = (-rotation @ middle, rotation)
    return base, _moved(base, left), _moved(base, right)


def _moved(base: Pose, pose: Pose) -> Pose:
    return base[0] + base[1] @ pose[0], base[1] @ pose[1]


def standing_with_com(plan: WalkingPlan, state: RobotState, time: float) -> PlanningState | None:
    r"""Return the state from which the plan begins where the CoM is; None where it is as planned.

    On ground that rises by :math:`\theta` the CoM, at a height h above the soles, is :math:`h \tan\theta` downhill of
    where the posture has it. An error at rest is no push: no step, trunk or sole has to answer it. The reference goes
    to the middle of the feet from there, and the commanded CoM, which begins in the middle, ends as far uphill.
    """
    phase, planned = plan.phase_at(time), plan.at(time).com_position
    if math.dist(state.com_position[:2], planned[:2]) < _NEAR:
        return None
    com_position = np.array([*state.com_position[:2], planned[2]])
    return PlanningState.at_rest(time, phase.left.pose, phase.right.pose, com_position)


def off_in_words(start: PlanningState, reference: WalkingReference) -> str:
    """Return where the CoM is, and which slope of the ground, or lean of the inertial unit, would be the cause."""
    x, y = (start.com_position - reference.com_position)[:2].tolist()
    lean = math.degrees(math.atan(math.hypot(x, y) / start.com_position[2]))
    return (
        f"the CoM is ({100 * x:+.1f}, {100 * y:+.1f}) cm off, as on {lean:.1f}° of slope or with an IMU that leans so"
    )


class FirstTick(NamedTuple):
    """What layer 2 takes in the tick in which the balance begins.

    Attributes:
        state: Estimated, or as planned.
        plan: That it begins with.
        reference: Of it.
        logged: The reference to log where that is another one.
    """

    state: RobotState
    plan: WalkingPlan
    reference: WalkingReference
    logged: WalkingReference | None = None


def first_tick(
    layers: WalkingLayers,
    state: RobotState,
    posture: tuple[WalkingPlan, WalkingReference],
    start: PlanningState,
    plan: WalkingPlan,
) -> FirstTick:
    """Return it for a CoM that is elsewhere than planned.

    Servos hold the posture, in which the CoM is in the middle: there the commanded one begins, without an error. Torque
    control holds nothing: on a slope the commanded CoM, trunk and loads begin as they are measured.

    Args:
        layers: Of which the soles take the begin on a slope.
        state: Measured.
        posture: Plan and reference with the CoM in the middle.
        start: Where the robot stands.
        plan: From there.
    """
    config, begun = layers.config, plan.at(start.time)
    is_measured = config.walking.control is ControlMode.TORQUE and config.torque_control.learns_landings
    if not is_measured or lean_of_soles(state) < SLIGHT_SLOPE:
        return FirstTick(_seen_as_planned(state, posture[1]), *posture, begun)
    layers.push_recovery.soles.reset(SlopedBegin(start.time, standing_time(start, config.planner)))
    return FirstTick(state, plan, begun)


def _seen_as_planned(state: RobotState, reference: WalkingReference) -> RobotState:
    """Return the state as layer 2 sees it when it begins: without an error."""
    dcm = reference.dcm.position
    return altered(state, com_position=reference.com_position, dcm_position=dcm, zmp_position=dcm)


def _check_joints(positions: NDArray, usual: NDArray, joints: Sequence[str]) -> None:
    worst = int(np.argmax(np.abs(positions - usual)))
    off = float(positions[worst] - usual[worst])
    if abs(off) > _MAX_JOINT_OFF:
        far = f"{joints[worst]} is {off:+.2f} rad from the start posture"
        raise StateError(f"cannot prepare on the fly: {far}; prepare the robot without onTheFly")


def _check_feet(left: Pose, right: Pose, config: PlannerConfig) -> None:
    step = left[0][2] - right[0][2]
    tilt = float(np.arccos(np.clip(right[1][2, 2], -1.0, 1.0)))
    if abs(step) > _MAX_HEIGHT_DIFFERENCE:
        raise StateError(f"cannot prepare on the fly: the left foot is {100 * step:+.1f} cm above the right one")
    if tilt > _MAX_TILT:
        raise StateError(f"cannot prepare on the fly: the soles are inclined by {tilt:.2f} rad against each other")
    distance = PlanarPose.of(*left).inverse() @ PlanarPose.of(*right)
    if not config.min_step_width <= -distance.y or np.hypot(distance.x, distance.y) > config.max_feet_distance:
        apart = f"{-distance.y:.3f} m beside and {distance.x:+.3f} m ahead"
        raise StateError(f"cannot prepare on the fly: the feet are {apart} of each other, which no step allows")


def _check_com(com: NDArray, config: PlannerConfig) -> None:
    sink, off = com[2] - config.com_height, float(np.hypot(com[0] - config.zmp_offset[0], com[1]))
    if abs(sink) > _MAX_SINK:
        at = f"the CoM is {com[2]:.3f} m high, it walks with {config.com_height:.3f} m"
        raise StateError(f"cannot prepare on the fly: {at}; prepare the robot without onTheFly")
    if off > _MAX_OFF_CENTRE:
        raise StateError(f"cannot prepare on the fly: the CoM is {off:.3f} m from the middle of the feet")


def _foot(pose: Pose) -> FootPose:
    return FootPose(float(pose[0][0]), float(pose[0][1]), so3.yaw(pose[1]))
