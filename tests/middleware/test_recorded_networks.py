"""The recorded traffic around connections: names, administration, existence, the shared key."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from pureyarp.network.name_server import NameServer
from pureyarp.network.peers import NameClient, connect, disconnect, exists, request
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import Contact, NetworkSettings, use_settings
from pureyarp.wire.binary import ADMINISTRATION, decode_list
from pureyarp.wire.text import from_text
from tests.middleware.recorded_messages import recorded_messages
from tests.middleware.recorded_questions import recorded_questions
from tests.middleware.replay import (
    Incidentals,
    ScriptedNameServer,
    ScriptedServer,
    entry,
    frames_of,
    play_client,
    said,
    without_blocks,
)
from tests.pureyarp.network.local_ports import OFFLINE, open_core
from tests.pureyarp.network.raw_sockets import free_port
from tests.waiting import TIMEOUT

CONNECTING, EXISTING, KEY = "cli_connect_write_disconnect", "cli_exists_ping", b"secret key 1"
FAREWELL = b"q\r\n"  # real administrators leave without


@pytest.fixture
def stack(isolated_config_home) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, name: str, port_number: int = -1) -> PortCore:
    core = PortCore()
    core.open(name, port_number)
    stack.callback(core.close)
    return core


def connections_of(name: str, kind: str) -> list[int]:
    return [one["conn"] for one in entry(name)["connections"] if one["kind"] == kind]


@pytest.mark.parametrize("names", [("ns_port_open_close", "ns_requests"), ("ns_cli",)])
def test_the_name_server_answers_the_recorded_lines(own_name_server, names):
    """Numbers count from the server's own one, which is recorded as 10000; that of the fallback is a constant.

    The second session is continued with what the first has left in the server's memory.
    """
    own = own_name_server.contact.getPort()
    numbers = {f"{10000 + offset}": f"{own + offset}" for offset in range(10)}
    constants = {text: text for text in ("224.2.1.1 port 10000", '"224.2.1.1") (port_number 10000')}
    for name in names:
        for connection in [*connections_of(name, "nameserver"), *connections_of(name, "text")]:
            assert play_client(own, name, connection, Incidentals(constants | numbers)) >= 1


def test_opening_and_closing_ports_asks_what_real_ports_ask(stack):
    """Ours also ask whether their name is taken, and look after it; carriers, addresses and process differ."""
    number = {"10002": str(free_port()), "10003": str(free_port())}
    recorded = recorded_questions("ns_port_open_close")
    answers = {question: Incidentals(number).ours(answer) for question, answer in recorded}
    server = stack.enter_context(ScriptedNameServer(answers))
    use_settings(NetworkSettings(name_server_port=server.port, may_serve_names=False))
    port, anonymous = PortCore(), PortCore()
    port.open("/gold/a")
    anonymous.open("")
    assert (port.port_number, anonymous.port_number) == tuple(map(int, number.values()))
    anonymous.close()
    port.close()
    heard = [line for line in server.heard if b" query " not in line and b" bot get " not in line]
    assert [without_values(line) for line in heard] == [without_values(line) for line, _ in recorded]


def test_our_client_asks_about_names_in_the_words_of_the_recorded_tool(stack):
    """The recorded tool sets properties too; their values are sorted in the answers, here as there."""
    recorded = recorded_questions("ns_cli")
    server = stack.enter_context(ScriptedNameServer(dict(recorded)))
    client = NameClient(NetworkSettings(name_server_port=server.port))
    assert [contact.getRegName() for contact in client.list_names()] == ["/root", "fallback"]
    assert client.register("/golden/manual", "tcp", "127.0.0.1", 12345).getPort() == 12345
    questions = [line.decode().split()[3:] for line, _ in recorded if b" set " in line]
    client.set_properties("/golden/manual", {key: values for key, *values in questions})
    assert client.query("/golden/manual").getPort() == 12345
    client.unregister("/golden/manual")
    assert not client.query("/nothere").isValid()
    assert server.heard == [line for line, _ in recorded]


def without_values(line: bytes) -> bytes:
    """Return a line without the values of a property, which are this process's own."""
    words = line.split(b" ")
    return b" ".join(words[:4]) if words[1] == b"set" else line


def test_a_connection_is_made_used_and_ended_as_recorded(own_name_server, stack):
    """The recorded tool asks our name server and our sender; that speaks to the recorded receiver."""
    receiver = stack.enter_context(ScriptedServer(CONNECTING, 5))
    out = opened(stack, "/gold/out")
    NameClient(own_name_server.settings).register("/gold/in", "tcp", "127.0.0.1", receiver.port)
    ours = Incidentals({"10006": str(receiver.port), "10007": str(out.port_number)})
    server = own_name_server.contact.getPort()
    where = dict.fromkeys((0, 1, 6, 7), server) | dict.fromkeys((2, 3, 8, 9), out.port_number)
    for connection in (0, 1, 2, 3):
        play_client(where[connection], CONNECTING, connection, ours)
    assert out.send(from_text("hello 1 2.5 [ok]"), timeout=TIMEOUT)
    for connection in (6, 7, 8, 9):
        play_client(where[connection], CONNECTING, connection, ours)
    assert receiver.heard() == [said(CONNECTING, 5)]


