"""Clients of control boards and analog sensors, their protocol, and servers that other programs can open."""

from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata
from pureyarp.devices.control_board_device import ControlBoardDevice, NotOffered, ParameterTable
from pureyarp.devices.control_board_messages import CommandKind, JointData, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode, Feature, InteractionMode, JointType, PidType
from pureyarp.devices.device_servers import AnalogSensorsServer, ControlBoardServer
from pureyarp.devices.server_ports import CommandReader, RequestReader

__all__ = [
    "AnalogSensorsServer",
    "CommandKind",
    "CommandReader",
    "ControlBoardDevice",
    "ControlBoardServer",
    "ControlMode",
    "Feature",
    "InteractionMode",
    "JointData",
    "JointType",
    "NotOffered",
    "ParameterTable",
    "PidType",
    "RequestReader",
    "SensorClass",
    "SensorMeasurement",
    "SensorMetadata",
    "StreamedCommand",
]
