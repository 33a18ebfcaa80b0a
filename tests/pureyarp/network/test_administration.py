import os
import socket
from contextlib import ExitStack
from dataclasses import replace

import pytest

from pureyarp.network.peers import NameClient, request
from pureyarp.network.port_core import PortCore
from pureyarp.wire import ADMINISTRATION, Dictionary, Element, WireFamily, encode_vocab, from_text, to_text
from tests.middleware.recorded_messages import recorded_messages, recording
from tests.pureyarp.network.local_ports import OFFLINE, address_of, open_core, quiet
from tests.pureyarp.network.raw_sockets import conversation
from tests.waiting import TIMEOUT, wait_until

OK, FAIL = encode_vocab("ok"), encode_vocab("fail")


def ask(core: PortCore, text: str, carrier: str = "tcp") -> list[Element]:
    return request(core.contact, from_text(text), ADMINISTRATION, carrier=carrier, timeout=TIMEOUT, settings=OFFLINE)


@pytest.fixture
def ports():
    """Return a sender and a receiver, not connected."""
    with ExitStack() as stack:
        yield open_core(stack, "/out"), open_core(stack, "/in")


def opened(stack: ExitStack, name: str) -> PortCore:
    core = PortCore()
    core.open(name)
    stack.callback(core.close)
    return core


# Of the others, 3, 7 and 10 lead to the receiver, 25 asks for a port monitor.
RECORDED_QUESTIONS = [*range(3), 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26]


def test_a_recorded_administrator_gets_the_recorded_answers(name_server):
    with ExitStack() as stack:
        out, _ = opened(stack, "/gold/out"), opened(stack, "/gold/in")
        for connection in RECORDED_QUESTIONS:
            [message] = recorded_messages("yarp_3_12", "admin_tcp", connection)
            frames = [f for f in recording("yarp_3_12", "admin_tcp")["frames"] if f["conn"] == connection]
            said = b"".join(bytes.fromhex(frame["hex"]) for frame in frames if frame["dir"] == "c>s")
            with quiet():
                given = conversation(out.port_number, said, b"YA\0\0\0\0RP")
            wait_until(lambda: not out.inputs.all())  # the next question may be who is connected
            assert given[8:] == message.reply + b"YA\0\0\0\0RP", message
            wait_until(lambda: not out.inputs.all())  # the next one asks who is connected


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_a_port_answers_with_its_version_over_any_carrier(ports, carrier):
    assert ask(ports[0], "[ver]", carrier) == [encode_vocab("ver"), 1, 2, 3]


def test_strings_are_as_good_as_vocabs(ports):
    assert ask(ports[0], "ver") == [encode_vocab("ver"), 1, 2, 3]


def test_help_lists_the_commands(ports):
    many, *lines = ask(ports[0], "[help]")
    assert many == encode_vocab("many")
    assert {line.split("]")[0][1:] for line in lines} == {"help", "ver", "add", "del", "list", "prop"}


def test_an_output_is_added_listed_and_removed(ports):
    out, into = ports
    text = f'[add] "fast_tcp:/{address_of(into).removeprefix("tcp:/")}"'
    assert ask(out, text) == [0, "Added connection from /out to fast_tcp://in\r\n"]
    assert ask(out, "[list] [out]") == ["/in"]
    assert ask(out, '[list] [out] "/in"') == [["from", "/out"], ["to", "/in"], ["carrier", "fast_tcp"]]
    assert ask(into, '[list] [in] "/out"') == [["from", "/out"], ["to", "/in"], ["carrier", "fast_tcp"]]
    wait_until(lambda: ask(into, "[list] [in]") == ["/out", "admin"])  # the former question has been left
    assert ask(out, '[del] "/in"') == [0, "Removed connection from /out to /in\r\n"]
    assert ask(out, "[list] [out]") == []
    wait_until(lambda: ask(into, "[list] [in]") == ["admin"])


def test_an_input_is_removed(ports):
    out, into = ports
    out.connect(address_of(into))
    assert ask(into, '[del] "/out"') == [0, "Removing connection from /out to /in\r\n"]
    assert into.inputs.named("/out") == []


def test_what_cannot_be_added_is_said(ports, name_server):
    out, into = ports
    with quiet():
        assert ask(out, '[add] "/nowhere"') == [-1, "Do not know how to connect to /nowhere\r\n"]
        NameClient(name_server.settings).register("/dead", "tcp", "127.0.0.1", 1)
    out.settings = name_server.settings
    with quiet():
        assert ask(out, '[add] "/dead"') == [-1, "Cannot connect to /dead\r\n"]
        assert ask(out, f'[add] "{address_of(into)}" pigeon') == [-1, "Cannot connect to pigeon://in\r\n"]
    into.allows_outputs = False
    assert ask(into, f'[add] "{address_of(out)}"') == [-1, "Outputs not allowed\r\n"]


def test_an_rpc_port_has_one_output(ports):
    out, into = ports
    out.is_rpc = True
    out.connect(address_of(into))
    assert ask(out, f'[add] "{address_of(into)}"') == [-1, "RPC output already connected\r\n"]


