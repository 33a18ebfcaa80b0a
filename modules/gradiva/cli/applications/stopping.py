"""``gradiva app stop``."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress

from gradiva.cli.applications.claims import all_claims, claim_of, remove_leftovers
from gradiva.cli.yarp.failures import say
from gradiva.common import ConfigError
from gradiva.yarp_modules.application.application_reader import load_application
from gradiva.yarp_modules.application.run_claim import AlreadyRunsError, RunClaim

_DONE, _FAILED = 0, 1  # exit status
_PATIENCE = 60.0  # [s] for a runner to end its modules; each may take some seconds
_LOOK = 0.1  # [s]


def stop_applications(name: str | None) -> int:
    """Stop one application, or all; return the exit status."""
    claims = all_claims() if name is None else [claim_of(_own_name(name))]
    if not any(claim.read() for claim in claims):
        print("no application runs" if name is None else f"{name} does not run")
        return _DONE
    are_stopped = [_stop(claim) for claim in claims]
    return _DONE if all(are_stopped) else _FAILED


def _stop(claim: RunClaim) -> bool:
    deadline = time.monotonic() + _PATIENCE
    asked: int | None = None
    while time.monotonic() < deadline:
        try:
            with claim.held():
                is_clean = remove_leftovers(claim, threading.Event())
            if is_clean:
                print(f"{claim.application} stopped")
            return is_clean
        except AlreadyRunsError as error:
            if error.record is not None and not error.record.origin.is_here:
                say(f"error: {error}")
                return False
            asked = _ask(error, asked)
            time.sleep(_LOOK)
    say(f"error: {claim.application}: its runner, process {asked}, does not end")
    return False


def _ask(error: AlreadyRunsError, asked: int | None) -> int | None:
    """Ask the runner to end, once; return who was asked."""
    if error.record is None or error.record.runner == asked:
        return asked
    with suppress(ProcessLookupError, PermissionError):
        os.kill(error.record.runner, signal.SIGTERM)
    return error.record.runner


def _own_name(name: str) -> str:
    """Return an application's own name, by which its claim is called; its file may be gone meanwhile."""
    try:
        return load_application(name).name
    except ConfigError:
        if claim_of(name).read() is None:
            raise
        return name
