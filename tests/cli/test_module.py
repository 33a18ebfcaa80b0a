import sys

import pytest

from gradiva.cli import module_scripts
from gradiva.cli.main import run
from gradiva.yarp_modules.module_process import MODULES


def test_the_list_names_every_module(capsys):
    assert run(["module", "--list"]) == 0
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert told == list(MODULES)


def test_wrong_input_is_one_line_and_status_two(capsys):
    for arguments in (
        ["module"],
        ["module", "walkin", "--robot", "talos"],
        ["module", "walking"],
        ["module", "walking", "--robot", "nobody"],
        ["module", "walking", "--robot", "icub_v2_7", "--sped", "1"],
        ["module", "walking", "--robot", "icub_v2_7", "--from", "nowhere.toml"],
    ):
        assert run(arguments) == 2, arguments
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert error.count("\n") == 1


def test_a_module_has_its_own_help(capsys):
    assert run(["module", "walking", "--help"]) == 0
    assert "gradiva-walking" in capsys.readouterr().out


def test_every_module_has_a_program(monkeypatch, capsys):
    for title in MODULES:
        monkeypatch.setattr(sys, "argv", [f"gradiva-{title}", "--help"])
        with pytest.raises(SystemExit, match="0"):
            getattr(module_scripts, title)()
        assert f"gradiva-{title.replace('_', '-')}" in capsys.readouterr().out