def test_connecting_and_disconnecting_asks_in_the_recorded_words(stack):
    source = stack.enter_context(ScriptedServer(CONNECTING, 2, 3, 9))
    ours = Incidentals({"10007": str(source.port)})
    answers = {question: ours.ours(answer) for question, answer in recorded_questions(CONNECTING)}
    names = stack.enter_context(ScriptedNameServer(answers))
    use_settings(NetworkSettings(name_server_port=names.port, may_serve_names=False))
    assert connect("/gold/out", "/gold/in")
    assert disconnect("/gold/out", "/gold/in")
    assert source.heard() == [said(CONNECTING, connection) + FAREWELL for connection in (2, 3, 9)]
    assert names.heard == [question for question, _ in recorded_questions(CONNECTING)][:2] * 2


def test_existence_is_answered_and_asked_as_recorded(own_name_server, stack):
    port = opened(stack, "/gold/in")
    ours = Incidentals({"10006": str(port.port_number)})
    for connection in (0, 2, 4):
        play_client(own_name_server.contact.getPort(), EXISTING, connection, ours)
    for connection in (1, 3, 5):
        play_client(port.port_number, EXISTING, connection, ours)
    port.close()
    scripted = stack.enter_context(ScriptedServer(EXISTING, 1, 3))
    NameClient(own_name_server.settings).register("/gold/in", "tcp", "127.0.0.1", scripted.port)
    assert exists("/gold/in")
    assert scripted.heard() == [b"", said(EXISTING, 3) + FAREWELL]


# 25 asks for a port monitor, which is not spoken here; 3, 7 and 10 lead from the port to the receiver.
QUESTIONS = [number for number in range(27) if number not in (3, 7, 10, 25)]


def test_our_administrator_asks_as_the_recorded_one(stack):
    server = stack.enter_context(ScriptedServer("admin_tcp", *QUESTIONS))
    for connection in QUESTIONS:
        [message] = recorded_messages("yarp_3_12", "admin_tcp", connection)
        contact = Contact("/gold/out", "tcp", "127.0.0.1", server.port)
        items = decode_list(message.payload).items
        reply = request(contact, items, ADMINISTRATION, timeout=TIMEOUT, settings=OFFLINE)
        assert reply == decode_list(message.reply or b"").items
    for connection, heard in zip(QUESTIONS, server.heard(), strict=True):
        recorded = without_blocks(said("admin_tcp", connection))
        assert without_blocks(heard)[: len(recorded)] == recorded


def test_our_port_greets_receivers_by_each_carrier_as_recorded(stack):
    out = open_core(stack, "/gold/out")
    for connection, carrier in ((3, "tcp"), (7, "fast_tcp"), (10, "udp")):
        receiver = stack.enter_context(ScriptedServer("admin_tcp", connection))
        out.connect(f"tcp://127.0.0.1:{receiver.port}/gold/in", carrier)
        if carrier != "udp":  # whose farewell is another connection
            out.disconnect("/gold/in")
        assert receiver.heard() == [said("admin_tcp", connection)]


def recorded_nonces() -> list[bytes]:
    """Return what each of the three messages of the proof adds: 8 random bytes."""
    return [data[:8] for _, data in frames_of("auth")[:3]]


def test_the_name_server_proves_the_key_as_recorded(stack, monkeypatch):
    settings = NetworkSettings(name_server_port=0, may_serve_names=False, authentication_key=KEY)
    server = NameServer(settings)
    server.start()
    stack.callback(server.stop)
    first, _, third = recorded_nonces()
    nonces = iter((first, third))
    monkeypatch.setattr(secrets, "token_bytes", lambda size: next(nonces))
    ours = Incidentals({"10900": str(server.contact.getPort())})
    assert play_client(server.contact.getPort(), "auth", 0, ours) == 3


def test_our_client_proves_the_key_as_recorded(stack, monkeypatch):
    server = stack.enter_context(ScriptedServer("auth", 0))
    monkeypatch.setattr(secrets, "token_bytes", lambda size: recorded_nonces()[1])
    settings = replace(OFFLINE, name_server_port=server.port, authentication_key=KEY)
    assert [contact.getRegName() for contact in NameClient(settings).list_names()] == ["/root", "fallback"]
    assert server.heard() == [said("auth")]
