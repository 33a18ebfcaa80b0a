"""Guards the server of the page: token, Host, Origin, TLS; the shell page and viser at one port."""

from __future__ import annotations

import hmac
import http
import re
import secrets
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from gradiva.common import ConfigError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PORTS = {"http": 80, "https": 443}  # browsers leave them out of an address
_POLICY = (
    "default-src 'self' 'unsafe-inline' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:;"
    " connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
)  # the viewer has its scripts, workers and pictures within its own page; nothing is asked of other machines
_VIEW, _DRIVE = (re.compile(rf"/{name}/(\w{{1,32}})") for name in ("view", "drive"))  # paths of viser, of the commands
_RUN = "/run.zip"
PAGE: ContextVar[str] = ContextVar("page", default="")
"""Name of the page that the running task, as a callback of viser, answers."""
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/plots.js": ("plots.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Says where the page is served.

    Attributes:
        port: The next free one is taken where it is in use.
        host: Address or name of this machine by which others reach it; the loopback by default.
        certificate: PEM file of the certificate chain; None without TLS, on the loopback alone.
        key: PEM file of its private key.
        token: Of the link; a fresh one where it is empty.
    """

    port: int
    host: str = LOOPBACK[0]
    certificate: Path | None = None
    key: Path | None = None
    token: str = ""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ConfigError("--tls-cert and --tls-key belong together: name both files, or none")
        if self.interface in ("0.0.0.0", "::", ""):
            raise ConfigError(f"--listen {self.host}: name the address by which other machines reach this one")
        if self.name not in LOOPBACK and self.certificate is None:
            raise ConfigError(
                f"--listen {self.host}: others on the network could read the token; give --tls-cert and --tls-key,"
                " or leave --listen out and reach the page by ssh -L"
            )
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise ConfigError(f"{file}: there is no such file")

    @property
    def interface(self) -> str:
        """Address or name at which the server listens: one of IPv6 without brackets."""
        return self.host.strip("[]")

    @property
    def name(self) -> str:
        """Address or name as a browser has it: in lower case, one of IPv6 within brackets."""
        return f"[{self.interface}]".lower() if ":" in self.interface else self.interface.lower()

    def encryption(self) -> ssl.SSLContext | None:
        """Return the server's side of TLS; None without.

        Raises:
            ConfigError: The files hold no certificate and its key.
        """
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key, password=self._refuse_password)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"{self.certificate}, {self.key}: no certificate and its key: {error}") from None
        return context

    def _refuse_password(self) -> str:
        """Refuse a key that is encrypted: OpenSSL would ask for its password in the terminal."""
        raise ConfigError(f"{self.key}: the key is encrypted; name one without a password")


@dataclass(slots=True)
class Guard:
    """Refuses requests of pages and programs that do not have the printed link.

    A page from elsewhere, in the same browser, reaches servers of this machine: its requests carry its own ``Origin``,
    and another ``Host`` where a name of its own leads here. The token keeps off other users of this machine, unless
    a page of theirs is opened in the same browser: cookies are sent to all ports.

    Attributes:
        host: Name or address of this machine in the link; on the loopback its other names are as good.
        token: In the link; then in a cookie, which pages from elsewhere cannot have sent.
        port: Of the server, once it is known.
        scheme: ``https`` behind TLS.
    """

    host: str = LOOPBACK[0]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    port: int = 0
    scheme: str = "http"

    @classmethod
    def of(cls, address: PageAddress) -> Guard:
        """Return the guard of a page at ``address``."""
        scheme = "http" if address.certificate is None else "https"
        return cls(address.name, address.token or secrets.token_urlsafe(16), scheme=scheme)

    @property
    def link(self) -> str:
        """Address of the page."""
        return f"{self.scheme}://{self.host}:{self.port}/?token={self.token}"

    def refusal(self, request: Request) -> str:
        """Return why a request is refused; empty where it is not."""
        names = LOOPBACK if self.host in LOOPBACK else (self.host,)
        ports = ["", f":{self.port}"] if self.port == _PORTS[self.scheme] else [f":{self.port}"]
        hosts = {name + port for name in names for port in ports}
        if _only(request.headers, "Host").lower() not in hosts:
            return "this page has another address"
        origin, is_socket = _only(request.headers, "Origin").lower(), "Upgrade" in request.headers
        if (origin or is_socket) and origin not in {f"{self.scheme}://{host}" for host in hosts}:
            return "requests of other pages are refused"
        if not any(hmac.compare_digest(token.encode(), self.token.encode()) for token in self._tokens(request)):
            return "open the link that the terminal shows: its token is missing or wrong"
        return ""

    def admission(self, request: Request) -> Response | None:
        """Return the answer to the link itself: the token goes on as a cookie; None for all other requests."""
        parts = urlsplit(request.path)
        if parts.path != "/" or "token" not in parse_qs(parts.query):
            return None
        secure = "; Secure" if self.scheme == "https" else ""
        cookie = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict{secure}"
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


def archive_response(name: str, archive: bytes) -> Response:
    """Return the answer that a browser saves as the archive of a run."""
    disposition = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return response(http.HTTPStatus.OK, archive, "application/zip", disposition)


def _only(headers: Headers, name: str) -> str:
    """Return the value of a header; empty where there is none, or more than one."""
    values = headers.get_all(name)
    return values[0] if len(values) == 1 else ""


@contextmanager
def guarded(
    guard: Guard,
    drive: Callable[[ServerConnection], Awaitable[None]],
    run: Callable[[], Response | None] = lambda: None,
    encryption: ssl.SSLContext | None = None,
) -> Iterator[None]:
    """Within it, a server that viser starts is that of the page, behind ``guard``; viser itself is below ``/view``.

    viser has no place for checks of its own, so that its call of ``websockets`` is wrapped, for as long as it starts.

    Args:
        guard: Of all requests.
        drive: Talks with the page `PAGE` at ``/drive``.
        run: Returns the archive of a saved run; None where there is none.
        encryption: Server's side of TLS.

    Raises:
        RuntimeError: No server was started that could be wrapped: nothing may be served without the guard.
    """
    server: Any = websockets.asyncio.server
    serve, started = server.serve, list[int]()

    def serve_guarded(handler: Any, host: str, port: int, *, process_request: Any, **more: Any) -> Any:
        """Serve with the guard before each handshake."""
        started.append(port)

        async def handle(connection: ServerConnection) -> None:
            """Hand a connection to the view or to the page that drives."""
            assert connection.request is not None, "its handshake is done"
            path = _path(connection.request)
            is_view = _VIEW.fullmatch(path)
            PAGE.set(path.rpartition("/")[2])
            await (handler if is_view else drive)(connection)

        def process(connection: ServerConnection, request: Request) -> Response | None:
            """Answer a request that the guard refuses or serves itself."""
            guard.port = connection.local_address[1]
            return answer(guard, request, lambda inner: process_request(connection, inner), run)

        return serve(handle, host, port, process_request=process, ssl=encryption, **more)

    server.serve = serve_guarded
    try:
        yield
    finally:
        server.serve = serve
    if not started:
        raise RuntimeError("viser starts its server in another way: the page would have no guard")


def answer(
    guard: Guard,
    request: Request,
    view: Callable[[Request], Response | None],
    run: Callable[[], Response | None] = lambda: None,
) -> Response | None:
    """Return the answer to a request; None for the handshake of a websocket that is let through."""
    if why := guard.refusal(request):
        return response(http.HTTPStatus.FORBIDDEN, f"403: {why}\n".encode(), "text/plain; charset=utf-8")
    path = _path(request)
    if "Upgrade" in request.headers:
        is_known = _VIEW.fullmatch(path) or _DRIVE.fullmatch(path)
        return None if is_known else response(http.HTTPStatus.NOT_FOUND, b"404\n", "text/plain")
    if path.endswith("/") and _VIEW.fullmatch(path[:-1]):
        return _framed_by_us(view(replace(request, path="/")))
    if path == _RUN and (archive := run()) is not None:
        return archive
    if path in _FILES:
        name, kind = _FILES[path]
        return guard.admission(request) or response(http.HTTPStatus.OK, _file(name), kind)
    return response(http.HTTPStatus.NOT_FOUND, b"404\n", "text/plain")


def _framed_by_us(found: Response | None) -> Response | None:
    """Return the page of viser, which no page from elsewhere may frame either."""
    if found is not None:
        found.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
        found.headers["X-Content-Type-Options"] = "nosniff"
    return found


def _path(request: Request) -> str:
    return urlsplit(request.path).path


def _file(name: str) -> bytes:
    return resources.files("gradiva.page").joinpath(name).read_bytes()
