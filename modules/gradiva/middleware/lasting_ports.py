"""Keeps ports of the real bindings reachable by name, whatever becomes of the name server.

The real bindings register a port once. A name server that is killed and started again without a file of its names
knows none of the ports that live on, and gives their numbers to others, which cannot be opened ("address conflict").
Here both is mended as the embedded implementation does it itself: names are looked for again and again, and a port
whose number is taken is opened at a free one.

Ports that a device opens inside the bindings (``remote_controlboard`` and its like) are beyond reach. They keep their
connections, and are not looked for by name; they are known again when the device is opened anew.
"""

from __future__ import annotations

import logging
import socket
from types import ModuleType
from typing import Any

from pureyarp.errors import NetworkError
from pureyarp.network.byte_stream import open_socket
from pureyarp.network.peers import NameClient
from pureyarp.network.registrations import registration_keeper
from pureyarp.network.settings import Contact, current_settings

KINDS = ("Port", "RpcServer", "RpcClient", "BufferedPortBottle", "BufferedPortVector", "BufferedPortProperty")
_ANONYMOUS = ("", "...")
_ANSWER_TIMEOUT = 0.5  # [s] for a port of the same name to accept a connection

_LOGGER = logging.getLogger("gradiva.yarp")


def lasting_ports(bindings: ModuleType) -> dict[str, type]:
    """Return the bindings' classes of ports, by name, each with names that last."""
    return {name: _lasting(getattr(bindings, name), bindings) for name in KINDS if hasattr(bindings, name)}


def _lasting(kind: Any, bindings: ModuleType) -> type:
    """Return a class of ports that derives from one of the bindings."""

    def open_and_keep(self: Any, name: Any = "", *rest: Any) -> bool:
        _forget(kind.where(self))
        may_conflict = isinstance(name, str) and name not in _ANONYMOUS and not _is_alive(name)
        is_open = bool(kind.open(self, name, *rest))
        if not is_open and may_conflict:
            is_open = _open_at_free_number(self, name)
        if is_open:
            _keep(kind.where(self))
        return is_open

    def _open_at_free_number(self: Any, name: str) -> bool:
        if (contact := _free_contact(name)) is None:
            return False
        _LOGGER.info("%s is opened at %s: the number that it was given is another port's", name, contact.toURI())
        return bool(kind.open(self, bindings.Contact(name, "tcp", contact.getHost(), contact.getPort())))

    def forget_and_close(self: Any) -> None:
        _forget(kind.where(self))
        kind.close(self)

    members = {"open": open_and_keep, "close": forget_and_close, "__module__": __name__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), members)


def _keep(contact: Any) -> None:
    """Keep a port of the bindings registered where it listens."""
    registration_keeper.keep(contact.getName(), _own(contact))


def _forget(contact: Any) -> None:
    """Let go of a port of the bindings; a closed one still says where it was, and its name may be another's by now."""
    registration_keeper.forget(contact.getName(), _own(contact))


def _own(contact: Any) -> Contact:
    """Return a contact of the bindings as one of the embedded implementation."""
    return Contact(contact.getName(), contact.getCarrier(), contact.getHost(), contact.getPort())


def _is_alive(name: str) -> bool:
    """Return whether a program listens at the registered address of a name."""
    settings = current_settings()
    try:
        contact = NameClient(settings).query(name)
        if contact.isValid():
            open_socket(contact.getHost(), contact.getPort(), settings, _ANSWER_TIMEOUT).close()
    except NetworkError:
        return False
    return bool(contact.isValid())


def _free_contact(name: str) -> Contact | None:
    """Return where a port can be opened; None where the name cannot be registered."""
    names = NameClient(current_settings())
    try:
        host = names.register(name).getHost()
        names.unregister(name)
        with socket.socket() as probe:
            probe.bind((host, 0))
            return Contact(name, "tcp", host, int(probe.getsockname()[1]))
    except (NetworkError, OSError) as error:
        _LOGGER.info("%s finds no place: %s", name, error)
        return None
