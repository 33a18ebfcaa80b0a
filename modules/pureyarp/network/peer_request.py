"""One message to a port, over a connection of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pureyarp.errors import PeerUnreachable
from pureyarp.network.byte_stream import PeerGone, PeerStalled
from pureyarp.network.contact import Contact
from pureyarp.network.current_settings import current_settings
from pureyarp.network.open_output import open_output
from pureyarp.network.outgoing_message import OutgoingMessage
from pureyarp.network.settings import NetworkSettings
from pureyarp.wire.binary import ADMINISTRATION, CALL, DATA, decode_list
from pureyarp.wire.carriers import CARRIERS
from pureyarp.wire.elements import Element, WireFamily
from pureyarp.wire.text import items_of_reply


def request(
    contact: Contact,
    items: Sequence[Element],
    *,
    administrative: bool = False,
    carrier: str = "tcp",
    sender: str = "admin",
    timeout: float | None = None,
    expect_reply: bool = True,
    settings: NetworkSettings | None = None,
) -> list[Element] | None:
    """Send a Bottle to a port and return the reply, None if none was expected or given.

    Args:
        contact: Where the port is.
        items: Of the Bottle.
        administrative: For the port itself, not for its owner.
        carrier: tcp, fast_tcp, text or text_ack; text and udp bring no reply.
        sender: Name to introduce oneself by; without a leading ``/`` an anonymous client.
        timeout: Of the whole, [s]; None waits for an answer as long as it takes.
        expect_reply: False sends data whose owner is not to answer.
        settings: Those of the process by default.

    Raises:
        PeerUnreachable: The port does not take the message, or does not answer in time.
        MalformedMessage: What it answers is no Bottle.
    """
    known = settings or current_settings()
    deadline = None if timeout is None else time.monotonic() + timeout
    command = ADMINISTRATION if administrative else CALL if expect_reply else DATA
    output = open_output(sender, contact, CARRIERS[carrier], known, timeout)
    message = OutgoingMessage(command, list(items))
    try:
        if administrative or expect_reply:
            return items_of(output.call(message, deadline), output.family)
        output.begin(message, deadline)
        output.finish(deadline)
        return None
    except (PeerGone, PeerStalled) as error:
        raise PeerUnreachable(f"{contact.getName()}: {error}") from error
    finally:
        output.close()


def items_of(reply: bytes | str | None, family: WireFamily) -> list[Element] | None:
    """Return the elements of a reply."""
    if reply is None:
        return None
    return items_of_reply(reply) if isinstance(reply, str) else decode_list(reply, family).items
