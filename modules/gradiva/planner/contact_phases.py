"""Make the contact phases of a plan: double and single supports in turn, from steps and their times."""

from __future__ import annotations

from gradiva.common import Side
from gradiva.planner.footsteps import GaitSchedule, PlannedStep, Swing
from gradiva.planner.planner_config import PlannerConfig
from gradiva.planner.swing_foot import StandingFoot, SwingFoot
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
    schedule: GaitSchedule, feet: dict[Side, StandingFoot], stance_foot: Side, config: PlannerConfig
) -> list[ContactPhase]:
    """Return all phases: double and single supports in turn, then the stand at the end.

    Args:
        schedule: Steps and their times.
        feet: Where the feet stand at first.
        stance_foot: Of the first double support.
        config: Swing height, apex and profile.
    """
    feet = dict(feet)
    phases = [standing_phase(schedule.start_time, feet, stance_foot, is_walking=True)]
    for step in schedule.steps:
        side = step.footstep.side
        phases.append(_swinging_phase(step, feet, config))
        feet[side] = phases[-1].foot(side)
        stance_foot = side.other
        phases.append(standing_phase(step.touch_down, feet, stance_foot, is_walking=True))
    phases.append(standing_phase(schedule.end_time, feet, stance_foot, is_walking=False))
    return phases


def _swinging_phase(step: PlannedStep, feet: dict[Side, StandingFoot], config: PlannerConfig) -> ContactPhase:
    """Return the single support in which a step is made from where its foot stands among ``feet``."""
    side = step.footstep.side
    before, after = feet[side], StandingFoot(step.footstep.pose, config.landing_height)
    swing = SwingFoot(
        step.lift_off,
        step.touch_down,
        before.placement,
        after.placement,
        config.swing_height,
        config.apex_fraction,
        config.swing_profile,
        after.pose.yaw - before.pose.yaw,
    )
    rise = config.com_rise(before.pose.distance(after.pose), step.touch_down - step.lift_off)
    return swinging_phase(swing, side, feet | {side: after}, rise)
