"""Push recovery: what layers 1 to 3 do about a push, behind one object that the tick asks."""

from gradiva.push_recovery.adapted_steps import AdaptedSteps
from gradiva.push_recovery.capture_steps import CaptureStepping
from gradiva.push_recovery.compensation import PushCompensation, SidewaysCompensation
from gradiva.push_recovery.push_recovery import MovedSoles, Push, PushRecovery, SlopedSoles
from gradiva.push_recovery.step_adaptations import (
    STEP_ADAPTATIONS,
    StepAdaptation,
    StepChange,
    SteppingLog,
    step_adaptation,
)
from gradiva.push_recovery.step_adapter import (
    LONGEST_SUPPORT,
    SHORTEST_SUPPORT,
    SOLE_MARGIN,
    ZMP_LAG,
    AdaptedStep,
    Legs,
    RunningStep,
    StepAdaptationConfig,
    StepAdapter,
    SteppingMode,
    legs_of,
    predicted_dcm,
    viable_set,
)
from gradiva.push_recovery.tilt import HipStrategy, HipStrategyConfig, SoleLevelling, Trunk, followed

__all__ = [
    "LONGEST_SUPPORT",
    "SHORTEST_SUPPORT",
    "SOLE_MARGIN",
    "STEP_ADAPTATIONS",
    "ZMP_LAG",
    "AdaptedStep",
    "AdaptedSteps",
    "CaptureStepping",
    "HipStrategy",
    "HipStrategyConfig",
    "Legs",
    "MovedSoles",
    "Push",
    "PushCompensation",
    "PushRecovery",
    "RunningStep",
    "SidewaysCompensation",
    "SlopedSoles",
    "SoleLevelling",
    "StepAdaptation",
    "StepAdaptationConfig",
    "StepAdapter",
    "StepChange",
    "SteppingLog",
    "SteppingMode",
    "Trunk",
    "followed",
    "legs_of",
    "predicted_dcm",
    "step_adaptation",
    "viable_set",
]
