"""How a port that closes asks those who send to it to stop."""

from __future__ import annotations

import contextlib
from typing import Protocol

from pureyarp.errors import NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.name_client import NameClient
from pureyarp.network.peer_request import request
from pureyarp.network.port_inputs import PortInputs
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.elements import Element, encode_vocab

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
        with contextlib.suppress(NetworkError):
            contact = names.query(sender)
            if contact.isValid():
                _ask_to_disconnect(contact, port)


def _ask_to_disconnect(sender: Contact, port: ClosingPort) -> None:
    farewell: list[Element] = [encode_vocab("del"), port.name]
    request(sender, farewell, administrative=True, carrier="text_ack", timeout=_PATIENCE, settings=port.settings)
