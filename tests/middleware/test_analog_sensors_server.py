"""The running server of analog sensors."""

from __future__ import annotations

import threading

import pytest

from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata
from pureyarp.devices.device_servers import AnalogSensorsServer
from pureyarp.errors import NetworkError
from pureyarp.network.peers import request
from pureyarp.wire.elements import encode_vocab
from tests.middleware.fake_sensors import NAME, SENSORS, Reading
from tests.middleware.recorded_client import RecordedConnection
from tests.middleware.recorded_messages import recording


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
