"""The control time: continuous, whatever the clock does that it is read from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common.robot import Measurement

TIME_ROUNDING = 1e-9
"""[s] by which sums of periods, and stamps that come as text, are not exact: an instant is reached that much before."""


LARGEST_STEP = 0.05  # [s]
"""Of control time in one tick; a tick that comes later than this, or earlier than the last one, is a jump.

In a longer stall the joints stand, and the plan with them: one that goes on lifts the foot that carries the robot, and
of stalls of 0.3 s at 0.2 m/s iCub v2.7 falls at 40 of 110 moments, else at 2 of 54; iCub v3 at 5 of 13, 0.
"""


@dataclass(frozen=True, slots=True)
class ClockJump:
    """A step of the source that control time did not follow.

    Attributes:
        time: Of the control clock, [s].
        size: By how much the source went farther than one period, [s]; minus one period where it stands still,
            not finite where the source is not.
    """

    time: float
    size: float

    @property
    def direction(self) -> str:
        """``forward``, ``backward``, or ``not finite``."""
        if not math.isfinite(self.size):
            return "not finite"
        return "forward" if self.size > 0.0 else "backward"

    def __str__(self) -> str:
        """Return the jump as one clause."""
        if not math.isfinite(self.size):
            return "the clock gives no finite time"
        or_late = ", or the tick is late by that" if self.size > 0.0 else ""
        return f"the clock jumped by {self.size:+.3f} s{or_late}"


class ControlClock:
    r"""Turns the times that a clock gives, tick by tick, into a control time that neither jumps nor stops.

    With the source :math:`s_k`, the offset :math:`o`, the period :math:`\Delta t` and the largest step :math:`d`,

    .. math:: t_k = s_k + o \quad\text{where}\quad 0 < s_k + o - t_{k-1} \le d, \qquad
              t_k = t_{k-1} + \Delta t,\; o = t_k - s_k \quad\text{elsewhere.}

    So control time equals the source until that one jumps (a wall clock that is set, a simulation that begins anew, a
    tick that is late), and runs beside it from then on. Jitter up to ``largest_step`` passes unchanged.

    Call `update` exactly once a tick with the time of the source and use what it returns, and nothing else, as the time
    of that tick; then look at `jump`. Bring samples, whose time stamps count on the source, to control time by
    `stamped`. `WalkingController.step` does so with the time and the measurement that it is given. A shell whose other
    parts need the control time as well (coordinator, status, logs) does so itself with ``controller.clock``, reports
    its jumps by ``controller.report_jump(jump)``, and calls ``controller.tick``.

    Attributes:
        time: Of the last tick, [s].
        jump: That of the last tick, or None.
    """

    def __init__(self, period: float, largest_step: float = LARGEST_STEP) -> None:
        """Begin; the first time of the source is that of the control clock, or zero where it is not finite.

        Args:
            period: By which control time goes on where the source jumps, [s].
            largest_step: Of control time in one tick, [s].
        """
        self._period = period
        self._largest_step = largest_step
        self.restart()

    def restart(self) -> None:
        """Begin anew: control time is that of the source again, without a jump."""
        self._offset = self._stamp_offset = self.time = 0.0
        self._is_running = False
        self.jump: ClockJump | None = None

    def update(self, source: float) -> float:
        """Return the control time of a tick at ``source`` [s]; raises nothing, whatever ``source`` is."""
        time = _number(source) + self._offset
        is_first, self._is_running = not self._is_running, True
        if 0.0 < time - self.time <= self._largest_step or (is_first and math.isfinite(time)):
            self.time, self.jump = time, None
        else:
            self._resynchronise(time)
        return self.time

    def stamp(self, source: float) -> float:
        """Return the control time of a sample that was taken at ``source`` [s]; NaN where that is no number.

        After a jump the first samples may still have been taken before it, and a sensor's own clock need not jump at
        all: of the offsets before and after, the one counts that has the sample taken nearer to the last tick.
        """
        source = _number(source)
        if self._stamp_offset == self._offset:
            return source + self._offset
        before, after = source + self._stamp_offset, source + self._offset
        if abs(before - self.time) < abs(after - self.time):
            return before
        self._stamp_offset = self._offset
        return after

    def stamped(self, measurement: Measurement) -> Measurement:
        """Return a measurement with its times on the control clock."""
        time = self.stamp(measurement.time)
        return measurement if time == measurement.time else measurement.shifted(time - measurement.time)

    def _resynchronise(self, time: float) -> None:
        size = time - self.time - self._period
        self.time += self._period
        self.jump = ClockJump(self.time, size)
        if math.isfinite(time):
            self._offset += self.time - time


def _number(value: object) -> float:
    """Return a value as a float; NaN where it is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
