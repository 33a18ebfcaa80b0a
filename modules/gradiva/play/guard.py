"""Lets requests through to the page that come from its own link: who they are for, where they come from, the token."""

from __future__ import annotations

import hmac
import http
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_POLICY = (
    "default-src 'self' 'unsafe-inline' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:;"
    " connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
)  # the viewer has its scripts, workers and pictures within its own page; nothing is asked of other machines


@dataclass(slots=True)
class Guard:
    """Refuses requests of pages and programs that do not have the printed link.

    A page from elsewhere, in the same browser, reaches servers of this machine: its requests carry its own ``Origin``,
    and another ``Host`` where a name of its own leads here. The token keeps off other users of this machine.

    Attributes:
        hosts: Names of this machine that a link may have, without the port.
        token: In the link; then in a cookie, which pages from elsewhere cannot have sent.
        port: Of the server, once it is known.
    """

    hosts: Iterable[str] = LOOPBACK
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    port: int = 0

    def link(self, host: str) -> str:
        """Return the address of the page on ``host``."""
        return f"http://{host}:{self.port}/?token={self.token}"

    def refusal(self, request: Request) -> str:
        """Return why a request is refused; empty where it is not."""
        hosts = {f"{host}:{self.port}" for host in self.hosts}
        if _only(request.headers, "Host") not in hosts:
            return "this page has another address"
        origin, is_socket = _only(request.headers, "Origin"), "Upgrade" in request.headers
        if (origin or is_socket) and origin not in {f"http://{host}" for host in hosts}:
            return "requests of other pages are refused"
        if not any(hmac.compare_digest(token.encode(), self.token.encode()) for token in self._tokens(request)):
            return "open the link that the terminal shows: its token is missing or wrong"
        return ""

    def admission(self, request: Request) -> Response | None:
        """Return the answer to the link itself: the token goes on as a cookie; None for all other requests."""
        parts = urlsplit(request.path)
        if parts.path != "/" or "token" not in parse_qs(parts.query):
            return None
        cookie = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        return response(http.HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": "/", "Set-Cookie": cookie})

    @property
    def _cookie(self) -> str:
        """Name of the cookie: those of one machine are sent to all its ports."""
        return f"gradiva_{self.port}"

    def _tokens(self, request: Request) -> list[str]:
        in_link = parse_qs(urlsplit(request.path).query).get("token", [])
        try:
            cookie = SimpleCookie(_only(request.headers, "Cookie")).get(self._cookie)
        except CookieError:
            cookie = None
        return in_link if cookie is None else [*in_link, cookie.value]


def response(status: http.HTTPStatus, body: bytes, kind: str, more: dict[str, str] | None = None) -> Response:
    """Return an answer that no page from elsewhere may frame, and no browser keeps."""
    headers = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Content-Security-Policy": _POLICY,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Connection": "close",
    }
    return Response(status, status.phrase, Headers(headers | (more or {})), body)


def _only(headers: Headers, name: str) -> str:
    """Return the value of a header; empty where there is none, or more than one."""
    values = headers.get_all(name)
    return values[0] if len(values) == 1 else ""
