"""How the walk is going, as clients are told."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradiva.common import PlanarPose
from pureyarp.wire.elements import Element


@dataclass(frozen=True, slots=True)
class WalkingStatus:
    """A snapshot after a tick.

    Attributes:
        state: Of the state machine; ``waiting`` while there is no robot yet.
        reason: Why it is in this state.
        notice: What else there is to know; empty for nothing.
        time: Of the control clock, [s].
        remaining: Until the present plan ends, [s]; 0 when it has.
        pose: Of the middle of the feet by odometry, from where the robot was prepared.
        is_planning: Whether a goal is being planned.
        qp_failures: Ticks in which layer 3 had no solution.
        model_failures: Ticks in which layer 2 fell back.
        safety_events: How many there were.
        last_event: Kind of the last of them; empty for none.
        refused_messages: Malformed ones at the module's ports.
    """

    state: str
    reason: str
    notice: str = ""
    time: float = 0.0
    remaining: float = 0.0
    pose: PlanarPose = PlanarPose()
    is_planning: bool = False
    qp_failures: int = 0
    model_failures: int = 0
    safety_events: int = 0
    last_event: str = ""
    refused_messages: int = 0

    @property
    def full_reason(self) -> str:
        """The reason, and the notice where there is one."""
        return f"{self.reason}; {self.notice}" if self.notice else self.reason

    def items(self) -> list[Element]:
        """Return the state, then pairs (name value); the yaw of the pose in degrees."""
        pose: list[Element] = [round(self.pose.x, 4), round(self.pose.y, 4), round(math.degrees(self.pose.yaw), 2)]
        return [
            self.state,
            ["reason", self.reason],
            ["notice", self.notice],
            ["time", round(self.time, 4)],
            ["remaining", round(self.remaining, 3)],
            ["pose", pose],
            ["planning", int(self.is_planning)],
            ["qp_failures", self.qp_failures],
            ["model_failures", self.model_failures],
            ["safety_events", self.safety_events],
            ["last_event", self.last_event],
            ["refused_messages", self.refused_messages],
        ]
