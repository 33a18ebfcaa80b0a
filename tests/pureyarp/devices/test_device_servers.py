"""The servers of control boards and analog sensors, against recorded clients of YARP 3.12.3."""

from __future__ import annotations

import logging
import threading
import time

import numpy as np
import pytest

from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_bottle, as_items
from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata
from pureyarp.devices.control_board_messages import CommandKind, JointData, StreamedCommand
from pureyarp.devices.control_board_protocol import ControlMode
from pureyarp.devices.device_servers import AnalogSensorsServer, ControlBoardServer
from pureyarp.errors import NetworkError
from pureyarp.network.peers import request
from pureyarp.wire.binary import ADMINISTRATION, DATA, decode_list
from pureyarp.wire.elements import WireFamily, encode_vocab
from pureyarp.wire.text import from_text, to_text
from tests.middleware.fake_board import IntegratingBoard, RecordedBoard
from tests.middleware.fake_sensors import NAME, SENSORS, Reading
from tests.middleware.recorded_client import RecordedConnection, RecordedReceiver, message_in, session
from tests.middleware.recorded_messages import recorded_messages, recording
from tests.waiting import TIMEOUT, wait_until

YARP_3, YARP_4 = WireFamily.YARP_3, WireFamily.YARP_4


@pytest.fixture
def ask(names):
    def asked(text: str, port: str = "/fakebot/arm/rpc:i") -> str:
        return to_text(request(names.query(port), from_text(text), timeout=TIMEOUT) or [])

    return asked


def board(device, **options):
    return ControlBoardServer("/fakebot/arm", device, **options)


def test_the_recorded_client_opens_commands_and_leaves_it_by_tcp(names):
    recorded = session("rcb_open_tcp")
    state_before_commands = recorded_messages("yarp_3_12", "rcb_open_tcp", 23)[0].payload
    device = RecordedBoard()
    with board(device), RecordedReceiver(names, "/gold/rcb/stateExt:i") as receiver:
        for connection in (20, 21):
            assert RecordedConnection(names, recorded, connection).play() >= 2
        envelope, payload = receiver.wait_for(1)[0]
        assert payload == state_before_commands
        assert receiver.handshake == bytes.fromhex(
            "5941e41e00005250180000002f66616b65626f742f61726d2f73746174654578743a6f00"
        )
        assert len(envelope.split()) == 2
        assert RecordedConnection(names, recorded, 11).play() == 8
        assert RecordedConnection(names, recorded, 17).play() == 4
        assert device.commands == [
            StreamedCommand(CommandKind.POSITION_DIRECT, (0,), (12.5,)),
            StreamedCommand(CommandKind.POSITION_DIRECT, None, (1.0, 2.0, 3.0)),
            StreamedCommand(CommandKind.POSITION_DIRECT, (0, 2), (4.0, 5.0)),
        ]
        for connection in (28, 29):
            assert RecordedConnection(names, recorded, connection).play() >= 2


def test_the_recorded_client_reads_and_leaves_it_by_udp(names):
    recorded = session("rcb_open_default_udp")
    device = RecordedBoard()
    device.modes[0] = ControlMode.POSITION_DIRECT
    device.position[0] = 4.0
    server = board(device)
    server.open()
    with RecordedReceiver(names, "/gold/rcb/stateExt:i") as receiver:
        assert RecordedConnection(names, recorded, 4).play() == 2
        state = next(frame for frame in recorded["frames"] if frame["conn"] == "udp")
        assert receiver.wait_for(1)[0][1] == message_in(bytes.fromhex(state["hex"])[8:])[1]
        assert RecordedConnection(names, recorded, 1).play() == 8
        assert RecordedConnection(names, recorded, 3).play() == 1
        assert RecordedConnection(names, recorded, 6).play() == 2
        server.close()
        farewell = b"CONNECT admin\r\n~/fakebot/arm/stateExt:o\r\nq\r\n"
        assert receiver.wait_for_farewell(len(farewell)) == farewell


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_commands_come_in_their_order_by_every_carrier(names, carrier):
    device = IntegratingBoard(3)
    with board(device, period=None):
        port = yarp.Port()
        assert port.open("/client/command:o")
        try:
            assert port.addOutput("/fakebot/arm/command:i", carrier)
            for i in range(50):
                assert port.write(as_bottle(StreamedCommand(CommandKind.VELOCITY, (1,), (float(i),)).to_items()))
            wait_until(lambda: len(device.commands) == 50)
        finally:
            port.close()
    assert [command.values[0] for command in device.commands] == [float(i) for i in range(50)]


