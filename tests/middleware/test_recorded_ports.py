"""The recorded connections between ports of which no test in `pureyarp/network` has played an end."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from pureyarp.data.vectors import Vector
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.binary import decode_command, decode_list, encode_list
from pureyarp.wire.carriers import DatagramAssembler
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import to_text
from tests.middleware.recorded_messages import RecordedMessage, recorded_messages
from tests.middleware.recorded_payloads import as_printed
from tests.middleware.replay import ScriptedServer, entry, family_of, play_client, said, without_blocks
from tests.pureyarp.network.local_ports import OFFLINE, Inbox, open_core
from tests.pureyarp.network.raw_sockets import conversation
from tests.pureyarp.wire.test_recordings import UNUSUAL
from tests.waiting import TIMEOUT

# Streams by binary connections: recording and connection.
STREAMS = [
    ("vector_tcp", 0),
    ("property_tcp", 0),
    ("thrift_struct", 0),
    ("state", 0),
    ("stateExt", 0),
    ("mas", 1),
    ("v4_bottles_tcp", 0),
    ("v4_vector_tcp", 0),
    ("v4_nwc_open", 1),
]
CALLS = [("thrift_rpc", 0), *(("yarprun", connection) for connection in range(8)), ("v4_rpc_tcp", 0)]


def settings_for(name: str) -> NetworkSettings:
    family = WireFamily.YARP_4 if family_of(name) == "yarp_4_0" else WireFamily.YARP_3
    return replace(OFFLINE, family=family)


def messages(name: str, connection: int = 0) -> list[RecordedMessage]:
    return recorded_messages(family_of(name), name, connection)


def names_of(name: str, connection: int) -> tuple[str, str]:
    """Return who was called and who called."""
    found = next(one for one in entry(name)["connections"] if one["conn"] == connection)
    return found["server"], found["client_name"]


def object_of(name: str, payload: bytes) -> list[Element] | bytes:
    """Return the elements that are written as these bytes; the bytes themselves where tags are missing."""
    family = settings_for(name).family
    items = decode_list(payload, family).items
    found = UNUSUAL.get((name, as_printed(items)), items)
    if encode_list(items, family) == payload:
        found = items
    assert encode_list(found, family) == payload, (name, as_printed(items))
    return found


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize(("name", "connection"), STREAMS)
def test_a_recorded_stream_is_taken_as_by_the_real_receiver(stack, name, connection):
    taken: list[tuple[str, bytes]] = []

    def take(message: IncomingMessage) -> None:
        assert isinstance(message.payload, bytes)
        taken.append((message.envelope, message.payload))

    receiver = open_core(stack, names_of(name, connection)[0], take, settings_for(name))
    assert play_client(receiver.port_number, name, connection) >= 1
    recorded = [(message.command[2:], message.payload) for message in messages(name, connection)]
    assert taken == recorded
    assert len(recorded) >= 1


@pytest.mark.parametrize(("name", "connection"), STREAMS)
def test_our_port_streams_what_the_real_one_streamed(stack, name, connection):
    receiver, sender = names_of(name, connection)
    carrier = next(one["kind"] for one in entry(name)["connections"] if one["conn"] == connection)
    server = stack.enter_context(ScriptedServer(name, connection))
    out = open_core(stack, sender, settings=settings_for(name))
    out.connect(f"tcp://127.0.0.1:{server.port}{receiver}", carrier)
    for message in messages(name, connection):
        out.envelope = message.command[2:]
        assert out.send(object_of(name, message.payload), timeout=TIMEOUT)
    out.disconnect(receiver)
    heard, recorded = without_blocks(server.heard()[0]), without_blocks(said(name, connection))
    assert heard[: len(recorded)] == recorded
    assert [piece[-2:] for piece in heard[len(recorded) :]] in ([], [b"q\0"])  # cut before the farewell


def test_a_recorded_sender_by_text_ack_is_acknowledged_and_its_stamps_are_read(stack):
    inbox = Inbox()
    receiver = open_core(stack, "/gold/in", inbox)
    assert play_client(receiver.port_number, "stamp_envelope_text_ack") == 4
    assert inbox.envelopes == ["5 1700000000.12346", "6 0.1"]
    assert [to_text(items) for items in inbox.items] == ["1 2 3", "x"]


@pytest.mark.parametrize(("name", "connection"), CALLS)
def test_our_port_answers_a_recorded_caller_if_its_owner_does(stack, name, connection):
    """The owner is a service that is not ours: the recorded replies are decoded, and given to the port."""
    replies = [message.reply for message in messages(name, connection)]
    asked: list[bytes] = []

    def answer(message: IncomingMessage) -> list[Element] | bytes | None:
        assert isinstance(message.payload, bytes)
        asked.append(message.payload)
        reply = replies[len(asked) - 1]
        return None if reply is None else object_of(name, reply)

    server = open_core(stack, names_of(name, connection)[0], answer, settings_for(name))
    assert play_client(server.port_number, name, connection) >= 3
    assert asked == [message.payload for message in messages(name, connection)]


@pytest.mark.parametrize(("name", "connection"), CALLS)
def test_our_port_calls_as_the_real_client_did(stack, name, connection):
    receiver, sender = names_of(name, connection)
    server = stack.enter_context(ScriptedServer(name, connection))
    client = open_core(stack, sender, settings=settings_for(name))
    client.connect(f"tcp://127.0.0.1:{server.port}{receiver}")
    for message in messages(name, connection):
        sent = object_of(name, message.payload)
        if message.command == "D":
            assert client.send(sent, timeout=TIMEOUT)
        else:
            expected = [message.reply] if message.reply is not None else []
            went_well, replies = client.call(sent, timeout=TIMEOUT)
            assert [reply for _, reply in replies] == expected
            assert went_well
    client.disconnect(receiver)
    heard, recorded = without_blocks(server.heard()[0]), without_blocks(said(name, connection))
    assert heard[: len(recorded)] == recorded


def test_a_recorded_group_is_refused_and_its_datagrams_are_understood(stack):
    """Multicast is not spoken here; the connection is ended, and the port goes on."""
    port = open_core(stack, "/gold/in", Inbox(lambda items: items))
    assert conversation(port.port_number, said("bottles_mcast"), b"never comes") == b""
    assembler = DatagramAssembler(largest=100_000)
    frames = [bytes.fromhex(frame["hex"]) for frame in entry("bottles_mcast")["frames"] if frame["conn"] == "udp"]
    payloads = [assembler.add(datagram) for datagram in frames]
    assert None not in payloads
    decoded = [to_text(decode_list(payload[decode_command(payload)[1] :]).items) for payload in payloads if payload]
    assert decoded[0].startswith("-8 -1600 -320000 -64000000000 1.25 -2.5 [set]")
    assert decoded[1:4] == ["1 -1"] * 3


def test_the_data_only_connection_of_the_4_family_is_taken(stack):
    inbox = Inbox()
    server = open_core(stack, "/gold/rpc:i", inbox, settings_for("v4_rpc_tcp"))
    assert play_client(server.port_number, "v4_rpc_tcp", 1) == 3
    assert inbox.items == [["data", "only"]]


def test_a_vector_of_the_4_family_is_written_as_recorded(stack):
    server = stack.enter_context(ScriptedServer("v4_vector_tcp", 0))
    sender: PortCore = open_core(stack, "/gold/out", settings=settings_for("v4_vector_tcp"))
    sender.connect(f"tcp://127.0.0.1:{server.port}/gold/in")
    sender.envelope = "7 1700000001.5"
    vector = Vector(3)
    vector.array[:] = 0.5, 1.5, 2.5
    assert sender.send(vector, timeout=TIMEOUT)
    sender.disconnect("/gold/in")
    first = without_blocks(server.heard()[0])[:2]
    assert first == without_blocks(said("v4_vector_tcp"))[:2]
