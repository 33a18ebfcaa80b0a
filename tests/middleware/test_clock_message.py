"""The message of a simulated clock: the bytes are those of its elements."""

from __future__ import annotations

import pytest

from gradiva.middleware.clock_message import ClockMessage
from gradiva.middleware.embedded.wire.binary import encode_list
from gradiva.middleware.embedded.wire.wire_family import WireFamily


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_bytes_are_those_of_seconds_and_nanoseconds(family):
    assert ClockMessage(12.0345).to_wire(family) == encode_list([12, 34_500_000], family)


def test_a_time_is_told_to_the_nearest_nanosecond():
    assert ClockMessage(0.1 + 0.2).to_items() == [0, 300_000_000]
    assert ClockMessage(0.9999999999).to_wire_text() == "1 0"
