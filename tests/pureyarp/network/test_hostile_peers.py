"""Peers that break the rules or leave."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from pureyarp.errors import NetworkError, PeerUnreachable
from pureyarp.network.peers import request
from pureyarp.network.port_core import PortCore
from pureyarp.wire import ACKNOWLEDGEMENT, ADMINISTRATION, Element, from_text
from pureyarp.wire.carriers import encode_datagram
from tests.pureyarp.network.local_ports import (
    OFFLINE,
    Inbox,
    address_of,
    nothing_is_left,
    open_core,
    quiet,
    settings_with,
)
from tests.pureyarp.network.raw_sockets import conversation, receive
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until

TCP_HEADER = bytes.fromhex("5941e41e00005250")
FAST_HEADER = bytes.fromhex("5941641e00005250")
HANDSHAKE_SIZE = 8 + 4 + len("/client") + 1
HELLO = TCP_HEADER + b"\3\0\0\0me\0"


@pytest.fixture(autouse=True)
def silence():
    with quiet():
        yield


@pytest.fixture
def port():
    """Return a port that echoes and loses timeout quickly."""
    with nothing_is_left(), ExitStack() as stack:
        limits = {"handshake_timeout": 0.3, "stall_timeout": 0.3, "most_connections": 8, "largest_frame": 100_000}
        yield open_core(stack, "/port", Inbox(lambda items: items), settings_with(**limits))


def echoed(core: PortCore, items: list[Element]) -> list[Element] | None:
    return request(core.contact, items, timeout=TIMEOUT, settings=OFFLINE)


def message(payload: bytes, announced: int | None = None) -> bytes:
    size = len(payload) if announced is None else announced
    return bytes.fromhex("59410a00000052500101ffffffffffffffff") + struct.pack("<ii", size, 0) + payload


def is_closed(core: PortCore, said: bytes) -> bool:
    """Return whether the port ends a connection on which something is said, and still serves others."""
    with suppress(ConnectionError):  # the port need not hear all of it
        conversation(core.port_number, said, b"never comes")
    return echoed(core, [1, "x"]) == [1, "x"]


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense that is no header",
        TCP_HEADER + struct.pack("<i", -1) + b"x" * 100,
        HELLO + b"\0" * 100,
        HELLO + message(b"", announced=-1),
        HELLO + message(b"", announced=2**31 - 1),
        HELLO + message(b"", announced=100_001),
        HELLO + message(b"xx"),
        HELLO + message(b"\xff\xff\xff\x7f~\0\0\1"),
        HELLO + message(b"", announced=50_000) + b"only this",
        HELLO + b"YA\x0a\0",
        b"CONNACK " + b"x" * 5000 + b"\r\n",
        b"CONNECT me\r\nd\r\n" + b"(" * 200_000,
        b"CONNECT me\r\nd\r\n" + b"(\r\n" * 300,
        bytes.fromhex("5941621e00005250") + b"\3\0\0\0me\0\xe0\1\1\3\x27\x13",
        bytes.fromhex("59416f1e00005250") + b"\3\0\0\0me\0",
        HELLO + message(bytes.fromhex("020000007e0000016100") + b"garbage"),
    ],
)
def test_what_is_no_conversation_is_ended(port, said):
    assert is_closed(port, said)


def test_an_unknown_protocol_is_answered(port):
    assert conversation(port.port_number, b"HUMANITY", b"never comes").startswith(b"* Error. Protocol not found.\r\n")


@pytest.mark.parametrize("said", [b"", b"YA", TCP_HEADER, TCP_HEADER + b"\x0a\0\0\0/go", HELLO + b"Y"])
def test_a_peer_that_stops_in_the_middle_is_disconnected(port, said):
    assert is_closed(port, said)


def test_an_introduced_peer_may_be_silent(port):
    with socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT) as sock:
        sock.sendall(HELLO)
        assert len(sock.recv(8)) == 8
        time.sleep(0.7)  # longer than the port's timeout in the middle of a message
        sock.sendall(message(bytes.fromhex("000000007e640001") + bytes.fromhex("010100000100000005000000")))
        assert sock.recv(12) == bytes.fromhex("010100000100000005000000")


def test_a_handshake_that_drips_is_ended(port):
    with socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT) as sock:
        sock.sendall(TCP_HEADER + struct.pack("<i", 1000))
        wait_until(lambda: not takes_another(sock, b"x"))


def takes_another(sock: socket.socket, byte: bytes) -> bool:
    """Send a byte and tell whether the connection is still open."""
    try:
        sock.send(byte)
        return bool(sock.recv(1, socket.MSG_DONTWAIT))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def test_malformed_objects_are_answered_and_the_connection_goes_on(port):
    said = HELLO + message(bytes.fromhex("000000007e640001") + b"no list at all")
    said += message(bytes.fromhex("000000007e640001 010100000100000005000000"))
    answer = conversation(port.port_number, said, bytes.fromhex("010100000100000005000000"))
    assert b"fail" in answer


def test_a_thousand_connections_leave_nothing(port):
    for index in range(1000):
        with socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT) as sock:
            if index % 3 == 1:
                sock.sendall(TCP_HEADER)
            if index % 3 == 2:
                sock.sendall(HELLO)
    wait_until(lambda: not threads_named("yarp input of /port"))
    assert echoed(port, [1]) == [1]


def test_silent_strangers_do_not_take_the_place_of_others(port):
    with ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT))
        assert echoed(port, [1]) == [1]
        wait_until(lambda: len(threads_named("yarp input of /port")) <= 8)


def test_so_many_connections_are_served_and_no_more(port):
    with ExitStack() as stack:
        socks = []
        for _ in range(8):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT))
            sock.sendall(HELLO)
            assert len(sock.recv(8)) == 8
            socks.append(sock)
        with pytest.raises(PeerUnreachable):
            echoed(port, [1])
        socks[0].close()
        wait_until(lambda: len(threads_named("yarp input of /port")) < 8)
        assert echoed(port, [1]) == [1]


def test_random_bytes_do_no_harm(port):
    rng = random.Random(7)
    starts = [b"", TCP_HEADER, HELLO, FAST_HEADER + b"\3\0\0\0me\0", b"CONNACK me\r\n", HELLO + message(b"")[:18]]
    for _ in range(60):
        said = rng.choice(starts) + rng.randbytes(rng.randrange(200))
        with socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT) as sock:
            sock.sendall(said)
    assert echoed(port, [1]) == [1]


def test_random_datagrams_do_no_harm(port):
    rng = random.Random(8)
    with ExitStack() as stack:
        sender = open_core(stack, "/out")
        sender.connect(address_of(port), "udp")
        number = port.inputs.named("/out")[0]._datagrams.port_number
        stranger = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        starts = [b"", TCP_HEADER, message(b"", 2**31 - 1), message(b"", 100_000), message(b"")]
        for index in range(600):
            datagram = rng.choice(starts) + rng.randbytes(rng.randrange(100))
            if index % 2:
                datagram = encode_datagram(rng.choice([0, 0, 1, -1, 2**31 - 1]), datagram)
            stranger.sendto(datagram, ("127.0.0.1", number))
        inbox = port.handler
        wait_until(lambda: (sender.send([5]), inbox.items)[1])
        assert inbox.items[0] == [5]


def test_datagrams_that_are_no_message_do_not_end_a_connection(port):
    with ExitStack() as stack:
        sender = open_core(stack, "/out")
        sender.connect(address_of(port), "udp")
        number = port.inputs.named("/out")[0]._datagrams.port_number
        stranger = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for said in (b"", b"no port command", b"\xff\xff\xff\x7f~\0\0\1"):
            stranger.sendto(encode_datagram(0, message(said)), ("127.0.0.1", number))
        sender.send([5])
        wait_until(lambda: port.handler.items == [[5]])
        assert len(port.inputs.named("/out")) == 1


def test_a_flood_of_nonsense_does_not_fill_the_log(port, caplog):
    nonsense = b"\1\2\3\4\5\6\7\x08"
    with caplog.at_level("WARNING", "pureyarp"):
        assert all(is_closed(port, nonsense) for _ in range(50))
    assert 1 <= len(caplog.records) <= 10


def test_a_reader_of_replies_that_does_not_read_is_left(port):
    big = bytes.fromhex("000000007e640001") + struct.pack("<iii", 256 + 12, 1, 60_000) + bytes(60_000)
    with socket.create_connection(("127.0.0.1", port.port_number), TIMEOUT) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(HELLO)
        sock.settimeout(TIMEOUT)
        fill(sock, message(big))
        wait_until(lambda: not threads_named("yarp input of /port"))
    assert echoed(port, [1]) == [1]


def fill(sock: socket.socket, data: bytes) -> None:
    """Send again and again until the other side has closed."""
    with suppress(OSError):
        while True:
            sock.sendall(data)


def test_a_large_message_is_given_back_and_its_memory_with_it(port):
    assert echoed(port, [b"x" * 90_000]) == [b"x" * 90_000]


@pytest.mark.parametrize("answer", [b"", b"YA", b"nonsense that is long enough", b"Welcome"])
@pytest.mark.parametrize("carrier", ["tcp", "udp", "text_ack"])
def test_a_peer_without_a_handshake_is_not_connected(answer, carrier):
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        sender = open_core(stack, "/out", settings=settings_with(handshake_timeout=0.2))

        def serve():
            with listener.accept()[0] as sock:
                sock.sendall(answer)
                sock.settimeout(TIMEOUT)
                while sock.recv(100):
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(Exception, match="Cannot connect"):
            sender.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}/in", carrier)
        thread.join(TIMEOUT)
        assert len(sender.outputs) == 0


@pytest.mark.parametrize(
    "reply",
    [
        b"nonsense" * 9,
        struct.pack("<ii", 256 + 12, -5) + b"x" * 90,
        struct.pack("<iii", 256 + 12, 1, 2**31 - 1) + b"x" * 200_000,
    ],
)
def test_a_reply_that_is_none_drops_the_connection(reply):
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = open_core(stack, "/client", settings=settings_with(largest_frame=100_000))

        def serve():
            with listener.accept()[0] as sock:
                sock.sendall(b"YA\0\0\0\0RP")
                receive(sock, HANDSHAKE_SIZE)
                sock.recv(1000)
                sock.sendall(reply)
                while sock.recv(100):
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        client.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}/in")
        went_well, replies = client.call([1], timeout=TIMEOUT)
        assert (went_well, replies) == (False, [])
        assert len(client.outputs) == 0
        thread.join(TIMEOUT)


def test_an_acknowledgement_may_come_where_a_reply_is_expected():
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = open_core(stack, "/client")

        def serve():
            with listener.accept()[0] as sock:
                sock.sendall(b"YA\0\0\0\0RP")
                receive(sock, HANDSHAKE_SIZE)
                while sock.recv(1000):
                    sock.sendall(b"YA\3\0\0\0RPabc")  # and bytes to skip

        threading.Thread(target=serve, daemon=True).start()
        client.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}/in")
        assert client.call([1], timeout=TIMEOUT) == (True, [])


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def sender(stack) -> PortCore:
    return open_core(stack, "/out")


def mortal_peer(stack: ExitStack, sender: PortCore) -> socket.socket:
    """Connect a port to a peer that is only a socket, and return that."""
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    accepted: list[socket.socket] = []

    def shake_hands() -> None:
        sock, _ = listener.accept()
        sock.sendall(b"YA\1\0\0\0RP")
        accepted.append(sock)

    thread = threading.Thread(target=shake_hands, daemon=True)
    thread.start()
    sender.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}/mortal")
    thread.join(TIMEOUT)
    return stack.enter_context(accepted[0])


def listed(port: PortCore) -> list[Element]:
    """Ask an administrator's question: to whom does a port send?"""
    reply = request(port.contact, from_text("[list] [out]"), ADMINISTRATION, timeout=TIMEOUT, settings=OFFLINE)
    assert reply is not None
    return reply


