"""Push recovery: what layers 1 to 3 do about a push, behind one object that the tick asks."""

from gradiva.push_recovery.adapted_steps import CaptureStepping, ReactiveStepping, SteppingLog
from gradiva.push_recovery.compensation import PushCompensation, SidewaysCompensation, ZmpWithoutFoot
from gradiva.push_recovery.soles import FootAdmittance, FootAdmittanceConfig, SoleLevelling, landed_last
from gradiva.push_recovery.step_adapter import (
    AdaptedStep,
    RunningStep,
    StepAdaptationConfig,
    StepAdapter,
    SteppingMode,
)
from gradiva.push_recovery.trunk import HipStrategy, HipStrategyConfig, followed

__all__ = [
    "AdaptedStep",
    "CaptureStepping",
    "FootAdmittance",
    "FootAdmittanceConfig",
    "HipStrategy",
    "HipStrategyConfig",
    "PushCompensation",
    "ReactiveStepping",
    "RunningStep",
    "SidewaysCompensation",
    "SoleLevelling",
    "StepAdaptationConfig",
    "StepAdapter",
    "SteppingLog",
    "SteppingMode",
    "ZmpWithoutFoot",
    "followed",
    "landed_last",
]
