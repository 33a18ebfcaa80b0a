"""References over time: feet, DCM and CoM of a whole walk."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gradiva.common import DcmPreview, NDArray, Side, WalkingReference, unchecked
from gradiva.planner.contact_phase import ContactPhase
from gradiva.planner.dcm_trajectory import DcmTrajectory
from gradiva.planner.footsteps import Footstep, PlannedStep


@dataclass(eq=False)
class WalkingPlan:
    """References over time from ``start_time`` on; immutable: a replan or a retarget makes a new one.

    Attributes:
        phases: Supports in order, the last one stands for ever.
        trajectory: DCM and CoM.
        steps: All steps of the plan, with their times.
        end_time: End of the last double support, [s].
    """

    phases: tuple[ContactPhase, ...]
    trajectory: DcmTrajectory
    steps: tuple[PlannedStep, ...]
    end_time: float

    def __post_init__(self) -> None:
        self.start_time = self.phases[0].start_time
        self._starts = [phase.start_time for phase in self.phases]
        self._last: tuple[float, WalkingReference | None] = math.nan, None

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """All footsteps, in order."""
        return tuple(step.footstep for step in self.steps)

    def phase_at(self, time: float) -> ContactPhase:
        """Return the contact phase at ``time`` [s]; the first one before the start."""
        return self.phases[max(0, bisect_right(self._starts, time) - 1)]

    def at(self, time: float) -> WalkingReference:
        """Return all references at ``time`` [s]; those of the start before it, those of the end after it.

        The last ones are kept: layer 3 asks for those of the end of a period, the next tick for the same.
        """
        last_time, last = self._last
        if last is not None and last_time == time:
            return last
        phase = self.phase_at(time)
        left, right = phase.feet_at(time)
        dcm, com_position, com_velocity = self.trajectory.at(time)
        reference = unchecked(
            WalkingReference,
            time=time,
            dcm=dcm,
            com_position=com_position,
            com_velocity=com_velocity,
            left_foot=left,
            right_foot=right,
            stance_foot=phase.stance_foot,
            heading=phase.heading_at(time),
            is_walking=phase.is_walking,
        )
        self._last = time, reference
        return reference

    def preview(self, time: float, period: float, count: int) -> DcmPreview:
        r"""Return the plan sampled over ``count`` intervals of ``period`` [s] from ``time`` on.

        The ZMP of an interval is the constant one that carries the DCM from its beginning to its end,
        :math:`z_k = (\xi_{k+1} - e^{\sigma T} \xi_k) / (1 - e^{\sigma T})`: the preview obeys the predictive
        controller's own model. A foot that swings is given where it will land.
        """
        times = time + period * np.arange(count + 1.0)
        dcm, rates = self.trajectory.sampled(times)
        growth = np.exp(period * rates[:-1])[:, None]
        zmp = (dcm[1:] - growth * dcm[:-1]) / (1.0 - growth)
        starts, grounded, landings = self._sampled_phases
        index = np.maximum(np.searchsorted(starts, times[:-1], side="right") - 1, 0)
        in_contact, poses = grounded[index], landings[index]
        return DcmPreview(period, dcm, zmp, rates[:-1], in_contact[:, 0], in_contact[:, 1], poses[:, 0], poses[:, 1])

    @cached_property
    def _sampled_phases(self) -> tuple[NDArray, npt.NDArray[np.bool_], NDArray]:
        """Start, feet in contact (left, right) and their landings (x, y, yaw, slopes) of all phases, for previews."""
        grounded = np.array([[phase.swing_side is not side for side in Side] for phase in self.phases])
        landings = np.array([(phase.left.landing, phase.right.landing) for phase in self.phases])
        return np.array(self._starts), grounded, landings

    def spliced(self, since: float, time: float, continuation: WalkingPlan) -> WalkingPlan:
        """Return this plan between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``.

        What ended before ``since`` is forgotten, so that replanning for hours does not grow the plan.
        """
        first = max(0, bisect_right(self._starts, since) - 1)
        keep = [phase for phase in self.phases[first:] if phase.start_time < time - 1e-9]
        kept_steps = [step for step in self.steps if since <= step.touch_down < time + 1e-9]
        return WalkingPlan(
            (*keep, *continuation.phases),
            self.trajectory.spliced(since, time, continuation.trajectory),
            (*kept_steps, *continuation.steps),
            continuation.end_time,
        )
