"""How walking modules take commands."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gradiva.common import ConfigError


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """``[coordinator]`` in ``config/coordinator.toml``.

    Attributes:
        goal_timeout: Without a message at ``goal:i`` while it drives the walk, [s].
        goal_period: Between two plans for ``goal:i``, [s].
        goal_change: Of full deflection, below which nothing is planned anew.
        forward_share: Of the robot's top speed, at full deflection.
        lateral_share: Of the planner's highest lateral speed, at full deflection.
        turn_share: Of the planner's highest turning speed, at full deflection.
        reply_patience: Until an RPC client is told that nothing came of its command, [s].
        planning_lead: Until a plan that is made beside the tick may begin, [s].
        planning_patience: After which an unanswered planner is asked again, [s].
    """

    goal_timeout: float
    goal_period: float
    goal_change: float
    forward_share: float
    lateral_share: float
    turn_share: float
    reply_patience: float
    planning_lead: float
    planning_patience: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0.0:
                raise ConfigError(f"{field.name}={getattr(self, field.name)}, must be positive")
        for name in ("forward_share", "lateral_share", "turn_share", "goal_change"):
            if getattr(self, name) > 1.0:
                raise ConfigError(f"{name}={getattr(self, name)}, is a share, at most 1")
