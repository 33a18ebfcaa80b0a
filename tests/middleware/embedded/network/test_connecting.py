import logging
from collections.abc import Iterator

import pytest

from gradiva.middleware.embedded.network.connecting import connect, disconnect, is_connected
from gradiva.middleware.embedded.network.port_core import PortCore


@pytest.fixture
def ports(name_server) -> Iterator[tuple[PortCore, PortCore]]:
    out, into = PortCore(), PortCore()
    out.open("/out")
    into.open("/in")
    yield out, into
    out.close()
    into.close()


def test_a_connection_is_made_seen_and_ended(ports):
    assert not is_connected("/out", "/in")
    assert connect("/out", "/in")
    assert is_connected("/out", "/in")
    assert not is_connected("/in", "/out")
    assert disconnect("/out", "/in")
    assert not is_connected("/out", "/in")


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_the_carrier_can_be_chosen_and_asked_for(ports, carrier):
    assert connect("/out", "/in", carrier)
    assert is_connected("/out", "/in", carrier)
    assert is_connected("/out", f"{carrier}://in")
    assert not is_connected("/out", "/in", "tcp" if carrier != "tcp" else "udp")


def test_the_carrier_may_stand_before_the_name(ports):
    assert connect("/out", "fast_tcp://in")
    assert is_connected("/out", "/in", "fast_tcp")


def test_the_destinations_own_carrier_is_the_usual_one(ports, name_client):
    _, into = ports
    name_client.register("/in", "fast_tcp", "127.0.0.1", into.port_number)
    assert connect("/out", "/in")
    assert is_connected("/out", "/in", "fast_tcp")


def test_connecting_again_changes_the_carrier_and_leaves_one_connection(ports):
    out, _ = ports
    assert connect("/out", "/in", "tcp")
    assert connect("/out", "/in", "fast_tcp")
    assert is_connected("/out", "/in", "fast_tcp")
    assert len(out.outputs) == 1


def test_every_refusal_says_why(ports, name_client, caplog):
    name_client.register("/dead", "tcp", "127.0.0.1", 1)
    out, _ = ports
    cases = [
        (lambda: connect("/nobody", "/in"), "/nobody is not connected to /in: the name server does not know /nobody"),
        (lambda: connect("/out", "/nobody"), "the name server does not know /nobody"),
        (lambda: connect("/out", "/dead"), "/out is not connected to /dead: Cannot connect to tcp://dead"),
        (lambda: connect("/dead", "/in"), "/dead is not connected to /in: 127.0.0.1:1 cannot be reached"),
        (lambda: connect("/out", "/in", "pigeon"), "/out is not connected to /in"),
        (lambda: disconnect("/out", "/in"), "Could not find an outgoing connection to /in"),
        (lambda: is_connected("/out", "/in", quiet=False), "/out is not connected to /in"),
    ]
    for attempt, reason in cases:
        caplog.clear()
        with caplog.at_level(logging.WARNING, "gradiva.yarp"):
            assert not attempt()
        assert reason in caplog.text
    assert not out.has_outputs


def test_quiet_refusals_are_for_debugging_alone(name_server, caplog):
    with caplog.at_level(logging.INFO, "gradiva.yarp"):
        assert not connect("/nobody", "/in", quiet=True)
        assert not is_connected("/nobody", "/in")
    assert not caplog.records
