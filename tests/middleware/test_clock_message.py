"""The message of a simulated clock: the bytes are those of its elements."""

from __future__ import annotations

import threading

import pytest

from gradiva.middleware import yarp
from gradiva.middleware.bottles import fill_bottle
from gradiva.middleware.network import ClockMessage, follow_clock, is_ticking
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import WireFamily
from tests.waiting import TIMEOUT


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_bytes_are_those_of_seconds_and_nanoseconds(family):
    assert ClockMessage(12.0345).to_wire(family) == encode_list([12, 34_500_000], family)


def test_a_time_is_told_to_the_nearest_nanosecond():
    assert ClockMessage(0.1 + 0.2).to_items() == [0, 300_000_000]
    assert ClockMessage(0.9999999999).to_wire_text() == "1 0"


def test_a_clock_is_followed_only_once_it_ticks(own_name_server):
    yarp.Network.init()
    assert not is_ticking("/clock", 0.01)  # nobody is there
    clock, stopped = yarp.BufferedPortBottle(), threading.Event()
    assert clock.open("/clock")
    assert not is_ticking("/clock", 0.01)  # it stands still
    assert not follow_clock("/clock", 0.01)
    assert not yarp.isNetworkClock()

    def tick() -> None:
        while not stopped.wait(0.005):
            fill_bottle(clock.prepare(), ClockMessage(1.5).to_items())
            clock.write()

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        assert follow_clock("/clock", TIMEOUT)
        assert (yarp.isNetworkClock(), yarp.now()) == (True, 1.5)
    finally:
        yarp.useSystemClock()
        stopped.set()
        thread.join()
        clock.close()
