"""A name server of our own where none answers on this machine."""

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

from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.cli.yarp.name_server_address import address_of, shared_address_text, unreachable_text
from gradiva.cli.yarp.session import log_lines, require_name_server
from gradiva.middleware import NameServerUnreachable, current_settings, is_loopback, use_settings, yarp
from gradiva.yarp_modules.application.leftovers import end_marked
from gradiva.yarp_modules.application.marked_processes import MARK
from gradiva.yarp_modules.application.process_end import Patience

_PATIENCE = 20.0  # [s] for a new process to serve names
_LOOK = 0.05  # [s]


def mark_of_names(mark: str) -> str:
    """Return what the name server of a run carries; it outlives the modules, so it is not theirs."""
    return f"{mark}-names"


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
            yarp.Network.fini()
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


def end_name_service(mark: str) -> None:
    """End the name server that a run has started, if it has."""
    end_marked(mark_of_names(mark), Patience(), threading.Event())


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
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(NameServerUnreachable):
            require_name_server()
            say(f"no name server answered at {address_of(current_settings())}: serving names until the end of this run")
            return
        time.sleep(_LOOK)
    raise ToolFailure(f"the name server did not begin to serve: see {log_file}")
