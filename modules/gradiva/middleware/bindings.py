"""Choose the YARP of this process, the real bindings or pureyarp, and keep the ports of the real ones registered."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import socket
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from gradiva.common import ConfigError
from pureyarp.errors import NetworkError
from pureyarp.network.byte_stream import open_socket
from pureyarp.network.peers import NameClient
from pureyarp.network.registrations import registration_keeper
from pureyarp.network.settings import Contact, current_settings

VARIABLE = "GRADIVA_YARP"
REAL = "real"
PURE = "pureyarp"
_FORMER_PURE = "embedded"
KINDS = ("Port", "RpcServer", "RpcClient", "BufferedPortBottle", "BufferedPortVector", "BufferedPortProperty")
_ANONYMOUS = ("", "...")
_ANSWER_TIMEOUT = 0.5  # [s] for a port of the same name to accept a connection
_LOGGER = logging.getLogger("gradiva.yarp")


def chosen_bindings(environment: Mapping[str, str]) -> ModuleType:
    """Return the real bindings where they can be imported, else pureyarp.

    ``GRADIVA_YARP=real|pureyarp`` forces one. An unrelated package called ``yarp`` exists; the bindings are known by
    their ``Network``.

    Raises:
        ConfigError: The variable has another value, or asks for real bindings that are not there.
    """
    wish = environment.get(VARIABLE, "")
    if wish == _FORMER_PURE:
        raise ConfigError(f"{VARIABLE}={wish}: it is called {PURE} now: {VARIABLE}={PURE}")
    if wish not in ("", REAL, PURE):
        raise ConfigError(f"{VARIABLE}={wish}: valid are {REAL} and {PURE}; without it the real one where installed")
    if wish == PURE:
        return _pure()
    try:
        return _real()
    except ImportError as error:
        if wish == REAL:
            raise ConfigError(f"{VARIABLE}={REAL}, but the bindings cannot be used: {error}") from error
        if importlib.util.find_spec("yarp") is not None:
            _LOGGER.warning("pureyarp is used: %s", error)
        return _pure()


def is_real(bindings: ModuleType) -> bool:
    """Return whether bindings are YARP's own."""
    return bindings.__name__.partition(".")[0] != "pureyarp"


def _pure() -> ModuleType:
    return importlib.import_module("pureyarp")


def _real() -> ModuleType:
    bindings = importlib.import_module("yarp")
    if not hasattr(bindings, "Network"):
        where = getattr(bindings, "__file__", None) or "an empty folder"
        raise ImportError(f"the package yarp ({where}) is not YARP's, it has no Network")
    return bindings


def lasting_ports(bindings: ModuleType) -> dict[str, type]:
    """Return the bindings' classes of ports, by name, each with names that last."""
    return {name: _lasting(getattr(bindings, name), bindings) for name in KINDS if hasattr(bindings, name)}


def _lasting(kind: Any, bindings: ModuleType) -> type:
    """Return a class of ports that derives from one of the bindings."""

    def open_and_keep(self: Any, name: Any = "", *rest: Any) -> bool:
        """Open the port, at a free number where its own is taken, and remember its address."""
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
        """Close the port and forget its address."""
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
    """Return a contact of the bindings as one of pureyarp."""
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
