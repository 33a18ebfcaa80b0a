"""Requests to the name server and to ports: addresses, connections."""

import contextlib
import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pureyarp.errors import FrameTooLarge, NameServerUnreachable, NetworkError
from pureyarp.network.peers import NameClient, connect, disconnect, is_connected
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import ConnectionLimits, Contact, NetworkSettings
from pureyarp.wire.carriers import FAST_TCP
from tests.middleware.recorded_messages import recording
from tests.middleware.recorded_questions import recorded_questions
from tests.waiting import TIMEOUT


class RecordedServer:
    """Answers each connection as a real name server once did, and remembers what was asked."""

    def __init__(self, answers: list[bytes]) -> None:
        self.questions: list[bytes] = []
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.settings = NetworkSettings(name_server_port=self._listener.getsockname()[1])
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self._listener:
            for answer in self._answers:
                sock, _ = self._listener.accept()
                with sock:
                    self.questions.append(sock.recv(65536))
                    sock.sendall(answer)


def exchange(recording: str, *indices: int) -> list[tuple[bytes, bytes]]:
    return [recorded_questions(recording)[index] for index in indices]


def test_a_port_is_registered_and_released_in_the_recorded_words():
    exchanges = exchange("ns_port_open_close", 0, 5, 6, 12)
    server = RecordedServer([answer for _, answer in exchanges])
    client = NameClient(server.settings)
    assert client.register("/gold/a") == Contact("/gold/a", "tcp", "127.0.0.1", 10002)
    client.announce("/gold/a")
    assert client.register("") == Contact("/tmp/port/1", "tcp", "127.0.0.1", 10003)
    client.unregister("/tmp/port/1")
    assert server.questions == [question for question, _ in exchanges]


def test_properties_are_set_in_the_recorded_words():
    exchanges = exchange("ns_port_open_close", 1)
    server = RecordedServer([exchanges[0][1]])
    words = exchanges[0][0].decode().split()
    NameClient(server.settings).set_properties("/gold/a", {"offers": words[4:]})
    assert server.questions == [exchanges[0][0]]


def test_recorded_answers_are_understood():
    exchanges = exchange("ns_requests", 1, 3, 6, 13, 14)
    server = RecordedServer([answer for _, answer in exchanges])
    client = NameClient(server.settings)
    assert not client.query("/nothere").isValid()
    assert client.register("/raw/b", "tcp", "127.0.0.1", 12346).getPort() == 12346
    assert [contact.getRegName() for contact in client.list_names()] == [
        "/raw/a",
        "/raw/b",
        "/root",
        "/tmp/port/1",
        "/tmp/port/2",
        "fallback",
    ]
    assert client.check_property("/raw/a", "key", "v1")
    assert not client.check_property("/raw/a", "key", "zz")
    assert [q.rstrip() for q in server.questions] == [question.rstrip() for question, _ in exchanges]


def test_properties_keep_their_kinds(name_client):
    name_client.register("/a")
    assert name_client.set_property("/a", "key", "b c", 3, "a")
    assert name_client.get_property("/a", "key") == [3, "a", "b c"]
    assert name_client.get_property("/a", "other") == []
    assert not name_client.set_property("/b", "key", 1)


def test_the_name_server_itself_is_known_without_asking():
    settings = NetworkSettings(name_server_host="203.0.113.9", name_server_port=10100)
    assert NameClient(settings).query("/root") == Contact("/root", "tcp", "203.0.113.9", 10100)


def test_several_names_are_asked_for_over_one_connection(name_client, name_server):
    name_client.register("/a", port=12345)
    found = name_client.query_all(["/a", "/b", "/root"])
    assert [contact.getPort() for contact in found] == [12345, -1, name_server.contact.getPort()]


def test_the_address_is_said_where_the_server_would_see_another_one():
    server = RecordedServer([b"registration name /a ip 10.0.0.7 port 10002 type tcp\r\n*** end of message\r\n"])
    NameClient(replace(server.settings, listen_host="10.0.0.7")).register("/a")
    assert server.questions == [b"NAME_SERVER register /a ... 10.0.0.7 ...\r\n"]


@pytest.mark.parametrize("name", ["/a b", "/a\nNAME_SERVER unregister /b", "/a\r"])
def test_names_that_would_be_another_command_are_refused(name_client, name):
    with pytest.raises(NetworkError, match="names have no blanks"):
        name_client.query(name)


def test_an_unreachable_name_server_is_named_with_its_address_and_source():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        silent = NetworkSettings(name_server_port=port, found_in="/some/yarp.conf")
        with pytest.raises(NameServerUnreachable, match=f"127.0.0.1:{port} .*/some/yarp.conf.*timed out"):
            NameClient(silent, timeout=0.2).list_names()
    with pytest.raises(NameServerUnreachable, match="refused"):
        NameClient(silent, timeout=0.2).list_names()


def test_a_server_that_hangs_up_or_never_ends_is_an_error():
    with pytest.raises(NameServerUnreachable, match="without an answer"):
        NameClient(RecordedServer([b"registration"]).settings).query("/a")
    endless = RecordedServer([b"x" * 5000])
    small = replace(endless.settings, limits=ConnectionLimits(largest_frame=2048))
    with pytest.raises(FrameTooLarge, match="does not end its answer"):
        NameClient(small).query("/a")


def test_a_name_server_that_drips_is_given_up_when_the_time_for_the_whole_answer_is_over():
    """Each byte comes soon after the last one, but the answer never ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            sock, _ = listener.accept()
            with sock, contextlib.suppress(OSError):
                while True:
                    sock.sendall(b".")
                    time.sleep(0.02)

        threading.Thread(target=drip, daemon=True).start()
        client = NameClient(NetworkSettings(name_server_port=listener.getsockname()[1]), timeout=0.2)
        with pytest.raises(NameServerUnreachable):
            client.query("/a")


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
