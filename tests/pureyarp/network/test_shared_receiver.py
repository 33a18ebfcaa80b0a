"""Many connections whose messages are only stored, and the one thread that takes them."""

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from pureyarp.network import BufferedPortBottle
from pureyarp.network.port_core import PortCore
from pureyarp.wire import encode_list
from tests.pureyarp.network.local_ports import (
    Inbox,
    address_of,
    nothing_is_left,
    open_core,
    quiet,
    settings_with,
)
from tests.pureyarp.network.raw_sockets import receive, receive_until
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until

HELLO = bytes.fromhex("5941e41e00005250") + b"\3\0\0\0me\0"
INDEX = bytes.fromhex("59410a00000052500101ffffffffffffffff")
DATA, CALL = bytes.fromhex("000000007e440001"), bytes.fromhex("000000007e640001")
ADMINISTRATION = bytes.fromhex("000000007e610001")
FIVE = encode_list([5])
ACKNOWLEDGEMENT = bytes.fromhex("5941000000005250")


def message(payload: bytes, announced: int | None = None) -> bytes:
    return INDEX + struct.pack("<ii", len(payload) if announced is None else announced, 0) + payload


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with nothing_is_left(), quiet(), ExitStack() as stack:
        yield stack


@pytest.fixture
def port(stack) -> PortCore:
    return storing_port(stack, "/port")


def storing_port(stack: ExitStack, name: str) -> PortCore:
    """Return a port that keeps its messages and loses timeout quickly."""
    core = open_core(stack, name, Inbox(), settings_with(stall_timeout=0.6))
    core.only_stores = True
    return core


def stranger(stack: ExitStack, core: PortCore, room: int | None = None) -> socket.socket:
    """Return a socket that has introduced itself to a port."""
    sock = stack.enter_context(socket.socket())
    if room is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    sock.settimeout(TIMEOUT)
    sock.connect(("127.0.0.1", core.port_number))
    sock.sendall(HELLO)
    assert len(receive(sock, 8)) == 8
    wait_until(lambda: not threads_named(f"yarp input of {core.name}"))
    return sock


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_one_thread_takes_what_comes_over_many_connections(stack, carrier):
    ports = [storing_port(stack, f"/port{index}") for index in range(5)]
    sender = open_core(stack, "/sender")
    for core in ports:
        sender.connect(address_of(core), carrier)
    for number in range(20):
        assert sender.send([number])
    wait_until(lambda: all(core.handler.items == [[number] for number in range(20)] for core in ports))
    wait_until(lambda: not threads_named("yarp input"))
    assert len(threads_named("yarp receiver")) == 1


def test_a_peer_that_stops_in_a_message_is_disconnected_and_delays_no_other(stack, port):
    slow, quick = stranger(stack, port), stranger(stack, port)
    slow.sendall(message(DATA + FIVE)[:30])
    for _ in range(20):
        quick.sendall(message(DATA + FIVE))
        assert receive(quick, 8) == ACKNOWLEDGEMENT
    assert port.handler.items == [[5]] * 20
    assert slow.recv(1) == b""


def test_a_message_may_come_byte_by_byte(stack, port):
    sock = stranger(stack, port)
    for byte in message(DATA + FIVE) * 2:
        sock.sendall(bytes([byte]))
    assert receive(sock, 16) == 2 * ACKNOWLEDGEMENT
    assert port.handler.items == [[5], [5]]


def test_a_peer_that_does_not_read_its_answers_is_disconnected_and_delays_no_other(stack, port):
    deaf, quick = stranger(stack, port, room=2048), stranger(stack, port)
    port.inputs.all()[0]._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with pytest.raises(ConnectionError):
        ask_for_ever(deaf)
    quick.sendall(message(DATA + FIVE))
    assert receive(quick, 8) == ACKNOWLEDGEMENT


def ask_for_ever(sock: socket.socket) -> None:
    while True:
        sock.sendall(message(CALL + FIVE) * 500)


def test_a_request_without_a_replier_gets_an_empty_answer(stack, port):
    sock = stranger(stack, port)
    sock.sendall(message(CALL + FIVE))
    assert receive(sock, 16) == struct.pack("<ii", 256, 0) + ACKNOWLEDGEMENT


def test_nonsense_ends_its_connection_alone(stack, port):
    fool, other = stranger(stack, port), stranger(stack, port)
    fool.sendall(message(b"", announced=-1))
    assert fool.recv(1) == b""
    other.sendall(message(DATA + FIVE))
    assert receive(other, 8) == ACKNOWLEDGEMENT


def test_a_command_to_the_port_is_answered_in_a_thread_of_its_own_and_data_goes_on_being_shared(stack, port):
    sock = stranger(stack, port)
    for _ in range(2):
        sock.sendall(message(ADMINISTRATION + encode_list(["ver"])))
        assert receive_until(sock, ACKNOWLEDGEMENT).endswith(ACKNOWLEDGEMENT)
        wait_until(lambda: not threads_named("yarp input"))
        sock.sendall(message(DATA + FIVE))
        assert receive(sock, 8) == ACKNOWLEDGEMENT
    assert port.handler.items == [[5], [5]]


def test_a_very_large_message_is_taken_by_a_thread_of_its_own(stack, port):
    seen = []
    store = port.handler
    port.handler = lambda received: (seen.append(bool(threads_named("yarp input of /port"))), store(received))[1]
    sock = stranger(stack, port)
    for size in (10, 100_000):
        sock.sendall(message(DATA + encode_list([bytes(size)])))
        assert receive(sock, 8) == ACKNOWLEDGEMENT
    assert seen == [False, True]
    assert [len(items[0]) for items in store.items] == [10, 100_000]


def test_a_port_that_becomes_strict_gets_its_threads_back(stack, name_server):
    into, out = BufferedPortBottle(), BufferedPortBottle()
    stack.callback(into.close)
    stack.callback(out.close)
    assert into.open("/in")
    assert out.open("/out")
    assert out.addOutput("/in")
    wait_until(lambda: not threads_named("yarp input of /in"))
    into.setStrict()
    for number in (1, 2):
        out.prepare().fromString(str(number))
        out.writeStrict()
    assert len(threads_named("yarp input of /in")) == 1
    assert [into.read().get(0).asInt32() for _ in range(2)] == [1, 2]


def test_a_farewell_ends_a_shared_connection(stack, port):
    sender = open_core(stack, "/sender")
    sender.connect(address_of(port))
    sender.send([5])
    sender.disconnect("/port")
    wait_until(lambda: port.inputs.all() == [])
    wait_until(lambda: not threads_named("yarp receiver"))
    assert port.handler.items == [[5]]
