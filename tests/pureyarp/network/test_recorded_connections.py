"""The recorded connections of real ports, with one of our ports at either end."""

import socket
import threading
from contextlib import ExitStack

import pytest

from pureyarp.data import Bottle, Vector
from pureyarp.network import IncomingMessage
from pureyarp.wire import CARRIERS, Element, decode_list, encode_vocab, from_text
from tests.middleware.recorded_messages import recording
from tests.pureyarp.network.local_ports import Inbox, open_core
from tests.waiting import TIMEOUT, wait_until

STREAMS = ["bottles_tcp", "bottles_fast_tcp", "bottles_text", "bottles_text_ack", "stamp_envelope_tcp"]
CALLS = ["rpc_tcp", "rpc_fast_tcp", "rpc_text_ack"]


def frames_of(name: str, connection: int = 0) -> list[tuple[str, bytes]]:
    frames = recording("yarp_3_12", name)["frames"]
    return [(frame["dir"], bytes.fromhex(frame["hex"])) for frame in frames if frame["conn"] == connection]


def echo(items: list[Element]) -> list[Element]:
    return [encode_vocab("ok"), "echo", *items]


def said_by(direction: str, name: str, connection: int = 0) -> bytes:
    return b"".join(data for side, data in frames_of(name, connection) if side == direction)


def without_port_number(name: str, data: bytes) -> bytes:
    """Leave out the 8 bytes with the number of a port."""
    return data if "text" in name else data[8:]


def heard(sock: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = sock.recv(size - len(received))
        assert piece, f"closed after {received!r}"
        received += piece
    return received


@pytest.mark.parametrize("connection", [0, 1])
@pytest.mark.parametrize("name", CALLS)
def test_a_recorded_client_hears_from_our_server_what_it_heard_from_the_real_one(name, connection):
    with ExitStack() as stack:
        server = open_core(stack, "/gold/rpc:i", Inbox(echo))
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", server.port_number), TIMEOUT))
        answers = []
        for direction, data in frames_of(name, connection):
            if direction == "c>s":
                sock.sendall(data)
            else:
                answers.append(heard(sock, len(data)))
        expected = without_port_number(name, said_by("s>c", name, connection))
        assert without_port_number(name, b"".join(answers)) == expected
        assert sock.recv(1) == b""  # the farewell ends the connection


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_sender_is_acknowledged_as_by_the_real_receiver(name):
    inbox = Inbox()
    with ExitStack() as stack:
        receiver = open_core(stack, "/gold/in", inbox)
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port_number), TIMEOUT))
        sock.sendall(said_by("c>s", name))
        answer = heard(sock, len(said_by("s>c", name)))
        assert without_port_number(name, answer) == without_port_number(name, said_by("s>c", name))
        assert sock.recv(1) == b""
        if name.startswith("bottles"):
            assert inbox.items[1:4] == [[1, -1]] * 3
            assert inbox.items[-1] == [5]
        else:
            assert inbox.envelopes == ["5 1700000000.12346", "6 0.1"]


class RecordedReceiver:
    """Plays the server's side of a recorded connection to one of our ports and keeps what that says."""

    def __init__(self, name: str, most_frames: int | None = None) -> None:
        self._frames = frames_of(name)[:most_frames]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.heard = b""
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def address(self, name: str) -> str:
        return f"tcp://127.0.0.1:{self._listener.getsockname()[1]}{name}"

    def join(self) -> bytes:
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()
        return self.heard

    def _serve(self) -> None:
        with self._listener, self._listener.accept()[0] as sock:
            sock.settimeout(TIMEOUT)
            for direction, data in self._frames:
                if direction == "c>s":
                    self.heard += heard(sock, len(data))
                else:
                    sock.sendall(data)
            while piece := sock.recv(100):
                self.heard += piece


def recorded_objects(name: str) -> list[tuple[str, list[Element]]]:
    """Return envelope and elements of the messages."""
    if "text" in name:
        lines = said_by("c>s", name).decode().split("\r\n")[1:]
        pairs = [(line, lines[index + 1]) for index, line in enumerate(lines) if line[:1] in ("d", "D")]
        return [(command[2:], from_text(text)) for command, text in pairs if command[:2] in ("d", "D", "D ")]
    messages = [frame for frame in recording("yarp_3_12", name)["frames"] if frame.get("what") == "message"]
    found = [(frame, bytes.fromhex(frame["hex"])) for frame in messages if frame["conn"] == 0]
    return [
        (frame["command"][2:], decode_list(data[-sum(frame["blocks"][1:]) :]).items)
        for frame, data in found
        if frame["command"] != "q"
    ]


@pytest.mark.parametrize("name", [*STREAMS, "stamp_envelope_text_ack"])
def test_our_port_says_to_a_recorded_receiver_what_the_real_one_said(name):
    receiver = RecordedReceiver(name)
    carrier = name.replace("bottles_", "").replace("stamp_envelope_", "")
    with ExitStack() as stack:
        sender = open_core(stack, "/gold/out")
        sender.connect(receiver.address("/gold/in"), carrier)
        for envelope, items in recorded_objects(name):
            sender.envelope = envelope
            assert sender.send(items, timeout=TIMEOUT)
        sender.disconnect("/gold/in")
        assert receiver.join() == said_by("c>s", name)


