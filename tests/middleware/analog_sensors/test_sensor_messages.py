"""Analog sensors as they travel, byte for byte as recorded."""

import pytest

from pureyarp.devices.analog_sensors_client import (
    MeasurementsReader,
    SensorClass,
    SensorMeasurement,
    SensorMetadata,
    measurements_from_items,
    measurements_to_items,
    metadata_from_items,
    metadata_to_items,
)
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.elements import WireFamily
from tests.middleware.recorded_messages import recorded_messages

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
    for message, told in zip(messages, (first, more), strict=True):
        assert reader.usual(message, family) is None
        assert reader.from_items(decode_list(message, family).items) == told
        assert reader.usual(message, family) == told
    assert reader.usual(messages[0], family) is None
