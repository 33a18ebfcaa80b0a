"""How a position command moves a joint: minimum jerk, at the speed that was set."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.smoothing import minimum_jerk


@dataclass(frozen=True, slots=True)
class JointMove:
    """A move of one joint, from rest to rest.

    Attributes:
        start: [rad].
        goal: [rad].
        begin: When it begins, [s].
        duration: [s].
    """

    start: float
    goal: float
    begin: float
    duration: float

    @classmethod
    def at_speed(cls, start: float, goal: float, begin: float, speed: float) -> JointMove:
        """Return a move whose mean speed is ``speed`` [rad/s], as that of the robot's boards."""
        return cls(start, goal, begin, abs(goal - start) / speed)

    def position(self, time: float) -> float:
        """Return where the joint should be, [rad]."""
        return self.start + (self.goal - self.start) * minimum_jerk(self._ratio(time))[0]

    def is_over(self, time: float) -> bool:
        """Tell whether the goal is reached."""
        return time >= self.begin + self.duration

    def _ratio(self, time: float) -> float:
        return 1.0 if self.is_over(time) else max(0.0, time - self.begin) / self.duration
