"""Plan of a walk: contact phases, and all references over time."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    DcmPreview,
    DcmReference,
    FootReference,
    NDArray,
    PlannedContact,
    Side,
    SoleRectangle,
    WalkingReference,
    so3,
    unchecked,
)
from gradiva.contacts import ContactPlane, SupportPolygon, support_polygon
from gradiva.planner.footsteps import DcmTrajectory, Footstep, Motion, Movable, PlannedStep, Swing
from gradiva.planner.swing_foot import StandingFoot, SwingFoot

HISTORY = 30.0  # [s] of the past that a plan keeps


@dataclass(frozen=True, slots=True, eq=False)
class ContactPhase:
    """An interval without contact change.

    Attributes:
        start_time: [s].
        swing: Motion of the swinging sole; None in double support.
        swing_side: The side of the swinging sole.
        left: Where the left sole stands; if it swings, where it will land.
        right: The same of the right sole.
        stance_foot: The foot that carried the last single support, or carries this one.
        is_walking: Whether weight is shifted or a foot swings.
        rise: Height of the CoM above its trajectory, [m]: a polynomial in the time since the start, lowest power first.
    """

    start_time: float
    swing: Swing | None
    swing_side: Side | None
    left: StandingFoot
    right: StandingFoot
    stance_foot: Side
    is_walking: bool
    rise: tuple[float, ...] = ()

    def feet_at(self, time: float) -> tuple[FootReference, FootReference]:
        """Return the references of the left and the right sole."""
        if self.swing is None:
            return self.left.at(time), self.right.at(time)
        if self.swing_side is Side.LEFT:
            return self.swing.at(time), self.right.at(time)
        return self.left.at(time), self.swing.at(time)

    def heading_at(self, time: float) -> float:
        """Return the mean yaw of the feet, [rad]."""
        heading = 0.5 * (self.left.pose.yaw + self.right.pose.yaw)
        return heading if self.swing is None else heading - 0.5 * self.swing.yaw_ahead(time)

    def rise_at(self, time: float) -> tuple[float, float]:
        """Return the rise of the CoM, [m], and its rate, [m/s]."""
        since, height, rate = time - self.start_time, 0.0, 0.0
        for coefficient in reversed(self.rise):
            rate = rate * since + height
            height = height * since + coefficient
        return height, rate

    def foot(self, side: Side) -> StandingFoot:
        """Return the placement at which one sole stands or will land."""
        return self.left if side is Side.LEFT else self.right

    @property
    def feet(self) -> dict[Side, StandingFoot]:
        """Both of these placements, of a dictionary of its own."""
        return {Side.LEFT: self.left, Side.RIGHT: self.right}

    def moved(self, motion: Motion) -> ContactPhase:
        """Return the phase elsewhere, later; its swing is one that was planned from lift-off on."""
        swing = self.swing
        assert swing is None or isinstance(swing, SwingFoot), "a running swing is planned, not moved with the rest"
        return ContactPhase(
            self.start_time + motion.delay,
            None if swing is None else swing.moved(motion),
            self.swing_side,
            self.left.moved(motion),
            self.right.moved(motion),
            self.stance_foot,
            self.is_walking,
            self.rise,
        )


T = TypeVar("T", bound=Movable)


class Timeline(Sequence[T]):
    """Parts of a plan in order of time; the later ones may be those of another plan, moved when they are asked for."""

    def __init__(self, items: Iterable[T], times: Iterable[float]) -> None:
        """Take the parts, and a time of each, [s]."""
        self._items = list(items)
        self.times = list(times)
        self._rest: Sequence[T] = ()
        self._first, self._motion = 0, Motion()
        self._moved: dict[int, T] = {}

    def following(self, items: Iterable[T], times: Iterable[float], first: int, motion: Motion | None = None) -> Self:
        """Return ``items`` at ``times`` [s], followed by the parts of this one from index ``first`` on, moved."""
        joined = type(self)(items, times)
        if motion is None:
            joined._items += self._items[first:]
            joined._motion = self._motion
            joined.times += self.times[first:]
        elif self._rest:
            joined._items += [item.moved(motion) for item in self._items[first:]]
            joined._motion = self._motion + motion
            joined.times += [time + motion.delay for time in self.times[first:]]
        else:
            joined._rest, joined._first, joined._motion = self._items, first, motion
            joined.times += [time + motion.delay for time in self.times[first:]]
            return joined
        joined._rest, joined._first = self._rest, self._first + max(0, first - len(self._items))
        return joined

    def after(self, time: float) -> int:
        """Return the index of the first part whose time is later than ``time`` [s]."""
        return bisect_right(self.times, time)

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if type(index) is int and 0 <= index < len(self._items):  # nearly always
            return self._items[index]
        if isinstance(index, int) and not -len(self.times) <= index < len(self.times):
            raise IndexError(f"index {index} of {len(self.times)} parts of a plan")
        places = range(len(self.times))[index]
        if isinstance(places, int):
            return self._item(places)
        if places.step == 1 and places.stop <= len(self._items):
            return tuple(self._items[places.start : places.stop])
        return tuple(map(self._item, places))

    def _item(self, index: int) -> T:
        ahead = index - len(self._items)
        if ahead < 0:
            return self._items[index]
        item = self._moved.get(ahead)
        if item is None:
            item = self._moved[ahead] = self._rest[self._first + ahead].moved(self._motion)
        return item


_KnownPhases = tuple[int, NDArray, npt.NDArray[np.bool_], NDArray]
_NO_PHASES: _KnownPhases = 0, np.zeros(0), np.zeros((0, 2), bool), np.zeros((0, 2, 5))


@dataclass(eq=False)
class WalkingPlan:
    """References over time from ``start_time`` on; immutable: a replan or a retarget makes a new one.

    Attributes:
        phases: Supports in order, the last one stands for ever.
        trajectory: DCM and CoM.
        steps: All steps of the plan, with their times.
        end_time: End of the last double support, [s].
    """

    phases: Sequence[ContactPhase]
    trajectory: DcmTrajectory
    steps: Sequence[PlannedStep]
    end_time: float

    def __post_init__(self) -> None:
        self.start_time = self.phases[0].start_time
        self._prepare()

    def _prepare(self) -> None:
        self._last: tuple[float, WalkingReference | None] = math.nan, None
        self._last_phase: tuple[float, float, ContactPhase | None] = 0.0, 0.0, None  # from, until, what
        self._preview_phases = _NO_PHASES
        self.boundaries: dict[int, NDArray] = {}  # DCM before a step, where a retarget has needed it

    @cached_property
    def supports(self) -> Timeline[ContactPhase]:
        """Phases by their start times."""
        phases = self.phases
        return phases if isinstance(phases, Timeline) else Timeline(phases, [phase.start_time for phase in phases])

    @cached_property
    def landings(self) -> Timeline[PlannedStep]:
        """Steps by their touch-downs."""
        steps = self.steps
        return steps if isinstance(steps, Timeline) else Timeline(steps, [step.touch_down for step in steps])

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """All footsteps, in order."""
        return tuple(step.footstep for step in self.steps)

    def phase_at(self, time: float) -> ContactPhase:
        """Return the contact phase at ``time`` [s]; the first one before the start."""
        begin, end, phase = self._last_phase
        if phase is None or not begin <= time < end:  # as nearly always it is the one that was asked for last
            supports = self.supports
            index = supports.after(time)
            begin = supports.times[index - 1] if index > 1 else -math.inf
            end = supports.times[max(1, index)] if max(1, index) < len(supports) else math.inf
            phase = supports[max(0, index - 1)]
            self._last_phase = begin, end, phase
        return phase

    def dcm_at(self, time: float) -> tuple[DcmReference, NDArray, NDArray]:
        """Return the DCM, the CoM position and velocity at ``time`` [s], as ``DcmTrajectory.at``."""
        return self.trajectory.at(time)

    def at(self, time: float) -> WalkingReference:
        """Return all references at ``time`` [s]; those of the start before it, those of the end after it.

        The last ones are kept: layer 3 asks for those of the end of a period, the next tick for the same.
        """
        last_time, last = self._last
        if last is not None and last_time == time:
            return last
        phase = self.phase_at(time)
        left, right = phase.feet_at(time)
        dcm, com_position, com_velocity = self.dcm_at(time)
        height, rate = phase.rise_at(time) if phase.rise else (0.0, 0.0)
        com_position[2] += height
        com_velocity[2] += rate
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
        """Return the plan sampled over ``count`` intervals of ``period`` [s] from ``time`` on.

        A foot that swings is given where it will land.
        """
        times = time + period * np.arange(count + 1.0)
        dcm, rates = self.trajectory.sampled(times)
        _, starts, in_contact, landings = self._phases_between(times[0], times[-2])
        index = np.maximum(starts.searchsorted(times[:-1], side="right") - 1, 0)
        flags, poses = in_contact.take(index, axis=0), landings.take(index, axis=0)
        return unchecked(
            DcmPreview,
            period=period,
            dcm_positions=dcm,
            divergence_rates=rates[:-1].copy(),
            left_in_contact=flags[:, 0],
            right_in_contact=flags[:, 1],
            left_foot_poses=poses[:, 0],
            right_foot_poses=poses[:, 1],
        )

    def dcm_ahead(self, time: float, period: float, count: int) -> NDArray:
        """Return the DCM at the ends of ``count`` intervals of ``period`` [s] from ``time`` on, [m], (count + 1, 2)."""
        return self.trajectory.sampled(time + period * np.arange(count + 1.0))[0]

    def _phases_between(self, begin: float, end: float) -> _KnownPhases:
        """Return the phases from ``begin`` to ``end`` [s] or more: number of the first, starts, contacts, landings.

        Contacts are flags, left and right; landings x, y, yaw and slopes. They are kept for the next preview, with the
        phases of twice the time.
        """
        known, supports = self._preview_phases, self.supports
        first, last = max(0, supports.after(begin) - 1), max(0, supports.after(end) - 1)
        if first < known[0] or last >= known[0] + len(known[1]):
            phases = slice(first, max(last, supports.after(2.0 * end - begin) - 1) + 1)
            starts, within = np.array(supports.times[phases]), supports[phases]
            in_contact = np.array([[phase.swing_side is not side for side in Side] for phase in within])
            landings = np.array([(phase.left.landing, phase.right.landing) for phase in within])
            known = self._preview_phases = first, starts, in_contact, landings
        return known

    def contacts(self, time: float, duration: float) -> tuple[PlannedContact, ...]:
        """Return when and where each sole is on the ground from ``time`` on, for ``duration`` [s] or longer.

        In order of time for each foot, the left one first. The first is the contact that lasts at ``time``, with its
        touch-down in the past, or the next one; a foot in the air at the end is followed to its landing.
        """
        supports, contacts = self.supports, list[PlannedContact]()
        now = max(0, supports.after(time) - 1)
        for side in Side:
            first = now
            while first > 0 and supports[first - 1].swing_side is not side and supports[first].swing_side is not side:
                first -= 1
            contacts += self._contacts_of(side, first, time + duration)
        return tuple(contacts)

    def _contacts_of(self, side: Side, first: int, until: float) -> list[PlannedContact]:
        """Return the contacts of one foot from the phase of an index on, to the first that lasts until then."""
        supports, contacts = self.supports, list[PlannedContact]()
        begin: float | None = None
        for index in range(first, len(supports)):
            phase, start = supports[index], supports.times[index]
            if begin is not None and start >= until:
                break
            if phase.swing_side is not side:
                begin, foot = start if begin is None else begin, phase.foot(side)
            elif begin is not None:
                contacts.append(PlannedContact(side, begin, start, *foot.placement))
                begin = None
        if begin is not None:
            contacts.append(PlannedContact(side, begin, None, *foot.placement))
        return contacts

    @property
    def plane(self) -> ContactPlane:
        """Contact plane of the steps to come."""
        return self.trajectory.plane

    def whole(self) -> WalkingPlan:
        """Return the plan with all that follows a running step; here itself."""
        return self

    def spliced(self, since: float, time: float, continuation: WalkingPlan) -> WalkingPlan:
        """Return this plan between ``since`` and ``time`` [s], and ``continuation``, which starts at ``time``.

        What ended before ``since`` is forgotten, so that replanning for hours does not grow the plan.
        """
        supports, landings = self.supports, self.landings
        first, last = max(0, supports.after(since) - 1), bisect_left(supports.times, time - 1e-9)
        phases = continuation.supports.following(supports[first:last], supports.times[first:last], 0)
        begin, end = bisect_left(landings.times, since), bisect_left(landings.times, time + 1e-9)
        steps = continuation.landings.following(landings[begin:end], landings.times[begin:end], 0)
        trajectory = self.trajectory.spliced(since, time, continuation.trajectory)
        return WalkingPlan(phases, trajectory, steps, continuation.end_time)


def planned_polygon(reference: WalkingReference, sole: SoleRectangle) -> SupportPolygon:
    """Return the support polygon of the feet that a reference has on the ground."""
    left, right = reference.left_foot, reference.right_foot
    return _polygon(left if left.in_contact else None, right if right.in_contact else None, sole)


@lru_cache(maxsize=4)  # a foot that stands has the same reference tick after tick
def _polygon(left: FootReference | None, right: FootReference | None, sole: SoleRectangle) -> SupportPolygon:
    standing = [(side, foot) for side, foot in ((Side.LEFT, left), (Side.RIGHT, right)) if foot is not None]
    poses = [
        (foot.position[0], foot.position[1], so3.yaw(foot.rotation), *ContactPlane.of_sole(foot).slope)
        for _, foot in standing
    ]
    return support_polygon(poses, [side for side, _ in standing], sole)
