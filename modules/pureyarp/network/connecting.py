"""Connecting two ports from a third place: everything is asked of the source port, which does it."""

from __future__ import annotations

from pureyarp.errors import NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.peer_request import request
from pureyarp.wire.elements import Element, encode_vocab

_PATIENCE = 10.0  # [s] for a source, which has to ask the name server and to shake hands itself


def connect(source: str, destination: str, carrier: str = "", quiet: bool = False) -> bool:
    """Let ``source`` send to ``destination``, by the destination's own carrier unless one is given.

    ``destination`` may carry the carrier itself: ``fast_tcp://in``. Failures are logged, as debugging if ``quiet``.
    """
    try:
        to = Contact.fromString(destination)
        sender, receiver = _ports(source, to.getRegName())
        _report_former_connection(sender, receiver)
        chosen = carrier or to.getCarrier() or receiver.getCarrier()
        _ask(sender, [encode_vocab("add"), f"{chosen}:/{receiver.getRegName()}"])
    except NetworkError as error:
        return _failed(f"{source} is not connected to {destination}: {error}", quiet)
    return True


def disconnect(source: str, destination: str, quiet: bool = False) -> bool:
    """Let ``source`` no longer send to ``destination``. Failures are logged, as debugging if ``quiet``."""
    try:
        sender, receiver = _ports(source, Contact.fromString(destination).getRegName())
        _ask(sender, [encode_vocab("del"), receiver.getRegName()])
    except NetworkError as error:
        return _failed(f"{source} is not disconnected from {destination}: {error}", quiet)
    return True


def is_connected(source: str, destination: str, carrier: str = "", quiet: bool = True) -> bool:
    """Tell whether ``source`` sends to ``destination``, and by this carrier if one is given.

    Costs two short connections: to the name server and to the source.
    """
    try:
        to = Contact.fromString(destination)
        sender, receiver = _ports(source, to.getRegName())
        present = _carrier_between(sender, receiver)
    except NetworkError as error:
        return _failed(f"{source} is not connected to {destination}: {error}", quiet)
    wanted = carrier or to.getCarrier()
    if not present or wanted not in ("", present):
        by = f", it uses {present}" if present else ""
        return _failed(f"{source} is not connected to {destination} {wanted}{by}", quiet)
    return True


def _ports(source: str, destination: str) -> tuple[Contact, Contact]:
    sender, receiver = NameClient(current_settings()).query_all([source, destination])
    for name, contact in ((source, sender), (destination, receiver)):
        if not contact.isValid():
            raise NetworkError(f"the name server does not know {name}")
    return sender, receiver


def _carrier_between(sender: Contact, receiver: Contact) -> str:
    """Return how a port sends to another one, empty if it does not."""
    items = _admin(sender, [encode_vocab("list"), encode_vocab("out"), receiver.getRegName()])
    pairs = (item for item in items if isinstance(item, list) and len(item) == 2)
    return next((str(value) for key, value in pairs if key == "carrier"), "")


def _report_former_connection(sender: Contact, receiver: Contact) -> None:
    present = _carrier_between(sender, receiver)
    if present:
        log.info("%s is already connected to %s by %s", sender.getName(), receiver.getName(), present)


def _ask(sender: Contact, command: list[Element]) -> None:
    """Let a port do something, or raise its own words."""
    reply = _admin(sender, command)
    if not reply or reply[0] != 0:
        words = [item for item in reply if isinstance(item, str)]
        raise NetworkError(" ".join(" ".join(words).split()) or f"{sender.getName()} does not understand")


def _admin(contact: Contact, command: list[Element]) -> list[Element]:
    return request(contact, command, administrative=True, carrier="text_ack", timeout=_PATIENCE) or []


def _failed(reason: str, quiet: bool) -> bool:
    if quiet:
        log.debug(reason)
    else:
        log.warning(reason)
    return False
