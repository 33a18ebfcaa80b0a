"""Finding a port, or saying what is wrong with it."""

from __future__ import annotations

import difflib

from gradiva.cli.yarp.failures import ToolFailure
from gradiva.common import ConfigError
from gradiva.middleware import NameClient, PeerUnreachable, current_settings, open_socket, yarp

ANONYMOUS = "..."  # the name server chooses a name
_PATIENCE = 2.0  # [s] for a TCP connection


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
    """Tell whether a port is registered and accepts connections."""
    found = NameClient(current_settings()).query(name)
    return found.isValid() and accepts_connections(found)


def accepts_connections(contact: yarp.Contact, timeout: float = _PATIENCE) -> bool:
    """Tell whether somebody listens at an address within ``timeout`` [s]."""
    try:
        open_socket(contact.getHost(), contact.getPort(), current_settings(), timeout).close()
    except PeerUnreachable:
        return False
    return True
