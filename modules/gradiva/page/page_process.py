"""Runs the page in its process: shows the newest picture and status, hands on what the page asks for, guards it."""

from __future__ import annotations

import io
import json
import math
import signal
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response

from gradiva.common import NDArray, Side, WalkingError
from gradiva.page.guard import PAGE, Guard, PageAddress, archive_response, guarded
from gradiva.page.page_link import NewestValue, PageLink, Picture, SignalRows, picture_type
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import Footprint, RobotView

STATUS_SIZE = 1 << 17  # [bytes]
SIGNALS_SIZE = 1 << 18  # [bytes]
_LOOK = 1.0 / 60.0  # [s] between two looks for a new picture
_ENDING = 5.0  # [s] for its process to end
_PARENT = 1.0  # [s] between two looks whether the process of the robot is there
_LARGEST_MESSAGE = 4096  # [bytes] of a page
_HANDS_OFF = {"drive": [0.0, 0.0, 0.0]}
_BY_ANYONE = ({"stop": True}, {"command": ["emergencyStop"]})  # also of a page that watches
_POINT = 0.05  # [s] between two points of a plot, at least
_POINTS = 600  # a minute
_MOST_LINES = 64  # of all plots of a page
_PICTURE = 1.0 / 30.0  # [s]
_REPLAYED = 10.0  # [s]


@dataclass(frozen=True, slots=True)
class Channels:
    """Names of the shared memory, and the pipe to the process of the robot.

    Attributes:
        picture: Name of the memory of the newest picture.
        signals: Name of the memory of the rows of signals.
        status: Name of the memory of the state.
        outbox: To the process of the robot.
    """

    picture: str
    signals: str
    status: str
    outbox: Connection


@contextmanager
def page_in_its_process(robot: RobotDescription, address: PageAddress) -> Iterator[PageLink]:
    """Open the page in a process of its own, which lasts as long as the block; yield how the robot's reaches it."""
    context = get_context("spawn")
    inbox, outbox = context.Pipe(duplex=False)
    with ExitStack() as stack:
        sizes = picture_type(len(robot.joints)).itemsize, SIGNALS_SIZE, STATUS_SIZE
        picture, signals, status = map(NewestValue, sizes)
        for value in (picture, signals, status):
            stack.callback(value.close)
        channels = Channels(picture.name, signals.name, status.name, outbox)
        process = context.Process(target=serve_page, args=(robot, address, channels), name="page", daemon=True)
        with _ignored_interrupts():  # Ctrl-C is for the walk, which ends the page
            process.start()
        stack.callback(_end, process)
        outbox.close()  # of this process: the pipe ends with the page
        yield PageLink(picture, signals, status, inbox)


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


def serve_page(robot: RobotDescription, address: PageAddress, channels: Channels) -> None:
    """Serve the page until the process of the robot ends; the main function of this process."""
    try:
        page = RobotPage(robot, address, channels)
        first = {"link": page.link, "port": page.port, "token": page.token}
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

    def take(self, page: str, message: Mapping[str, Any]) -> None:
        """Take a message of a page: that it drives from now on, or what only the driver may ask for, or a stop."""
        if "take" in message:
            self.leave(self.driver)
            self.driver = page
        elif page == self.driver or message in _BY_ANYONE:
            self._send(message)


