"""The recorded sessions with devices, live: our servers with recorded clients, our clients with recorded servers."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gradiva.middleware import yarp
from pureyarp.application.resource_finder import ResourceFinder
from pureyarp.application.rf_module import RFModule
from pureyarp.data.values import Property
from pureyarp.data.vectors import Vector
from pureyarp.devices.analog_sensors_client import MAS_OK, SensorClass, SensorMetadata, measurements_from_items
from pureyarp.devices.control_board_messages import JointData
from pureyarp.devices.device_servers import AnalogSensorsServer, ControlBoardServer
from pureyarp.devices.poly_driver import PolyDriver
from pureyarp.devices.remote_control_board import RemoteControlBoard, RemoteControlBoardOptions
from pureyarp.network.peers import NameClient
from pureyarp.network.settings import current_settings
from pureyarp.wire.binary import decode_list
from tests.middleware.fake_board import RecordedBoard
from tests.middleware.recorded_board import RecordedBoard as RecordedServer
from tests.middleware.recorded_client import RecordedReceiver
from tests.middleware.recorded_messages import recorded_messages, recording
from tests.middleware.replay import ScriptedServer, play_client, said, without_blocks
from tests.pureyarp.devices.recorded_calls import make_call
from tests.pureyarp.devices.test_vocab_dialect import ENCODERS
from tests.pureyarp.network.local_ports import open_core
from tests.waiting import wait_until

BOARD, CLIENT, SENSORS = "/fakebot/arm", "/gold/rcb", "/fakebot/mas"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def config_of(**parameters: str | float) -> Property:
    config = Property()
    for key, value in parameters.items():
        config.put(key, value)
    return config


def opened(stack: ExitStack, device: str, **parameters: str | float) -> PolyDriver:
    driver = PolyDriver(config_of(device=device, **parameters))
    stack.callback(driver.close)
    assert driver.isValid()
    return driver


def port_of(names: NameClient, name: str) -> int:
    return names.query(name).getPort()


def test_the_control_board_server_answers_every_recorded_request(names, stack):
    """In the order of the recording: the device remembers its commands."""
    device = RecordedBoard()
    stack.enter_context(ControlBoardServer(BOARD, device, period=None))
    assert play_client(port_of(names, f"{BOARD}/command:i"), "rcb_streaming_all") == 1
    commands = len(recorded_messages("yarp_3_12", "rcb_streaming_all"))
    wait_until(lambda: len(device.commands) == commands)
    compared = 0
    for name, connection in (("rcb_open_tcp", 11), ("rcb_open_default_udp", 1), ("rcb_rpc_all", 0)):
        compared += play_client(port_of(names, f"{BOARD}/rpc:i"), name, connection)
    device.position[:] = ENCODERS
    compared += play_client(port_of(names, f"{BOARD}/rpc:i"), "cb_raw_rpc")
    assert compared >= 2 * 190  # replies and acknowledgements


def merged_session() -> dict[str, Any]:
    """Return a session in which a client opens, makes all recorded requests, and streams all recorded commands."""
    requests, commands = recording("yarp_3_12", "rcb_rpc_all"), recording("yarp_3_12", "rcb_streaming_all")
    states = recording("yarp_3_12", "stateExt")
    merged: dict[str, Any] = {"connections": [], "frames": []}
    for number, part in enumerate((requests, commands, states)):
        merged["connections"] += [{**one, "conn": number} for one in part["connections"]]
        merged["frames"] += [{**frame, "conn": number} for frame in part["frames"]]
    return merged


def test_our_client_makes_every_recorded_call_in_the_recorded_bytes(names, stack, caplog):
    session = merged_session()
    board = stack.enter_context(RecordedServer(names, session))
    caplog.set_level(logging.CRITICAL, "pureyarp")  # some of the recorded calls were refused
    config = config_of(local=CLIENT, remote=BOARD, carrier="fast_tcp", timeout=3600.0)
    client = RemoteControlBoard(RemoteControlBoardOptions.read(config))
    stack.callback(client.close)
    client.open()
    made = 0
    for name in ("rcb_rpc_all", "rcb_streaming_all"):
        for message in recorded_messages("yarp_3_12", name):
            if message.call not in ("", "OPEN", "CLOSE"):
                make_call(client, message.call)
                made += 1
    client.close()
    for server in (f"{BOARD}/rpc:i", f"{BOARD}/command:i"):
        recorded = board.recorded(server)
        wait_until(lambda server=server, recorded=recorded: len(board.said[server]) >= len(recorded))
        assert board.said[server][: len(recorded)] == recorded
    assert made >= 100


def test_our_board_sends_the_recorded_states(names, stack):
    stateExt = recorded_messages("yarp_3_12", "stateExt")
    state = recorded_messages("yarp_3_12", "state")
    for server_port, client_port, messages in (
        (f"{BOARD}/stateExt:o", f"{CLIENT}/stateExt:i", stateExt),
        (f"{BOARD}/state:o", "/gold/st", state),
    ):
        with RecordedReceiver(names, client_port) as receiver:
            server = stack.enter_context(ControlBoardServer(BOARD, RecordedBoard(), period=None))
            assert yarp.Network.connect(server_port, client_port, "tcp")
            for message in messages:
                server.publish(joint_data(decode_list(message.payload).items), float(message.command.split()[2]))
                received = receiver.wait_for(1)[-1]
                assert received[1] == message.payload
                assert received[0].split()[1] == message.command.split()[2]
                receiver.payloads.clear()
            server.close()


def joint_data(items: list[Any]) -> JointData:
    return JointData.from_items(items) if isinstance(items[0], list) else JointData.of(items)


IMU = SensorMetadata("imu0", "frame0")
METADATA = {kind: [IMU] for kind in list(SensorClass)[:4]} | {
    SensorClass.TEMPERATURE: [SensorMetadata("imu0_temp", "frame0_temp")],
    SensorClass.FORCE_TORQUE: [SensorMetadata("imu0_ft", "frame0_ft")],
    SensorClass.CONTACT_LOAD_CELLS: [SensorMetadata("imu0_cell")],
    SensorClass.ENCODER_ARRAY: [SensorMetadata("imu0_enc")],
    SensorClass.SKIN_PATCH: [SensorMetadata("imu0_skin")],
}


def test_our_sensors_answer_and_stream_as_recorded(names, stack):
    messages = recorded_messages("yarp_3_12", "mas", 1)
    measured = iter([measurements_from_items(decode_list(message.payload).items) for message in messages])
    server = AnalogSensorsServer(SENSORS, METADATA, lambda: next(measured), period=None)
    stack.enter_context(server)
    assert play_client(port_of(names, f"{SENSORS}/rpc:o"), "mas", 0) == 4
    with RecordedReceiver(names, "/gold/mas/measures:i") as receiver:
        assert yarp.Network.connect(f"{SENSORS}/measures:o", "/gold/mas/measures:i")
        for count, message in enumerate(messages):
            assert server.publish()
            assert receiver.wait_for(count + 1)[count][1] == message.payload


def test_our_client_asks_recorded_sensors_and_reads_what_they_measured(names, stack):
    rpc = stack.enter_context(ScriptedServer("mas", 0))
    names.register(f"{SENSORS}/rpc:o", "tcp", "127.0.0.1", rpc.port)
    measures = open_core(stack, f"{SENSORS}/measures:o", settings=current_settings())
    names.register(f"{SENSORS}/measures:o", "tcp", "127.0.0.1", measures.port_number)
    driver = opened(stack, "multipleanalogsensorsclient", local="/gold/mas", remote=SENSORS, timeout=3600.0)
    play_client(port_of(names, "/gold/mas/measures:i"), "mas", 1)
    forces, value = driver.viewISixAxisForceTorqueSensors(), Vector()
    assert forces.getSixAxisForceTorqueSensorName(0) == "imu0_ft"
    wait_until(lambda: forces.getSixAxisForceTorqueSensorStatus(0) == MAS_OK)
    forces.getSixAxisForceTorqueSensorMeasure(0, value)
    assert value.array.tolist() == [1.5, 3.0, 4.5, 6.0, 7.5, 9.0]
    driver.close()
    assert without_blocks(rpc.heard()[0]) == without_blocks(said("mas", 0))


class RecordedModule(RFModule):
    """Answers as the recorded module did."""

    def __init__(self) -> None:
        super().__init__()
        self.rpc = yarp.Port()

    def configure(self, rf: ResourceFinder) -> bool:
        self.attach(self.rpc)
        return self.rpc.open("/gold/mod2/rpc")

    def getPeriod(self) -> float:
        return 0.01

    def updateModule(self) -> bool:
        return True

    def respond(self, command: yarp.Bottle, reply: yarp.Bottle) -> bool:
        answers = {"ping": "pong", "many": '[many] "line1" "line2"'}
        known = answers.get(command.get(0).asString())
        if known is None:
            return super().respond(command, reply)
        reply.fromString(known)
        return True

    def close(self) -> bool:
        self.rpc.close()
        return True


def test_a_module_answers_and_ends_as_recorded(names):
    module, finder = RecordedModule(), ResourceFinder()
    finder.configure(["program"])
    assert module.runModuleThreaded(finder) == 0
    wait_until(lambda: names.query("/gold/mod2/rpc").isValid())
    assert play_client(port_of(names, "/gold/mod2/rpc"), "rfmodule") == 13
    assert module.joinModule(10.0)
