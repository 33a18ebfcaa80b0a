"""The client of analog sensors with our server at the other end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from gradiva.middleware.analog_sensors import SensorClass, SensorMeasurement, SensorMetadata
from gradiva.middleware.analog_sensors_server import AnalogSensorsServer
from gradiva.middleware.embedded.data.vector import Vector
from gradiva.middleware.embedded.devices.mas_status import MAS_ERROR, MAS_OK, MAS_TIMEOUT, MAS_WAITING_FOR_FIRST_READ
from gradiva.middleware.embedded.network.network import Network
from gradiva.middleware.embedded.network.peer_request import request
from gradiva.middleware.embedded.wire.vocab import encode_vocab
from tests.middleware.embedded.network.patience import wait_until
from tests.middleware.recorded_board import RecordedBoard
from tests.middleware.recorded_client import RecordedConnection
from tests.middleware.recorded_messages import recording

NAME = "/robot/sensors"
SENSORS = {
    SensorClass.GYROSCOPE: [SensorMetadata("imu", "imu_frame")],
    SensorClass.ORIENTATION: [SensorMetadata("imu", "imu_frame")],
    SensorClass.TEMPERATURE: [SensorMetadata("thermometer", "skin")],
    SensorClass.FORCE_TORQUE: [SensorMetadata("left", "l_sole"), SensorMetadata("right", "r_sole")],
}


class Reading:
    """What the sensors measure; raises when they are broken."""

    def __init__(self) -> None:
        self.is_broken = False
        self.time = 5.0

    def __call__(self) -> dict[SensorClass, list[SensorMeasurement]]:
        if self.is_broken:
            raise OSError("no cable")
        sizes = {SensorClass.TEMPERATURE: 1, SensorClass.FORCE_TORQUE: 6}
        return {
            kind: [SensorMeasurement(tuple(float(k) for k in range(sizes.get(kind, 3))), self.time) for _ in sensors]
            for kind, sensors in SENSORS.items()
        }


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


def test_a_restarted_server_is_reached_again(names, reading, opened):
    with AnalogSensorsServer(NAME, SENSORS, reading):
        driver = opened("multipleanalogsensorsclient", local="/client", remote=NAME, timeout=0.3)
        gyroscopes = driver.viewIThreeAxisGyroscopes()
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
    wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_TIMEOUT)
    with AnalogSensorsServer(NAME, SENSORS, reading):
        wait_until(lambda: gyroscopes.getThreeAxisGyroscopeStatus(0) == MAS_OK)
        assert Network.isConnected(f"{NAME}/measures:o", "/client/measures:i")


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


def test_a_recorded_session(names, opened):
    session = recording("yarp_3_12", "mas")
    with RecordedBoard(names, session, "/fakebot/mas", ("/rpc:o", "/measures:o")) as server:
        driver = opened("multipleanalogsensorsclient", local="/gold/mas", remote="/fakebot/mas", timeout=5.0)
        magnetometers, out = driver.viewIThreeAxisMagnetometers(), Vector()
        wait_until(lambda: magnetometers.getThreeAxisMagnetometerMeasure(0, out) == 1795244748.5806873)
        assert list(out.array) == [185.0, 185.0, 185.0]
        assert magnetometers.getThreeAxisMagnetometerName(0) == "imu0"
        driver.close()
        assert server.said["/fakebot/mas/rpc:o"] == server.recorded("/fakebot/mas/rpc:o")
        assert '[add] "tcp://gold/mas/measures:i"' in server.administration


def test_closing_leaves_no_thread(server, opened, names):
    opened("multipleanalogsensorsclient", local="/client", remote=NAME).close()
    server.close()
    assert names.list_names("/client") == names.list_names(NAME) == []
    wait_until(lambda: not [one for one in threading.enumerate() if NAME in one.name or "/client" in one.name])
