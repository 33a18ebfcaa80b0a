"""Serves the page, its commands and viser's view at one port, behind one guard."""

from __future__ import annotations

import http
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from gradiva.play.guard import Guard, response

_VIEW, _DRIVE = (re.compile(rf"/{name}/(\w{{1,32}})") for name in ("view", "drive"))  # paths of viser, of the commands
PAGE: ContextVar[str] = ContextVar("page", default="")
"""Name of the page that the running task, as a callback of viser, answers."""
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
Route = Callable[[], Response]
"""Makes the answer to a request by its path."""


@contextmanager
def guarded(
    guard: Guard, drive: Callable[[ServerConnection], Awaitable[None]], routes: dict[str, Route]
) -> Iterator[None]:
    """Within it, a server that viser starts is that of the page, behind ``guard``; viser itself is below ``/view``.

    viser has no place for checks of its own, so that its call of ``websockets`` is wrapped, for as long as it starts.

    Args:
        guard: Of all requests.
        drive: Talks with the page `PAGE` at ``/drive``.
        routes: Further answers by path.

    Raises:
        RuntimeError: No server was started that could be wrapped: nothing may be served without the guard.
    """
    server: Any = websockets.asyncio.server
    serve, started = server.serve, list[int]()

    def serve_guarded(handler: Any, host: str, port: int, *, process_request: Any, **more: Any) -> Any:
        started.append(port)

        async def handle(connection: ServerConnection) -> None:
            assert connection.request is not None, "its handshake is done"
            path = _path(connection.request)
            is_view = _VIEW.fullmatch(path)
            PAGE.set(path.rpartition("/")[2])
            await (handler if is_view else drive)(connection)

        def process(connection: ServerConnection, request: Request) -> Response | None:
            guard.port = connection.local_address[1]
            return answer(guard, request, routes, lambda inner: process_request(connection, inner))

        return serve(handle, host, port, process_request=process, **more)

    server.serve = serve_guarded
    try:
        yield
    finally:
        server.serve = serve
    if not started:
        raise RuntimeError("viser starts its server in another way: the page would have no guard")


def answer(
    guard: Guard, request: Request, routes: dict[str, Route], view: Callable[[Request], Response | None]
) -> Response | None:
    """Return the answer to a request; None for the handshake of a websocket that is let through."""
    if why := guard.refusal(request):
        return response(http.HTTPStatus.FORBIDDEN, f"403: {why}\n".encode(), "text/plain; charset=utf-8")
    path = _path(request)
    if "Upgrade" in request.headers:
        is_known = _VIEW.fullmatch(path) or _DRIVE.fullmatch(path)
        return None if is_known else response(http.HTTPStatus.NOT_FOUND, b"404\n", "text/plain")
    if path.endswith("/") and _VIEW.fullmatch(path[:-1]):
        return view(replace(request, path="/"))
    if path in routes:
        return routes[path]()
    if path in _FILES:
        name, kind = _FILES[path]
        return guard.admission(request) or response(http.HTTPStatus.OK, _file(name), kind)
    return response(http.HTTPStatus.NOT_FOUND, b"404\n", "text/plain")


def _path(request: Request) -> str:
    return urlsplit(request.path).path


def _file(name: str) -> bytes:
    return resources.files("gradiva.play").joinpath(name).read_bytes()
