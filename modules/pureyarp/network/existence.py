"""Whether a port is alive."""

from __future__ import annotations

from collections.abc import Callable

from pureyarp.errors import NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.open_socket import open_socket
from pureyarp.network.peer_request import request
from pureyarp.wire.elements import encode_vocab

LOOK_PERIOD = 0.1  # [s] between two looks for what is waited for
_PATIENCE = 3.0  # [s] for a port to tell its version


def exists(name: str, quiet: bool = True, check_version: bool = True) -> bool:
    """Tell whether a port is registered, accepts connections and, with ``check_version``, answers."""
    try:
        contact = contact_of(name)
        settings = current_settings()
        open_socket(contact.getHost(), contact.getPort(), settings, settings.limits.handshake_timeout).close()
        if check_version:
            _check_version(contact)
    except NetworkError as error:
        (log.debug if quiet else log.warning)("%s does not exist: %s", name, error)
        return False
    return True


def contact_of(name: str) -> Contact:
    """Return where a port is, or raise `NetworkError`."""
    given = Contact.fromString(name)
    if given.isValid():
        return given
    contact = NameClient(current_settings()).query(given.getRegName())
    if not contact.isValid():
        raise NetworkError(f"the name server does not know {name}")
    return contact


def wait_for(is_there: Callable[[], bool], what: str, quiet: bool, is_given_up: Callable[[float], bool]) -> bool:
    """Look until something is there; ``is_given_up`` waits a period, [s], and tells whether to stop looking."""
    if is_there():
        return True
    if not quiet:
        log.info("waiting for %s", what)
    while not is_given_up(LOOK_PERIOD):
        if is_there():
            return True
    return False


def _check_version(contact: Contact) -> None:
    version = encode_vocab("ver")
    reply = request(contact, [version], administrative=True, carrier="text_ack", timeout=_PATIENCE)
    if not reply or reply[0] not in (version, "ver"):
        raise NetworkError(f"{contact.getName()} answers, but not with its version")
