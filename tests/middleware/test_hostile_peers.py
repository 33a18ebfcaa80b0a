"""Strangers at every socket of a process: the process stays up, its memory bounded, its other clients served."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest

from pureyarp.errors import NameServerUnreachable
from pureyarp.network.peers import NameClient
from pureyarp.wire.carriers import encode_datagram
from tests.middleware.all_servers import LARGEST_FRAME, AllServers, open_servers, under_attack
from tests.middleware.replay import INDEX, entry, said
from tests.middleware.test_recorded_conversations import recorded_names
from tests.pureyarp.network.raw_sockets import receive
from tests.waiting import TIMEOUT, wait_until

TCP = bytes.fromhex("5941e41e00005250")
HELLO = TCP + b"\3\0\0\0me\0"
DATA, ADMINISTRATION = bytes.fromhex("000000007e640001"), bytes.fromhex("000000007e610001")
STARTS = [b"", TCP, HELLO, b"CONNACK me\r\n", b"CONNECT me\r\nd\r\n", b"NAME_SERVER ", HELLO + INDEX, b"GET /"]


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> Iterator[AllServers]:
    """One process for all attacks: what one of them breaks, the next one finds broken."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("YARP_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        with open_servers() as opened:
            yield opened


def message(payload: bytes, announced: int | None = None) -> bytes:
    size = len(payload) if announced is None else announced
    return INDEX + b"\1\1" + b"\xff" * 8 + struct.pack("<ii", size, 0) + payload


def say(port: int, data: bytes) -> bytes:
    """Say something, end, and return what comes back until the port ends as well."""
    answer = b""
    with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
        sock.sendall(data)
        with suppress(OSError):  # it has ended already
            sock.shutdown(socket.SHUT_WR)
        while piece := sock.recv(65536):
            answer = (answer + piece)[-1000:]
    return answer


def recorded_speeches() -> list[bytes]:
    """Return all that recorded clients said, one speech for each connection."""
    speeches = []
    for name in recorded_names():
        connections = [one["conn"] for one in entry(name)["connections"]]
        speeches += [said(name, connection) for connection in connections]
    return sorted({speech for speech in speeches if speech})


def test_random_bytes(everything):
    rng = random.Random(1)
    with under_attack(everything):
        for port in everything.ports.values():
            for _ in range(30):
                say(port, rng.choice(STARTS) + rng.randbytes(rng.randrange(300)))


def test_recorded_conversations_that_break_off(everything):
    rng = random.Random(2)
    speeches = recorded_speeches()
    assert len(speeches) > 60
    with under_attack(everything):
        for port in everything.ports.values():
            for speech in rng.sample(speeches, 30):
                say(port, speech[: rng.randrange(len(speech))])


def test_recorded_conversations_with_wrong_bits(everything):
    rng = random.Random(3)
    with under_attack(everything):
        for port in everything.ports.values():
            for speech in rng.sample(recorded_speeches(), 30):
                damaged = bytearray(speech[:20_000])
                for _ in range(rng.randrange(1, 9)):
                    damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
                say(port, bytes(damaged))


def nested(depth: int) -> bytes:
    return struct.pack("<ii", 256, 1) * depth + struct.pack("<ii", 256, 0)


LIES = [
    message(b"", announced=2**31 - 1),
    message(b"", announced=-(2**31)),
    message(b"", announced=LARGEST_FRAME + 1),
    INDEX + b"\xff\xff" + b"\xff" * 8 + struct.pack("<i", 2**31 - 1) * 510,
    message(struct.pack("<i", 2**31 - 1) + DATA[4:]),
    message(struct.pack("<i", -1) + DATA[4:]),
    message(DATA + struct.pack("<ii", 256, 2**31 - 1)),
    message(DATA + struct.pack("<ii", 256, -1)),
    message(DATA + struct.pack("<ii", 256 + 10, 2**28)),
    message(DATA + struct.pack("<iiii", 256, 1, 4, 2**31 - 1)),
    message(DATA + nested(10_000)),
    message(ADMINISTRATION + nested(10_000)),
    message(ADMINISTRATION + struct.pack("<ii", 256, 2**31 - 1)),
]


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_lengths_and_depths_that_lie(everything, lie):
    with under_attack(everything):
        for port in everything.ports.values():
            say(port, HELLO + lie)
            say(port, HELLO.replace(b"\xe4", b"\x64") + lie)  # fast_tcp


def test_a_frame_that_is_too_large_is_refused_before_it_is_read(everything):
    with under_attack(everything):
        for port in everything.ports.values():
            with socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
                sock.sendall(HELLO + message(b"", announced=LARGEST_FRAME + 1))
                assert receive(sock, 100)[8:] == b""  # the handshake's answer, then the end


@pytest.mark.parametrize("start", [b"CONNACK ", b"CONNECT me\r\n", b"CONNACK me\r\nd\r\n", b"NAME_SERVER ", b"GET /"])
@pytest.mark.parametrize("endless", [b"x", b"(", b'"', b"{", b"\\"])
def test_lines_that_never_end(everything, start, endless):
    with under_attack(everything):
        for port in everything.ports.values():
            sent = 0
            with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
                sock.sendall(start)
                while sent < 100 * LARGEST_FRAME:
                    sent += sock.send(endless * 65536)
            assert sent < 100 * LARGEST_FRAME


