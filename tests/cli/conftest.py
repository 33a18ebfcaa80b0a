"""The command line, called in this process."""

import pytest

from gradiva.cli.main import run


@pytest.fixture
def gradiva(capfd, tmp_path, monkeypatch):
    """Return a function that runs the command in a scratch folder: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call
