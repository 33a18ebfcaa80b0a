"""What the body should do in one tick."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import FootReference, NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class WholeBodyReference:
    """References of the whole-body layer (world, mixed representation).

    The kinematics-based controllers need positions and velocities only; those that command torques also need the
    accelerations, and on soft ground the jerk.

    Attributes:
        left_foot: Left sole.
        right_foot: Right sole.
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        com_acceleration: [m/s²], shape (3,).
        com_jerk: [m/s³], shape (3,).
        angular_momentum: Of the legs as planned, about the centre of mass, [N·m·s], shape (3,).
        angular_momentum_rate: Its derivative, [N·m], shape (3,).
        zmp: Where the ground's force is meant to act, on the plane of the soles, [m], shape (2,).
        torso_rotation: Shape (3, 3).
        pelvis_rotation: Of the base link, shape (3, 3).
        trunk_angular_velocity: Of torso and pelvis, [rad/s], shape (3,).
        trunk_angular_acceleration: Of torso and pelvis, [rad/s²], shape (3,).
        posture: [rad], shape (n,).
        left_foot_wrench: Ground on foot, about the planned sole origin, [N, N·m], shape (6,).
        right_foot_wrench: The same of the right foot.
    """

    left_foot: FootReference
    right_foot: FootReference
    com_position: NDArray
    com_velocity: NDArray
    com_acceleration: NDArray
    com_jerk: NDArray
    angular_momentum: NDArray
    angular_momentum_rate: NDArray
    zmp: NDArray
    torso_rotation: NDArray
    pelvis_rotation: NDArray
    trunk_angular_velocity: NDArray
    trunk_angular_acceleration: NDArray
    posture: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            com_position=(3,),
            com_velocity=(3,),
            com_acceleration=(3,),
            com_jerk=(3,),
            angular_momentum=(3,),
            angular_momentum_rate=(3,),
            zmp=(2,),
            torso_rotation=(3, 3),
            pelvis_rotation=(3, 3),
            trunk_angular_velocity=(3,),
            trunk_angular_acceleration=(3,),
            posture=(None,),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
        )
