"""A robot, its walking controller and its coordinator, ticked by any middleware."""

from gradiva.session.black_box import (
    DRIVE_SIGNALS,
    BlackBox,
    RecordedRun,
    Recording,
    Rows,
    SignalRing,
    Snapshot,
    Trigger,
    element_names_of_sensors,
    sensor_signals,
)
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
from gradiva.session.exercise import Exercise, Figure, Motion
from gradiva.session.health_record import HealthRecord, figure_text
from gradiva.session.tick_timing import GarbageKeeper, LapTimer, ModuleHealth, TickClock, TickSchedule
from gradiva.session.walking_session import PlanningWorker, Rearmable, WalkingSession

__all__ = [
    "ARGUMENTS",
    "DRIVE_SIGNALS",
    "HELP",
    "PLANNING_LEAD",
    "PLANNING_TIMEOUT",
    "BlackBox",
    "Coordinator",
    "CoordinatorCommand",
    "CoordinatorConfig",
    "Exercise",
    "Figure",
    "FreeSpace",
    "GarbageKeeper",
    "HealthRecord",
    "LapTimer",
    "MalformedCommand",
    "ModuleHealth",
    "Motion",
    "PlanningWorker",
    "Rearmable",
    "RecordedRun",
    "Recording",
    "Reply",
    "Rows",
    "SignalRing",
    "Snapshot",
    "TickClock",
    "TickSchedule",
    "Trigger",
    "WalkingSession",
    "WalkingStatus",
    "Word",
    "element_names_of_sensors",
    "figure_text",
    "parse_command",
    "sensor_signals",
]
