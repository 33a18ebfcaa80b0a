"""How a port that closes asks those who send to it to stop."""

from __future__ import annotations

import contextlib
from typing import Protocol

from gradiva.middleware.embedded.network.contact import Contact
from gradiva.middleware.embedded.network.name_client import NameClient
from gradiva.middleware.embedded.network.peer_request import request
from gradiva.middleware.embedded.network.port_inputs import PortInputs
from gradiva.middleware.embedded.network.settings import NetworkSettings
from gradiva.middleware.embedded.wire.elements import Element
from gradiva.middleware.embedded.wire.vocab import encode_vocab
from gradiva.middleware.errors import MiddlewareError

_PATIENCE = 0.5  # [s] for a sender to obey


class ClosingPort(Protocol):
    """A port that takes its leave."""

    settings: NetworkSettings
    name: str
    inputs: PortInputs


def ask_senders_to_disconnect(port: ClosingPort) -> None:
    """Have every port that sends to this one remove its output; those that do not answer are left alone."""
    names = NameClient(port.settings, timeout=_PATIENCE)
    senders = {connection.sender for connection in port.inputs.all() if connection.is_rooted}
    for sender in sorted(senders - {port.name}):
        with contextlib.suppress(MiddlewareError):
            contact = names.query(sender)
            if contact.isValid():
                _ask_to_disconnect(contact, port)


def _ask_to_disconnect(sender: Contact, port: ClosingPort) -> None:
    farewell: list[Element] = [encode_vocab("del"), port.name]
    request(sender, farewell, administrative=True, carrier="text_ack", timeout=_PATIENCE, settings=port.settings)
