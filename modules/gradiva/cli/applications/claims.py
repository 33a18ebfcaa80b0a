"""Claims of running applications, leftovers of killed runners, and a name server for the run where none answers."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradiva.cli.yarp.failures import ToolFailure, address_of, say, shared_address_text, unreachable_text
from gradiva.cli.yarp.session import log_lines, require_name_server
from gradiva.middleware import NameServerUnreachable, current_settings, is_loopback, leave_network, use_settings, yarp
from gradiva.yarp_modules.application import (
    MARK,
    AlreadyRunsError,
    Application,
    ApplicationNetwork,
    EndTimeouts,
    RunClaim,
    claims_below,
    end_marked,
    end_modules,
    forget_ports,
    records_folder,
)

_START_TIMEOUT = 20.0  # [s] for a new process to serve names
_POLLING_PERIOD = 0.05  # [s]


def claim_of(application: str) -> RunClaim:
    """Return the claim of an application."""
    return RunClaim(_records(), application)


def all_claims() -> list[RunClaim]:
    """Return the claims of the applications that run, or have left something, on this YARP network."""
    return claims_below(_records())


def _records() -> Path:
    return records_folder(current_settings().namespace)


def refuse_shared_ports(application: Application) -> None:
    """Pass when no other run on this YARP network has, or is about to open, ports of the application's modules.

    Two robots of one network have the same modules, whose names do not hold the robot's.

    Raises:
        AlreadyRunsError: One has.
    """
    records = [record for claim in all_claims() if (record := claim.read()) is not None]
    ports = dict.fromkeys(module.port for module in application.modules if module.port and module.is_local)
    with network():
        addresses = {port: ApplicationNetwork().address(f"{port}/rpc") for port in ports}
    for port, address in addresses.items():
        named = (record for record in records if record.process_at(port))
        owner = max(named, key=lambda record: record.holds(port), default=None)  # rather a living one than a dead one
        if address or (owner is not None and owner.holds(port)):
            raise AlreadyRunsError(application.name, owner, port, address)


def remove_leftovers(claim: RunClaim, hurry: threading.Event) -> bool:
    """End what a killed runner has left, if there is anything; return whether nothing is left now.

    The claim must be held: a runner that lives looks after its processes itself.
    """
    record = claim.read()
    if record is None:
        return True
    if not record.origin.is_here:
        say(f"error: {record.application} was left behind on {record.origin.host}: gradiva app stop there")
        return False
    timeouts, known_ports = EndTimeouts(), ApplicationNetwork()
    with network():
        titles = end_modules(record, known_ports, timeouts, hurry)
        surviving = end_marked(record.mark, timeouts, hurry)
        ports = forget_ports(record.ports_before, known_ports) if record.ports_before else []
    end_name_service(record.mark)
    ended = ", ".join(titles) or "nothing"
    say(f"{record.application}: its runner was killed; ended {ended}, forgot {len(ports)} ports")
    if surviving:
        say(f"error: processes {', '.join(map(str, surviving))} of {record.application} do not end")
        return False
    claim.clear()
    return True


@contextmanager
def network() -> Iterator[None]:
    """Take part in the network, without serving names and without the middleware's own lines."""
    before = current_settings()
    use_settings(dataclasses.replace(before, may_serve_names=False))
    with log_lines(False):
        yarp.Network.init(yarp.YARP_CLOCK_SYSTEM)
        try:
            yield
        finally:
            leave_network()
            use_settings(before)


@contextmanager
def name_service(mark: str, folder: Path) -> Iterator[None]:
    """Start a name server if none answers; end it again.

    Raises:
        ToolFailure: None answers, and it could not be started here.
    """
    if warning := shared_address_text(current_settings()):
        say(warning)
    try:
        require_name_server()
    except NameServerUnreachable as error:
        if not is_loopback(current_settings().name_server_host):
            raise ToolFailure(unreachable_text(current_settings(), error)) from None
    else:
        yield
        return
    try:
        _serve(mark, folder / "yarpserver.log")
        yield
    finally:
        end_name_service(mark)


def mark_of_names(mark: str) -> str:
    """Return the mark of the name server of a run; it outlives the modules, whose mark is another."""
    return f"{mark}-names"


def end_name_service(mark: str) -> None:
    """End the name server that a run has started, if it has."""
    end_marked(mark_of_names(mark), EndTimeouts(), threading.Event())


def _serve(mark: str, log_file: Path) -> None:
    with log_file.open("ab") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "gradiva.cli", "yarpserver"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, MARK: mark_of_names(mark)},
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(NameServerUnreachable):
            require_name_server()
            say(f"no name server answered at {address_of(current_settings())}: serving names until the end of this run")
            return
        time.sleep(_POLLING_PERIOD)
    raise ToolFailure(f"the name server did not begin to serve: see {log_file}")
