import logging
import threading
from collections.abc import Iterator

import pytest

from gradiva.middleware import persistent_connections, yarp
from gradiva.middleware.persistent_connections import ConnectionStatus, PersistentConnections
from pureyarp.network.name_server import NameServer
from pureyarp.network.registrations import registration_keeper
from pureyarp.network.settings import current_settings, use_settings
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def network(tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    yarp.Network.setLocalMode(True)
    yarp.Network.init()
    yield
    yarp.Network.fini()
    use_settings(None)


def opened(name: str) -> yarp.Port:
    port = yarp.Port()
    assert port.open(name)
    return port


@pytest.fixture
def keeping() -> Iterator[PersistentConnections]:
    connections = PersistentConnections([("/out", "/in", "fast_tcp")], period=0.02, healthy_period=0.05)
    connections.start()
    yield connections
    connections.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "yarp persistent connections"]


def test_ports_are_connected_as_soon_as_both_are_there(keeping):
    out = opened("/out")
    assert keeping.status() == [ConnectionStatus("/out", "/in", "fast_tcp", False, 0)]
    into = opened("/in")
    wait_until(keeping.are_connected)
    assert keeping.status() == [ConnectionStatus("/out", "/in", "fast_tcp", True, 1)]
    assert yarp.Network.isConnected("/out", "/in", "fast_tcp", True)
    out.close()
    into.close()


def test_a_lost_connection_is_logged_once_and_made_again(keeping, caplog):
    out, into = opened("/out"), opened("/in")
    wait_until(keeping.are_connected)
    with caplog.at_level(logging.WARNING, "gradiva.yarp"):
        into.close()
        wait_until(lambda: not keeping.are_connected())
        into = opened("/in")
        wait_until(lambda: keeping.status()[0].times_made == 2)
        out.close()
        wait_until(lambda: not keeping.are_connected())
        out = opened("/out")
        wait_until(lambda: keeping.status()[0].times_made == 3)
    assert caplog.text.count("the connection from /out to /in is lost") == 2
    out.close()
    into.close()


def test_a_connection_that_is_refused_is_logged_once_one_that_waits_for_its_ports_is_not(caplog):
    out, into = opened("/out"), opened("/in")
    pairs = [("/out", "/in", "pigeon"), ("/out", "/elsewhere", "tcp")]
    connections = PersistentConnections(pairs, period=0.001)
    with caplog.at_level(logging.WARNING, "gradiva.yarp"):
        connections.start()
        wait_until(lambda: "/out and /in are there, but are not connected by 'pigeon'" in caplog.text)
        tries = connections._connections[1]._tries
        wait_until(lambda: connections._connections[1]._tries > tries + 10)
        connections.stop()
    assert caplog.text.count("are there, but") == 1
    out.close()
    into.close()


def test_a_connection_by_another_carrier_is_left_as_it_is():
    out, into = opened("/out"), opened("/in")
    assert yarp.Network.connect("/out", "/in", "tcp")
    connections = PersistentConnections([("/out", "/in", "fast_tcp")], period=0.01)
    connections.start()
    connections.start()
    wait_until(connections.are_connected)
    connections.stop()
    connections.stop()
    assert connections.status()[0].times_made == 0
    assert yarp.Network.isConnected("/out", "/in", "tcp", True)
    out.close()
    into.close()


def test_a_restarted_name_server_and_peer_are_survived(keeping):
    out, into = opened("/out"), opened("/in")
    wait_until(keeping.are_connected)
    server = NameServer(current_settings())
    yarp.Network.setLocalMode(False)  # the former name server is gone
    use_settings(server.settings)
    server.start()
    wait_until(lambda: yarp.Network.exists("/out") and yarp.Network.exists("/in"))
    wait_until(keeping.are_connected)
    assert keeping.status()[0].times_made == 1  # the stream itself never ended
    into.close()
    into = opened("/in")
    wait_until(lambda: keeping.status()[0].times_made == 2)
    out.close()
    into.close()
    server.stop()


@pytest.mark.parametrize("unknown", [("/out",), ("/in",), ("/out", "/in")])
def test_a_connection_lives_on_while_the_name_server_does_not_know_its_ports(keeping, caplog, unknown):
    out, into = opened("/out"), opened("/in")
    wait_until(keeping.are_connected)
    registration_keeper.pause()  # as one whose turn has not come yet
    for name in unknown:
        yarp.Network.unregisterName(name)
    last = keeping._connections[0]._last_look
    wait_until(lambda: keeping._connections[0]._last_look > last + 0.2)
    assert keeping.status() == [ConnectionStatus("/out", "/in", "fast_tcp", True, 1)]
    registration_keeper.resume()
    assert "is lost" not in caplog.text
    out.close()
    into.close()


def test_a_source_that_is_too_busy_to_answer_keeps_its_connection(keeping, monkeypatch, caplog):
    out, into = opened("/out"), opened("/in")
    wait_until(keeping.are_connected)
    asked = []
    monkeypatch.setattr(persistent_connections, "carrier_between", lambda *ends: asked.append(ends))
    wait_until(lambda: len(asked) > 3)
    assert keeping.status() == [ConnectionStatus("/out", "/in", "fast_tcp", True, 1)]
    monkeypatch.undo()
    assert "is lost" not in caplog.text
    out.close()
    into.close()


def test_a_failing_check_is_logged_and_the_next_one_comes(monkeypatch, caplog):
    looks = []

    def failing(*arguments):
        looks.append(arguments)
        raise RuntimeError("made up")

    monkeypatch.setattr(persistent_connections, "carrier_between", failing)
    connections = PersistentConnections([("/from", "/to", "tcp")], period=0.01)
    connections.start()
    wait_until(lambda: len(looks) >= 2)
    connections.stop()
    assert "the connection from /from to /to was not looked after" in caplog.text
