"""Goals that come as a stream, from a joypad or a navigation: scaled, thinned out, and missed when they stay away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import MalformedMessage
from gradiva.planner import PlannerConfig, StopCommand, VelocityCommand
from gradiva.yarp_modules.coordinator_config import CoordinatorConfig

_TOLERANCE = 1e-6  # beyond ±1: rounding of who sends


@dataclass(frozen=True, slots=True)
class GoalNews:
    """What a stream of goals now asks for.

    Attributes:
        command: A velocity, or to stand.
        because: Empty, or why there is a command that nobody sent.
    """

    command: VelocityCommand | StopCommand
    because: str = ""


class GoalStream:
    """Takes ``forward angular lateral``, each from −1 to 1, and says when the walk should change.

    It drives the walk from the first deflection on until it has asked to stand: a stream that is silent then is missed.
    """

    def __init__(self, config: CoordinatorConfig, limits: PlannerConfig) -> None:
        """Take the scales.

        Args:
            config: Shares, times.
            limits: Highest speeds.
        """
        self._config = config
        self._backward = min(limits.max_backward_speed, config.forward_share * limits.max_speed)
        self._scale = np.array(
            [
                config.forward_share * limits.max_speed,
                config.turn_share * limits.max_angular_speed,
                config.lateral_share * limits.max_lateral_speed,
            ]
        )
        self._wanted = np.zeros(3)
        self._obeyed = np.zeros(3)
        self._arrival = -float("inf")
        self._last_change = -float("inf")

    @property
    def is_driving(self) -> bool:
        """Whether the walk is this stream's."""
        return bool(self._obeyed.any())

    def take(self, values: Sequence[float], time: float) -> None:
        """Take a message that came at ``time`` [s].

        Raises:
            MalformedMessage: Not two or three finite numbers from −1 to 1.
        """
        deflection = np.array(values, dtype=float)
        if deflection.shape not in ((2,), (3,)) or not np.isfinite(deflection).all():
            raise MalformedMessage("goal:i: expected forward, angular, lateral, finite numbers")
        if np.abs(deflection).max() > 1.0 + _TOLERANCE:
            raise MalformedMessage(f"goal:i: expected numbers from -1 to 1, got {deflection.tolist()}")
        self._wanted = np.zeros(3)
        self._wanted[: len(deflection)] = np.clip(deflection, -1.0, 1.0)
        self._wanted[np.abs(self._wanted) < self._config.goal_change] = 0.0
        self._arrival = time

    def news(self, time: float) -> GoalNews | None:
        """Return the command that the walk should change to at ``time`` [s], or None."""
        silence = time - self._arrival
        if self.is_driving and silence > self._config.goal_timeout:
            self.release()
            return GoalNews(StopCommand(), f"goal:i has been silent for {silence:.2f} s")
        is_other = bool(np.abs(self._wanted - self._obeyed).max() >= self._config.goal_change)
        is_stop = not self._wanted.any()
        is_due = is_stop or time >= self._last_change + self._config.goal_period
        if not (is_other and is_due):
            return None
        self._obeyed, self._last_change = self._wanted, time
        return GoalNews(StopCommand() if is_stop else self._velocity(self._wanted))

    def release(self) -> None:
        """Leave the walk to others until a new message comes."""
        self._wanted, self._obeyed = np.zeros(3), np.zeros(3)

    def _velocity(self, deflection: NDArray) -> VelocityCommand:
        forward, angular, lateral = (self._scale * deflection).tolist()
        return VelocityCommand(max(forward, -self._backward), lateral, angular)
