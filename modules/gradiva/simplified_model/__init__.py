"""Layer 2: the linear inverted pendulum, control of its divergent component of motion and of its CoM."""

from gradiva.simplified_model.dcm_controller import DcmController, DcmControllerConfig
from gradiva.simplified_model.dcm_mpc import DcmMpc, DcmMpcConfig
from gradiva.simplified_model.model_control import LinearInvertedPendulum
from gradiva.simplified_model.zmp_com_controller import (
    GainProgress,
    GainSchedule,
    GainScheduleConfig,
    ZmpComController,
    ZmpComControllerConfig,
    ZmpComGains,
)

__all__ = [
    "DcmController",
    "DcmControllerConfig",
    "DcmMpc",
    "DcmMpcConfig",
    "GainProgress",
    "GainSchedule",
    "GainScheduleConfig",
    "LinearInvertedPendulum",
    "ZmpComController",
    "ZmpComControllerConfig",
    "ZmpComGains",
]
