import sys

import pytest

from tests.blf.recorded_problems import STAND_IN


@pytest.fixture
def stand_in(monkeypatch):
    """Let workers in this interpreter find the stand-in; return the interpreter."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    monkeypatch.setattr("gradiva.blf.process.ANSWER_TIMEOUT", 2.0)  # the machine of the tests has other work as well
    return sys.executable
