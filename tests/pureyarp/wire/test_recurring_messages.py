"""Messages that are encoded once and sent many times."""

from __future__ import annotations

import math

import pytest

from gradiva.middleware.vectors_collection import values_messages, values_to_items
from pureyarp.devices.analog_sensors_client import (
    SensorClass,
    SensorMeasurement,
    measurements_messages,
    measurements_to_items,
    numbers_of,
    sizes_of,
)
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import TypedList, WireFamily
from pureyarp.wire.recurring_messages import RecurringMessages
from pureyarp.wire.text import to_text

MIXED = RecurringMessages(lambda numbers: ["x", TypedList(float, numbers[:2]), 7, [*numbers[2:], "y"]], 4)
NUMBERS = [1.5, -math.inf, 0.0, 1e-300]


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_bytes_are_those_of_the_elements(family):
    message = MIXED.message(NUMBERS)
    expected = encode_list(["x", TypedList(float, NUMBERS[:2]), 7, [*NUMBERS[2:], "y"]], family)
    assert message.to_wire(family) == expected
    assert message.to_wire(family) == expected  # the second time from the template


def test_one_message_leaves_nothing_behind_in_the_next():
    assert MIXED.message(NUMBERS).to_wire(WireFamily.YARP_3) != MIXED.message([0.0] * 4).to_wire(WireFamily.YARP_3)
    items = MIXED.layout([0.0] * 4)
    assert MIXED.message([0.0] * 4).to_wire(WireFamily.YARP_3) == encode_list(items)


def test_a_text_connection_gets_a_line():
    assert MIXED.message(NUMBERS).to_wire_text() == to_text(MIXED.layout(NUMBERS))


@pytest.mark.parametrize("family", list(WireFamily))
def test_vectors_are_as_their_elements(family):
    vectors = {"b": [], "dcm::position": [1.0, 2.0], "zmp": [3.0]}
    messages = values_messages([(name, len(vectors[name])) for name in sorted(vectors)], 5)
    numbers = [number for name in sorted(vectors) for number in vectors[name]]
    assert messages.message(numbers).to_wire(family) == encode_list(values_to_items(vectors, 5), family)


@pytest.mark.parametrize("family", list(WireFamily))
def test_sensors_are_as_their_elements(family):
    measured = {
        SensorClass.FORCE_TORQUE: [SensorMeasurement((1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 0.5)] * 2,
        SensorClass.TEMPERATURE: [SensorMeasurement((30.0,), 0.25)],
        SensorClass.SKIN_PATCH: [SensorMeasurement((), 0.125)],
    }
    message = measurements_messages(sizes_of(measured)).message(numbers_of(measured))
    assert message.to_wire(family) == encode_list(measurements_to_items(measured), family)


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_numbers_of_a_message_are_found_again(family):
    message = MIXED.message(NUMBERS).to_wire(family)
    assert MIXED.numbers_in(message, family) == tuple(NUMBERS)
    assert MIXED.numbers_in(message[:-1] + b"z", family) is None
    assert MIXED.numbers_in(message + b"z", family) is None


def test_what_are_no_numbers_is_refused():
    with pytest.raises(MalformedMessage, match="4 numbers"):
        MIXED.message([1.0, "2", 3.0, 4.0]).to_wire(WireFamily.YARP_3)
    with pytest.raises(MalformedMessage, match="4 numbers"):
        MIXED.message([1.0]).to_wire(WireFamily.YARP_3)
