"""The command line, called in this process."""

from tests.cli.conftest import gradiva

__all__ = ["gradiva"]
