"""What the feet do between two contact changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradiva.common import FootReference, NDArray, Side, so3
from gradiva.planner.contact_phase import SwingFoot
from gradiva.planner.footsteps import FootPose, Footstep, GaitSchedule
from gradiva.planner.planner_config import PlannerConfig


@dataclass(eq=False)
class StandingFoot:
    """A sole that rests where it stands.

    Attributes:
        pose: On the ground.
        height: Of the sole frame above the ground, [m].
        placement: Position ([m], shape (3,)) and rotation (shape (3, 3)) of the sole frame.
    """

    pose: FootPose
    height: float = 0.0
    placement: tuple[NDArray, NDArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        pose = self.pose
        self.placement = np.array([pose.x, pose.y, self.height]), so3.rotation_z(pose.yaw)
        self._reference = FootReference(*self.placement, np.zeros(6), np.zeros(6), in_contact=True)

    def at(self, time: float) -> FootReference:
        """Return the one reference that it has."""
        return self._reference


@dataclass(frozen=True, slots=True, eq=False)
class ContactPhase:
    """An interval without contact change.

    Attributes:
        start_time: [s].
        swing: Motion of the swinging sole; None in double support.
        swing_side: The side of the swinging sole.
        left: Where the left sole stands; if it swings, where it will land.
        right: The same of the right sole.
        turn: By how much the heading changes over the phase, [rad].
        stance_foot: The foot that carried the last single support, or carries this one.
        is_walking: Whether weight is shifted or a foot swings.
    """

    start_time: float
    swing: SwingFoot | None
    swing_side: Side | None
    left: StandingFoot
    right: StandingFoot
    turn: float
    stance_foot: Side
    is_walking: bool

    def feet_at(self, time: float) -> tuple[FootReference, FootReference]:
        """Return the references of the left and the right sole."""
        if self.swing is None:
            return self.left.at(time), self.right.at(time)
        if self.swing_side is Side.LEFT:
            return self.swing.at(time), self.right.at(time)
        return self.left.at(time), self.swing.at(time)

    def heading_at(self, time: float) -> float:
        """Mean yaw of the feet, [rad]."""
        heading = 0.5 * (self.left.pose.yaw + self.right.pose.yaw)
        return heading if self.swing is None else heading - self.turn * (1.0 - self.swing.progress(time))

    def foot(self, side: Side) -> StandingFoot:
        """Where one sole stands or will land."""
        return self.left if side is Side.LEFT else self.right


def standing_phase(time: float, feet: dict[Side, StandingFoot], stance_foot: Side, is_walking: bool) -> ContactPhase:
    """Return the double support of ``feet`` that begins at ``time`` [s]."""
    return ContactPhase(time, None, None, feet[Side.LEFT], feet[Side.RIGHT], 0.0, stance_foot, is_walking)


def contact_phases(
    steps: Sequence[Footstep],
    schedule: GaitSchedule,
    feet: dict[Side, StandingFoot],
    stance_foot: Side,
    config: PlannerConfig,
) -> list[ContactPhase]:
    """Return all phases: double and single supports in turn, then the stand at the end.

    Args:
        steps: In order.
        schedule: Their times.
        feet: Where the feet stand at first.
        stance_foot: Of the first double support.
        config: Swing height, apex and profile.
    """
    feet = dict(feet)
    phases = [standing_phase(schedule.start_time, feet, stance_foot, is_walking=True)]
    times: NDArray = np.column_stack((schedule.lift_offs, schedule.touch_downs))
    for step, (lift_off, touch_down) in zip(steps, times.tolist(), strict=True):
        stance_foot = step.side.other
        phases.append(_swinging_phase(step, lift_off, touch_down, feet, config))
        feet[step.side] = phases[-1].foot(step.side)
        phases.append(standing_phase(touch_down, feet, stance_foot, is_walking=True))
    phases.append(standing_phase(schedule.end_time, feet, stance_foot, is_walking=False))
    return phases


def _swinging_phase(
    step: Footstep,
    lift_off: float,
    touch_down: float,
    feet: dict[Side, StandingFoot],
    config: PlannerConfig,
) -> ContactPhase:
    """Return the single support in which a step is made from where its foot stands among ``feet``."""
    before, after = feet[step.side], StandingFoot(step.pose, config.landing_height)
    swing = SwingFoot(
        lift_off,
        touch_down,
        before.placement,
        after.placement,
        config.swing_height,
        config.apex_fraction,
        config.swing_profile,
    )
    landed = feet | {step.side: after}
    turn = 0.5 * (after.pose.yaw - before.pose.yaw)
    return ContactPhase(
        lift_off, swing, step.side, landed[Side.LEFT], landed[Side.RIGHT], turn, step.side.other, is_walking=True
    )