class RobotPage:
    """Shows the robot and its state to all pages that are open; one of them drives.

    Attributes:
        link: Of the page, token included.
        port: Where it is served.
        token: In the link.
    """

    def __init__(self, robot: RobotDescription, address: PageAddress, channels: Channels) -> None:
        """Open the page at an address, or at the next free port of it.

        Raises:
            WalkingError: A mesh or a file of the address cannot be read.
        """
        self._type, self._outbox = picture_type(len(robot.joints)), channels.outbox
        self._pictures = NewestValue(self._type.itemsize, channels.picture)
        self._signals = NewestValue(SIGNALS_SIZE, channels.signals)
        self._statuses = NewestValue(STATUS_SIZE, channels.status)
        self._history, self._shown = SignalHistory(), ShownPictures()
        self._wheel, self._pages = Wheel(self._send), dict[str, ServerConnection]()
        self._plots: dict[str, list[int]] = {}  # columns that a page has chosen
        self._status, self._footprints = dict[str, Any](), tuple[list[list[float]], ...]()
        self._archive: Response | None = None
        self._links: list[str] = []  # a page that was open before comes as soon as the server begins
        guard = Guard.of(address)
        with guarded(guard, self._talk, lambda: self._archive, address.encryption()):
            self._view = RobotView(robot, address.port, address.interface)
        guard.port = self._view.server.get_port()
        self.link, self.port, self.token = guard.link, guard.port, guard.token
        self._links = self._view.links
        self._view.on_floor(self._goal)
        self._view.on_pull(self._pull)
        self._loop = self._view.server.get_event_loop()

    def update(self) -> None:
        """Show a picture, signals and a status that are new."""
        if (raw := self._pictures.read()) is not None:
            self._shown.add(np.frombuffer(raw, self._type)[0])
        if (picture := self._shown.due(time.monotonic())) is not None:
            show_picture(self._view, picture)
        if (raw := self._signals.read()) is not None:
            self._loop.call_soon_threadsafe(self._plot, raw)
        if (text := self._statuses.read()) is not None:
            self._take_status(json.loads(text))

    @property
    def viewers(self) -> int:
        """Number of pages that show the robot."""
        return len(self._view.server.get_clients())

    def close(self) -> None:
        """Stop the server."""
        self._view.close()
        for value in (self._pictures, self._signals, self._statuses):
            value.close()

    def _take_status(self, status: dict[str, Any]) -> None:
        self._show_footprints(status.pop("footprints"), status.pop("nominal"))
        if (run := status.get("run")) and run != self._status.get("run"):
            self._archive = archive_response(Path(run).name, archive_of(Path(run)))
        self._status = status
        self._loop.call_soon_threadsafe(self._report_all)

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
        self._report_all()
        self._name_signals([connection])
        with suppress(ConnectionClosed):
            async for text in connection:
                self._take(name, connection, text)
        if self._pages.get(name) is connection:
            del self._pages[name]
            self._plots.pop(name, None)
            self._wheel.leave(name)
            self._report_all()

    def _take(self, name: str, connection: ServerConnection, text: str | bytes) -> None:
        """Take a message: this process answers what is plotted and the driver's replay, the robot's all others."""
        message = message_in(text)
        if message is None:
            return
        if "plots" in message:
            self._plots[name] = self._history.numbers_of(message["plots"])
            broadcast([connection], json.dumps({"history": self._history.table(self._plots[name])}))
        elif "replay" in message:
            if name == self._wheel.driver:  # all pages show the past then
                self._shown.replay(bool(message["replay"]))
                self._report_all()
        else:
            driver = self._wheel.driver
            self._wheel.take(name, message)
            if driver != self._wheel.driver:
                self._report_all()

    def _plot(self, raw: bytes) -> None:
        """Take a row of signals, hand its points to the pages that have chosen them."""
        is_new = self._history.add(raw)
        if is_new:
            self._plots.clear()
            self._name_signals(self._pages.values())
        elif is_new is not None:
            for name, columns in self._plots.items():
                if columns:
                    broadcast([self._pages[name]], json.dumps({"point": self._history.newest(columns)}))

    def _name_signals(self, pages: Any) -> None:
        if self._history.columns:
            broadcast(list(pages), json.dumps({"signals": self._history.columns}))

    def _goal(self, x: float, y: float, yaw: float | None) -> bool:
        """Ask for a goal on the floor, where the page drives that was clicked on; return whether it does."""
        is_driver = PAGE.get() == self._wheel.driver
        if is_driver:
            degrees = None if yaw is None else float(np.degrees(yaw))
            self._send({"goal": [x, y, degrees]})
        return is_driver

    def _pull(self, link: str, force: NDArray, is_over: bool) -> None:
        """Show a page what it pulls a link with; it asks for the push as soon as the link is let go."""
        if (page := self._pages.get(PAGE.get())) is not None:
            pull = {"link": link, "force": [round(float(each), 1) for each in force], "is_over": is_over}
            broadcast([page], json.dumps({"pull": pull}))

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # the process of the robot has ended, and this one ends
            self._outbox.send_bytes(json.dumps(message).encode())

    def _report_all(self) -> None:
        """Send each page the state, and whether it drives."""
        for drives in (True, False):
            pages = [page for name, page in self._pages.items() if (name == self._wheel.driver) is drives]
            about = {
                "drives": drives,
                "is_driven": bool(self._wheel.driver),
                "viewers": len(self._pages),
                "links": self._links,
                "replays": self._shown.replays,
            }
            broadcast(pages, json.dumps(self._status | about))


