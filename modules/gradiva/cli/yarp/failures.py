"""What becomes of errors between processes: one line, exit status 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from gradiva.cli.yarp.name_server_address import unreachable_text
from gradiva.middleware import NameServerUnreachable, NetworkError, current_settings

_FAILED = 1  # exit status


class ToolFailure(NetworkError):  # noqa: N818
    """A port does not do what was asked; carries which one, why, and what to do."""


@contextmanager
def failing_with_one_line() -> Iterator[None]:
    """Turn what can go wrong between processes into one line on standard error and exit status 1."""
    try:
        yield
    except NetworkError as error:
        _fail(failure_text(error))


def failure_text(error: Exception) -> str:
    """Return the line that the tools print."""
    text = unreachable_text(current_settings(), error) if isinstance(error, NameServerUnreachable) else str(error)
    return " ".join(text.split())


def say(text: str) -> None:
    """Tell people, beside the output."""
    print(text, file=sys.stderr, flush=True)


def _fail(message: str) -> NoReturn:
    say(f"error: {message}")
    raise typer.Exit(_FAILED)
