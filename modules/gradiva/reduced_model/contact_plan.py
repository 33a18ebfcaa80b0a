"""Contact phases over time: when and where each contact is planned or allowed, and the CoM reference through them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, NDArray, PlanningError, freeze_arrays, readonly, unchecked

_SAME = 1e-9  # [s] between two times that are one
_DEGREE = 5
_ROUNDING = 1e-6  # of a period, between two times that are one
_ANYWHERE = readonly([[-math.inf] * 3, [math.inf] * 3])


@dataclass(frozen=True, slots=True, eq=False)
class ContactPhase:
    """Planned time on the ground of one contact.

    Attributes:
        begin: Touch-down, [s].
        end: Lift-off, [s]; infinite for one that stays.
        position: Nominal origin of the contact frame, world, [m], shape (3,).
        rotation: Of the contact frame in world, z is the normal of the ground, shape (3, 3).
        allowed: Box of allowed landings: lower and upper bound of the location less ``position``, along the axes of the
            contact, [m], shape (2, 3); infinite without bounds.

    Raises:
        PlanningError: The box does not hold the nominal position.
    """

    begin: float
    end: float
    position: NDArray
    rotation: NDArray
    allowed: NDArray = field(default_factory=lambda: _ANYWHERE)

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3), allowed=(2, 3))
        if not (self.allowed[0] <= 0.0).all() or not (self.allowed[1] >= 0.0).all():
            raise PlanningError(f"the allowed box {self.allowed.tolist()} m does not hold the nominal contact")

    def on_stone(self, centre: NDArray, half_sizes: NDArray, corners: NDArray) -> ContactPhase:
        """Return this phase with its landing on a stepping stone: the whole sole lies on it.

        Args:
            centre: Of the stone's upper face, world, [m], shape (3,).
            half_sizes: Of that face along the x and y axes of the contact, [m], shape (2,).
            corners: Of the sole, in its frame, [m], shape (n, 3).

        Raises:
            PlanningError: The sole at its nominal position is not on the stone.
        """
        offset = self.rotation.T @ (centre - self.position)
        sides = np.append(half_sizes, 0.0)
        lower, upper = offset - sides - corners.min(axis=0), offset + sides - corners.max(axis=0)
        lower[2], upper[2] = -math.inf, math.inf  # heights are those of the plan
        return replace(self, allowed=np.array([lower, upper]))


@dataclass(frozen=True, slots=True, eq=False)
class ContactPreview:
    """The plan at N + 1 nodes and in the N intervals between them.

    Attributes:
        times: Of the nodes, [s], shape (N + 1,).
        active: Whether each contact is on the ground during an interval, shape (N, contacts).
        phases: Nominal contact at the nodes, that of the next phase while it is in the air: ``position``, ``rotation``
            by rows, ``allowed`` by rows and ``begin`` of ``ContactPhase``, shape (N + 1, contacts, 19).
    """

    times: NDArray
    active: npt.NDArray[np.bool_]
    phases: NDArray

    @property
    def positions(self) -> NDArray:
        """Origins of the contact frames, world, [m], shape (N + 1, contacts, 3)."""
        return self.phases[:, :, :3]

    @property
    def rotations(self) -> NDArray:
        """Contact frames in world, shape (N + 1, contacts, 3, 3)."""
        return self.phases[:, :, 3:12].reshape(*self.phases.shape[:2], 3, 3)


class ContactPlan:
    """Phases of each contact, in order; between two of them the contact is in the air.

    Attributes:
        phases: Of each contact.
    """

    def __init__(self, phases: Iterable[Iterable[ContactPhase]]) -> None:
        """Take the phases of each contact.

        Raises:
            PlanningError: A contact has none, or two that are not one after the other.
        """
        self.phases = tuple(tuple(each) for each in phases)
        if not self.phases:
            raise PlanningError("a contact plan without contacts")
        for contact, each in enumerate(self.phases):
            if not each:
                raise PlanningError(f"contact {contact} has no phase: every contact is planned somewhere")
            bounds = [bound for phase in each for bound in (phase.begin, phase.end)]
            if not np.isfinite(bounds[:-1]).all() or (np.diff(bounds) <= 0.0).any():
                raise PlanningError(f"contact {contact}: the phases {bounds} s are not one after the other")
        switches = {bound for each in self.phases for phase in each for bound in (phase.begin, phase.end)}
        self._switches = sorted(switch for switch in switches if math.isfinite(switch))
        rows = [
            [np.hstack((p.position, p.rotation.flat, p.allowed.flat, p.begin)) for p in each] for each in self.phases
        ]
        self._table = _table(rows, 0.0)
        self._begins, self._ends = (
            _table([[getattr(phase, name) for phase in each] for each in self.phases], math.inf)
            for name in ("begin", "end")
        )
        self._contacts = np.arange(len(self.phases))
        self._lasts = np.array([len(each) - 1 for each in self.phases])

    @property
    def end(self) -> float:
        """Time at which the last contact that does not stay lifts off, or the last one lands, [s]."""
        bounds = [bound for each in self.phases for phase in each for bound in (phase.begin, phase.end)]
        return max(bound for bound in bounds if math.isfinite(bound))

    def preview(self, times: NDArray) -> ContactPreview:
        """Return the plan at the nodes ``times`` [s], shape (N + 1,); an interval is as its middle."""
        middles, contacts = 0.5 * (times[:-1] + times[1:])[:, None], self._contacts
        at = np.concatenate((times[:, None] - _SAME, middles))[..., None]
        numbers = np.minimum((self._ends <= at).sum(axis=2), self._lasts)
        shown, running = numbers[: len(times)], numbers[len(times) :]
        active = (self._begins[contacts, running] <= middles) & (middles < self._ends[contacts, running])
        return unchecked(ContactPreview, times=times, active=active, phases=self._table[contacts, shown])

    def nodes(self, time: float, period: float, count: int) -> NDArray:
        """Return ``time`` and the ``count`` nodes after it, [s], shape (count + 1,).

        Every touch-down and lift-off is a node, and the time between two of them is divided into equal intervals of
        about ``period`` [s]: nodes do not move as time goes on.
        """
        rounding = _ROUNDING * period
        switches = self._switches
        passed = bisect_right(switches, time + rounding)
        before_all = switches[0] - period * math.ceil((switches[0] - time) / period)
        start = switches[passed - 1] if passed else before_all
        nodes = list[float]()
        for end in switches[passed:]:
            length = (end - start) / max(1, round((end - start) / period))
            skipped = max(0, math.floor((time + rounding - start) / length))
            nodes += [start + length * k for k in range(skipped + 1, round((end - start) / length) + 1)]
            start = end
            if len(nodes) >= count:
                break
        skipped = max(0, math.floor((time + rounding - start) / period))
        nodes += [start + period * (skipped + k + 1) for k in range(count - len(nodes))]
        return np.array([time, *nodes[:count]])

    def landings(self) -> list[tuple[int, ContactPhase]]:
        """Return contact and phase of every planned touch-down, in order of time."""
        found = [(contact, phase) for contact, each in enumerate(self.phases) for phase in each[1:]]
        return sorted(found, key=lambda landing: landing[1].begin)

    def supports(self) -> list[tuple[float, float, NDArray]]:
        """Return begin, end and the mean nominal position of each time with the same contacts on the ground."""
        bounds = sorted({bound for each in self.phases for phase in each for bound in (phase.begin, phase.end)})
        supports = []
        for begin, end in pairwise(bounds):
            standing = [
                phase.position for each in self.phases for phase in each if phase.begin <= begin and end <= phase.end
            ]
            if standing:
                supports.append((begin, end, np.mean(standing, axis=0)))
        return supports


def _table(rows: Sequence[Sequence[NDArray]] | Sequence[Sequence[float]], last: float) -> NDArray:
    """Return a row for each phase of each contact; where a contact has fewer of them than others, of ``last``."""
    table = np.full((len(rows), max(map(len, rows)), *np.shape(rows[0][0])), last)
    for row, each in zip(table, rows, strict=True):
        row[: len(each)] = each
    return table


def weight_forces(active: npt.NDArray[np.bool_], owners: NDArray) -> NDArray:
    """Return forces of the weight over the corners on the ground, or over all while none is.

    Args:
        active: Contacts on the ground in each interval, shape (N, contacts).
        owners: Contact of each corner, shape (corners,).

    Returns:
        Of all corners, so that those that land begin so, [m/s²], shape (N, corners, 3).
    """
    standing = active[:, owners]
    counts = np.where(standing.any(axis=1), standing.sum(axis=1), len(owners))
    forces = np.zeros((*standing.shape, 3))
    forces[:, :, 2] = GRAVITY / counts[:, None]
    return forces


ComReference = Callable[[NDArray], NDArray]
"""Positions of the CoM, world, [m], shape (n, 3), at times [s], shape (n,)."""


def com_reference(plan: ContactPlan, height: float) -> ComReference:
    r"""Return the fifth-order spline through the nominal contacts (thesis, below 11.1.11).

    It passes above the mean of the contacts in the middle of each time in which they are the same. Velocity and
    acceleration are zero at both ends, where it stays. Its purpose is regularisation: it need not be feasible.

    Args:
        plan: The contacts.
        height: Of the CoM above them, [m].
    """
    supports = plan.supports()
    begin, last = supports[0][0], supports[-1]
    end = last[1] if math.isfinite(last[1]) else plan.end + 1.0
    knots = [(begin, supports[0][2])]
    knots += [(0.5 * (start + stop), mean) for start, stop, mean in supports[1:-1]]
    knots += [(end, last[2])]
    times = np.array([time for time, _ in knots])
    points = np.array([mean for _, mean in knots]) + np.array([0.0, 0.0, height])
    if len(knots) < 2 or end - begin <= _SAME:
        return lambda at: np.broadcast_to(points[0], (len(at), 3))
    from scipy.interpolate import make_interp_spline  # half a second, of the centroidal MPC alone

    rest = [(1, np.zeros(3)), (2, np.zeros(3))]
    spline = make_interp_spline(times, points, k=_DEGREE, bc_type=(rest, rest))
    return lambda at: np.asarray(spline(np.clip(at, begin, end)))
