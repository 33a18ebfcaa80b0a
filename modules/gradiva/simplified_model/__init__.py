"""Layer 2: the linear inverted pendulum, control of its divergent component of motion and of its CoM."""

from gradiva.simplified_model.dcm_controller import DcmController, DcmControllerConfig
from gradiva.simplified_model.dcm_mpc import DcmMpc, DcmMpcConfig
from gradiva.simplified_model.gain_schedule import GainProgress, GainSchedule, GainScheduleConfig
from gradiva.simplified_model.linear_inverted_pendulum import LinearInvertedPendulum
from gradiva.simplified_model.zmp_com_controller import ZmpComController, ZmpComControllerConfig
from gradiva.simplified_model.zmp_com_gains import ZmpComGains

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
