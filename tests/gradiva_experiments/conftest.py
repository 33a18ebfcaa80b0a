"""The command line, called in this process."""

import signal

import pytest

from tests.cli.conftest import gradiva

__all__ = ["gradiva"]


@pytest.fixture(autouse=True)
def handler_of_termination():
    """Put back the handler of SIGTERM, which campaigns and searches take until the end of their process."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
