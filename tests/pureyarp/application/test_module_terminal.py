import os

import pytest

from pureyarp.application.module_terminal import ModuleTerminal
from pureyarp.data.values import Bottle
from tests.waiting import wait_until


@pytest.fixture
def typed():
    """A keyboard: the end that a terminal reads and the one that is typed at."""
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_lines_are_answered_until_the_terminal_is_left(typed, capsys):
    reader, writer = typed
    heard = []

    def answer(command: Bottle) -> Bottle:
        heard.append(command.toString())
        return Bottle("[many] one two") if len(heard) == 1 else Bottle("[ok]")

    terminal = ModuleTerminal(answer, reader)
    os.write(writer, b"set pos 0")
    os.write(writer, b" 10\n\nhelp\n")
    wait_until(lambda: len(heard) == 2)
    terminal.leave()
    assert heard == ["set pos 0 10", "help"]
    assert capsys.readouterr().out == "one\ntwo\n[ok]\n"
    assert not terminal._thread.is_alive()


def test_a_terminal_can_be_left_twice_and_by_a_command(typed):
    reader, writer = typed
    terminals = []

    def answer(command: Bottle) -> Bottle:
        terminals[0].leave()
        return Bottle("[bye]")

    terminals.append(ModuleTerminal(answer, reader))
    os.write(writer, b"quit\n")
    wait_until(lambda: not terminals[0]._thread.is_alive())
    terminals[0].leave()


def test_the_end_of_the_input_ends_the_terminal(tmp_path):
    heard = []

    def answer(command: Bottle) -> Bottle:
        heard.append(command.toString())
        return Bottle("[ok]")

    script = tmp_path / "commands"
    script.write_text("go\nstop\n")
    with script.open("rb") as source:
        terminal = ModuleTerminal(answer, source.fileno())
        wait_until(lambda: not terminal._thread.is_alive())
    terminal.leave()
    assert heard == ["go", "stop"]


def test_a_line_that_is_no_command_is_refused_and_the_next_one_is_heard(typed, capsys):
    reader, writer = typed
    terminal = ModuleTerminal(lambda command: Bottle("[ok]"), reader)
    os.write(writer, b"(" * 100 + b")" * 100 + b"\ngo\n")
    told: list[str] = []
    wait_until(lambda: told.extend(capsys.readouterr().out.splitlines()) or len(told) == 2)
    terminal.leave()
    assert told == ["lists are nested deeper than 32", "[ok]"]
