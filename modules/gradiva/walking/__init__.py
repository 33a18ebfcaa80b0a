"""The tick of a walk: layers, state machine, safety."""

from gradiva.safety import Finding, Response, SafetyEvent, SafetyKind
from gradiva.walking.body_references import SwingMomentum, SwingMomentumConfig
from gradiva.walking.chatter import Chatter, ChatterMonitor, ChatterRecord, high_pass_gains
from gradiva.walking.pendulum_forces import pendulum_wrenches
from gradiva.walking.planning_service import (
    PlanningService,
    PlanReply,
    PlanRequest,
    SynchronousPlanning,
    answered,
    standing_at,
)
from gradiva.walking.walking_controller import WalkingController, balance_plan
from gradiva.walking.walking_layers import (
    TickConfig,
    WalkingConfig,
    WalkingLayers,
)
from gradiva.walking.walking_log import Signals, WalkingLog, element_names, walking_signals
from gradiva.walking.walking_state import WalkingState
from gradiva.whole_body import GroundModel, TorqueControlConfig, TorqueLaw

__all__ = [
    "Chatter",
    "ChatterMonitor",
    "ChatterRecord",
    "Finding",
    "GroundModel",
    "PlanReply",
    "PlanRequest",
    "PlanningService",
    "Response",
    "SafetyEvent",
    "SafetyKind",
    "Signals",
    "SwingMomentum",
    "SwingMomentumConfig",
    "SynchronousPlanning",
    "TickConfig",
    "TorqueControlConfig",
    "TorqueLaw",
    "WalkingConfig",
    "WalkingController",
    "WalkingLayers",
    "WalkingLog",
    "WalkingState",
    "answered",
    "balance_plan",
    "element_names",
    "high_pass_gains",
    "pendulum_wrenches",
    "standing_at",
    "walking_signals",
]
