"""References of the whole body, from the plan and layer 2."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from gradiva.common import GRAVITY, FootReference, NDArray, RobotPosture, WalkingReference, so3, unchecked
from gradiva.contacts import ContactPlane, pendulum_wrenches
from gradiva.simplified_model import BalanceReference
from gradiva.whole_body import SwingMomentum, WholeBodyReference

_GRAVITY = np.array([0.0, 0.0, -GRAVITY])
_NOTHING: Mapping[str, NDArray] = MappingProxyType({})  # own quantities of tasks bring their own values


class BodyReferences:
    """Builds the reference of layer 3: feet, CoM, momentum, trunk, posture, foot wrenches."""

    def __init__(
        self,
        mass: float,
        start_posture: RobotPosture,
        torso_rotation: NDArray,
        zmp_offset: tuple[float, float],
        swing_momentum: SwingMomentum,
        inverse_frequency_offset: float,
    ) -> None:
        """Take the constants.

        Args:
            mass: Of the robot, [kg].
            start_posture: Facing x; joints and pelvis stay near it.
            torso_rotation: In it, shape (3, 3).
            zmp_offset: Of the ZMP in the frame of the left foot, mirrored for the right one, [m].
            swing_momentum: Of the legs, and how the swinging one moves the ZMP.
            inverse_frequency_offset: Of 1/ω² of the planned pendulum against a point above the soles, [s²].
        """
        self._mass = mass
        self._start_posture = start_posture
        self._torso_rotation = torso_rotation
        self._zmp_offset = zmp_offset
        self._swing_momentum = swing_momentum
        self._inverse_frequency_offset = inverse_frequency_offset
        self._stood: tuple[FootReference, ContactPlane] | None = None  # the last stance foot and its plane
        self._faced: tuple[float, NDArray, NDArray] | None = None  # the last heading, torso and pelvis in it

    def reference(self, plan: WalkingReference, desired: BalanceReference) -> WholeBodyReference:
        """Return the reference of layer 3.

        Args:
            plan: At the end of the coming period.
            desired: Of layer 2 until then.
        """
        torso_rotation, pelvis_rotation = self._trunk(plan.heading)
        zmp = desired.zmp_position + self._swing_momentum.zmp_shift(plan)
        acceleration, (left, right) = self._forces(plan, desired, zmp)
        momentum = self._swing_momentum.momentum
        return unchecked(
            WholeBodyReference,
            time=plan.time,
            left_foot=plan.left_foot,
            right_foot=plan.right_foot,
            com_position=desired.com_position,
            com_velocity=desired.com_velocity,
            com_acceleration=acceleration,
            com_jerk=_jerk(plan),
            angular_momentum=momentum(plan.left_foot.twist, plan.right_foot.twist, desired.com_velocity, plan.heading),
            angular_momentum_rate=momentum(
                plan.left_foot.acceleration, plan.right_foot.acceleration, acceleration, plan.heading
            ),
            zmp=zmp,
            torso_rotation=torso_rotation,
            pelvis_rotation=pelvis_rotation,
            trunk_angular_velocity=_turn(plan.left_foot.twist, plan.right_foot.twist),
            trunk_angular_acceleration=_turn(plan.left_foot.acceleration, plan.right_foot.acceleration),
            posture=self._start_posture.joint_positions,
            left_foot_wrench=left,
            right_foot_wrench=right,
            own=_NOTHING,
        )

    def _trunk(self, heading: float) -> tuple[NDArray, NDArray]:
        """Return the rotations of torso and pelvis; a robot that walks straight on keeps them."""
        if self._faced is None or self._faced[0] != heading:
            turn = so3.rotation_z(heading)
            rotations = turn.dot(self._torso_rotation), turn.dot(self._start_posture.base_rotation)
            self._faced = heading, *rotations
        return self._faced[1:]

    def _forces(
        self, plan: WalkingReference, desired: BalanceReference, zmp: NDArray
    ) -> tuple[NDArray, tuple[NDArray, NDArray]]:
        """Return the acceleration of the CoM and the wrenches of both feet: of layer 2, or of a pendulum on its ZMP."""
        if desired.foot_wrenches is not None:
            return desired.com_acceleration, desired.foot_wrenches
        force = self._pendulum_force(plan, desired)
        return force / self._mass + _GRAVITY, self._foot_wrenches(plan, force, zmp)

    def _pendulum_force(self, plan: WalkingReference, desired: BalanceReference) -> NDArray:
        square = plan.dcm.natural_frequency * plan.dcm.divergence_rate  # ω² = σ / η
        stiffness = self._mass * square
        (x, y, z), (zmp_x, zmp_y) = plan.com_position.tolist(), desired.zmp_position.tolist()
        height = z - self._plane(plan).height_at(zmp_x, zmp_y)
        weight = stiffness * height / (1.0 - square * self._inverse_frequency_offset)  # m (g + z̈)
        return np.array((stiffness * (x - zmp_x), stiffness * (y - zmp_y), weight))

    def _foot_wrenches(self, plan: WalkingReference, force: NDArray, zmp: NDArray) -> tuple[NDArray, NDArray]:
        x, y = self._zmp_offset
        points = _point(plan.left_foot, x, y), _point(plan.right_foot, x, -y)
        return pendulum_wrenches(force, zmp, (plan.left_foot, plan.right_foot), points, self._plane(plan))

    def _plane(self, plan: WalkingReference) -> ContactPlane:
        """Return the contact plane of the stance foot; one that stands keeps its reference from tick to tick."""
        stance = plan.foot(plan.stance_foot)
        if self._stood is None or self._stood[0] is not stance:
            self._stood = stance, ContactPlane.of_sole(stance)
        return self._stood[1]


def _point(foot: FootReference, x: float, y: float) -> tuple[float, float]:
    """Return a point in the plane of a sole in world, [m]."""
    (x0, y0, _), ((xx, xy, _), (yx, yy, _), _) = foot.position.tolist(), foot.rotation.tolist()
    return x0 + xx * x + xy * y, y0 + yx * x + yy * y


def _jerk(plan: WalkingReference) -> NDArray:
    """Return the jerk of the planned CoM, ω² (ẋ − ż): feedback has no part in it, which would not be smooth."""
    dcm = plan.dcm
    (vx, vy, _), (zmp_vx, zmp_vy) = plan.com_velocity.tolist(), dcm.zmp_velocity.tolist()
    stiffness = dcm.natural_frequency * dcm.divergence_rate
    return np.array((stiffness * (vx - zmp_vx), stiffness * (vy - zmp_vy), 0.0))


def _turn(left: NDArray, right: NDArray) -> NDArray:
    """Return the mean about the vertical of two twists, or of their rates, shape (3,)."""
    return np.array((0.0, 0.0, 0.5 * float(left[5] + right[5])))
