"""The ground floor: errors, configuration, arrays, rotations, and the types that travel between layers."""

from gradiva.common.arrays import NDArray, altered, freeze_arrays, readonly, sealed, unchecked
from gradiva.common.configuration import from_table, merge
from gradiva.common.control_clock import ClockJump, ControlClock, ControlClockConfig
from gradiva.common.errors import (
    ConfigError,
    EstimationError,
    ModelError,
    NoSolutionFound,
    PlanningError,
    RobotInterfaceError,
    StateError,
    WalkingError,
    nearest_name,
)
from gradiva.common.feet import FootContact, Side, SoleRectangle, TwoFeet
from gradiva.common.plugins import load_plugin, plugin_names
from gradiva.common.references import DcmPreview, DcmReference, FootReference, WalkingReference
from gradiva.common.robot import (
    GRAVITY,
    BaseMeasurement,
    ControlMode,
    ImuMeasurement,
    JointCommand,
    Measurement,
    RobotInterface,
    RobotPosture,
    RobotState,
)
from gradiva.common.smoothing import LowPass, low_pass_gain, minimum_acceleration, minimum_jerk
from gradiva.common.so3 import PlanarPose

__all__ = [
    "GRAVITY",
    "BaseMeasurement",
    "ClockJump",
    "ConfigError",
    "ControlClock",
    "ControlClockConfig",
    "ControlMode",
    "DcmPreview",
    "DcmReference",
    "EstimationError",
    "FootContact",
    "FootReference",
    "ImuMeasurement",
    "JointCommand",
    "LowPass",
    "Measurement",
    "ModelError",
    "NDArray",
    "NoSolutionFound",
    "PlanarPose",
    "PlanningError",
    "RobotInterface",
    "RobotInterfaceError",
    "RobotPosture",
    "RobotState",
    "Side",
    "SoleRectangle",
    "StateError",
    "TwoFeet",
    "WalkingError",
    "WalkingReference",
    "altered",
    "freeze_arrays",
    "from_table",
    "load_plugin",
    "low_pass_gain",
    "merge",
    "minimum_acceleration",
    "minimum_jerk",
    "nearest_name",
    "plugin_names",
    "readonly",
    "sealed",
    "unchecked",
]
