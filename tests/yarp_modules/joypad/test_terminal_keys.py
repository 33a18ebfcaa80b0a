import os
import pty

import pytest

from gradiva.yarp_modules.joypad.keys import TerminalKeys, keys_in


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("wA ", ["w", "a", "space"]),
        ("\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        ("\x1bOA", ["up"]),
        ("\x1b[1;5Ap", ["up", "p"]),
        ("\x1b[3~e", ["e"]),
        ("\x1b", []),
        ("\x1b[", []),
        ("\x1b[e", []),
        ("\x1bq", ["q"]),
    ],
)
def test_what_a_terminal_sends_becomes_names_of_keys(typed, keys):
    assert list(keys_in(typed)) == keys


@pytest.fixture
def terminal():
    controller, follower = pty.openpty()
    yield controller, follower
    os.close(controller)
    os.close(follower)


def test_keys_come_without_the_end_of_a_line_and_the_terminal_is_given_back(terminal):
    import termios

    controller, follower = terminal
    former = termios.tcgetattr(follower)
    keys = TerminalKeys(follower)
    keys.open()
    assert keys.pending() == []
    os.write(controller, b"p\x1b[A ")
    assert keys.pending() == ["p", "up", "space"]
    keys.close()
    assert termios.tcgetattr(follower) == former
    assert keys.pending() == []


def test_what_is_no_terminal_has_no_keys(tmp_path):
    with (tmp_path / "keys").open("w+") as file:
        keys = TerminalKeys(file.fileno())
        keys.open()
        assert not keys.is_there
        assert keys.pending() == []
        keys.close()
