"""Make the contact phases of a plan: double and single supports in turn, from steps and their times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradiva.common import (
    NDArray,
    Side,
)
from gradiva.planner.footsteps import Footstep, GaitSchedule
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.swing_foot import StandingFoot, Swing, SwingFoot
from gradiva.planner.walking_plan import ContactPhase


def standing_phase(time: float, feet: dict[Side, StandingFoot], stance_foot: Side, is_walking: bool) -> ContactPhase:
    """Return the double support of ``feet`` that begins at ``time`` [s]."""
    return ContactPhase(time, None, None, feet[Side.LEFT], feet[Side.RIGHT], stance_foot, is_walking)


def swinging_phase(
    swing: Swing, side: Side, landed: dict[Side, StandingFoot], rise: tuple[float, ...] = ()
) -> ContactPhase:
    """Return the single support in which the foot of ``side`` swings; ``landed``: both feet after it."""
    left, right = landed[Side.LEFT], landed[Side.RIGHT]
    return ContactPhase(swing.start_time, swing, side, left, right, side.other, True, rise)


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
        after.pose.yaw - before.pose.yaw,
    )
    rise = config.com_rise(before.pose.distance(after.pose), touch_down - lift_off)
    return swinging_phase(swing, step.side, feet | {step.side: after}, rise)
