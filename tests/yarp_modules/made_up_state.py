"""A robot that is nearly where its plan has it."""

import numpy as np

from gradiva.common import RobotState, WalkingReference


def state_near(reference: WalkingReference, joints: int, seed: int) -> RobotState:
    """Return a state some millimetres off a reference."""
    random = np.random.default_rng(seed)
    off = lambda values: np.asarray(values) + random.normal(scale=0.002, size=np.shape(values))  # noqa: E731
    return RobotState(
        base_position=off(reference.com_position),
        base_rotation=np.eye(3),
        base_twist=off(np.zeros(6)),
        joint_positions=off(np.zeros(joints)),
        joint_velocities=off(np.zeros(joints)),
        com_position=off(reference.com_position),
        com_velocity=off(reference.com_velocity),
        dcm_position=off(reference.dcm.position),
        zmp_position=off(reference.dcm.zmp_position),
        left_foot_position=reference.left_foot.position,
        left_foot_rotation=reference.left_foot.rotation,
        right_foot_position=reference.right_foot.position,
        right_foot_rotation=reference.right_foot.rotation,
        left_foot_twist=np.zeros(6),
        right_foot_twist=np.zeros(6),
        left_foot_wrench=off(np.full(6, 100.0)),
        right_foot_wrench=off(np.full(6, 100.0)),
        flexible_positions=off(np.zeros(4)),
        flexible_velocities=off(np.zeros(4)),
        flexible_torques=off(np.zeros(4)),
        flexible_stiffness=off(np.zeros(4)),
    )
