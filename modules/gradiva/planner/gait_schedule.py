"""When the feet lift and land, and over which points the ZMP rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.planner.footsteps import Footstep, PlanningState
from gradiva.planner.planner_config import PlannerConfig


@dataclass(frozen=True, slots=True, eq=False)
class GaitSchedule:
    r"""The times of N steps, and the ZMP under the foot that supports each of them.

    A step is a double support and the single support that follows it. The DCM recursion has its boundaries in the
    middle of the double supports (of the last one: where its middle would be if one more step followed).

    Attributes:
        start_time: Beginning of the first double support, [s].
        lift_offs: Shape (N,), [s].
        touch_downs: Shape (N,), [s].
        boundaries: End of each step for the DCM, shape (N,), [s].
        end_time: End of the last double support, [s].
        supports: ZMP under the supporting foot of each step (world, [m]), shape (N, 2).
        last_landing: ZMP under the foot that lands last (world, [m]), shape (2,).
        middle: Of the ZMP points of both feet when all steps are done (world, [m]), shape (2,).
    """

    start_time: float
    lift_offs: NDArray
    touch_downs: NDArray
    boundaries: NDArray
    end_time: float
    supports: NDArray
    last_landing: NDArray
    middle: NDArray

    @property
    def phase_times(self) -> NDArray:
        """Starts of all supports, double and single in turn, and the end: shape (2 N + 2,), [s]."""
        inner = np.column_stack((self.lift_offs, self.touch_downs)).ravel()
        return np.concatenate(([self.start_time], inner, [self.end_time]))


def schedule_gait(
    steps: Sequence[Footstep], start: PlanningState, first_double_support: float, config: PlannerConfig
) -> GaitSchedule:
    """Put footsteps on the clock.

    Args:
        steps: In order; may be empty.
        start: Where both feet stand, and when.
        first_double_support: How long the first weight shift takes, [s].
        config: Double support ratio, last double support, ZMP offset.
    """
    durations = np.array([step.duration for step in steps])
    single = durations / (1.0 + config.double_support_ratio)
    double = durations - single
    waits = double.copy()
    waits[:1] = first_double_support
    touch_downs = start.time + np.cumsum(waits + single)
    following = np.append(double[1:], double[-1:])
    zmps = {side: start.foot(side).zmp_point(side, config.zmp_offset) for side in Side}
    supports = np.empty((len(steps), 2))
    for row, step in enumerate(steps):
        supports[row] = zmps[step.side.other]
        zmps[step.side] = step.pose.zmp_point(step.side, config.zmp_offset)
    middle = 0.5 * (zmps[Side.LEFT] + zmps[Side.RIGHT])
    return GaitSchedule(
        start_time=start.time,
        lift_offs=touch_downs - single,
        touch_downs=touch_downs,
        boundaries=touch_downs + 0.5 * following,
        end_time=float(touch_downs[-1] if len(steps) else start.time) + config.last_double_support,
        supports=supports,
        last_landing=zmps[steps[-1].side] if steps else middle,
        middle=middle,
    )
