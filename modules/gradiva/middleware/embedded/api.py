"""YARP in pure Python: the part of its interface that Gradiva uses, with the names of the real Python bindings."""

from __future__ import annotations

from gradiva.middleware.embedded.application.resource_finder import ResourceFinder
from gradiva.middleware.embedded.application.rf_module import RFModule
from gradiva.middleware.embedded.data.bottle import Bottle
from gradiva.middleware.embedded.data.connection_reader import ConnectionReader
from gradiva.middleware.embedded.data.connection_writer import ConnectionWriter
from gradiva.middleware.embedded.data.portable import Portable
from gradiva.middleware.embedded.data.property import Property
from gradiva.middleware.embedded.data.searchable import Searchable
from gradiva.middleware.embedded.data.stamp import Stamp
from gradiva.middleware.embedded.data.standard_vectors import BVector, DVector, IVector
from gradiva.middleware.embedded.data.value import Value
from gradiva.middleware.embedded.data.vector import Vector
from gradiva.middleware.embedded.data.vocab_arguments import decode, encode
from gradiva.middleware.embedded.devices.constants import (
    VOCAB_CM_CALIB_DONE,
    VOCAB_CM_CALIBRATING,
    VOCAB_CM_CONFIGURED,
    VOCAB_CM_CURRENT,
    VOCAB_CM_FORCE_IDLE,
    VOCAB_CM_HW_FAULT,
    VOCAB_CM_IDLE,
    VOCAB_CM_IMPEDANCE_POS,
    VOCAB_CM_MIXED,
    VOCAB_CM_NOT_CONFIGURED,
    VOCAB_CM_POSITION,
    VOCAB_CM_POSITION_DIRECT,
    VOCAB_CM_PWM,
    VOCAB_CM_TORQUE,
    VOCAB_CM_UNKNOWN,
    VOCAB_CM_VELOCITY,
    VOCAB_IM_COMPLIANT,
    VOCAB_IM_STIFF,
    VOCAB_IM_UNKNOWN,
    VOCAB_JOINTTYPE_PRISMATIC,
    VOCAB_JOINTTYPE_REVOLUTE,
    VOCAB_JOINTTYPE_UNKNOWN,
)
from gradiva.middleware.embedded.devices.interfaces.amplifier_control import IAmplifierControl
from gradiva.middleware.embedded.devices.interfaces.axis_info import IAxisInfo
from gradiva.middleware.embedded.devices.interfaces.control_limits import IControlLimits
from gradiva.middleware.embedded.devices.interfaces.control_mode import IControlMode
from gradiva.middleware.embedded.devices.interfaces.current_control import ICurrentControl
from gradiva.middleware.embedded.devices.interfaces.encoders import IEncoders, IEncodersTimed
from gradiva.middleware.embedded.devices.interfaces.interaction_mode import IInteractionMode
from gradiva.middleware.embedded.devices.interfaces.motor import IMotor
from gradiva.middleware.embedded.devices.interfaces.orientation_sensors import IOrientationSensors
from gradiva.middleware.embedded.devices.interfaces.pid_control import IPidControl
from gradiva.middleware.embedded.devices.interfaces.position_control import IPositionControl
from gradiva.middleware.embedded.devices.interfaces.position_direct import IPositionDirect
from gradiva.middleware.embedded.devices.interfaces.pwm_control import IPWMControl
from gradiva.middleware.embedded.devices.interfaces.remote_variables import IRemoteVariables
from gradiva.middleware.embedded.devices.interfaces.six_axis_force_torque_sensors import ISixAxisForceTorqueSensors
from gradiva.middleware.embedded.devices.interfaces.temperature_sensors import ITemperatureSensors
from gradiva.middleware.embedded.devices.interfaces.three_axis_gyroscopes import IThreeAxisGyroscopes
from gradiva.middleware.embedded.devices.interfaces.three_axis_linear_accelerometers import (
    IThreeAxisLinearAccelerometers,
)
from gradiva.middleware.embedded.devices.interfaces.three_axis_magnetometers import IThreeAxisMagnetometers
from gradiva.middleware.embedded.devices.interfaces.torque_control import ITorqueControl
from gradiva.middleware.embedded.devices.interfaces.velocity_control import IVelocityControl
from gradiva.middleware.embedded.devices.mas_status import (
    MAS_ERROR,
    MAS_OK,
    MAS_OVF,
    MAS_TIMEOUT,
    MAS_UNKNOWN,
    MAS_WAITING_FOR_FIRST_READ,
)
from gradiva.middleware.embedded.devices.motor_torque_parameters import MotorTorqueParameters
from gradiva.middleware.embedded.devices.pid import Pid, PidVector
from gradiva.middleware.embedded.devices.poly_driver import PolyDriver
from gradiva.middleware.embedded.network.buffered_port import (
    BufferedPortBottle,
    BufferedPortProperty,
    BufferedPortVector,
)
from gradiva.middleware.embedded.network.callbacks import BottleCallback, PropertyCallback, VectorCallback
from gradiva.middleware.embedded.network.clock import (
    YARP_CLOCK_CUSTOM,
    YARP_CLOCK_DEFAULT,
    YARP_CLOCK_NETWORK,
    YARP_CLOCK_SYSTEM,
    YARP_CLOCK_UNINITIALIZED,
    delay,
    isClockInitialized,
    isCustomClock,
    isNetworkClock,
    isSystemClock,
    isValid,
    now,
    useNetworkClock,
    useSystemClock,
)
from gradiva.middleware.embedded.network.contact import Contact
from gradiva.middleware.embedded.network.contact_style import ContactStyle
from gradiva.middleware.embedded.network.network import Network, NetworkBase
from gradiva.middleware.embedded.network.port import Port
from gradiva.middleware.embedded.network.port_reader import PortReader
from gradiva.middleware.embedded.network.rpc_client import RpcClient
from gradiva.middleware.embedded.network.rpc_server import RpcServer