@pytest.mark.parametrize("name", CALLS)
def test_our_port_asks_a_recorded_server_as_the_real_one_did(name):
    receiver = RecordedReceiver(name)
    with ExitStack() as stack:
        client = open_core(stack, "/gold/rpc:o")
        client.connect(receiver.address("/gold/rpc:i"), name.replace("rpc_", ""))
        for _, items in recorded_objects(name):
            went_well, [(_, reply)] = client.call(items, timeout=TIMEOUT)
            given = from_text(reply) if isinstance(reply, str) else decode_list(reply).items
            assert went_well
            assert given == echo(items)
        client.disconnect("/gold/rpc:i")
        assert receiver.join() == said_by("c>s", name)


def test_our_port_sends_vectors_in_the_recorded_blocks():
    receiver = RecordedReceiver("vector_tcp", most_frames=5)  # handshake, one message, its acknowledgement
    with ExitStack() as stack:
        sender = open_core(stack, "/gold/out")
        sender.connect(receiver.address("/gold/in"), "tcp")
        sender.envelope = "7 1700000001.5"
        vector = Vector(3)
        vector.array[:] = 0.5, 1.5, 2.5
        assert sender.send(vector, timeout=TIMEOUT)
        sender.disconnect("/gold/in")
        recorded = b"".join(data for direction, data in frames_of("vector_tcp")[:5] if direction == "c>s")
        assert receiver.join().startswith(recorded)


def test_recorded_datagrams_reach_our_port_and_the_recorded_text_message_ends_their_connection():
    inbox = Inbox()
    with ExitStack() as stack:
        receiver = open_core(stack, "/gold/in", inbox)
        with socket.create_connection(("127.0.0.1", receiver.port_number), TIMEOUT) as sock:
            sock.sendall(said_by("c>s", "bottles_udp"))
            udp_port = int.from_bytes(heard(sock, 8)[2:6], "little")
        sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        frames = recording("yarp_3_12", "bottles_udp")["frames"]
        for frame in frames:
            if frame["conn"] == "udp":
                sender.sendto(bytes.fromhex(frame["hex"]), ("127.0.0.1", udp_port))
        wait_until(lambda: len(inbox.items) == 14)
        assert inbox.items[-1] == [5]
        assert [connection.carrier_name for connection in receiver.inputs.named("/gold/out")] == ["udp"]
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port_number), TIMEOUT))
        sock.sendall(said_by("c>s", "bottles_udp", 1))
        assert heard(sock, len(said_by("s>c", "bottles_udp", 1))) == said_by("s>c", "bottles_udp", 1)
        wait_until(lambda: not receiver.inputs.named("/gold/out"))


def test_our_datagrams_are_the_recorded_ones():
    recorded = [f for f in recording("yarp_3_12", "bottles_udp")["frames"] if f["conn"] == "udp" and f["seq"] == 0]
    datagrams = [bytes.fromhex(frame["hex"]) for frame in recorded]
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(TIMEOUT)
        number = udp.getsockname()[1].to_bytes(4, "little")
        shaken: list[bytes] = []
        message_sent: list[bytes] = []

        def serve() -> None:
            with listener.accept()[0] as sock:
                shaken.append(heard(sock, 22))
                sock.sendall(b"YA" + number + b"RP")
            with listener.accept()[0] as sock:
                message_sent.append(heard(sock, len(said_by("c>s", "bottles_udp", 1))))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        sender = open_core(stack, "/gold/out")
        sender.connect(f"udp://127.0.0.1:{listener.getsockname()[1]}/gold/in")
        for datagram in datagrams:
            sender.send(decode_list(datagram[8 + 30 + 8 :]).items)
            assert udp.recv(65536) == datagram
        sender.disconnect("/gold/in")
        thread.join(TIMEOUT)
        assert shaken == [said_by("c>s", "bottles_udp")]
        assert message_sent == [said_by("c>s", "bottles_udp", 1)]


def test_the_real_ping_reads_our_description():
    with ExitStack() as stack:
        port = open_core(stack, "/gold/in")
        frames = frames_of("cli_exists_ping", 5)
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT))
        for direction, data in frames:
            if direction == "c>s":
                sock.sendall(data)
            else:
                expected = data.replace(b":10006/", f":{port.port_number}/".encode())
                assert heard(sock, len(expected)) == expected


def test_a_message_knows_its_sender_and_address():
    messages: list[IncomingMessage] = []
    with ExitStack() as stack:
        receiver = open_core(stack, "/in", lambda message: messages.append(message))
        sender = open_core(stack, "/out")
        for carrier in CARRIERS:
            sender.connect(f"tcp://127.0.0.1:{receiver.port_number}/in", carrier)
            assert sender.send(Bottle("hello"), timeout=TIMEOUT)
            wait_until(lambda: messages)
            remote = messages.pop().source.remote
            assert (remote.getName(), remote.getCarrier(), remote.getHost()) == ("/out", carrier, "127.0.0.1")
