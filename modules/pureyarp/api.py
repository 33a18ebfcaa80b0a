"""YARP in pure Python: the part of its interface that Gradiva uses, with the names of the real Python bindings."""

from __future__ import annotations

from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import RFModule
from pureyarp.data.conversions import decode, encode
from pureyarp.data.streams import ConnectionReader, ConnectionWriter, Portable, Stamp
from pureyarp.data.values import Bottle, Property, Searchable, Value
from pureyarp.data.vectors import BVector, DVector, IVector, Vector
from pureyarp.devices.constants import (
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
from pureyarp.devices.interfaces.axis_info import IAxisInfo
from pureyarp.devices.interfaces.control_limits import IControlLimits
from pureyarp.devices.interfaces.control_mode import IControlMode
from pureyarp.devices.interfaces.encoders import IEncoders, IEncodersTimed
from pureyarp.devices.interfaces.interaction_mode import IInteractionMode
from pureyarp.devices.interfaces.motor import IMotor
from pureyarp.devices.interfaces.orientation_sensors import IOrientationSensors
from pureyarp.devices.interfaces.pid_control import IPidControl
from pureyarp.devices.interfaces.position_control import IPositionControl
from pureyarp.devices.interfaces.position_direct import IPositionDirect
from pureyarp.devices.interfaces.six_axis_force_torque_sensors import ISixAxisForceTorqueSensors
from pureyarp.devices.interfaces.temperature_sensors import ITemperatureSensors
from pureyarp.devices.interfaces.three_axis_gyroscopes import IThreeAxisGyroscopes
from pureyarp.devices.interfaces.three_axis_linear_accelerometers import (
    IThreeAxisLinearAccelerometers,
)
from pureyarp.devices.interfaces.torque_control import ITorqueControl
from pureyarp.devices.interfaces.velocity_control import IVelocityControl
from pureyarp.devices.mas_status import (
    MAS_ERROR,
    MAS_OK,
    MAS_OVF,
    MAS_TIMEOUT,
    MAS_UNKNOWN,
    MAS_WAITING_FOR_FIRST_READ,
)
from pureyarp.devices.pid import Pid, PidVector
from pureyarp.devices.poly_driver import PolyDriver
from pureyarp.network.buffered_port import (
    BufferedPortBottle,
    BufferedPortProperty,
    BufferedPortVector,
)
from pureyarp.network.callbacks import BottleCallback, PropertyCallback, VectorCallback
from pureyarp.network.clock import (
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
from pureyarp.network.contact import Contact
from pureyarp.network.contact_style import ContactStyle
from pureyarp.network.network import Network, NetworkBase
from pureyarp.network.port import Port
from pureyarp.network.port_reader import PortReader
from pureyarp.network.rpc_client import RpcClient
from pureyarp.network.rpc_server import RpcServer

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
    "IAxisInfo",
    "IControlLimits",
    "IControlMode",
    "IEncoders",
    "IEncodersTimed",
    "IInteractionMode",
    "IMotor",
    "IOrientationSensors",
    "IPidControl",
    "IPositionControl",
    "IPositionDirect",
    "ISixAxisForceTorqueSensors",
    "ITemperatureSensors",
    "IThreeAxisGyroscopes",
    "IThreeAxisLinearAccelerometers",
    "ITorqueControl",
    "IVector",
    "IVelocityControl",
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
