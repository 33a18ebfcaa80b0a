"""Angular momentum of the legs, in matrices."""

from gradiva.common import Side, so3


def momentum_of_legs(legs, left, right, com, heading):
    """Return L = R K_l Rᵀ (v_l - ẋ) + R K_r Rᵀ (v_r - ẋ) of a ``SwingMomentum`` (world, [N·m·s], shape (3,)).

    Args:
        legs: Its ``gains`` are K_l and K_r.
        left: Twist of the left foot, shape (6,); with accelerations for velocities, the rate is returned, [N·m].
        right: Twist of the right foot.
        com: Velocity of the CoM, shape (3,).
        heading: Of R, [rad].
    """
    turn, feet = so3.rotation_z(heading), ((Side.LEFT, left), (Side.RIGHT, right))
    return sum(turn @ legs.gains(side) @ turn.T @ (foot[:3] - com) for side, foot in feet)
