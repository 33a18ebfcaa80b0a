import logging
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from pureyarp.network.peers import connect, disconnect, is_connected
from pureyarp.network.port_core import PortCore
from pureyarp.wire.carriers import FAST_TCP
from tests.middleware.recorded_messages import recording
from tests.waiting import TIMEOUT


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
        with caplog.at_level(logging.WARNING, "pureyarp"):
            assert not attempt()
        assert reason in caplog.text
    assert not out.has_outputs


def test_quiet_refusals_are_for_debugging_alone(name_server, caplog):
    with caplog.at_level(logging.INFO, "pureyarp"):
        assert not connect("/nobody", "/in", quiet=True)
        assert not is_connected("/nobody", "/in")
    assert not caplog.records


class RecordedPort:
    """A port that answers administrators in the recorded words, and remembers what they said."""

    def __init__(self, recording_name: str, connections: list[int]) -> None:
        frames = recording("yarp_3_12", recording_name)["frames"]
        self._answers = [[f for f in frames if f["conn"] == conn and f["dir"] == "s>c"] for conn in connections]
        asked = [[f for f in frames if f["conn"] == conn and f["dir"] == "c>s"] for conn in connections]
        self.recorded = [[bytes.fromhex(f["hex"]) for f in frames] for frames in asked]
        self.said: list[list[bytes]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port_number = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join(10.0)

    def _run(self) -> None:
        with self._listener:
            for answers, recorded in zip(self._answers, self.recorded, strict=True):
                sock, _ = self._listener.accept()
                with sock:
                    self.said.append(
                        [self._hear(sock, len(said), answer) for said, answer in zip(recorded, answers, strict=True)]
                    )

    def _hear(self, sock: socket.socket, size: int, answer: dict[str, str]) -> bytes:
        heard = b""
        while len(heard) < size and (piece := sock.recv(size - len(heard))):
            heard += piece
        sock.sendall(bytes.fromhex(answer["hex"]))
        return heard


@pytest.mark.parametrize(("attempt", "connections"), [(connect, [2, 3]), (disconnect, [9])])
def test_the_source_is_asked_in_the_recorded_words(name_client, attempt, connections):
    source = RecordedPort("cli_connect_write_disconnect", connections)
    name_client.register("/gold/out", "tcp", "127.0.0.1", source.port_number)
    name_client.register("/gold/in", "tcp", "127.0.0.1", 1)
    assert attempt("/gold/out", "/gold/in")
    source.join()
    assert source.said == source.recorded


@pytest.mark.parametrize("side", ["recv", "send"])
def test_a_carrier_with_a_port_monitor_is_refused_by_its_name(ports, caplog, side):
    carrier = f"fast_tcp+{side}.portmonitor+type.lua+file.x"
    assert not connect("/out", "/in", carrier)
    assert f"the carrier {carrier} is not spoken" in caplog.text
    assert ports[0].outputs.all() == ()


@pytest.mark.parametrize(
    ("sender", "answer", "complaint"),
    [
        (b"/out (recv portmonitor) (file x)", b"", "there are no port monitors: leave out +recv"),
        (b"/out (send portmonitor) (file x)", b"YA", ""),  # the sender runs it
    ],
)
def test_a_sender_that_wants_a_port_monitor_to_be_run_here_is_refused(ports, caplog, sender, answer, complaint):
    """The modifiers of its carrier come with its name."""
    introduction = FAST_TCP.header + struct.pack("<i", len(sender) + 1) + sender + b"\0"
    with socket.create_connection(("127.0.0.1", ports[1].port_number), timeout=TIMEOUT) as sock:
        sock.sendall(introduction)
        assert sock.recv(2) == answer
    assert complaint in caplog.text