def message_in(text: str | bytes) -> dict[str, Any] | None:
    """Return the message of a page; None where it is none."""
    try:
        message = json.loads(text, parse_constant=_finite) if len(text) <= _LARGEST_MESSAGE else None
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _finite(constant: str) -> None:
    """Refuse what JSON has no word for: NaN and Infinity."""
    raise ValueError(constant)


def archive_of(folder: Path) -> bytes:
    """Return a ZIP archive of the files of a run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, Path(folder.name, file.relative_to(folder)))
    return buffer.getvalue()


class ShownPictures:
    """Chooses the picture that is shown: the newest one, or one after the other of the last ten seconds.

    Attributes:
        replays: Whether the past is shown.
    """

    def __init__(self) -> None:
        self.replays = False
        self._kept = deque[Picture](maxlen=round(_REPLAYED / _PICTURE))
        self._replayed: deque[Picture] = deque()
        self._newest: Picture | None = None
        self._due = 0.0

    def add(self, picture: Picture) -> None:
        """Take a new one; time that stands still is not kept."""
        self._newest = picture
        if not self._kept or picture["time"] != self._kept[-1]["time"]:
            self._kept.append(picture)

    def replay(self, is_wanted: bool) -> None:
        """Show what is kept, again and again, or the present again."""
        kept = list(self._kept)
        self._replayed, self._newest = deque(kept), kept[-1] if kept else None
        self.replays = is_wanted and bool(kept)  # last: `due` is called in another thread

    def due(self, now: float) -> Picture | None:
        """Return the picture that is to be shown at ``now`` [s]; None where the present one stays."""
        if not self.replays:
            newest, self._newest = self._newest, None
            return newest
        if now < self._due:
            return None
        self._due, replayed = now + _PICTURE, self._replayed
        replayed.rotate(-1)
        return replayed[-1] if replayed else None


class SignalHistory:
    """Keeps the last minute of all signals, ten rows a second.

    Attributes:
        columns: Their names.
        last_time: Of the last row that came, kept or not, [s].
    """

    def __init__(self) -> None:
        self.last_time = -math.inf
        self._rows, self._packed = deque[NDArray](maxlen=_POINTS), SignalRows()
        self.columns: tuple[str, ...] = ()

    def add(self, raw: bytes) -> bool | None:
        """Take a packed row when a point is due; return whether the signals are others now, None where it is not."""
        row = self._packed.unpack(raw)
        self.last_time = float(row[0])
        if self.columns != self._packed.columns:
            self.columns = self._packed.columns
            self._rows.clear()
            self._rows.append(row)
            return True
        if self._rows and 0.0 <= row[0] - self._rows[-1][0] < _POINT - 1e-6:
            return None
        if self._rows and row[0] < self._rows[-1][0]:  # of a robot that begins anew
            self._rows.clear()
        self._rows.append(row)
        return False

    def numbers_of(self, names: Any) -> list[int]:
        """Return the columns of some names; those that are not known are left out."""
        places = {name: index + 1 for index, name in enumerate(self.columns)}
        chosen = names if isinstance(names, list) else []
        return [places[name] for name in chosen if isinstance(name, str) and name in places][:_MOST_LINES]

    def table(self, columns: list[int]) -> dict[str, Any]:
        """Return names of columns and all their rows, time first."""
        names = [self.columns[column - 1] for column in columns]
        return {"columns": names, "rows": [self._drawn(row, columns) for row in self._rows]}

    def newest(self, columns: list[int]) -> list[float | None]:
        """Return the last row of some columns, time first."""
        return self._drawn(self._rows[-1], columns)

    @staticmethod
    def _drawn(row: NDArray, columns: list[int]) -> list[float | None]:
        """Return numbers of few digits; None for what is not finite, which JSON has no word for."""
        return [float(f"{value:.6g}") if np.isfinite(value) else None for value in (row[0], *row[columns])]


def show_picture(view: RobotView, picture: Picture) -> None:
    """Show one moment of the robot."""
    points = {name: picture[name] for name in ("com", "dcm", "zmp")}
    forces = {side: (picture[f"{side}_foot"], picture[f"{side}_force"]) for side in Side}
    view.show(picture["base"], picture["rotation"], picture["joints"], points, forces, float(picture["time"]))
    view.show_belief(picture["believed"], picture["believed_rotation"])


def footprint_of(numbers: list[float]) -> Footprint:
    """Return a footprint of whether it is the left one, place, heading and time."""
    is_left, x, y, z, yaw, at = numbers
    return Footprint(Side.LEFT if is_left else Side.RIGHT, np.array([x, y, z]), yaw, at)
