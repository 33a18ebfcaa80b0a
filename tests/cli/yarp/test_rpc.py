"""Requests and replies: ``gradiva rpc``."""

import signal
import subprocess

import pytest

from gradiva.cli.yarp.calling import message_of, reply_lines
from gradiva.common import ConfigError
from gradiva.middleware import NameClient, current_settings, yarp
from tests.pureyarp.network.raw_sockets import free_port
from tests.waiting import wait_until


def test_words_become_one_message():
    message = message_of(["setGoal", "(1.0 -0.5)", "-3"])
    assert message.size() == 3
    assert message.get(0).asString() == "setGoal"
    assert message.get(1).asList().get(1).asFloat64() == -0.5
    assert message.get(2).asInt32() == -3


@pytest.mark.parametrize("text", ["(1 2", 'say "hello', "{1 2", "((1)"])
def test_what_is_not_closed_is_refused(text):
    with pytest.raises(ConfigError, match="not closed"):
        message_of([text])


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        ("[ok]", ["[ok]"]),
        ('"two words" 3', ['"two words" 3']),
        ("", [""]),
        ('[many] "first line" second', ["first line", "second"]),
        ('[many] ("*** Available commands:" get help)', ["*** Available commands:", "get", "help"]),
        ("[many] (1 2) 3", ["1", "2", "3"]),
        ("[many]", ["[many]"]),
        ("many words", ["many words"]),
    ],
)
def test_a_reply_of_many_has_a_line_for_each(reply, lines):
    assert reply_lines(yarp.Bottle(reply)) == lines


@pytest.mark.parametrize("options", [[], ["--text"]])
def test_a_command_is_sent_and_its_reply_printed(gradiva, echo, options):
    assert gradiva("rpc", *options, "/echo", "say", "(1.5 -2)", "two words", "-3") == (0, "(1.5 -2) two words -3\n", "")
    assert echo.commands == ["say (1.5 -2) two words -3"]


def test_options_after_the_port_belong_to_the_command(gradiva, echo):
    status, out, err = gradiva("rpc", "/echo", "say", "--text", "--help")
    assert (status, out) == (0, '"--text" "--help"\n')
    assert err == "note: --text is sent as part of the message; options stand before PORT\n"


@pytest.mark.parametrize("options", [[], ["--text"]])
def test_a_reply_of_many_is_printed_line_by_line(gradiva, echo, options):
    assert gradiva("rpc", *options, "/echo", "say", '[many] "first line" 2')[:2] == (0, "first line\n2\n")


def test_a_refusal_is_exit_status_1(gradiva, echo):
    assert gradiva("rpc", "/echo", "say", '[fail] "not yet"') == (1, '[fail] "not yet"\n', "")
    assert gradiva("rpc", "/echo", "say", "[ok]")[0] == 0


def test_numbers_are_printed_with_the_digits_that_they_need(gradiva, echo):
    assert gradiva("rpc", "/echo", "say", "(time 15.21) -0.1 1.0e-17")[1] == "(time 15.21) -0.1 1e-17\n"


def test_a_command_with_an_open_quote_is_refused(gradiva, echo):
    status, out, err = gradiva("rpc", "/echo", "say", "(1 2")
    assert (status, out) == (2, "")
    assert err == "error: say (1 2: a quote or parenthesis is not closed\n"
    assert echo.commands == []


def test_an_empty_command_is_refused(gradiva, echo):
    assert gradiva("rpc", "/echo", " ")[0] == 2


def test_a_name_without_slash_is_refused(gradiva, echo):
    status, _, err = gradiva("rpc", "echo", "help")
    assert status == 2
    assert err == "error: 'echo' is no name of a port, which begins with / and has no blanks\n"


def test_without_a_port_the_missing_argument_is_named(gradiva):
    status, _, err = gradiva("rpc")
    assert status == 2
    assert "PORT" in err


def test_an_unknown_port_is_named_with_the_nearest_one(gradiva, echo):
    status, out, err = gradiva("rpc", "/ecko", "help")
    assert (status, out) == (1, "")
    assert err == "error: port /ecko is not registered; did you mean '/echo'?\n"


