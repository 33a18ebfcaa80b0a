"""The list of ports for a browser."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from pureyarp.network.contact import Contact

_NOT_FOUND = "there are two pages here: / and /?req=list"


def http_reply(request_line: str, namespace: str, contacts: Sequence[Contact]) -> bytes:
    """Return the answer to ``GET / HTTP/1.1`` (a page) or ``GET /?req=list HTTP/1.1`` (JSON)."""
    words = request_line.split()
    target = urlsplit(words[1] if len(words) > 1 else "/")
    if target.path != "/":
        return _response("404 Not Found", "text/plain", _NOT_FOUND)
    if parse_qs(target.query).get("req") == ["list"]:
        return _response("200 OK", "application/json", json.dumps([_as_table(contact) for contact in contacts]))
    return _response("200 OK", "text/html", _page(namespace, contacts))


def _as_table(contact: Contact) -> dict[str, str | int]:
    return {
        "name": contact.getRegName(),
        "ip": contact.getHost(),
        "port_number": contact.getPort(),
        "carrier": contact.getCarrier(),
    }


def _page(namespace: str, contacts: Sequence[Contact]) -> str:
    title = html.escape(f"Name server {namespace}")
    rows = "".join(
        f"<tr><td>{html.escape(contact.getRegName())}</td><td>{html.escape(contact.toURI())}</td></tr>\n"
        for contact in contacts
    )
    return f"<!DOCTYPE html>\n<title>{title}</title>\n<h1>{title}</h1>\n<table>\n{rows}</table>\n"


def _response(status: str, kind: str, text: str) -> bytes:
    body = text.encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
