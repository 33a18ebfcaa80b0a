"""Where the name server should be, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gradiva.middleware import DEFAULT_NAMESPACE, NetworkSettings


def address_of(settings: NetworkSettings) -> str:
    """Return host and port."""
    return f"{settings.name_server_host}:{settings.name_server_port}"


def origin_of(settings: NetworkSettings) -> str:
    """Return how the address was found."""
    return f"from {settings.found_in}" if settings.found_in else "default address; no configuration file"


def shared_address_text(settings: NetworkSettings) -> str | None:
    """Return one line about a namespace of one's own without an address of its own; None if there is nothing to say."""
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
