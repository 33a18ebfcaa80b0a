"""A running name server and its commands."""

import json
import socket
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage, NameServerUnreachable, NetworkError
from pureyarp.network import name_server as name_server_module
from pureyarp.network.name_registry import NameRegistry, RegistryLimits
from pureyarp.network.name_server import NameCommands, NameServer, NameServerRunning, request_of_items, request_of_line
from pureyarp.network.peers import NameClient, connect, request
from pureyarp.network.port_core import PortCore
from pureyarp.network.settings import (
    ConnectionLimits,
    Contact,
    NameServerAddress,
    NetworkSettings,
    read_name_server_file,
)
from pureyarp.network.subscriptions import Subscriptions
from pureyarp.wire import ADMINISTRATION, encode_vocab
from tests.middleware.recorded_messages import recording
from tests.middleware.recorded_questions import recorded_questions
from tests.pureyarp.network.raw_sockets import conversation
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until

ANYWHERE = NetworkSettings(name_server_port=0, may_serve_names=False)
ELSEWHERE = "192.0.2.1"  # no machine has it (RFC 5737)
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


@pytest.mark.usefixtures("numbers_in_order")
@pytest.mark.parametrize("name", ["ns_port_open_close", "ns_cli"])
def test_recorded_lines_are_answered_over_tcp(name_server, name):
    for question, answer in recorded_questions(name):
        until = END if answer.endswith(END) else b"\r\n"
        assert said_at(name_server, question, until) == with_our_numbers(name_server, answer)


@pytest.mark.usefixtures("numbers_in_order")
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


def test_the_name_server_is_a_port_that_answers_with_its_version(name_server):
    version = encode_vocab("ver")
    assert request(name_server.contact, [version], ADMINISTRATION, timeout=5.0) == [version, 1, 2, 3]


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


def test_changes_are_reported_to_the_callback():
    changes: list[tuple[bool, str]] = []
    server = NameServer(ANYWHERE, on_change=lambda *change: changes.append(change))
    server.start()
    client = NameClient(server.settings)
    client.register("/a")
    client.unregister("/a")
    server.stop()
    assert changes == [(True, "/a"), (False, "/a")]


def test_changes_are_sent_to_the_outputs_of_the_server(name_server, name_client):
    heard: list[object] = []
    listener = PortCore(handler=lambda message: heard.append(message.items()))
    listener.open("/listener")
    assert connect("/root", "/listener")
    name_client.register("/a")
    name_client.unregister("/a")
    wait_until(lambda: heard[-1:] == [[encode_vocab("del"), "/a"]])
    listener.close()


def test_a_silent_client_is_disconnected():
    limits = ConnectionLimits(stall_timeout=0.1)
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


def test_an_address_of_another_program_is_refused(monkeypatch):
    monkeypatch.setattr(name_server_module, "_QUESTION_TIMEOUT", 0.1)
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


@pytest.mark.usefixtures("numbers_in_order")
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


@pytest.mark.parametrize("listens_at", ["127.0.0.1", "0.0.0.0"])
def test_a_restarted_server_hands_out_no_number_that_is_still_listened_on(name_server, name_client, listens_at):
    name_server.stop()
    first = name_server.contact.getPort() + 2
    with socket.create_server((listens_at, first)):  # as a port within a device, which never registers again
        name_server.start()
        assert name_client.register("/near").getPort() != first
    name_server.stop()
    name_server.start()
    with socket.create_server((listens_at, first)):
        assert name_client.register("/far", "tcp", ELSEWHERE).getPort() == first


def test_a_registered_name_keeps_the_number_at_which_its_port_listens(name_server, name_client):
    number = name_client.register("/a").getPort()
    with socket.create_server(("127.0.0.1", number)):
        assert name_client.register("/a").getPort() == number
        name_client.unregister("/a")
        assert name_client.register("/a").getPort() != number


@pytest.mark.usefixtures("numbers_in_order")
def test_a_key_is_asked_for_and_honoured():
    server = NameServer(replace(ANYWHERE, authentication_key=b"secret key 1"))
    server.start()
    assert NameClient(server.settings).register("/a") == Contact("/a", "tcp", "127.0.0.1", server.contact.getPort() + 2)
    for key in (b"secret key 2", None):
        with pytest.raises(NameServerUnreachable):
            NameClient(replace(server.settings, authentication_key=key), timeout=0.2).list_names()
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


HERE = "127.0.0.1"


def commands_of(registry: NameRegistry) -> NameCommands:
    return NameCommands(registry, Subscriptions(registry.query, lambda *_: None))


@pytest.fixture
def commands() -> NameCommands:
    return commands_of(NameRegistry(Contact("/root", "tcp", HERE, 10000)))


def ask(commands: NameCommands, line: str) -> str:
    return commands.answer(request_of_line(line, HERE)).as_text()


def answers(commands: NameCommands, name: str) -> list[tuple[bytes, bytes]]:
    return [(question, ask(commands, question.decode()).encode()) for question, _ in recorded_questions(name)]


def test_a_port_that_opens_and_closes_and_raw_questions_are_answered_as_recorded(commands):
    assert answers(commands, "ns_port_open_close") == recorded_questions("ns_port_open_close")
    assert answers(commands, "ns_requests") == recorded_questions("ns_requests")


def test_the_tools_questions_are_answered_as_recorded(commands):
    assert answers(commands, "ns_cli") == recorded_questions("ns_cli")


def test_the_group_of_a_multicast_is_answered_as_recorded(commands):
    ask(commands, "register /gold/out tcp 127.0.0.1 10002")
    question = recorded_questions("bottles_mcast")[0]
    assert ask(commands, question[0].decode()).encode() == question[1]
    assert answers(commands, "bottles_mcast")[1] == recorded_questions("bottles_mcast")[1]