def test_a_peer_that_is_there_is_listed_and_kept(stack, sender):
    mortal_peer(stack, sender)
    assert listed(sender) == ["/mortal"]
    assert [output.is_alive() for output in sender.outputs.all()] == [True]


def test_a_peer_that_has_gone_is_not_listed(stack, sender):
    mortal_peer(stack, sender).close()
    wait_until(lambda: listed(sender) == [])
    assert not sender.has_outputs


def test_unread_acknowledgements_do_not_hide_that_a_peer_has_gone(stack, sender):
    peer = mortal_peer(stack, sender)
    sender.offer([1])  # whose acknowledgement is looked at before the next message
    peer.sendall(ACKNOWLEDGEMENT)
    assert listed(sender) == ["/mortal"]
    peer.shutdown(socket.SHUT_WR)
    wait_until(lambda: listed(sender) == [])


def test_a_client_whose_server_has_gone_may_have_another_one(stack, sender):
    sender.is_rpc = True
    peer = mortal_peer(stack, sender)
    server = open_core(stack, "/server", Inbox(lambda items: items))
    with pytest.raises(NetworkError, match="RPC output already connected"):
        sender.connect(address_of(server))
    peer.close()
    wait_until(lambda: not sender.outputs.all()[0].is_alive())
    sender.connect(address_of(server))
    assert [output.target for output in sender.outputs.all()] == ["/server"]
    assert sender.call([5], timeout=TIMEOUT)[0]


def test_datagrams_without_a_receiver_end_their_connection(stack, sender):
    receiver = open_core(stack, "/in", Inbox())
    sender.connect(address_of(receiver), "udp")
    assert sender.send([1])
    [connection] = receiver.inputs.named("/out")
    assert listed(sender) == ["/in"]
    connection.close()  # and the sender is not told
    wait_until(lambda: not receiver.inputs.named("/out"))
    wait_until(lambda: not sender.send([2]))
    assert not sender.has_outputs
    assert sender.send([3])  # to nobody


def test_a_refused_datagram_is_noticed_without_another_one(stack, sender):
    receiver = open_core(stack, "/in", Inbox())
    sender.connect(address_of(receiver), "udp")
    [connection] = receiver.inputs.named("/out")
    connection.close()
    connection.join(TIMEOUT)
    sender.send([1])
    wait_until(lambda: listed(sender) == [])
