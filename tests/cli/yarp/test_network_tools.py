"""Connections, ports and the name server."""

import re
import socket
import threading

import pytest

from gradiva.cli.yarp.connections import TextDialogue
from gradiva.middleware import NameClient, current_settings, yarp
from tests.pureyarp.network.raw_sockets import free_port


@pytest.fixture
def ports(name_server):
    """An output /out and an input /in."""
    source, destination = yarp.Port(), yarp.BufferedPortBottle()
    assert source.open("/out")
    assert destination.open("/in")
    yield source, destination
    source.close()
    destination.close()


@pytest.mark.parametrize("carrier", ["", "tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_ports_are_connected_and_disconnected(gradiva, ports, carrier):
    assert gradiva("yarp", "connect", "/out", "/in", *([carrier] if carrier else [])) == (
        0,
        "",
        "connected /out to /in\n",
    )
    assert yarp.Network.isConnected("/out", "/in", carrier)
    assert gradiva("yarp", "disconnect", "/out", "/in") == (0, "", "disconnected /out from /in\n")
    assert ports[0].getOutputCount() == 0


def test_what_is_not_connected_cannot_be_disconnected(gradiva, ports):
    assert gradiva("yarp", "disconnect", "/out", "/in") == (1, "", "error: /out is not connected to /in\n")


@pytest.mark.parametrize(("pair", "missing"), [(("/out", "/im"), "/im"), (("/oux", "/in"), "/oux")])
def test_an_unknown_port_is_named_with_its_like(gradiva, ports, pair, missing):
    status, out, err = gradiva("yarp", "connect", *pair)
    assert (status, out) == (1, "")
    assert err.startswith(f"error: port {missing} is not registered; did you mean '/")


def test_a_refusal_is_printed_in_the_port_s_own_words(gradiva, ports):
    status, out, err = gradiva("yarp", "connect", "/out", "/in", "smoke")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("error: /out refuses to connect to /in by smoke: ")


def test_existence_is_the_exit_status(gradiva, ports):
    port = ports[1].where().getPort()
    assert gradiva("yarp", "exists", "/in") == (0, "", f"/in is at tcp://127.0.0.1:{port}/\n")
    assert gradiva("yarp", "exists", "/nowhere")[:2] == (1, "")


def test_a_ping_prints_the_connections_and_the_times(gradiva, ports):
    assert yarp.Network.connect("/out", "/in")
    status, out, err = gradiva("yarp", "ping", "/in", "--count", "5")
    *report, times = out.splitlines()
    assert (status, err) == (0, "")
    assert report[0] == f"This is /in at tcp://127.0.0.1:{ports[1].where().getPort()}/"
    assert "There is an input connection from /out to /in using tcp" in report
    found = re.fullmatch(r"round_trip_ms min (\S+) median (\S+) max (\S+) count 5", times)
    smallest, median, largest = map(float, found.groups())
    assert 0.0 < smallest <= median <= largest


def test_the_name_server_answers_as_it_is_asked(gradiva, ports):
    port = ports[1].where().getPort()
    line = f"registration name /in ip 127.0.0.1 port {port} type tcp\n"
    assert gradiva("yarp", "name", "query", "/in") == (0, line, "")
    assert line in gradiva("yarp", "name", "list")[1]
    assert gradiva("yarp", "name", "set", "/in", "colour", "blue", "-1")[1] == "port /in property colour = -1 blue\n"
    assert gradiva("yarp", "name", "get", "/in", "colour")[1] == "port /in property colour = -1 blue\n"
    assert gradiva("yarp", "name", "query", "/nowhere") == (0, "", "")
    assert gradiva("yarp", "name", "bot", "query", "/in")[1].startswith('port (name "/in")')
    assert gradiva("yarp", "name", "help")[0] == 0


def test_dead_ports_are_forgotten_and_named(gradiva, ports, names):
    NameClient(current_settings()).register("/dead", "tcp", "127.0.0.1", free_port())
    assert gradiva("yarp", "clean") == (0, "/dead\n", "")
    assert {"/in", "/out", "fallback", current_settings().namespace} <= names()
    assert "/dead" not in names()
    assert gradiva("yarp", "clean") == (0, "", "")


def test_where_prints_how_the_address_was_found(gradiva, name_server, configured):
    address = f"127.0.0.1:{current_settings().name_server_port}"
    assert gradiva("yarp", "where") == (0, f"/root {address}\n", f"address: from {configured}\nit answers\n")


def test_where_prints_that_no_server_answers(gradiva, configured):
    status, out, err = gradiva("yarp", "where")
    assert (status, out) == (1, f"/root 127.0.0.1:{current_settings().name_server_port}\n")
    assert err.endswith("start one with `gradiva yarpserver`\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", "/r"],
        ["write", "/w", "1"],
        ["name", "list"],
        ["ping", "/p"],
        ["connect", "/a", "/b"],
        ["disconnect", "/a", "/b"],
        ["exists", "/p"],
        ["clean"],
    ],
)
def test_without_a_name_server_every_tool_fails_and_starts_none(gradiva, configured, arguments):
    address = f"127.0.0.1:{current_settings().name_server_port}"
    expected = f"no name server answers at {address} (from {configured}): start one with `gradiva yarpserver`"
    assert gradiva("yarp", *arguments) == (1, "", f"error: {expected}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["connect", "/out"],
        ["connect", "out", "/in"],
        ["connect", "/out", "in"],
        ["disconnect", "/out", "in"],
        ["exists", "/with blank"],
        ["ping"],
        ["ping", "/in", "--count", "0"],
        ["name"],
        ["clean", "--timeout", "-1"],
        ["where", "extra"],
    ],
)
def test_wrong_input_is_refused_in_one_line(gradiva, ports, arguments):
    status, out, err = gradiva("yarp", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("arguments", [["name", "list"], ["where"], ["clean"], ["exists", "/in"], ["read", "/in"]])
def test_a_file_without_an_address_is_refused_in_one_line(gradiva, configured, arguments):
    configured.write_text("somewhere\n")
    status, out, err = gradiva("yarp", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "yarp.conf: it must hold address, port and mode of the name server" in err


@pytest.fixture
def sockets():
    ours, theirs = socket.socketpair()
    ours.settimeout(5.0)
    with ours, theirs:
        yield ours, theirs


def test_an_answer_is_the_lines_before_the_acknowledgement(sockets):
    ours, theirs = sockets
    theirs.sendall(b"Welcome <ping>\r\nThis is /me\r\nThere are no in")
    dialogue = TextDialogue(ours, "<ping>")
    assert theirs.recv(100) == b"CONNACK <ping>\r\n"
    rest = threading.Thread(target=theirs.sendall, args=(b"puts\r\n<ACK>\r\n<ACK>\r\n",))
    rest.start()
    assert dialogue.ask("*") == ["This is /me", "There are no inputs"]
    assert dialogue.ask("q") == []
    rest.join()


def test_a_peer_that_closes_is_an_error(sockets):
    ours, theirs = sockets
    theirs.sendall(b"Welcome x\r\nhalf a li")
    dialogue = TextDialogue(ours, "x")
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError, match="closed"):
        dialogue.ask("*")


def test_an_answer_without_end_is_refused(sockets, monkeypatch):
    monkeypatch.setattr("gradiva.cli.yarp.connections._MAX_REPLY", 1000)
    ours, theirs = sockets
    theirs.sendall(b"Welcome x\r\n" + b"line\r\n" * 1000)
    dialogue = TextDialogue(ours, "x")
    with pytest.raises(OSError, match="does not end"):
        dialogue.ask("*")


def test_a_line_without_end_is_refused(sockets, monkeypatch):
    monkeypatch.setattr("gradiva.cli.yarp.connections._MAX_REPLY", 1000)
    ours, theirs = sockets
    theirs.sendall(b"W" * 3000)
    with pytest.raises(OSError, match="does not end"):
        TextDialogue(ours, "x")
