"""Is the process of the page: shows the newest picture and status, hands on what the page asks for, guards it."""

from __future__ import annotations

import hmac
import http
import json
import re
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from gradiva.common import NDArray, Side, WalkingError
from gradiva.play.interactive_walk import Picture, picture_type
from gradiva.play.page_link import NewestValue, PageLink
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import COM, DCM, FOOT, MUTED, ZMP, Footprint, RobotView

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_POLICY = (
    "default-src 'self' 'unsafe-inline' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:;"
    " connect-src 'self' data: blob:; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
)  # the viewer has its scripts, workers and pictures within its own page; nothing is asked of other machines
_VIEW, _DRIVE = (re.compile(rf"/{name}/(\w{{1,32}})") for name in ("view", "drive"))  # paths of viser, of the commands
PAGE: ContextVar[str] = ContextVar("page", default="")
"""Name of the page that the running task, as a callback of viser, answers."""
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
_HOST = "127.0.0.1"
STATUS_SIZE = 1 << 17  # [bytes]
_LOOK = 1.0 / 60.0  # [s] between two looks for a new picture
_ENDING = 5.0  # [s] for its process to end
_PARENT = 1.0  # [s] between two looks whether the process of the walk is there
_LARGEST_MESSAGE = 4096  # [bytes] of a page
_HANDS_OFF = {"drive": [0.0, 0.0, 0.0]}
_BY_ANYONE = ({"stop": True}, {"command": ["emergencyStop"]})  # whoever drives
_POINT = 0.1  # [s] between two points
_POINTS = 300  # half a minute

_LINES: dict[str, list[tuple[str, str, Callable[[Picture], Any]]]] = {
    "Errors ahead [mm]": [
        ("DCM", DCM, lambda picture: 1e3 * picture["dcm_error"][0]),
        ("ZMP", ZMP, lambda picture: 1e3 * picture["zmp_error"][0]),
        ("CoM", COM, lambda picture: 1e3 * picture["com_error"][0]),
    ],
    "Errors to the left [mm]": [
        ("DCM", DCM, lambda picture: 1e3 * picture["dcm_error"][1]),
        ("ZMP", ZMP, lambda picture: 1e3 * picture["zmp_error"][1]),
        ("CoM", COM, lambda picture: 1e3 * picture["com_error"][1]),
    ],
    "Ground on the feet [N]": [
        ("left", FOOT[Side.LEFT], lambda picture: picture["left_force"][2]),
        ("right", FOOT[Side.RIGHT], lambda picture: picture["right_force"][2]),
    ],
    "Time of a tick [µs]": [("tick", MUTED, lambda picture: picture["tick_us"])],
}


@dataclass(frozen=True, slots=True)
class Channels:
    """Names of the shared memory, and the pipe to the walk.

    Attributes:
        picture: Name of its memory.
        status: Likewise.
        outbox: To the walk.
    """

    picture: str
    status: str
    outbox: Connection


@contextmanager
def page_in_its_process(robot: RobotDescription, port: int) -> Iterator[PageLink]:
    """Open the page in a process of its own, which lasts as long as the block; yield how the walk reaches it."""
    context = get_context("spawn")
    inbox, outbox = context.Pipe(duplex=False)
    with ExitStack() as stack:
        picture = NewestValue(picture_type(len(robot.joints)).itemsize)
        stack.callback(picture.close)
        status = NewestValue(STATUS_SIZE)
        stack.callback(status.close)
        channels = Channels(picture.name, status.name, outbox)
        process = context.Process(target=serve_page, args=(robot, port, channels), name="page", daemon=True)
        with _ignored_interrupts():  # Ctrl-C is for the walk, which ends the page
            process.start()
        stack.callback(_end, process)
        outbox.close()  # of this process: the pipe ends with the page
        yield PageLink(picture, status, inbox)


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, which a process that is started within it does for good."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _end(process: BaseProcess) -> None:
    process.terminate()
    process.join(_ENDING)
    if process.is_alive():
        process.kill()


def serve_page(robot: RobotDescription, port: int, channels: Channels) -> None:
    """Serve the page until the process of the walk ends; the main function of this process."""
    try:
        page = RobotPage(robot, port, channels)
        first = {"link": page.link}
    except (WalkingError, OSError, RuntimeError) as error:
        page, first = None, {"error": str(error)}
    with suppress(OSError):  # the walk has ended meanwhile
        channels.outbox.send_bytes(json.dumps(first).encode())
    if page is None:
        return
    looked, parent = time.monotonic(), parent_process()
    while True:
        page.update()
        time.sleep(_LOOK)
        if time.monotonic() - looked > _PARENT:
            looked = time.monotonic()
            if parent is None or not parent.is_alive():
                return


