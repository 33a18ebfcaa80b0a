"""What the robot does, as estimated."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, altered, freeze_arrays
from gradiva.common.foot_contact import FootContact
from gradiva.common.planar_pose import PlanarPose
from gradiva.common.side import Side
from gradiva.common.two_feet import TwoFeet


@dataclass(frozen=True, slots=True, eq=False)
class RobotState(TwoFeet):
    """The estimated state; world, mixed representation.

    Attributes:
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        base_twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        joint_positions: [rad], shape (n,).
        joint_velocities: [rad/s], shape (n,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        dcm_position: On the ground plane, [m], shape (2,).
        zmp_position: On the ground plane, from the foot wrenches, [m], shape (2,).
        left_foot_position: Left sole frame, [m], shape (3,).
        left_foot_rotation: x forward and z up, shape (3, 3).
        right_foot_position: Right sole frame, [m], shape (3,).
        right_foot_rotation: x forward and z up, shape (3, 3).
        left_foot_twist: Linear then angular velocity of the left sole frame, [m/s, rad/s], shape (6,).
        right_foot_twist: The same of the right foot.
        left_foot_wrench: Ground on foot, about the sole origin, world axes, [N, N·m], shape (6,).
        right_foot_wrench: The same of the right foot.
        plan_origin: Where the origin of the plan's world lies by the robot's own odometry. The plan takes the feet to
            be where it put them; what each landing really missed accumulates here.
        left_contact: Of the left sole with the ground; None where nobody estimates contacts and the plan's
            ``FootReference.in_contact`` counts.
        right_contact: The same of the right foot.
    """

    base_position: NDArray
    base_rotation: NDArray
    base_twist: NDArray
    joint_positions: NDArray
    joint_velocities: NDArray
    com_position: NDArray
    com_velocity: NDArray
    dcm_position: NDArray
    zmp_position: NDArray
    left_foot_position: NDArray
    left_foot_rotation: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    left_foot_twist: NDArray
    right_foot_twist: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray
    plan_origin: PlanarPose = PlanarPose()
    left_contact: FootContact | None = None
    right_contact: FootContact | None = None

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            base_position=(3,),
            base_rotation=(3, 3),
            base_twist=(6,),
            joint_positions=(None,),
            joint_velocities=(None,),
            com_position=(3,),
            com_velocity=(3,),
            dcm_position=(2,),
            zmp_position=(2,),
            left_foot_position=(3,),
            left_foot_rotation=(3, 3),
            right_foot_position=(3,),
            right_foot_rotation=(3, 3),
            left_foot_twist=(6,),
            right_foot_twist=(6,),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
        )

    def foot_twist(self, side: Side) -> NDArray:
        """Twist of one sole (world, mixed, shape (6,))."""
        return self.left_foot_twist if side is Side.LEFT else self.right_foot_twist

    def with_contacts(self, left: FootContact | None, right: FootContact | None) -> RobotState:
        """Return the same state with these contacts; its arrays are read-only and therefore shared."""
        return altered(self, left_contact=left, right_contact=right)

    def foot_contact(self, side: Side) -> FootContact | None:
        """Contact of one sole with the ground; None where nobody estimates contacts."""
        return self.left_contact if side is Side.LEFT else self.right_contact