def test_states_published_in_step_carry_the_time_of_the_simulation(names):
    device = IntegratingBoard(2)
    port = yarp.BufferedPortBottle()
    port.setStrict()
    with board(device, period=None) as server:
        assert port.open("/reader")
        try:
            assert yarp.Network.connect("/fakebot/arm/stateExt:o", "/reader", "fast_tcp")
            for step in range(5):
                device.position[:] = step
                server.publish(device.read(), 0.25 * step)
                message = port.read()
                stamp = yarp.Stamp()
                assert port.getEnvelope(stamp)
                assert (stamp.getCount(), stamp.getTime()) == (step, 0.25 * step)
                np.testing.assert_array_equal(JointData.from_items(as_items(message)).joint_position, [step, step])
        finally:
            port.close()


def test_positions_go_out_as_the_vector_that_was_recorded(names):
    recorded = recorded_messages("yarp_3_12", "state")[0].payload
    device = RecordedBoard()
    device.position[:] = decode_list(recorded).items
    with RecordedReceiver(names, "/gold/st") as receiver, board(device):
        reply = request(names.query("/fakebot/arm/state:o"), from_text('[add] "/gold/st"'), ADMINISTRATION)
        assert reply == [0, "Added connection from /fakebot/arm/state:o to /gold/st\r\n"]
        assert receiver.wait_for(2)[1][1] == recorded


def test_both_states_carry_one_stamp(names):
    receivers = RecordedReceiver(names, "/a"), RecordedReceiver(names, "/b")
    with receivers[0] as state, receivers[1] as extended, board(IntegratingBoard(1), period=None) as server:
        assert yarp.Network.connect("/fakebot/arm/state:o", "/a")
        assert yarp.Network.connect("/fakebot/arm/stateExt:o", "/b")
        server.publish(JointData.of([1.0]), 1.5)
        assert state.wait_for(1)[0][0] == extended.wait_for(1)[0][0] == "0 1.5"


def test_a_device_that_fails_is_answered_fail_and_recovers(names, ask, caplog, monkeypatch):
    device = IntegratingBoard(3)
    read = device.read

    def burn(*_: object) -> None:
        raise RuntimeError("motor burnt")

    with board(device, period=0.005), RecordedReceiver(names, "/a") as receiver:
        assert yarp.Network.connect("/fakebot/arm/stateExt:o", "/a")
        receiver.wait_for(1)
        with caplog.at_level(logging.WARNING, logger="pureyarp"):
            monkeypatch.setattr(device, "read", burn)
            monkeypatch.setattr(device, "stream", burn)
            assert ask("[get] [encs]") == "[fail]"
            request(names.query("/fakebot/arm/command:i"), [["dpo", 1], [5.0]], DATA)
            wait_until(lambda: "nothing is published" in caplog.text and "the device failed" in caplog.text)
        monkeypatch.setattr(device, "read", read)
        count = len(receiver.payloads)
        receiver.wait_for(count + 3)
        assert ask("[get] [enc] 1").startswith("[is] [enc] 0.0")


@pytest.mark.parametrize(
    "command",
    ["([dpos]) (1.0 2.0)", "([dpos]) (1.0 2.0 3.0 4.0)", "([dpo] 3) (1.0)", "([dpog] 2 (0 7)) (1.0 2.0)", "5", ""],
)
def test_commands_that_do_not_fit_the_part_are_refused(names, command, caplog):
    device = IntegratingBoard(3)
    with board(device, period=None), caplog.at_level(logging.WARNING, logger="pureyarp"):
        contact = names.query("/fakebot/arm/command:i")
        request(contact, from_text(command), DATA)
        wait_until(lambda: "refused" in caplog.text)
        request(contact, from_text("([vmo] 1) (2.0)"), DATA)
        wait_until(lambda: device.commands)
    assert device.commands == [StreamedCommand(CommandKind.VELOCITY, (1,), (2.0,))]


def test_no_request_and_no_command_meets_the_device_while_it_is_read(names, ask):
    device = IntegratingBoard(3)
    inside = threading.Lock()
    collisions = []
    read = device.read

    def watched_read() -> JointData:
        if not inside.acquire(blocking=False):
            collisions.append(1)
            return read()
        try:
            time.sleep(0.002)
            return read()
        finally:
            inside.release()

    device.read = watched_read
    with board(device, period=0.001):
        for _ in range(20):
            ask("[get] [encs]")
    assert collisions == []