class Wheel:
    """Knows which of the open pages drives, and hands on what it asks for; a stop is taken from any.

    Attributes:
        driver: Name of the page that drives; empty while none does.
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], None]) -> None:
        """Take how a message is sent to the walk."""
        self.driver, self._send = "", send

    def join(self, page: str) -> None:
        """Let a page drive where none does."""
        self.driver = self.driver or page

    def leave(self, page: str) -> None:
        """Stop the robot where the page that drives it is closed."""
        if page == self.driver:
            self.driver = ""
            self._send(_HANDS_OFF)

    def take(self, page: str, text: str | bytes) -> None:
        """Take a message of a page: that it drives from now on, or what only the driver may ask for, or a stop."""
        try:
            message = json.loads(text, parse_constant=_finite) if len(text) <= _LARGEST_MESSAGE else None
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        if "take" in message:
            self.leave(self.driver)
            self.driver = page
        elif page == self.driver or message in _BY_ANYONE:
            self._send(message)


def _finite(constant: str) -> None:
    """Refuse what JSON has no word for: NaN and Infinity."""
    raise ValueError(constant)


class RobotPage:
    """Shows the robot and its state to all pages that are open; one of them drives.

    Attributes:
        link: Of the page, token included.
    """

    def __init__(self, robot: RobotDescription, port: int, channels: Channels) -> None:
        """Open the page at ``port`` or the next free one."""
        self._type, self._outbox = picture_type(len(robot.joints)), channels.outbox
        self._pictures = NewestValue(self._type.itemsize, channels.picture)
        self._statuses = NewestValue(STATUS_SIZE, channels.status)
        self._wheel, self._pages = Wheel(self._send), dict[str, ServerConnection]()
        self._status, self._footprints = dict[str, Any](), tuple[list[list[float]], ...]()
        guard = Guard()
        with guarded(guard, self._talk):
            self._view = RobotView(robot, port, _HOST)
        guard.port = self._view.server.get_port()
        self.link = guard.link(_HOST)
        self._links = self._view.links
        self._plots = LivePlots(self._view.server.gui)
        self._view.on_floor(self._clicked)
        self._loop = self._view.server.get_event_loop()

    def update(self) -> None:
        """Show a picture and a status that are new."""
        if (raw := self._pictures.read()) is not None:
            picture = np.frombuffer(raw, self._type)[0]
            show_picture(self._view, picture)
            self._plots.add(picture)
        if (text := self._statuses.read()) is not None:
            self._status = json.loads(text)
            self._show_footprints(self._status.pop("footprints"), self._status.pop("nominal"))
            self._loop.call_soon_threadsafe(self._tell_all)

    @property
    def viewers(self) -> int:
        """Number of pages that show the robot."""
        return len(self._view.server.get_clients())

    def close(self) -> None:
        """Stop the server."""
        self._view.close()
        self._pictures.close()
        self._statuses.close()

    def _show_footprints(self, *numbers: list[list[float]]) -> None:
        if numbers != self._footprints:
            self._footprints = numbers
            self._view.footprints(*([footprint_of(one) for one in group] for group in numbers))

    # -- in the thread of the server -------------------------------------------------------------------------------

    async def _talk(self, connection: ServerConnection) -> None:
        """Talk with one page until it is closed; the robot stops where that was the one that drives."""
        name = PAGE.get()
        self._pages[name] = connection
        self._wheel.join(name)
        self._tell_all()
        with suppress(ConnectionClosed):
            async for text in connection:
                driver = self._wheel.driver
                self._wheel.take(name, text)
                if driver != self._wheel.driver:
                    self._tell_all()
        if self._pages.get(name) is connection:
            del self._pages[name]
            self._wheel.leave(name)
            self._tell_all()

    def _clicked(self, x: float, y: float) -> bool:
        """Ask for a goal on the floor, where the page drives that was clicked on; return whether it does."""
        is_driver = PAGE.get() == self._wheel.driver
        if is_driver:
            self._send({"goal": [x, y, None]})
        return is_driver

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # the walk has ended, and this process ends
            self._outbox.send_bytes(json.dumps(message).encode())

    def _tell_all(self) -> None:
        """Send each page the state, and whether it drives."""
        for drives in (True, False):
            pages = [page for name, page in self._pages.items() if (name == self._wheel.driver) is drives]
            about = {
                "drives": drives,
                "is_driven": bool(self._wheel.driver),
                "viewers": len(self._pages),
                "links": self._links,
            }
            broadcast(pages, json.dumps(self._status | about))


class LivePlots:
    """Draws pictures over time with the plots of viser; a switch holds them still."""

    def __init__(self, gui: Any) -> None:
        """Add the plots to the panel of a page."""
        self._times = np.full(_POINTS, np.nan)
        self._values = [[np.full(_POINTS, np.nan) for _ in lines] for lines in _LINES.values()]
        with gui.add_folder("Plots", expand_by_default=False):
            self._freezes = gui.add_checkbox("Hold still", False)
            self._plots = [
                gui.add_uplot(
                    (np.arange(2.0), *(np.zeros(2) for _ in lines)),
                    ({"label": "s"}, *({"label": name, "stroke": colour, "width": 1} for name, colour, _ in lines)),
                    title=title,
                    scales={"x": {"time": False}},
                    aspect=2.0,
                )
                for title, lines in _LINES.items()
            ]

    def add(self, picture: Picture) -> None:
        """Take a picture when a point is due; those of a robot that begins anew begin the plots anew."""
        time, last = float(picture["time"]), float(self._times[-1])
        if abs(time - last) < _POINT:
            return
        rows = [self._times, *(row for rows in self._values for row in rows)]
        if time < last:
            for row in rows:
                row.fill(np.nan)
        values = [time, *(float(value(picture)) for lines in _LINES.values() for _, _, value in lines)]
        for row, number in zip(rows, values, strict=True):
            row[:-1], row[-1] = row[1:], number
        if not self._freezes.value:
            self._draw()

    def _draw(self) -> None:
        known = np.isfinite(self._times)
        for plot, rows in zip(self._plots, self._values, strict=True):
            plot.data = (self._times[known], *map(_drawable(known), rows))


def _drawable(known: NDArray) -> Callable[[NDArray], NDArray]:
    return lambda row: np.nan_to_num(row[known])


def show_picture(view: RobotView, picture: Picture) -> None:
    """Show one moment of the robot."""
    points = {name: picture[name] for name in ("com", "dcm", "zmp")}
    forces = {side: (picture[f"{side}_foot"], picture[f"{side}_force"]) for side in Side}
    view.show(picture["base"], picture["rotation"], picture["joints"], points, forces, float(picture["time"]))


def footprint_of(numbers: list[float]) -> Footprint:
    """Return a footprint of whether it is the left one, place, heading and time."""
    is_left, x, y, z, yaw, at = numbers
    return Footprint(Side.LEFT if is_left else Side.RIGHT, np.array([x, y, z]), yaw, at)


# -- the server, behind its guard --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Guard:
    """Refuses requests of pages and programs that do not have the printed link.

    A page from elsewhere, in the same browser, reaches servers of this machine: its requests carry its own ``Origin``,
    and another ``Host`` where a name of its own leads here. The token keeps off other users of this machine, unless
    a page of theirs is opened in the same browser: cookies are sent to all ports.

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


