"""Layer 2: the linear inverted pendulum, control of its divergent component of motion and of its CoM."""

from gradiva.simplified_model.balance_laws import (
    LAWS,
    BalanceConfig,
    BalanceLaw,
    DecimatedLaw,
    FallbackLaw,
    balance_law,
    balance_law_names,
    balance_layer,
    fallback_layer,
    law_configs,
    model_control,
    shipped_laws,
)
from gradiva.simplified_model.balance_layer import (
    BalanceLayer,
    BalanceMemory,
    BalancePlan,
    BalanceReference,
    DcmLaw,
    GainProgress,
    LawMemory,
    PendulumState,
    Preview,
    SolverTimes,
)
from gradiva.simplified_model.dcm_controller import DcmController, DcmControllerConfig
from gradiva.simplified_model.dcm_mpc import DcmMpc, DcmMpcConfig
from gradiva.simplified_model.linear_inverted_pendulum import LinearInvertedPendulum
from gradiva.simplified_model.simplified_model_control import (
    GainSchedule,
    SimplifiedModelControl,
    ZmpComControllerConfig,
    ZmpComGains,
    zmp_com_velocity,
)

__all__ = [
    "LAWS",
    "BalanceConfig",
    "BalanceLaw",
    "BalanceLayer",
    "BalanceMemory",
    "BalancePlan",
    "BalanceReference",
    "DcmController",
    "DcmControllerConfig",
    "DcmLaw",
    "DcmMpc",
    "DcmMpcConfig",
    "DecimatedLaw",
    "FallbackLaw",
    "GainProgress",
    "GainSchedule",
    "LawMemory",
    "LinearInvertedPendulum",
    "PendulumState",
    "Preview",
    "SimplifiedModelControl",
    "SolverTimes",
    "ZmpComControllerConfig",
    "ZmpComGains",
    "balance_law",
    "balance_law_names",
    "balance_layer",
    "fallback_layer",
    "law_configs",
    "model_control",
    "shipped_laws",
    "zmp_com_velocity",
]
