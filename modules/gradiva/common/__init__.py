"""The ground floor: errors, configuration, arrays, rotations, and the types that travel between layers."""

from gradiva.common.arrays import NDArray, altered, freeze_arrays, readonly, sealed, unchecked
from gradiva.common.configuration import from_table, merge
from gradiva.common.control_clock import ClockJump, ControlClock, ControlClockConfig
from gradiva.common.dcm_preview import DcmPreview
from gradiva.common.dcm_reference import DcmReference
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
from gradiva.common.foot_contact import FootContact
from gradiva.common.foot_reference import FootReference
from gradiva.common.gravity import GRAVITY
from gradiva.common.joint_command import ControlMode, JointCommand
from gradiva.common.low_pass import LowPass, low_pass_share
from gradiva.common.measurement import BaseMeasurement, ImuMeasurement, Measurement
from gradiva.common.minimum_jerk import minimum_acceleration, minimum_jerk
from gradiva.common.planar_pose import PlanarPose
from gradiva.common.plugins import load_plugin, plugin_names
from gradiva.common.robot_interface import RobotInterface
from gradiva.common.robot_posture import RobotPosture
from gradiva.common.robot_state import RobotState
from gradiva.common.side import Side
from gradiva.common.sole_rectangle import SoleRectangle
from gradiva.common.two_feet import TwoFeet
from gradiva.common.walking_reference import WalkingReference

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
    "low_pass_share",
    "merge",
    "minimum_acceleration",
    "minimum_jerk",
    "nearest_name",
    "plugin_names",
    "readonly",
    "sealed",
    "unchecked",
]
