"""The ``gradiva`` command."""

from gradiva.cli.main import main

__all__ = ["main"]
