"""Join the network of the name server that is there, find its ports, and leave no trace."""

from __future__ import annotations

import dataclasses
import difflib
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

from gradiva.cli.yarp.failures import ToolFailure, address_of, failing_with_one_line, origin_of
from gradiva.common import ConfigError
from gradiva.middleware import (
    NameClient,
    PeerUnreachable,
    current_settings,
    leave_network,
    open_socket,
    use_settings,
    yarp,
)

_LOGS = ("gradiva.yarp", "pureyarp")
ANONYMOUS = "..."  # the name server chooses a name
_CONNECT_TIMEOUT = 2.0  # [s] for a TCP connection


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
        stack.callback(leave_network)
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


def check_port_name(name: str) -> None:
    """Pass when a text can be the name of a port.

    Raises:
        ConfigError: It cannot.
    """
    if not name.startswith("/") or len(name) < 2 or any(character.isspace() for character in name):
        raise ConfigError(f"'{name}' is no name of a port, which begins with / and has no blanks")


def registered_contact(name: str) -> yarp.Contact:
    """Return the address of a port.

    Raises:
        ConfigError: It is no name of a port.
        ToolFailure: The name server does not know it.
        NameServerUnreachable: The name server does not answer.
    """
    check_port_name(name)
    client = NameClient(current_settings())
    found = client.query(name)
    if found.isValid():
        return yarp.Contact(found.getRegName(), found.getCarrier(), found.getHost(), found.getPort())
    close = difflib.get_close_matches(name, [each.getRegName() for each in client.list_names()], n=1)
    hint = f"; did you mean '{close[0]}'?" if close else " (see: gradiva yarp name list)"
    raise ToolFailure(f"port {name} is not registered{hint}")


def living_contact(name: str) -> yarp.Contact:
    """Return the address of a port that accepts connections.

    Raises:
        ConfigError: It is no name of a port.
        ToolFailure: The name server does not know it, or no program listens at its address.
        NameServerUnreachable: The name server does not answer.
    """
    contact = registered_contact(name)
    if not accepts_connections(contact):
        raise ToolFailure(
            f"port {name} is registered at {contact.getHost()}:{contact.getPort()}, but nothing answers there"
            " (gradiva yarp clean forgets dead ports)"
        )
    return contact


def is_alive(name: str) -> bool:
    """Return whether a port is registered and accepts connections."""
    found = NameClient(current_settings()).query(name)
    return found.isValid() and accepts_connections(found)


def accepts_connections(contact: yarp.Contact, timeout: float = _CONNECT_TIMEOUT) -> bool:
    """Return whether an address accepts a TCP connection within ``timeout`` [s]."""
    try:
        open_socket(contact.getHost(), contact.getPort(), current_settings(), timeout).close()
    except PeerUnreachable:
        return False
    return True
