"""Safety: checks of sensors, robot and references, events by kind, and the response to each."""

from gradiva.safety.events import (
    Finding,
    Response,
    SafetyCheck,
    SafetyEvent,
    SafetyKind,
    clock_finding,
    failed_tick,
    log_traceback,
    silent_sources,
)
from gradiva.safety.robot_checks import JointBounds
from gradiva.safety.supervisor import CHECKS, LastCommand, SafetyConfig, SafetySupervisor

__all__ = [
    "CHECKS",
    "Finding",
    "JointBounds",
    "LastCommand",
    "Response",
    "SafetyCheck",
    "SafetyConfig",
    "SafetyEvent",
    "SafetyKind",
    "SafetySupervisor",
    "clock_finding",
    "failed_tick",
    "log_traceback",
    "silent_sources",
]
