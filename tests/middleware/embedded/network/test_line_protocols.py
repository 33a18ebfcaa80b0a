import threading
from contextlib import ExitStack

from gradiva.middleware.embedded.network.line_connection import LineConnection
from tests.middleware.embedded.network.local_ports import open_core, settings_with
from tests.middleware.embedded.network.patience import conversation, threads_named, wait_until


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
    ended = threading.Event()

    def serve(connection: LineConnection) -> None:
        while connection.read_line() is not None:
            pass
        ended.set()

    with ExitStack() as stack:
        port = open_core(stack, "/port", None, settings_with(stall_timeout=0.05), line_protocols={b"NAME_SER": serve})
        assert conversation(port.port_number, b"NAME_SERVER half a li", b"never") == b""
        assert ended.is_set()
        wait_until(lambda: not threads_named("yarp input of /port"))
