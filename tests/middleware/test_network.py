"""Questions to ports and to the name server, and the clock of a simulation."""

from __future__ import annotations

import threading
import time

import pytest

from gradiva.middleware import yarp
from gradiva.middleware.bottles import fill_bottle
from gradiva.middleware.network import (
    ClockMessage,
    ask,
    carrier_between,
    follow_clock,
    is_there,
    is_ticking,
    registered_names,
)
from pureyarp.network.subscriptions import Subscriptions
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import WireFamily
from tests.waiting import TIMEOUT

pytestmark = pytest.mark.usefixtures("own_name_server")


@pytest.fixture
def ports():
    yarp.Network.init()
    out, into = yarp.Port(), yarp.BufferedPortBottle()
    assert out.open("/out")
    assert into.open("/in")
    yield out, into
    out.close()
    into.close()


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_both_ends_name_the_carrier_of_a_connection(ports, carrier):
    assert carrier_between("/out", "/in") == ""
    assert yarp.Network.connect("/out", "/in", carrier, True)
    assert carrier_between("/out", "/in") == carrier


def test_a_destination_that_was_started_again_elsewhere_is_not_connected(ports):
    assert yarp.Network.connect("/out", "/in", "tcp", True)
    again = yarp.BufferedPortBottle()
    assert again.open("/again")
    where = again.where()
    assert yarp.Network.unregisterName("/in").getName() == ""
    yarp.Network.registerContact(yarp.Contact("/in", "tcp", where.getHost(), where.getPort()))
    assert carrier_between("/out", "/in") == ""
    again.close()


def test_what_is_unknown_is_neither_there_nor_connected(ports):
    assert (carrier_between("/out", "/zz"), carrier_between("/zz", "/in")) == ("", "")
    assert carrier_between("/zz", "/yy") is None
    assert (is_there("/out"), is_there("/zz")) == (True, False)
    assert ask("/zz", yarp.Bottle("help"), 0.1) is None


def test_all_names_are_listed_without_the_call_that_never_returns(ports, monkeypatch):
    monkeypatch.delattr(yarp.Network.__mro__[1], "writeToNameServer")
    assert {"/out", "/in"} <= registered_names()


def test_an_empty_reply_is_none_and_a_late_one_says_nothing_of_a_connection(ports, monkeypatch):
    def write_late(*_):  # as the bindings do at a time-out
        time.sleep(0.05)
        return True

    monkeypatch.setattr(yarp.Network, "write", staticmethod(lambda *_: True))
    assert ask("/in", yarp.Bottle("help"), 0.1) is None
    assert carrier_between("/out", "/in") == ""
    monkeypatch.setattr(yarp.Network, "write", staticmethod(write_late))
    assert carrier_between("/out", "/in", timeout=0.05) is None


@pytest.mark.parametrize("family", list(WireFamily))
def test_the_bytes_are_those_of_seconds_and_nanoseconds(family):
    assert ClockMessage(12.0345).to_wire(family) == encode_list([12, 34_500_000], family)


def test_a_time_is_rounded_to_the_nearest_nanosecond():
    assert ClockMessage(0.1 + 0.2).to_items() == [0, 300_000_000]
    assert ClockMessage(0.9999999999).to_wire_text() == "1 0"


def test_a_clock_is_followed_only_once_it_ticks_and_the_name_server_connects_it(own_name_server, monkeypatch):
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
        with monkeypatch.context() as patch:  # a name server without persistent connections: useNetworkClock would hang
            patch.setattr(Subscriptions, "hook_up", lambda *_: None)
            assert not follow_clock("/clock", 0.1)
        assert follow_clock("/clock", TIMEOUT)
        assert (yarp.isNetworkClock(), yarp.now()) == (True, 1.5)
    finally:
        yarp.useSystemClock()
        stopped.set()
        thread.join()
        clock.close()
