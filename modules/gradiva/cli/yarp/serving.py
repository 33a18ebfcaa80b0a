"""``gradiva yarpserver``: the name server as a program of its own."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradiva.cli.yarp.failures import say
from gradiva.cli.yarp.name_server_address import address_of
from gradiva.common import ConfigError
from gradiva.middleware import (
    Contact,
    NameServer,
    NetworkError,
    NetworkSettings,
    load_settings,
    name_server_file,
    use_settings,
    yarp,
)
from gradiva.yarp_modules.application.signalled_event import SignalledEvent

_NAMESPACE = "YARP_NAMESPACE"


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """Where to serve; None is as configured.

    Attributes:
        host: IPv4 address of this machine.
        port: TCP port.
        write: Write the file in which programs find the server.
        namespace: Name of the server's own port.
        verbose: Print registrations as they come and go.
    """

    host: str | None
    port: int | None
    write: bool
    namespace: str | None
    verbose: bool


def serve(request: ServerRequest) -> int:
    """Serve names until a signal; return the exit status.

    Raises:
        ConfigError: The address is taken or not of this machine, or the file cannot be written.
    """
    settings = _settings(request)
    use_settings(settings)
    server = NameServer(settings, on_change=_print_change if request.verbose else None)
    with _until_signal() as stopped:
        try:
            server.start()
        except NetworkError as error:
            raise ConfigError(str(error)) from error
        try:
            _introduce(request, settings, server)
            stopped.wait()
        finally:
            server.stop()
            use_settings(None)
    return 0


def _settings(request: ServerRequest) -> NetworkSettings:
    if request.namespace is not None and not yarp.Network.isValidPortName(request.namespace):
        raise ConfigError(f"--namespace {request.namespace}: must begin with / and have no blanks, such as /root")
    environment = dict(os.environ) | ({_NAMESPACE: request.namespace} if request.namespace else {})
    settings = load_settings(environment)
    if request.host is not None:
        address = Contact.convertHostToIp(request.host)
        settings = dataclasses.replace(settings, name_server_host=address, found_in="--host")
    return dataclasses.replace(settings, name_server_port=request.port or settings.name_server_port)


def _introduce(request: ServerRequest, settings: NetworkSettings, server: NameServer) -> None:
    path = name_server_file(os.environ, settings.namespace)
    if request.write:
        server.write_file(path)
    print(f"name server {settings.namespace} at {address_of(settings)}", flush=True)
    say(_about_file(request, settings, path))


def _about_file(request: ServerRequest, settings: NetworkSettings, path: Path) -> str:
    if request.write:
        return f"wrote {path}"
    configured = load_settings({**os.environ, _NAMESPACE: settings.namespace})
    if address_of(configured) == address_of(settings):
        return f"as {path} says" if configured.found_in else f"there is no {path}; --write writes it for YARP programs"
    return f"programs look for it at {address_of(configured)}; --write changes {path}"


def _print_change(is_there: bool, name: str) -> None:
    print(f"{'+' if is_there else '-'} {name}", flush=True)


@contextmanager
def _until_signal() -> Iterator[SignalledEvent]:
    """Yield an event that Ctrl-C and SIGTERM set: a server that either ends has done its work."""
    stopped = SignalledEvent()
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
