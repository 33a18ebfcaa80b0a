"""The start posture: solved by the walking controller's own inverse kinematics."""

from __future__ import annotations

from collections.abc import Hashable

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, FootReference, ModelError, NDArray, NoSolutionFound, RobotPosture, so3
from gradiva.robot_model import IdynTreeModel, as_array
from gradiva.whole_body.inverse_kinematics import WalkingKinematics, integrate
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_STEP = 0.02  # [s] of each iteration; the tasks' gains make it contract
_ITERATIONS = 1500
_TOLERANCE = 1e-6  # [m]
_PERIOD = 0.01  # [s] of a probe
_KEPT = 64  # postures
_REST = 1e-3  # [m] that a radian away from the described posture is worth, beside errors of feet and CoM
_BEYOND = 1e-4  # [rad] beyond a joint limit, from which it is in the way
_NAMED = 4  # [joints] in the way that are named

_solved: dict[Hashable, RobotPosture] = {}


def upright_torso(model: IdynTreeModel, lean: float = 0.0) -> NDArray:
    """Return the torso frame's rotation when the robot stands straight, facing x, shape (3, 3).

    Straight means all joints at zero.

    Args:
        model: The robot.
        lean: Forward lean, [rad].
    """
    base = forward_base_rotation(model)
    torso = _rotation_in_base(model, model.description.torso_frame)
    return so3.exp(np.array([0.0, lean, 0.0])) @ base @ torso


def forward_base_rotation(model: IdynTreeModel) -> NDArray:
    """Return the base rotation, about the vertical, that makes the soles of the straight robot face x, (3, 3)."""
    sole = _rotation_in_base(model, model.description.left_foot_frame)
    return so3.rotation_z(-so3.yaw(sole))


def solve_start_posture(
    model: IdynTreeModel,
    inverse_kinematics: WalkingKinematics,
    com_offset: NDArray,
    torso: NDArray,
    com_height: float | None = None,
) -> RobotPosture:
    """Stand with both soles level, ``step_width`` apart, the CoM at its height; world between the soles, x ahead.

    Args:
        model: The robot.
        inverse_kinematics: Of the walking controller.
        com_offset: Of the CoM from the middle of the soles, on the ground plane, [m], shape (2,).
        torso: Wanted rotation of the torso frame, world, shape (3, 3).
        com_height: Above the soles, [m]; the description's where None.

    Raises:
        ModelError: The posture cannot be reached; the message says by how much it is missed, or that joint limits
            are in the way.
    """
    height = model.description.com_height if com_height is None else com_height
    com_position = np.array([com_offset[0], com_offset[1], height])
    if inverse_kinematics.key is None:
        return _solve(model, inverse_kinematics, com_position, torso)
    key = inverse_kinematics.key, model.fingerprint, com_position.tobytes(), torso.tobytes()
    posture = _solved.get(key)
    if posture is None:
        posture = _solve(model, inverse_kinematics, com_position, torso)
        if len(_solved) >= _KEPT:
            _solved.pop(next(iter(_solved)), None)
        _solved[key] = posture
    return posture


def _solve(
    model: IdynTreeModel, inverse_kinematics: WalkingKinematics, com_position: NDArray, torso: NDArray
) -> RobotPosture:
    """Iterate the inverse kinematics from the described posture until the tasks are met."""
    description = model.description
    wanted = RobotPosture(np.zeros(3), forward_base_rotation(model), description.posture)
    reference = standing_reference(model, wanted, torso, com_position)
    state = described_posture(model)
    wish = (
        f"{description.name}: no start posture with the CoM {com_position[2]} m high, {com_position[0]} m ahead of the"
        " soles"
    )
    try:
        for _ in range(_ITERATIONS):
            state = integrate(state, inverse_kinematics.solve(state, reference, _STEP), _STEP)
    except NoSolutionFound:
        raise ModelError(f"{wish}: {_limits_in_the_way(model, inverse_kinematics, reference)}") from None
    missed = float(np.max(np.abs(inverse_kinematics.task_error(state, reference))))
    if not missed <= _TOLERANCE:
        raise ModelError(f"{wish}: missed by {1e3 * missed:.1f} mm")
    return state


