import socket
import time
from contextlib import ExitStack

import pytest

from pureyarp.network.byte_stream import LineConnection
from tests.pureyarp.network.local_ports import open_core, settings_with
from tests.pureyarp.network.raw_sockets import conversation
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until


def test_connections_that_announce_another_protocol_are_handed_on():
    hosts: list[str] = []

    def serve(connection: LineConnection) -> None:
        hosts.append(connection.peer_host)
        while (line := connection.read_line()) is not None:
            connection.send(f"heard {line}\n".encode())

    with ExitStack() as stack:
        port = open_core(stack, "/port", line_protocols={b"GET /": serve})
        assert conversation(port.port_number, b"GET /index HTTP/1.1\r\nsecond\n", b"second\n") == (
            b"heard GET /index HTTP/1.1\nheard second\n"
        )
        assert hosts == ["127.0.0.1"]


def test_who_stops_in_the_middle_of_a_line_is_left():
    with ExitStack() as stack:
        settings = settings_with(handshake_timeout=0.5, stall_timeout=0.5)
        port = open_core(stack, "/port", None, settings, line_protocols={b"NAME_SER": echo_lines})
        assert conversation(port.port_number, b"NAME_SERVER half a li", b"never") == b""
        assert conversation(port.port_number, b"NAME_SERVER\nhalf a li", b"never") == b"NAME_SERVER\n"
        wait_until(lambda: not threads_named("yarp input of /port"))


@pytest.mark.parametrize(("whole_lines", "limit"), [(b"", "handshake_timeout"), (b"NAME_SERVER\n", "stall_timeout")])
def test_a_line_that_drips_has_no_more_time_than_one_that_stops(whole_lines, limit):
    patient = {"handshake_timeout": TIMEOUT, "stall_timeout": TIMEOUT}
    with ExitStack() as stack:
        settings = settings_with(**{**patient, limit: 0.3})
        port = open_core(stack, "/port", None, settings, line_protocols={b"NAME_SER": echo_lines})
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", port.port_number), timeout=TIMEOUT))
        sock.sendall(whole_lines + b"NAME_SERVER ")
        drip_until_closed(sock)
        wait_until(lambda: not threads_named("yarp input of /port"))


def echo_lines(connection: LineConnection) -> None:
    while (line := connection.read_line()) is not None:
        connection.send(f"{line}\n".encode())


def drip_until_closed(sock: socket.socket) -> None:
    """Send a byte now and then, in less than any timeout of the other end, until it has closed."""
    deadline = time.monotonic() + TIMEOUT
    sock.settimeout(0.05)
    while time.monotonic() < deadline:
        try:
            sock.sendall(b"x")
            if sock.recv(100) == b"":
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    raise AssertionError("the other end is still patient")
