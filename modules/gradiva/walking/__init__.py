"""The tick of a walk: layers, state machine, safety."""

from gradiva.walking.planning_service import (
    PlanningService,
    PlanReply,
    PlanRequest,
    SynchronousPlanning,
    answered,
    standing_at,
)
from gradiva.walking.safety import Response, SafetyEvent, SafetyKind
from gradiva.walking.walking_config import SimplifiedModel, TickConfig, WalkingConfig
from gradiva.walking.walking_controller import WalkingController
from gradiva.walking.walking_layers import WalkingLayers
from gradiva.walking.walking_log import WalkingLog
from gradiva.walking.walking_state import WalkingState

__all__ = [
    "PlanReply",
    "PlanRequest",
    "PlanningService",
    "Response",
    "SafetyEvent",
    "SafetyKind",
    "SimplifiedModel",
    "SynchronousPlanning",
    "TickConfig",
    "WalkingConfig",
    "WalkingController",
    "WalkingLayers",
    "WalkingLog",
    "WalkingState",
    "answered",
    "standing_at",
]