def test_texts_that_open_and_never_close(everything):
    with under_attack(everything):
        for port in everything.ports.values():
            for lines in (
                b"(\r\n" * 2000,
                b"(" * 50_000 + b"\r\n" * 300,
                b"(" * 40 + b")" * 40 + b"\r\n",
                b"a\\\r\n" * 1000,
            ):
                say(port, b"CONNACK me\r\nd\r\n" + lines)


def test_who_speaks_too_slowly_to_introduce_himself_is_left(everything):
    with under_attack(everything), ExitStack() as stack:
        ports = everything.ports.values()
        socks = [stack.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT)) for port in ports]
        deadline = time.monotonic() + TIMEOUT
        while socks and time.monotonic() < deadline:
            socks = [sock for sock in socks if hears(sock, b"Y")]
            time.sleep(0.02)
        assert socks == []


def hears(sock: socket.socket, data: bytes) -> bool:
    """Say something; False if the other end has closed."""
    try:
        sock.sendall(data)
        return sock.recv(1, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_who_stops_in_the_middle_of_a_message_is_left(everything):
    with under_attack(everything), ExitStack() as stack:
        for port in everything.ports.values():
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT))
            sock.sendall(HELLO + message(DATA, announced=1000))
            sock.settimeout(TIMEOUT)
            assert receive(sock, 100)[8:] == b""


def test_who_is_slow_but_honest_is_answered(everything):
    bottle = struct.pack("<iii", 257, 1, 5)
    address = "127.0.0.1", everything.ports["/port"]
    with under_attack(everything), socket.create_connection(address, TIMEOUT) as sock:
        said = message(DATA + bottle)
        for piece in (HELLO[:7], HELLO[7:], *(bytes([byte]) for byte in said)):  # hands have to be shaken in 0.4 s
            sock.sendall(piece)
            time.sleep(0.001)
        assert receive(sock, 28)[8:] == bottle + b"YA\0\0\0\0RP"


def test_a_thousand_connections_that_are_opened_and_dropped(everything):
    with under_attack(everything):
        for port in everything.ports.values():
            for index in range(1000 // len(everything.ports) + 1):
                with socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
                    sock.sendall((b"", TCP, HELLO, HELLO + message(DATA, 100)[:20])[index % 4])


def test_a_thousand_connections_at_one_port(everything):
    with under_attack(everything):
        for _ in range(1000):
            socket.create_connection(("127.0.0.1", everything.ports["/port"]), TIMEOUT).close()


def test_two_hundred_that_are_open_and_silent(everything):
    """Half of them have introduced themselves and may stay; the others are left after the handshake's timeout."""
    with under_attack(everything), ExitStack() as stack:
        threads = threading.active_count()
        ports = list(everything.ports.values())
        for index in range(200):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", ports[index % len(ports)]), TIMEOUT))
            if index % 2:
                sock.sendall(HELLO)
        wait_until(lambda: threading.active_count() < threads + 150)
        assert everything.failure() == ""


def test_datagrams_of_strangers(everything):
    rng, ports = random.Random(4), everything.udp_ports()
    heads = [b"", INDEX, message(DATA, announced=2**31 - 1), message(DATA, announced=LARGEST_FRAME), message(DATA)]
    assert ports
    with under_attack(everything), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for index in range(2000):
            datagram = rng.choice(heads) + rng.randbytes(rng.randrange(100))
            if index % 2:
                datagram = encode_datagram(rng.choice([0, 0, 1, -1, 2**31 - 1]), datagram)
            stranger.sendto(datagram, ("127.0.0.1", ports[index // 2 % len(ports)]))
        bottle = everything.stream.prepare()
        bottle.clear()
        bottle.addString("still heard")
        wait_until(lambda: is_heard(everything))


def is_heard(everything: AllServers) -> bool:
    """Send over the connection that strangers sent to, and tell whether it arrives."""
    everything.sender.write(everything.stream.prepare())
    heard = everything.stream.read(False)
    return heard is not None and heard.toString() == '"still heard"'


def test_names_without_number(everything):
    """A name server remembers so many names and properties, and no more."""
    with under_attack(everything):
        lines = b"".join(
            b"NAME_SERVER register /flood/%d\nNAME_SERVER unregister /flood/%d\n" % (n, n) for n in range(3000)
        )
        assert b"end of message" in say(everything.ports["/root"], lines)
        values = b" ".join(b"%d" % number for number in range(10_000))
        assert b"refused" in say(everything.ports["/root"], b"NAME_SERVER set /port key " + values + b"\n")


KEY = b"the key of this network"


def test_a_key_is_asked_for_at_every_socket_and_everything_works_with_it(isolated_config_home):
    with open_servers(authentication_key=KEY) as opened:
        assert opened.failure() == ""
        with under_attack(opened):
            for port in opened.ports.values():
                for data in (HELLO + message(DATA), b"NAME_SERVER list\n", b"CONNACK me\r\n*\r\n", bytes(40)):
                    answer = say(port, data)
                    assert len(answer) == 40  # the challenge, and nothing else
        for key in (b"another key", None):
            with pytest.raises(NameServerUnreachable):
                NameClient(replace(opened.settings, authentication_key=key), timeout=1.0).list_names()
        opened.sender.write(opened.stream.prepare())
        wait_until(lambda: opened.stream.read(False) is not None)