def _limits_in_the_way(model: IdynTreeModel, kinematics: WalkingKinematics, reference: WholeBodyReference) -> str:
    """Return which joints leave their limits, and by how much, in the posture that is found without limits."""
    from scipy.optimize import least_squares  # which takes long to import, for a message alone

    start, low, high = described_posture(model), kinematics.lower_limits, kinematics.upper_limits

    def residual(motion: NDArray) -> NDArray:
        """Return the tasks' errors after a motion (base, [m], [rad], joints, [rad]), and a weight on the joints'."""
        return np.append(kinematics.task_error(integrate(start, motion, 1.0), reference), _REST * motion[6:])

    motion = least_squares(residual, np.zeros(6 + len(low))).x
    wanted = integrate(start, motion, 1.0).joint_positions
    beyond = np.maximum(low - wanted, wanted - high)
    limits, joints = np.degrees(np.where(wanted < low, *model.joint_limits())), model.description.joints
    turns = [
        f"{joints[index]} at {limits[index] + 0.0:.1f}° by {np.degrees(beyond[index]):.2g}°"
        for index in np.argsort(-beyond.round(4), kind="stable")  # left before right where both lack as much
        if beyond[index] > _BEYOND
    ]
    return ": ".join(["the joint limits are in the way", *[", ".join(turns[:_NAMED])] * bool(turns)])


def standing_reference(
    model: IdynTreeModel, posture: RobotPosture, torso: NDArray, com_position: NDArray | None = None
) -> WholeBodyReference:
    """Return what the body is asked to do when it stands, facing x, the world between its soles.

    Args:
        model: The robot.
        posture: Joints and pelvis are asked to be as in it.
        torso: Rotation of the torso frame, world, shape (3, 3).
        com_position: World, [m], shape (3,); where it is in ``posture`` when None.
    """
    half_width = 0.5 * model.description.step_width
    com_position = model.com_position(posture) if com_position is None else com_position
    return WholeBodyReference(
        time=0.0,
        left_foot=_level_sole(half_width),
        right_foot=_level_sole(-half_width),
        com_position=com_position,
        com_velocity=np.zeros(3),
        com_acceleration=np.zeros(3),
        com_jerk=np.zeros(3),
        angular_momentum=np.zeros(3),
        angular_momentum_rate=np.zeros(3),
        zmp=com_position[:2],
        torso_rotation=torso,
        pelvis_rotation=posture.base_rotation,
        trunk_angular_velocity=np.zeros(3),
        trunk_angular_acceleration=np.zeros(3),
        posture=posture.joint_positions,
        left_foot_wrench=np.zeros(6),
        right_foot_wrench=np.zeros(6),
    )


def _level_sole(y: float) -> FootReference:
    zero = np.zeros(6)
    return FootReference(np.array([0.0, y, 0.0]), np.eye(3), zero, zero, in_contact=True)


def described_posture(model: IdynTreeModel) -> RobotPosture:
    """Return the posture of the description, world midway between the soles, x ahead.

    The start posture is solved from it; its soles need not be level.
    """
    description = model.description
    rotation = forward_base_rotation(model)
    frames = (description.left_foot_frame, description.right_foot_frame)
    poses = model.poses_seen_from(description.base_link, frames, description.posture)
    soles = [rotation @ position for position, _ in poses]
    return RobotPosture(-0.5 * (soles[0] + soles[1]), rotation, description.posture)


def torso_rotation(model: IdynTreeModel, posture: RobotPosture) -> NDArray:
    """Return the torso frame's rotation in a posture, world, shape (3, 3)."""
    in_base = _rotation_in_base(model, model.description.torso_frame, posture.joint_positions)
    return posture.base_rotation @ in_base


def _rotation_in_base(model: IdynTreeModel, frame: str, joint_positions: NDArray | None = None) -> NDArray:
    straight = np.zeros(len(model.description.joints))
    posture = straight if joint_positions is None else joint_positions
    ((_, rotation),) = model.poses_seen_from(model.description.base_link, [frame], posture)
    return rotation


def probed_momentum(
    model: IdynTreeModel, inverse_kinematics: WalkingKinematics, posture: RobotPosture, probe: WholeBodyReference
) -> NDArray:
    """Return the centroidal angular momentum of a robot in a posture that follows a reference, [N·m·s], shape (3,)."""
    velocity = inverse_kinematics.solve(posture, probe, _PERIOD)
    kinematics: idyn.KinDynComputations = model.kinematics_and_dynamics()
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = posture.base_rotation, posture.base_position
    gravity = np.array([0.0, 0.0, -GRAVITY])
    kinematics.setRobotState(pose, posture.joint_positions, velocity[:6], velocity[6:], gravity)
    return as_array(kinematics.getCentroidalTotalMomentum())[3:]
