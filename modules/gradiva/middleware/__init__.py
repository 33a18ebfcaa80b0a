"""YARP behind one door: ``from gradiva.middleware import yarp`` hands out the real bindings or pureyarp.

Beside it are servers, messages and questions to the network in forms that both answer. Importing this room chooses no
bindings yet: that is what the import of ``yarp``, and of a name that needs it, does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradiva.common import WalkingError
from pureyarp.application.rf_module import TerminationSignals
from pureyarp.devices.analog_sensors_client import (
    Measurements,
    MeasurementsReader,
    SensorClass,
    SensorMeasurement,
    SensorMetadata,
    measurements_messages,
    measurements_to_items,
    numbers_of,
    sizes_of,
)
from pureyarp.devices.control_board_device import (
    INTERFACES,
    ControlBoardDevice,
    Joints,
    Key,
    NotOffered,
    ParameterTable,
)
from pureyarp.devices.control_board_messages import (
    CommandKind,
    JointData,
    JointDataMessage,
    StreamedCommand,
    joint_data_in,
)
from pureyarp.devices.control_board_protocol import ControlMode, Feature, InteractionMode, JointType, PidType
from pureyarp.errors import (
    FrameTooLarge,
    MalformedMessage,
    NameServerUnreachable,
    NetworkError,
    PeerUnreachable,
    SettingsError,
    YarpError,
)
from pureyarp.network.byte_stream import open_socket
from pureyarp.network.name_server import NameServer
from pureyarp.network.peers import NameClient
from pureyarp.network.settings import (
    DEFAULT_NAMESPACE,
    Contact,
    NetworkSettings,
    current_settings,
    is_loopback,
    load_settings,
    name_server_file,
    use_settings,
)
from pureyarp.rate_limited_log import RateLimitedLog
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import Element, TypedList, Vocab32, WireFamily
from pureyarp.wire.text import is_complete

if TYPE_CHECKING:
    from gradiva.middleware import yarp
    from gradiva.middleware.bindings import chosen_bindings, is_real
    from gradiva.middleware.bottles import CommandReader, RequestReader, as_bottle, as_items, fill_bottle, send_ready
    from gradiva.middleware.device_servers import AnalogSensorsServer, BoundPorts, ControlBoardServer
    from gradiva.middleware.network import (
        AnyPort,
        ClockMessage,
        ask,
        carrier_between,
        follow_clock,
        is_there,
        leave_network,
        open_port,
        registered_names,
    )
    from gradiva.middleware.persistent_connections import PersistentConnections
    from gradiva.middleware.vectors_collection import (
        VectorsCollectionClient,
        VectorsCollectionServer,
        VectorsSample,
        values_messages,
    )

NAMED_ERRORS = (WalkingError, YarpError)  # reported by name, without a traceback

_NEEDS_BINDINGS = {  # name: module that imports ``yarp``
    "AnalogSensorsServer": "device_servers",
    "AnyPort": "network",
    "BoundPorts": "device_servers",
    "ClockMessage": "network",
    "CommandReader": "bottles",
    "ControlBoardServer": "device_servers",
    "PersistentConnections": "persistent_connections",
    "RequestReader": "bottles",
    "VectorsCollectionClient": "vectors_collection",
    "VectorsCollectionServer": "vectors_collection",
    "VectorsSample": "vectors_collection",
    "as_bottle": "bottles",
    "as_items": "bottles",
    "ask": "network",
    "carrier_between": "network",
    "chosen_bindings": "bindings",
    "fill_bottle": "bottles",
    "follow_clock": "network",
    "is_real": "bindings",
    "is_there": "network",
    "leave_network": "network",
    "open_port": "network",
    "registered_names": "network",
    "send_ready": "bottles",
    "values_messages": "vectors_collection",
}


def __getattr__(name: str) -> Any:
    """Import what needs the bindings when it is asked for."""
    if name not in _NEEDS_BINDINGS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_NEEDS_BINDINGS[name]}"), name)


__all__ = [
    "DEFAULT_NAMESPACE",
    "INTERFACES",
    "NAMED_ERRORS",
    "AnalogSensorsServer",
    "AnyPort",
    "BoundPorts",
    "ClockMessage",
    "CommandKind",
    "CommandReader",
    "Contact",
    "ControlBoardDevice",
    "ControlBoardServer",
    "ControlMode",
    "Element",
    "Feature",
    "FrameTooLarge",
    "InteractionMode",
    "JointData",
    "JointDataMessage",
    "JointType",
    "Joints",
    "Key",
    "MalformedMessage",
    "Measurements",
    "MeasurementsReader",
    "NameClient",
    "NameServer",
    "NameServerUnreachable",
    "NetworkError",
    "NetworkSettings",
    "NotOffered",
    "ParameterTable",
    "PeerUnreachable",
    "PersistentConnections",
    "PidType",
    "RateLimitedLog",
    "RequestReader",
    "SensorClass",
    "SensorMeasurement",
    "SensorMetadata",
    "SettingsError",
    "StreamedCommand",
    "TerminationSignals",
    "TypedList",
    "VectorsCollectionClient",
    "VectorsCollectionServer",
    "VectorsSample",
    "Vocab32",
    "WireFamily",
    "YarpError",
    "as_bottle",
    "as_items",
    "ask",
    "carrier_between",
    "chosen_bindings",
    "current_settings",
    "decode_list",
    "encode_list",
    "fill_bottle",
    "follow_clock",
    "is_complete",
    "is_loopback",
    "is_real",
    "is_there",
    "joint_data_in",
    "leave_network",
    "load_settings",
    "measurements_messages",
    "measurements_to_items",
    "name_server_file",
    "numbers_of",
    "open_port",
    "open_socket",
    "registered_names",
    "send_ready",
    "sizes_of",
    "use_settings",
    "values_messages",
    "yarp",
]