@pytest.mark.parametrize("name", ["cli_connect_write_disconnect", "cli_exists_ping"])
def test_known_ports_are_found_as_recorded(commands, name):
    ask(commands, "register /gold/in tcp 127.0.0.1 10006")
    ask(commands, "register /gold/out tcp 127.0.0.1 10007")
    assert answers(commands, name) == recorded_questions(name)


def test_a_control_boards_ports_are_registered_as_recorded(commands):
    for name, number in (("rpc:i", 10011), ("command:i", 10012), ("stateExt:o", 10014)):
        ask(commands, f"register /fakebot/arm/{name} tcp 127.0.0.1 {number}")
    for name, number in (("rpc:o", 10016), ("command:o", 10017), ("stateExt:i", 10018)):
        ask(commands, f"register /gold/rcb/{name} tcp 127.0.0.1 {number}")
    registrations = [exchange for exchange in recorded_questions("rcb_open_tcp") if b" register " not in exchange[0]]
    assert [(q, ask(commands, q.decode()).encode()) for q, _ in registrations] == registrations


def test_dots_stand_for_what_is_chosen(commands):
    assert ask(commands, "NAME_SERVER register /a tcp ... ...").startswith(
        "registration name /a ip 127.0.0.1 port 10002 type tcp\r\n"
    )


def test_numbers_and_texts_of_a_property_keep_their_kind(commands):
    ask(commands, "register /a")
    assert ask(commands, 'NAME_SERVER bot set /a key "b c" 3 a') == '3 a "b c"\r\n'
    assert ask(commands, "NAME_SERVER bot get /a key") == '3 a "b c"\r\n'
    assert ask(commands, "NAME_SERVER get /a other") == "port /a property other =\r\n*** end of message\r\n"


def test_unknown_ports_have_no_properties(commands):
    assert ask(commands, "set /x key v") == "*** end of message\r\n"
    assert ask(commands, "get /x key") == "*** end of message\r\n"
    assert ask(commands, "check /x key v") == "*** end of message\r\n"
    assert ask(commands, "route /x /y") == "*** end of message\r\n"
    assert ask(commands, "bot get /x key") == 'port (error -2 "port not known")\r\n'


def test_runners_are_ports_with_the_property_yarprun(commands):
    ask(commands, "register /run1")
    ask(commands, "register /other")
    assert ask(commands, "bot set /run1 yarprun true") == "true\r\n"
    assert ask(commands, "runners") == (
        "registration name /run1 ip 127.0.0.1 port 10002 type tcp\r\n*** end of message\r\n"
    )


def test_a_bottle_asks_the_same(commands):
    ask(commands, "register /a")
    reply = commands.answer(request_of_items(["bot", "query", "/a"], HERE)).as_message()
    assert reply == ["port", ["name", "/a"], ["ip", HERE], ["port_number", 10002], ["carrier", "tcp"]]
    assert commands.answer(request_of_items(["query", "/a"], HERE)).as_message() == (
        b"registration name /a ip 127.0.0.1 port 10002 type tcp\r\n*** end of message\r\n"
    )


@pytest.mark.parametrize("number", ["...", "-1", "0"])
def test_a_port_number_is_chosen_also_for_programs_with_an_address_of_their_own(commands, number):
    assert " ip 127.0.0.1 port 10002 " in ask(commands, f"register /a ... 127.0.0.1 {number}")


def test_refusals_say_why(commands):
    assert ask(commands, "register /a tcp 127.0.0.1 99999") == (
        "refused: 99999 is no TCP port\r\n*** end of message\r\n"
    )
    assert ask(commands, "register /a tcp 127.0.0.1 x") == "refused: 'x' is no TCP port\r\n*** end of message\r\n"
    for text in ("--5", "9" * 5000, "\N{ARABIC-INDIC DIGIT FIVE}", "1.5"):
        assert ask(commands, f"register /a tcp 127.0.0.1 {text}").endswith("is no TCP port\r\n*** end of message\r\n")
    assert ask(commands, "bot register /a tcp 127.0.0.1 -2") == 'port (error -1 "-2 is no TCP port")\r\n'
    assert ask(commands, "bot nonsense") == 'port (error -2 "command not known")\r\n'


@pytest.mark.parametrize("line", ["", "NAME_SERVER", "bot", "register ( { [", 'set /a "', "query", "check", "route"])
def test_half_a_command_is_answered(commands, line):
    assert ask(commands, line).endswith("\r\n")


def test_help_names_the_commands(commands):
    lines = ask(commands, "help").split("\r\n")
    assert "+ query NAME" in lines
    assert lines[-2:] == ["*** end of message", ""]


def test_values_cannot_break_a_line(commands):
    ask(commands, "register /a")
    commands.answer(request_of_items(["set", "/a", "key", "x\r\n*** end of message\r\n"], HERE))
    assert ask(commands, "get /a key").count("\r\n") == 2


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n")), max_size=6), st.booleans())
def test_any_line_is_answered_by_whole_lines(words, in_bottle_style):
    commands = commands_of(NameRegistry(Contact("/root", "tcp", HERE, 10000)))
    for command in ("register", "query", "list", "set /root", "get /root", "check /root", "route /root", "unregister"):
        line = f"NAME_SERVER {'bot ' if in_bottle_style else ''}{command} {' '.join(words)}"
        try:
            request = request_of_line(line, HERE)
        except MalformedMessage:
            continue
        text = commands.answer(request).as_text()
        assert text.endswith("\r\n")
        assert text.count("\n") == text.count("\r\n")
