"""Questions to ports and the name server, in the forms that both bindings answer."""

import time

import pytest

from gradiva.middleware import yarp
from gradiva.middleware.network import ask, carrier_between, is_there, registered_names

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
def test_the_source_names_the_carrier_of_a_connection(ports, carrier):
    assert carrier_between("/out", "/in") == ""
    assert yarp.Network.connect("/out", "/in", carrier, True)
    assert carrier_between("/out", "/in") == carrier


def test_what_is_unknown_is_neither_there_nor_connected(ports):
    assert (carrier_between("/out", "/zz"), carrier_between("/zz", "/in")) == ("", "")
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
