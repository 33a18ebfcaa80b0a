"""What the controller saw and decided in one tick."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import JointCommand, NDArray, RobotState, WalkingReference
from gradiva.simplified_model import BalanceReference
from gradiva.walking.walking_state import WalkingState


@dataclass(frozen=True, slots=True, eq=False)
class WalkingLog:
    """One tick; the quantities of the loop are None while it does not run (preparing, fault).

    Attributes:
        time: [s].
        state: Of the state machine after the tick.
        reason: Why it is in this state.
        command: What was sent.
        reference: What the plan asked for.
        robot_state: What was estimated.
        desired: What layer 2 asked of the body.
        desired_joint_positions: Where the joints were told to be, feed-forward left out, [rad], shape (n,).
        desired_joint_velocities: [rad/s], shape (n,).
        relaxed_task: Which task layer 3 could only come near to, the hardest to meet; empty where it met all, or none
            is known.
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
