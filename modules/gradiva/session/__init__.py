"""A robot, its walking controller and its coordinator, ticked by any middleware."""

from gradiva.session.coordinator import Coordinator, Reply, WalkingStatus
from gradiva.session.coordinator_commands import (
    ARGUMENTS,
    HELP,
    PLANNING_LEAD,
    PLANNING_TIMEOUT,
    CoordinatorCommand,
    CoordinatorConfig,
    FreeSpace,
    MalformedCommand,
    Word,
    parse_command,
)
from gradiva.session.tick_timing import GarbageKeeper, LapTimer, ModuleHealth, TickClock, TickSchedule
from gradiva.session.walking_session import PlanningWorker, Rearmable, WalkingSession

__all__ = [
    "ARGUMENTS",
    "HELP",
    "PLANNING_LEAD",
    "PLANNING_TIMEOUT",
    "Coordinator",
    "CoordinatorCommand",
    "CoordinatorConfig",
    "FreeSpace",
    "GarbageKeeper",
    "LapTimer",
    "MalformedCommand",
    "ModuleHealth",
    "PlanningWorker",
    "Rearmable",
    "Reply",
    "TickClock",
    "TickSchedule",
    "WalkingSession",
    "WalkingStatus",
    "Word",
    "parse_command",
]