def test_a_dead_port_is_named(gradiva, name_server):
    port = free_port()
    NameClient(current_settings()).register("/dead", "tcp", "127.0.0.1", port)
    status, out, err = gradiva("rpc", "/dead", "help")
    assert (status, out) == (1, "")
    assert err.startswith(f"error: port /dead is registered at 127.0.0.1:{port}, but nothing answers there (")


@pytest.mark.parametrize("options", [[], ["--text"]])
def test_a_silent_port_is_waited_for_until_the_timeout(gradiva, echo, options):
    status, out, err = gradiva("rpc", "--timeout", "0.3", *options, "/echo", "silence")
    assert (status, out, err) == (1, "", "error: no reply from /echo within 0.3 s\n")


def test_without_a_name_server_none_is_started(gradiva, configured):
    address = f"127.0.0.1:{current_settings().name_server_port}"
    status, out, err = gradiva("rpc", "/echo", "help")
    assert (status, out) == (1, "")
    expected = f"no name server answers at {address} (from {configured}): start one with `gradiva yarpserver`"
    assert err == f"error: {expected}\n"


def test_without_a_file_the_default_address_is_named(gradiva, configured, monkeypatch):
    from gradiva.cli.yarp.failures import unreachable_text
    from gradiva.middleware import NameServerUnreachable, NetworkSettings

    assert unreachable_text(NetworkSettings(), NameServerUnreachable("nobody")) == (
        "no name server answers at 127.0.0.1:10000 (default address; no configuration file):"
        " start one with `gradiva yarpserver`"
    )


def test_a_namespace_at_the_default_address_is_warned_about():
    from gradiva.cli.yarp.failures import shared_address_text
    from gradiva.middleware import NetworkSettings

    assert shared_address_text(NetworkSettings()) is None
    assert shared_address_text(NetworkSettings(namespace="/ana", found_in="_ana.conf")) is None
    assert shared_address_text(NetworkSettings(namespace="/ana")) == (
        "warning: namespace /ana has no name server of its own: this network is the one at 127.0.0.1:10000, shared with"
        " others; `gradiva yarpserver --port 10001 --write` gives it one"
    )


def test_piped_lines_are_commands_and_an_open_parenthesis_continues(echo, start):
    tool = start("rpc", "/echo", stdin=subprocess.PIPE)
    assert tool.end("say 1\n\nsay (1\n2) 3\n") == (0, "1\n(1 2) 3\n", "")


def test_a_pipe_goes_on_after_an_unanswered_line_and_reports_it(echo, start):
    tool = start("rpc", "--timeout", "0.3", "/echo", stdin=subprocess.PIPE)
    status, out, err = tool.end("silence\nsay 2\nsay (3\n")
    assert (status, out) == (1, "2\n")
    assert err.splitlines() == ["no reply from /echo within 0.3 s", "say (3: a quote or parenthesis is not closed"]


def test_a_server_that_comes_back_is_found_again(name_server, echo, start):
    other, port = type(echo)(), yarp.RpcServer()
    port.setReader(other)
    assert port.open("/coming")
    tool = start("rpc", "/coming", stdin=subprocess.PIPE)
    tool.process.stdin.write("say 1\n")
    tool.process.stdin.flush()
    assert tool.process.stdout.readline() == "1\n"
    port.close()
    tool.process.stdin.write("say 2\n")
    tool.process.stdin.flush()
    assert "/coming is not registered" in tool.process.stderr.readline()
    again = yarp.RpcServer()
    again.setReader(other)
    assert again.open("/coming")
    status, out, _ = tool.end("say 3\n")
    again.close()
    assert (status, out) == (1, "3\n")


def test_a_prompt_for_a_port_that_is_not_there_ends_at_once(name_server, gradiva):
    assert gradiva("rpc", "/nowhere")[0] == 1


def test_ctrl_c_while_waiting_leaves_with_130(echo, start):
    tool = start("rpc", "--timeout", "30", "/echo", "silence")
    wait_until(lambda: echo.commands == ["silence"], "the command did not arrive")
    assert tool.stop(signal.SIGINT) == (130, "", "interrupted\n")
