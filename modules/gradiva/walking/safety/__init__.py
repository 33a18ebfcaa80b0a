"""What can go wrong in a tick, by name, and what is done about it."""

from gradiva.walking.safety.failure_policy import failed_tick
from gradiva.walking.safety.joint_watch import JointBounds
from gradiva.walking.safety.safety_config import SafetyConfig
from gradiva.walking.safety.safety_event import Finding, Response, SafetyEvent, SafetyKind, clock_finding
from gradiva.walking.safety.safety_supervisor import SafetySupervisor, ToldMotion

__all__ = [
    "Finding",
    "JointBounds",
    "Response",
    "SafetyConfig",
    "SafetyEvent",
    "SafetyKind",
    "SafetySupervisor",
    "ToldMotion",
    "clock_finding",
    "failed_tick",
]