def test_properties_are_kept(ports):
    assert ask(ports[0], "[prop] [set] colour red 5") == [OK]
    assert ask(ports[0], "[prop] [get] colour") == ["red", 5]
    assert ask(ports[0], "[prop] [get] size") == []


def test_there_is_room_for_so_many_properties(ports):
    port = ports[0]
    port.properties.update({f"key{index}": [index] for index in range(256)})
    assert ask(port, "[prop] [set] another 1")[0] == FAIL
    assert ask(port, "[prop] [set] key7 new") == [OK]
    assert port.properties["key7"] == ["new"]


def test_a_port_reports_its_process(ports):
    answer = ask(ports[0], '[prop] [get] "/out"')
    by_key = {entry[0]: entry[1] for entry in answer}
    assert list(by_key) == ["sched", "process", "platform", "port"]
    assert by_key["process"]["pid"] == [os.getpid()]
    assert by_key["port"] == Dictionary({"is_input": [1], "is_output": [1], "is_rpc": [0], "type": ["yarp/bottle"]})


@pytest.mark.parametrize(("quality", "tos"), [("(priority LOW)", 40), ("(dscp 46)", 184), ("(tos 16)", 16)])
def test_the_urgency_of_a_connection_is_set_at_both_ends(ports, quality, tos):
    out, into = ports
    out.connect(address_of(into))
    assert ask(out, f'[prop] [set] "/in" (qos ({quality}))') == [OK]
    assert out.outputs.all()[0].type_of_service() == tos
    assert ask(into, f'[prop] [set] "/out" (qos ({quality}))') == [OK]
    assert into.inputs.named("/out")[0].type_of_service() == tos


def test_nothing_goes_back_on_udp_that_could_be_urgent(ports):
    out, into = ports
    out.connect(address_of(into), "udp")
    assert ask(into, '[prop] [set] "/out" (qos ((priority HIGH)))') == [OK]
    assert to_text(ask(into, '[prop] [get] "/out"')).endswith("(qos ((tos 0)))")


@pytest.mark.parametrize("quality", ["(priority SOON)", "(tos 256)", "(tos -1)", "tos", ""])
def test_an_urgency_that_is_none_is_refused(ports, quality):
    out, into = ports
    out.connect(address_of(into))
    assert ask(out, f'[prop] [set] "/in" (qos ({quality}))') == [FAIL]
    assert ask(out, '[prop] [set] "/nobody" (qos ((tos 1)))') == [FAIL]


@pytest.mark.parametrize(
    "text", ["", "5", "(1 2)", "[prop]", "[prop] [set]", "[list]", "[list] [out] 7", "[del]", "1.5 2"]
)
def test_odd_questions_are_answered(ports, text):
    assert isinstance(ask(ports[0], text), list)


def test_lines_are_obeyed(ports):
    out, into = ports
    address = address_of(into).removeprefix("tcp:/")
    said = f"CONNACK me\r\ntcp:/{address}\r\n!/in\r\n?\r\nnonsense\r\nq\r\n"
    answer = conversation(out.port_number, said.encode(), b"never").decode().split("<ACK>\r\n")
    assert answer[0] == "Welcome me\r\nAdded connection from /out to tcp://in\r\n"
    assert answer[1] == "Removed connection from /out to /in\r\n"
    assert "/port   Requests to send output to /port" in answer[2]
    assert answer[3].startswith("Port /out does not know the command 'nonsense'")
    assert answer[4:] == ["", ""]


def test_a_plain_text_connection_is_not_acknowledged(ports):
    answer = conversation(ports[0].port_number, b"CONNECT me\na\n[ver]\nq\n", b"never").decode()
    assert answer == f"Welcome me\r\n{to_text([encode_vocab('ver'), 1, 2, 3])}\r\n"


def test_commands_on_binary_connections_have_their_effect(ports):
    out, into = ports
    out.connect(address_of(into))
    text = b"!/in\0"
    message = bytes.fromhex("59410a00000052500101ffffffffffffffff0d0000000000000005000000") + b"~\0\0\1" + text
    with socket.create_connection(("127.0.0.1", out.port_number), TIMEOUT) as sock:
        sock.sendall(bytes.fromhex("5941e41e00005250") + b"\6\0\0\0admin\0" + message)
        sock.settimeout(TIMEOUT)
        assert sock.makefile("rb").read(16)[8:] == b"YA\0\0\0\0RP"
    assert len(out.outputs) == 0


def test_administration_in_the_other_family_is_understood_and_answered_in_it(ports):
    items = [encode_vocab("prop"), encode_vocab("set"), "gain", 0.5]
    other = request(
        ports[0].contact,
        items,
        ADMINISTRATION,
        timeout=TIMEOUT,
        settings=replace(OFFLINE, family=WireFamily.YARP_4),
    )
    assert other == [OK]
    assert ports[0].properties["gain"] == [0.5]
