"""One message to a port, without a port of one's own."""

from __future__ import annotations

from gradiva.middleware.embedded.data.portable import Portable
from gradiva.middleware.embedded.network.contact import Contact
from gradiva.middleware.embedded.network.contact_style import ContactStyle
from gradiva.middleware.embedded.network.existence import contact_of
from gradiva.middleware.embedded.network.log import log
from gradiva.middleware.embedded.network.peer_request import request
from gradiva.middleware.embedded.wire.binary import decode_list, encode_list
from gradiva.middleware.embedded.wire.carriers import CARRIERS
from gradiva.middleware.embedded.wire.elements import Element
from gradiva.middleware.errors import MiddlewareError

_ADMINISTRATION = "text_ack"  # carriers
_DATA = "tcp"


def write_message(contact: Contact, command: Portable, reply: Portable | None, style: ContactStyle) -> bool:
    """Send ``command`` and fill ``reply``; False, with a line in the log, if that fails."""
    try:
        items = _reply_to(contact, command, style)
        if reply is not None and style.expectReply:
            reply.from_wire(encode_list(items))
    except MiddlewareError as error:
        (log.debug if style.quiet else log.warning)("%s was not written to: %s", contact.getName(), error)
        return False
    return True


def _reply_to(contact: Contact, command: Portable, style: ContactStyle) -> list[Element]:
    carrier = style.carrier or (_ADMINISTRATION if style.admin else _DATA)
    if carrier not in CARRIERS:
        raise MiddlewareError(f"carrier '{carrier}' is not spoken here (valid: {', '.join(CARRIERS)})")
    items = request(
        contact if contact.isValid() else contact_of(contact.toString_c()),
        decode_list(command.to_wire()).items,
        administrative=style.admin,
        carrier=carrier,
        timeout=style.timeout if style.timeout >= 0 else None,
        expect_reply=style.expectReply,
    )
    if items is None and style.expectReply:
        raise MiddlewareError("it gave no reply")
    return items or []
