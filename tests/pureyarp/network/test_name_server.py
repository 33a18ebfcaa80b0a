import json
import socket
from contextlib import suppress
from dataclasses import replace

import pytest

from pureyarp.errors import NameServerUnreachable, NetworkError
from pureyarp.network.name_registry import RegistryLimits
from pureyarp.network.name_server import NameServer, NameServerRunning
from pureyarp.network.peers import NameClient, connect, request
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import (
    ConnectionLimits,
    Contact,
    NameServerAddress,
    NetworkSettings,
    read_name_server_file,
)
from pureyarp.wire.elements import encode_vocab
from tests.middleware.recorded_messages import recording
from tests.middleware.recorded_questions import recorded_questions
from tests.pureyarp.network.raw_sockets import conversation
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until

ANYWHERE = NetworkSettings(name_server_port=0, may_serve_names=False)
END = b"*** end of message\r\n"


def said_at(server: NameServer, question: bytes, until: bytes = END) -> bytes:
    return conversation(server.contact.getPort(), question, until)


def with_our_numbers(server: NameServer, recorded: bytes) -> bytes:
    """Replace the recorded server's number and those that count from it."""
    own = server.contact.getPort()
    for number in range(10000, 10010):
        recorded = recorded.replace(str(number).encode(), str(own + number - 10000).encode())
    fallback = f"224.2.1.1 port {own} ".encode()
    recorded = recorded.replace(fallback, b"224.2.1.1 port 10000 ")
    bottle = f'"224.2.1.1") (port_number {own})'.encode()
    return recorded.replace(bottle, b'"224.2.1.1") (port_number 10000)')


@pytest.mark.parametrize("name", ["ns_port_open_close", "ns_cli"])
def test_recorded_lines_are_answered_over_tcp(name_server, name):
    for question, answer in recorded_questions(name):
        until = END if answer.endswith(END) else b"\r\n"
        assert said_at(name_server, question, until) == with_our_numbers(name_server, answer)


def test_recorded_text_connections_are_answered(name_server):
    frames = [frame for frame in recording("yarp_3_12", "ns_requests")["frames"] if frame["conn"] in (24, 25)]
    for question, answer in zip(frames[::2], frames[1::2], strict=True):
        expected = with_our_numbers(name_server, bytes.fromhex(answer["hex"]))
        assert said_at(name_server, bytes.fromhex(question["hex"]), b"<ACK>\r\n") == expected


def test_many_lines_on_one_connection_get_an_answer_each(name_server):
    lines = b"NAME_SERVER query /x\nNAME_SERVER announce /x\nNAME_SERVER gc\r\n"
    answer = END + b"[ok]\r\n" + b"garbage collection done.\r\n" + END
    assert said_at(name_server, lines, b"done.\r\n" + END) == answer


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_bottles_are_answered_by_every_carrier(name_server, name_client, carrier):
    name_client.register("/a", "tcp", "127.0.0.1", 12345)
    reply = request(name_server.contact, ["bot", "query", "/a"], carrier=carrier, timeout=5.0)
    assert reply == ["port", ["name", "/a"], ["ip", "127.0.0.1"], ["port_number", 12345], ["carrier", "tcp"]]


def test_it_is_a_port_that_tells_its_version(name_server):
    version = encode_vocab("ver")
    assert request(name_server.contact, [version], administrative=True, timeout=5.0) == [version, 1, 2, 3]


def test_a_browser_sees_a_page_that_no_name_can_break(name_server, name_client):
    name_client.register("/<script>", "tcp", "127.0.0.1", 12345)
    page = said_at(name_server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"</table>").decode()
    assert page.startswith("HTTP/1.1 200 OK\r\n")
    assert "<td>/&lt;script&gt;</td><td>tcp://127.0.0.1:12345/</td>" in page


def test_a_browser_gets_the_list_as_json(name_server):
    reply = said_at(name_server, b"GET /?req=list HTTP/1.1\r\n\r\n", b"}]").decode()
    ports = json.loads(reply.partition("\r\n\r\n")[2])
    own = {"name": "/root", "ip": "127.0.0.1", "port_number": name_server.contact.getPort(), "carrier": "tcp"}
    assert ports[0] == own
    assert ports[1]["name"] == "fallback"


def test_other_pages_are_not_found(name_server):
    assert said_at(name_server, b"GET /etc/passwd HTTP/1.1\r\n\r\n", b"req=list").startswith(b"HTTP/1.1 404 Not Found")


