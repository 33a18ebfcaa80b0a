import pytest
from hypothesis import given
from hypothesis import strategies as st

from pureyarp.errors import MalformedMessage
from pureyarp.network.name_registry import NameRegistry
from pureyarp.network.name_server import NameCommands, request_of_items, request_of_line
from pureyarp.network.settings import Contact
from tests.middleware.recorded_questions import recorded_questions

HERE = "127.0.0.1"


@pytest.fixture
def commands() -> NameCommands:
    return NameCommands(NameRegistry(Contact("/root", "tcp", HERE, 10000)))


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


def test_refusals_say_why(commands):
    assert ask(commands, "register /a tcp 127.0.0.1 99999") == (
        "refused: 99999 is no TCP port\r\n*** end of message\r\n"
    )
    assert ask(commands, "register /a tcp 127.0.0.1 x") == "refused: 'x' is no TCP port\r\n*** end of message\r\n"
    for text in ("--5", "9" * 5000, "\N{ARABIC-INDIC DIGIT FIVE}", "1.5"):
        assert ask(commands, f"register /a tcp 127.0.0.1 {text}").endswith("is no TCP port\r\n*** end of message\r\n")
    assert ask(commands, "bot register /a tcp 127.0.0.1 0") == 'port (error -1 "0 is no TCP port")\r\n'
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
    commands = NameCommands(NameRegistry(Contact("/root", "tcp", HERE, 10000)))
    for command in ("register", "query", "list", "set /root", "get /root", "check /root", "route /root", "unregister"):
        line = f"NAME_SERVER {'bot ' if in_bottle_style else ''}{command} {' '.join(words)}"
        try:
            request = request_of_line(line, HERE)
        except MalformedMessage:
            continue
        text = commands.answer(request).as_text()
        assert text.endswith("\r\n")
        assert text.count("\n") == text.count("\r\n")
