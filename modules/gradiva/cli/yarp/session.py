"""The network as a tool uses it: found, never started, and left without a trace."""

from __future__ import annotations

import dataclasses
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

from gradiva.cli.yarp.failures import ToolFailure, failing_with_one_line
from gradiva.cli.yarp.name_server_address import address_of, origin_of
from gradiva.middleware import NameClient, current_settings, use_settings, yarp

_LOGS = ("gradiva.yarp", "pureyarp")


@contextmanager
def network_session(talkative: bool = False) -> Iterator[None]:
    """Take part in the network of the name server that is already there; at the end, leave nothing behind.

    Within it, Ctrl-C and SIGTERM raise KeyboardInterrupt, and the middleware's own lines are shown only if
    ``talkative``: the tools say in their own words why something failed.
    """
    with ExitStack() as stack:
        stack.enter_context(failing_with_one_line())
        stack.enter_context(log_lines(talkative))
        stack.enter_context(_sigterm_as_interrupt())
        stack.callback(use_settings, current_settings())
        use_settings(dataclasses.replace(current_settings(), may_serve_names=False))
        require_name_server()
        yarp.Network.init(yarp.YARP_CLOCK_SYSTEM)  # a simulated clock that does not run must not hold up a tool
        stack.callback(yarp.Network.fini)
        if not yarp.Network.checkNetwork():
            where = f"{address_of(current_settings())} ({origin_of(current_settings())})"
            raise ToolFailure(f"the YARP bindings do not find the name server at {where}: `gradiva yarpserver --write`")
        yield


def require_name_server() -> None:
    """Pass when a name server answers.

    Raises:
        NameServerUnreachable: None does.
    """
    NameClient(current_settings()).list_names(current_settings().namespace)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt as Ctrl-C does, so that ports are closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def log_lines(wanted: bool, *names: str) -> Iterator[None]:
    """Show the lines of the middleware's loggers (or of those that are named), or suppress them."""
    loggers = [logging.getLogger(name) for name in names or _LOGS]
    handler: logging.Handler = logging.StreamHandler(sys.stderr) if wanted else logging.NullHandler()
    propagated = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.propagate = False
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, was_propagated in zip(loggers, propagated, strict=True):
            logger.removeHandler(handler)
            logger.propagate = was_propagated


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