@contextmanager
def guarded(guard: Guard, drive: Callable[[ServerConnection], Awaitable[None]]) -> Iterator[None]:
    """Within it, a server that viser starts is that of the page, behind ``guard``; viser itself is below ``/view``.

    viser has no place for checks of its own, so that its call of ``websockets`` is wrapped, for as long as it starts.

    Args:
        guard: Of all requests.
        drive: Talks with the page `PAGE` at ``/drive``.

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
            return answer(guard, request, lambda inner: process_request(connection, inner))

        return serve(handle, host, port, process_request=process, **more)

    server.serve = serve_guarded
    try:
        yield
    finally:
        server.serve = serve
    if not started:
        raise RuntimeError("viser starts its server in another way: the page would have no guard")


def answer(guard: Guard, request: Request, view: Callable[[Request], Response | None]) -> Response | None:
    """Return the answer to a request; None for the handshake of a websocket that is let through."""
    if why := guard.refusal(request):
        return response(http.HTTPStatus.FORBIDDEN, f"403: {why}\n".encode(), "text/plain; charset=utf-8")
    path = _path(request)
    if "Upgrade" in request.headers:
        is_known = _VIEW.fullmatch(path) or _DRIVE.fullmatch(path)
        return None if is_known else response(http.HTTPStatus.NOT_FOUND, b"404\n", "text/plain")
    if path.endswith("/") and _VIEW.fullmatch(path[:-1]):
        return _framed_by_us(view(replace(request, path="/")))
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
    return resources.files("gradiva.play").joinpath(name).read_bytes()
