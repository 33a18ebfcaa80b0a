"""The lines in which a name server tells of a port."""

from __future__ import annotations

import re

from pureyarp.network.contact import Contact

END_OF_REPLY = "*** end of message"
CHOOSE = "..."  # stands for what the name server is to choose

_REGISTRATION = re.compile(
    r"registration name (?P<name>\S+) ip (?P<host>\S+) port (?P<port>\d{1,5}) type (?P<type>\S+)"
)


def line_of_contact(contact: Contact) -> str:
    """Return the line (without its end) that tells a port's address."""
    return (
        f"registration name {contact.getRegName()} ip {contact.getHost()} "
        f"port {contact.getPort()} type {contact.getCarrier()}"
    )


def contact_of_line(line: str) -> Contact | None:
    """Return the port that a line tells of, None for any other line."""
    found = _REGISTRATION.fullmatch(line.strip())
    if found is None:
        return None
    return Contact(found["name"], found["type"], found["host"], int(found["port"]))
