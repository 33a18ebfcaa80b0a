"""What the simulated robot really does; for scoring only, the controller must not see it."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import NDArray, TwoFeet, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedState(TwoFeet):
    """State of the plant without noise or delay; world (its xy plane is the floor), mixed representation.

    Attributes:
        time: [s].
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        base_twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        joint_positions: [rad], shape (n,).
        joint_velocities: [rad/s], shape (n,).
        joint_torques: Of the servos during the last physics step, [N·m], shape (n,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        left_foot_position: Left sole frame, [m], shape (3,).
        left_foot_rotation: Shape (3, 3).
        right_foot_position: Right sole frame, [m], shape (3,).
        right_foot_rotation: Shape (3, 3).
        left_foot_wrench: Ground on foot during the last physics step, about the sole origin, shape (6,).
        right_foot_wrench: The same of the right foot.
        foot_slip_m: Largest horizontal slip of a sole in one stance phase so far, [m].
        foot_turn_rad: Largest turn of a sole about the vertical in one stance phase so far, [rad].
    """

    time: float
    base_position: NDArray
    base_rotation: NDArray
    base_twist: NDArray
    joint_positions: NDArray
    joint_velocities: NDArray
    joint_torques: NDArray
    com_position: NDArray
    com_velocity: NDArray
    left_foot_position: NDArray
    left_foot_rotation: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray
    foot_slip_m: float
    foot_turn_rad: float

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            base_position=(3,),
            base_rotation=(3, 3),
            base_twist=(6,),
            joint_positions=(None,),
            joint_velocities=(None,),
            joint_torques=(None,),
            com_position=(3,),
            com_velocity=(3,),
            left_foot_position=(3,),
            left_foot_rotation=(3, 3),
            right_foot_position=(3,),
            right_foot_rotation=(3, 3),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
        )
