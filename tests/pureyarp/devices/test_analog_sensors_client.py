"""Analog sensors: their messages, and the client against our server and a recorded one."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pureyarp.data.vectors import Vector
from pureyarp.devices.analog_sensors_client import (
    MAS_ERROR,
    MAS_OK,
    MAS_TIMEOUT,
    MAS_WAITING_FOR_FIRST_READ,
    MeasurementsReader,
    SensorClass,
    SensorMeasurement,
    SensorMetadata,
    measurements_from_items,
    measurements_to_items,
    metadata_from_items,
    metadata_to_items,
)
from pureyarp.devices.device_servers import AnalogSensorsServer
from pureyarp.errors import MalformedMessage
from pureyarp.network.network import Network
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily
from tests.middleware.fake_sensors import NAME, SENSORS, Reading
from tests.middleware.recorded_board import RecordedBoard
from tests.middleware.recorded_messages import recorded_messages, recording
from tests.waiting import wait_until

METADATA = recorded_messages("yarp_3_12", "mas", 0)[0].reply
MEASUREMENTS = [one.payload for one in recorded_messages("yarp_3_12", "mas", 1)]


def test_metadata_are_understood_and_written_as_recorded():
    metadata = metadata_from_items(decode_list(METADATA).items)
    assert metadata[SensorClass.GYROSCOPE] == (SensorMetadata("imu0", "frame0"),)
    assert metadata[SensorClass.FORCE_TORQUE] == (SensorMetadata("imu0_ft", "frame0_ft"),)
    assert metadata[SensorClass.SKIN_PATCH] == (SensorMetadata("imu0_skin"),)
    assert SensorClass.POSITION not in metadata
    assert encode_list(metadata_to_items(metadata)) == METADATA


@pytest.mark.parametrize("payload", MEASUREMENTS)
def test_measurements_are_understood_and_written_as_recorded(payload):
    measurements = measurements_from_items(decode_list(payload).items)
    assert measurements[SensorClass.FORCE_TORQUE][0].values == (1.5, 3.0, 4.5, 6.0, 7.5, 9.0)
    assert measurements[SensorClass.TEMPERATURE][0].values == (36.5,)
    assert encode_list(measurements_to_items(measurements)) == payload


def test_a_kind_without_sensors_is_an_empty_list():
    items = measurements_to_items({SensorClass.TEMPERATURE: [SensorMeasurement((20.0,), 1.0)]})
    assert items == [[], [], [], [], [[[20.0], 1.0]], [], [], [], [], [], [], []]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [[]] * 11,
        [5] + [[]] * 11,
        [[[[1.0, 2.0], 0.5]]] + [[]] * 11,
        [[[[1.0, 2.0, "x"], 0.5]]] + [[]] * 11,
        [[[[1.0, 2.0, 3.0]]]] + [[]] * 11,
    ],
)
def test_what_are_no_measurements_is_refused(items):
    with pytest.raises(MalformedMessage):
        measurements_from_items(items)


@pytest.mark.parametrize("items", [[[]] * 13, [7] + [[]] * 11, [[["name", "frame"]]] + [[]] * 11])
def test_what_are_no_metadata_is_refused(items):
    with pytest.raises(MalformedMessage):
        metadata_from_items(items)


@pytest.mark.parametrize("family", list(WireFamily))
def test_a_reader_says_what_the_elements_say_and_knows_the_next_message(family):
    first = {SensorClass.GYROSCOPE: (SensorMeasurement((1.0, 2.0, 3.0), 4.0),)}
    second = {SensorClass.GYROSCOPE: (SensorMeasurement((5.0, 6.0, 7.0), 8.0),)}
    more = second | {SensorClass.SKIN_PATCH: (SensorMeasurement((), 9.0), SensorMeasurement((0.5,), 9.5))}
    reader, messages = MeasurementsReader(), [encode_list(measurements_to_items(one), family) for one in (first, more)]
    for message, expected in zip(messages, (first, more), strict=True):
        assert reader.usual(message, family) is None
        assert reader.from_items(decode_list(message, family).items) == expected
        assert reader.usual(message, family) == expected
    assert reader.usual(messages[0], family) is None


@pytest.fixture
def reading() -> Reading:
    return Reading()


@pytest.fixture
def server(names, reading) -> Iterator[AnalogSensorsServer]:
    with AnalogSensorsServer(NAME, SENSORS, reading, period=0.01) as server:
        yield server


def test_sensors_have_names_frames_and_measurements(server, opened):
    driver = opened("multipleanalogsensorsclient", local="/client", remote=NAME, timeout=5.0)
    forces, out = driver.viewISixAxisForceTorqueSensors(), Vector()
    assert forces.getNrOfSixAxisForceTorqueSensors() == 2
    assert forces.getSixAxisForceTorqueSensorName(1) == "right"
    assert forces.getSixAxisForceTorqueSensorFrameName(0) == "l_sole"
    wait_until(lambda: forces.getSixAxisForceTorqueSensorStatus(0) == MAS_OK)
    assert forces.getSixAxisForceTorqueSensorMeasure(1, out) == 5.0
    assert list(out.array) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    orientation = driver.viewIOrientationSensors()
    assert orientation.getOrientationSensorMeasureAsRollPitchYaw(0, out) == 5.0
    assert list(out.array) == [0.0, 1.0, 2.0]
    assert driver.viewITemperatureSensors().getTemperatureSensorMeasure(0, out) == 5.0
    assert list(out.array) == [0.0]
    assert driver.viewIThreeAxisLinearAccelerometers().getNrOfThreeAxisLinearAccelerometers() == 0


def test_an_index_beyond_the_sensors_is_an_error_not_an_exception(server, opened):
    gyroscopes = opened("multipleanalogsensorsclient", local="/c", remote=NAME, timeout=5.0).viewIThreeAxisGyroscopes()
    wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
    assert gyroscopes.getThreeAxisGyroscopeStatus(1) == MAS_ERROR
    assert gyroscopes.getThreeAxisGyroscopeName(1) == "unknown"
    assert gyroscopes.getThreeAxisGyroscopeMeasure(1, Vector()) == -1.0


def test_a_control_board_view_of_sensors_is_none(server, opened):
    driver = opened("multipleanalogsensorsclient", local="/client", remote=NAME)
    assert driver.viewIEncoders() is None


def test_before_the_first_message_and_after_the_last_one_the_status_says_so(names, reading, opened):
    with AnalogSensorsServer(NAME, SENSORS, reading, period=None) as server:
        driver = opened("multipleanalogsensorsclient", local="/client", remote=NAME, timeout=0.2)
        gyroscopes = driver.viewIThreeAxisGyroscopes()
        assert gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_WAITING_FOR_FIRST_READ
        assert server.publish()
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_TIMEOUT)
        assert gyroscopes.getThreeAxisGyroscopeMeasure(0, Vector()) == -1.0


def test_a_restarted_server_is_reached_again(names, reading, opened):
    with AnalogSensorsServer(NAME, SENSORS, reading):
        driver = opened("multipleanalogsensorsclient", local="/client", remote=NAME, timeout=0.3)
        gyroscopes = driver.viewIThreeAxisGyroscopes()
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
    wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_TIMEOUT)
    with AnalogSensorsServer(NAME, SENSORS, reading):
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
        assert Network.isConnected(f"{NAME}/measures:o", "/client/measures:i")


def test_a_recorded_session(names, opened):
    session = recording("yarp_3_12", "mas")
    with RecordedBoard(names, session, "/fakebot/mas", ("/rpc:o", "/measures:o")) as server:
        driver = opened("multipleanalogsensorsclient", local="/gold/mas", remote="/fakebot/mas", timeout=5.0)
        gyroscopes, out = driver.viewIThreeAxisGyroscopes(), Vector()
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeMeasure(0, out) == 1795244748.5806873)
        assert list(out.array) == [185.0, 185.0, 185.0]
        assert gyroscopes.getThreeAxisGyroscopeName(0) == "imu0"
        driver.close()
        assert server.said["/fakebot/mas/rpc:o"] == server.recorded("/fakebot/mas/rpc:o")
        assert '[add] "tcp://gold/mas/measures:i"' in server.administration


def test_closing_leaves_no_thread(server, opened, names):
    opened("multipleanalogsensorsclient", local="/client", remote=NAME).close()
    server.close()
    assert names.list_names("/client") == names.list_names(NAME) == []
    wait_until(lambda: not [one for one in threading.enumerate() if NAME in one.name or "/client" in one.name])
