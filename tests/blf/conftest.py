import sys

import pytest

from tests.blf.recorded_problems import STAND_IN


@pytest.fixture
def stand_in(monkeypatch):
    """Let workers in this interpreter find the stand-in; return the interpreter."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))
    return sys.executable