__all__ = [
    "MAS_ERROR",
    "MAS_OK",
    "MAS_OVF",
    "MAS_TIMEOUT",
    "MAS_UNKNOWN",
    "MAS_WAITING_FOR_FIRST_READ",
    "VOCAB_CM_CALIBRATING",
    "VOCAB_CM_CALIB_DONE",
    "VOCAB_CM_CONFIGURED",
    "VOCAB_CM_CURRENT",
    "VOCAB_CM_FORCE_IDLE",
    "VOCAB_CM_HW_FAULT",
    "VOCAB_CM_IDLE",
    "VOCAB_CM_IMPEDANCE_POS",
    "VOCAB_CM_MIXED",
    "VOCAB_CM_NOT_CONFIGURED",
    "VOCAB_CM_POSITION",
    "VOCAB_CM_POSITION_DIRECT",
    "VOCAB_CM_PWM",
    "VOCAB_CM_TORQUE",
    "VOCAB_CM_UNKNOWN",
    "VOCAB_CM_VELOCITY",
    "VOCAB_IM_COMPLIANT",
    "VOCAB_IM_STIFF",
    "VOCAB_IM_UNKNOWN",
    "VOCAB_JOINTTYPE_PRISMATIC",
    "VOCAB_JOINTTYPE_REVOLUTE",
    "VOCAB_JOINTTYPE_UNKNOWN",
    "YARP_CLOCK_CUSTOM",
    "YARP_CLOCK_DEFAULT",
    "YARP_CLOCK_NETWORK",
    "YARP_CLOCK_SYSTEM",
    "YARP_CLOCK_UNINITIALIZED",
    "BVector",
    "Bottle",
    "BottleCallback",
    "BufferedPortBottle",
    "BufferedPortProperty",
    "BufferedPortVector",
    "ConnectionReader",
    "ConnectionWriter",
    "Contact",
    "ContactStyle",
    "DVector",
    "IAmplifierControl",
    "IAxisInfo",
    "IControlLimits",
    "IControlMode",
    "ICurrentControl",
    "IEncoders",
    "IEncodersTimed",
    "IInteractionMode",
    "IMotor",
    "IOrientationSensors",
    "IPWMControl",
    "IPidControl",
    "IPositionControl",
    "IPositionDirect",
    "IRemoteVariables",
    "ISixAxisForceTorqueSensors",
    "ITemperatureSensors",
    "IThreeAxisGyroscopes",
    "IThreeAxisLinearAccelerometers",
    "IThreeAxisMagnetometers",
    "ITorqueControl",
    "IVector",
    "IVelocityControl",
    "MotorTorqueParameters",
    "Network",
    "NetworkBase",
    "Pid",
    "PidVector",
    "PolyDriver",
    "Port",
    "PortReader",
    "Portable",
    "Property",
    "PropertyCallback",
    "RFModule",
    "ResourceFinder",
    "RpcClient",
    "RpcServer",
    "Searchable",
    "Stamp",
    "Value",
    "Vector",
    "VectorCallback",
    "decode",
    "delay",
    "encode",
    "isClockInitialized",
    "isCustomClock",
    "isNetworkClock",
    "isSystemClock",
    "isValid",
    "now",
    "useNetworkClock",
    "useSystemClock",
]
