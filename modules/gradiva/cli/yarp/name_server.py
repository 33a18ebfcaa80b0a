"""Query and run the name server: ``gradiva yarp name``, ``clean``, ``where``, and ``gradiva yarpserver``."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradiva.cli.yarp.failures import address_of, failing_with_one_line, failure_text, origin_of, say
from gradiva.cli.yarp.session import accepts_connections, require_name_server
from gradiva.common import ConfigError
from gradiva.middleware import (
    Contact,
    NameClient,
    NameServer,
    NameServerUnreachable,
    NetworkError,
    NetworkSettings,
    current_settings,
    load_settings,
    name_server_file,
    use_settings,
    yarp,
)
from gradiva.yarp_modules.application import SignalledEvent

_NO_PROCESS = "mcast"  # such entries are multicast groups, no process listens there
_NAMESPACE = "YARP_NAMESPACE"


def ask_name_server(words: Sequence[str]) -> int:
    """Print the name server's answer to a command; return the exit status."""
    with failing_with_one_line():
        for line in NameClient(current_settings()).command(" ".join(words)):
            print(line)
    return 0


def clean(timeout: float) -> int:
    """Unregister ports that do not accept a connection within ``timeout`` [s]; return the exit status."""
    settings = current_settings()
    client = NameClient(settings)
    with failing_with_one_line():
        for contact in client.list_names():
            if _is_process(contact, settings.namespace) and not accepts_connections(contact, timeout):
                client.unregister(contact.getRegName())
                print(contact.getRegName(), flush=True)
        client.command("gc")
    return 0


def where() -> int:
    """Print the name server's address, how it was found and whether it answers; return the exit status."""
    settings = current_settings()
    print(f"{settings.namespace} {address_of(settings)}")
    say(f"address: {origin_of(settings)}")
    try:
        require_name_server()
    except NameServerUnreachable as error:
        say(failure_text(error))
        return 1
    say("it answers")
    return 0


def _is_process(contact: Contact, namespace: str) -> bool:
    return contact.getCarrier() != _NO_PROCESS and contact.getRegName() not in (namespace, "fallback")


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """The options of ``gradiva yarpserver``; None is as configured.

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
