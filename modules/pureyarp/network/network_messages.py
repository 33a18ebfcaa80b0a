"""One message to a port, without a port of one's own."""

from __future__ import annotations

from pureyarp.data.streams import Portable
from pureyarp.errors import NetworkError
from pureyarp.network.contact import Contact
from pureyarp.network.contact_style import ContactStyle
from pureyarp.network.current_settings import current_settings
from pureyarp.network.existence import contact_of
from pureyarp.network.log import log
from pureyarp.network.name_client import NameClient
from pureyarp.network.peer_request import request
from pureyarp.wire.binary import decode_list, encode_list
from pureyarp.wire.carriers import CARRIERS
from pureyarp.wire.elements import Element, encode_vocab
from pureyarp.wire.text import from_text

_ADMINISTRATION = "text_ack"  # carriers; the name server is asked by it, too: it answers some questions by lines
_DATA = "tcp"
_ADDRESSEE = "NAME_SERVER "  # of a line, before the command
_LINE_TIMEOUT = 3.0  # [s] for the whole answer to a line
_MANY = encode_vocab("many")


def write_message(contact: Contact, command: Portable, reply: Portable | None, style: ContactStyle) -> bool:
    """Send ``command`` and fill ``reply``; False, with a line in the log, if that fails."""
    try:
        items = _reply_to(contact, command, style)
        if reply is not None and style.expectReply:
            reply.from_wire(encode_list(items))
    except NetworkError as error:
        (log.debug if style.quiet else log.warning)("%s was not written to: %s", contact.getName(), error)
        return False
    return True


def write_line_to_name_server(command: Portable, reply: Portable, style: ContactStyle) -> bool:
    """Send a line to the name server and fill ``reply`` with its answer, one string; False if that fails."""
    line = command.to_wire_text().removeprefix(_ADDRESSEE)
    timeout = _LINE_TIMEOUT if style.timeout < 0 else style.timeout
    try:
        if line.split()[:1] == ["bot"]:
            raise NetworkError(f"'{line}' is answered without an end line: write it to getNameServerContact()")
        lines = NameClient(current_settings(), timeout).command(line)
        reply.from_wire(encode_list(["\n".join(lines)]))
    except NetworkError as error:
        (log.debug if style.quiet else log.warning)("the name server was not written to: %s", error)
        return False
    return True


def _reply_to(contact: Contact, command: Portable, style: ContactStyle) -> list[Element]:
    is_name_server = contact.getRegName() == current_settings().namespace
    carrier = style.carrier or (_ADMINISTRATION if style.admin or is_name_server else _DATA)
    if carrier not in CARRIERS:
        raise NetworkError(f"carrier '{carrier}' is not spoken here (valid: {', '.join(CARRIERS)})")
    items = request(
        contact if contact.isValid() else contact_of(contact.toString_c()),
        decode_list(command.to_wire()).items,
        administrative=style.admin,
        carrier=carrier,
        timeout=style.timeout if style.timeout >= 0 else None,
        expect_reply=style.expectReply,
    )
    if items is None and style.expectReply:
        raise NetworkError("it gave no reply")
    if is_name_server and items and items[0] == _MANY and not style.admin:
        return from_text(str(items[1]))  # of its lines, the real bindings read the first
    return items or []
