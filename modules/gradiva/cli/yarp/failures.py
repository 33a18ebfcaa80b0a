"""Say in one line which port or name server does not answer, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from gradiva.middleware import DEFAULT_NAMESPACE, NameServerUnreachable, NetworkError, NetworkSettings, current_settings

_FAILED = 1  # exit status


@contextmanager
def failing_with_one_line() -> Iterator[None]:
    """Turn a NetworkError into one line on standard error and exit status 1."""
    try:
        yield
    except NetworkError as error:
        _fail(failure_text(error))


def failure_text(error: Exception) -> str:
    """Return the line that the tools print."""
    text = unreachable_text(current_settings(), error) if isinstance(error, NameServerUnreachable) else str(error)
    return " ".join(text.split())


def say(text: str) -> None:
    """Print a line to standard error, beside the output."""
    print(text, file=sys.stderr, flush=True)


def _fail(message: str) -> NoReturn:
    say(f"error: {message}")
    raise typer.Exit(_FAILED)


class ToolFailure(NetworkError):  # noqa: N818
    """A port does not do what was asked; names the port, the reason, and what to do."""


def address_of(settings: NetworkSettings) -> str:
    """Return host and port."""
    return f"{settings.name_server_host}:{settings.name_server_port}"


def origin_of(settings: NetworkSettings) -> str:
    """Return how the address was found."""
    return f"from {settings.found_in}" if settings.found_in else "default address; no configuration file"


def shared_address_text(settings: NetworkSettings) -> str | None:
    """Return a warning about a namespace without a name server of its own; None if there is no reason for one."""
    if settings.found_in or settings.namespace == DEFAULT_NAMESPACE:
        return None
    return (
        f"warning: namespace {settings.namespace} has no name server of its own: this network is the one at "
        f"{address_of(settings)}, shared with others; `gradiva yarpserver --port 10001 --write` gives it one"
    )


def unreachable_text(settings: NetworkSettings, error: BaseException) -> str:
    """Return one line about a name server that does not answer, and what to do."""
    where = f"{address_of(settings)} ({origin_of(settings)})"
    causes = list(_causes(error))
    if not causes or isinstance(causes[-1], ConnectionRefusedError):
        return f"no name server answers at {where}: start one with `gradiva yarpserver`"
    return f"no name server answers at {where}: {causes[0]}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__