def test_a_recorded_client_of_the_4_family_opens_it_and_commands_it(names):
    recorded = recording("yarp_4_0", "v4_nwc_open")
    device = RecordedBoard()
    with board(device, family=YARP_4, period=None) as server, RecordedReceiver(names, "/a") as receiver:
        assert RecordedConnection(names, recorded, 2).play() == 6
        assert device.modes[0] is ControlMode.POSITION_DIRECT
        assert RecordedConnection(names, recorded, 0).play() == 1
        wait_until(lambda: len(device.commands) == 3)
        assert device.commands[2] == StreamedCommand(CommandKind.POSITION_DIRECT, (0, 2), (4.0, 5.0))
        assert yarp.Network.connect("/fakebot/arm/stateExt:o", "/a")
        server.publish(device.read(), 0.0)
        assert len(decode_list(receiver.wait_for(1)[0][1], YARP_4).items) == 24


def test_a_port_that_cannot_be_opened_leaves_none_open(names):
    before = threading.active_count()
    bad = ControlBoardServer("no_slash", IntegratingBoard(1))
    with pytest.raises(NetworkError, match="no_slash/rpc:i"):
        bad.open()
    wait_until(lambda: threading.active_count() <= before)


def test_closing_leaves_no_thread_and_no_name(names):
    before = threading.active_count()
    with board(IntegratingBoard(3)):
        assert names.query("/fakebot/arm/stateExt:o").isValid()
    wait_until(lambda: threading.active_count() <= before)
    assert not any(contact.getName().startswith("/fakebot") for contact in names.list_names())


@pytest.fixture
def reading() -> Reading:
    return Reading()


def test_a_server_whose_sensors_fail_says_so_once_and_publishes_nothing(names, reading, caplog):
    with AnalogSensorsServer(NAME, SENSORS, reading, period=None) as server:
        assert server.publish()
        reading.is_broken = True
        assert not server.publish()
        assert not server.publish()
        reading.is_broken = False
        assert server.publish()
    lines = [record.message for record in caplog.records if NAME in record.message]
    assert lines == [f"{NAME} publishes nothing: OSError: no cable", f"{NAME} publishes again"]


def test_measurements_that_do_not_fit_the_sensors_are_not_published(names, caplog):
    too_few = {SensorClass.GYROSCOPE: [SensorMeasurement((1.0, 2.0), 0.0)]}
    sensors = {SensorClass.GYROSCOPE: [SensorMetadata("imu")]}
    with AnalogSensorsServer(NAME, sensors, lambda: too_few, period=None) as server:
        assert not server.publish()
    assert "a measurement of GYROSCOPE must have 3 numbers" in caplog.text


def test_measurements_that_are_no_numbers_end_nothing(names, caplog):
    broken = {SensorClass.TEMPERATURE: [SensorMeasurement((None,), 0.0)]}
    sensors = {SensorClass.TEMPERATURE: [SensorMetadata("imu")]}
    with AnalogSensorsServer(NAME, sensors, lambda: broken, period=None) as server:
        assert not server.publish()
    assert "publishes nothing: TypeError" in caplog.text


def test_sensors_that_never_answer_do_not_hold_up_the_end(names):
    asked, let_go = threading.Event(), threading.Event()

    def hang():
        asked.set()
        let_go.wait()

    with AnalogSensorsServer(NAME, SENSORS, hang, period=0.01):
        assert asked.wait(10.0)
    assert names.list_names(NAME) == []
    let_go.set()


def test_the_server_answers_the_recorded_client_as_recorded(names):
    imu = [SensorMetadata("imu0", "frame0")]
    sensors = dict.fromkeys(list(SensorClass)[:4], imu) | {
        SensorClass.TEMPERATURE: [SensorMetadata("imu0_temp", "frame0_temp")],
        SensorClass.FORCE_TORQUE: [SensorMetadata("imu0_ft", "frame0_ft")],
        SensorClass.CONTACT_LOAD_CELLS: [SensorMetadata("imu0_cell")],
        SensorClass.ENCODER_ARRAY: [SensorMetadata("imu0_enc")],
        SensorClass.SKIN_PATCH: [SensorMetadata("imu0_skin")],
    }
    with AnalogSensorsServer("/fakebot/mas", sensors, dict, period=None):
        assert RecordedConnection(names, recording("yarp_3_12", "mas"), 0).play() == 4
        unknown = request(names.query("/fakebot/mas/rpc:o"), ["makeCoffee"], timeout=10.0)
        assert unknown == [encode_vocab("fail")]


def test_a_name_that_is_no_name_leaves_nothing_open(names, reading):
    with pytest.raises(NetworkError, match="could not be opened"):
        AnalogSensorsServer("no name", SENSORS, reading).open()
    assert names.list_names("no") == []