def test_changes_are_told_to_whoever_asked():
    changes: list[tuple[bool, str]] = []
    server = NameServer(ANYWHERE, on_change=lambda *change: changes.append(change))
    server.start()
    client = NameClient(server.settings)
    client.register("/a")
    client.unregister("/a")
    server.stop()
    assert changes == [(True, "/a"), (False, "/a")]


def test_changes_are_told_to_what_is_connected_to_the_servers_output(name_server, name_client):
    heard: list[object] = []
    listener = PortCore(handler=lambda message: heard.append(message.items()))
    listener.open("/listener")
    assert connect("/root", "/listener")
    name_client.register("/a")
    name_client.unregister("/a")
    wait_until(lambda: heard[-1:] == [[encode_vocab("del"), "/a"]])
    listener.close()


def test_who_asks_nothing_more_is_left():
    limits = ConnectionLimits(stall_timeout=0.5)
    server = NameServer(replace(ANYWHERE, limits=limits))
    server.start()
    with socket.create_connection(("127.0.0.1", server.contact.getPort()), timeout=10.0) as sock:
        sock.sendall(b"NAME_SERVER announce /a\n")
        received = b""
        while piece := sock.recv(100):
            received += piece
    assert received == b"[ok]\r\n"
    server.stop()


def test_a_second_server_at_the_same_address_is_refused(name_server):
    with pytest.raises(NameServerRunning, match=r"another name server already answers at 127\.0\.0\.1:"):
        NameServer(name_server.settings).start()


def test_an_address_that_somebody_else_has_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = replace(ANYWHERE, name_server_port=other.getsockname()[1], name_server_host="127.0.0.1")
        with pytest.raises(NameServerRunning, match=r"names cannot be served at 127\.0\.0\.1:"):
            NameServer(taken).start()


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(NetworkError, match=r"203\.0\.113\.9 .* is no address of this machine"):
        NameServer(replace(ANYWHERE, name_server_host="203.0.113.9")).start()


def test_the_file_is_written_as_clients_read_it(name_server, tmp_path):
    path = tmp_path / "new" / "yarp.conf"
    name_server.write_file(path)
    assert read_name_server_file(path) == NameServerAddress("127.0.0.1", name_server.contact.getPort())


def test_a_stopped_server_is_gone_and_leaves_no_thread():
    server = NameServer(ANYWHERE)
    server.start()
    client = NameClient(server.settings)
    assert client.query_all(["/root"]) == [server.contact]
    server.stop()
    server.stop()
    with pytest.raises(NameServerUnreachable, match=r"no name server at 127\.0\.0\.1:"):
        client.list_names()
    wait_until(lambda: not threads_named("yarp"))


def test_a_restarted_server_begins_at_the_same_address_with_an_empty_memory(name_server, name_client):
    name_client.register("/a")
    name_server.stop()
    name_server.start()
    assert not name_client.query("/a").isValid()
    assert name_client.register("/b").getPort() == name_server.contact.getPort() + 2


def test_what_it_remembers_is_bounded():
    server = NameServer(ANYWHERE, limits=RegistryLimits(most_names=3))
    server.start()
    client = NameClient(server.settings)
    client.register("/a")
    with pytest.raises(NetworkError, match="did not register '/b': refused: 3 names are registered"):
        client.register("/b")
    server.stop()


def test_a_key_is_asked_for_and_honoured():
    server = NameServer(replace(ANYWHERE, authentication_key=b"secret key 1"))
    server.start()
    assert NameClient(server.settings).register("/a") == Contact("/a", "tcp", "127.0.0.1", server.contact.getPort() + 2)
    for key in (b"secret key 2", None):
        with pytest.raises(NameServerUnreachable):
            NameClient(replace(server.settings, authentication_key=key), timeout=0.5).list_names()
    server.stop()


def test_garbage_does_not_disturb_the_others(name_server, name_client):
    for garbage in (b"", b"\x00" * 100, b"NAME_SERVER \xff\xfe (((\n", b"NAME_SER", b"NAME_SERVER set\n", b"GET /\xff"):
        with socket.create_connection(("127.0.0.1", name_server.contact.getPort())) as sock:
            sock.sendall(garbage)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
    assert name_client.register("/a").isValid()


def test_a_line_without_an_end_is_cut_off(name_server, name_client):
    sent = 0
    with (
        suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", name_server.contact.getPort()), timeout=10.0) as sock,
    ):
        while sent < 100_000_000:
            sent += sock.send(b"NAME_SERVER " + b"x" * 65536)
    assert sent < 100_000_000
    assert name_client.register("/a").isValid()
