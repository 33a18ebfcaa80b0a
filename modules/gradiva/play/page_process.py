"""Is the process of the page: shows the newest picture and status, and hands on what the page asks for."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed

from gradiva.common import Side
from gradiva.play.guard import Guard
from gradiva.play.interactive_walk import PageLink
from gradiva.play.live_plots import LivePlots
from gradiva.play.newest_value import NewestValue
from gradiva.play.page_server import PAGE, guarded
from gradiva.play.picture import Picture, picture_type
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import Footprint, RobotView

_HOST = "127.0.0.1"
_STATUS_SIZE = 1 << 17  # [bytes]
_LOOK = 1.0 / 60.0  # [s] between two looks for a new picture
_PARENT = 1.0  # [s] between two looks whether the process of the walk is there
_LARGEST_MESSAGE = 4096  # [bytes] of a page
_HANDS_OFF = {"drive": [0.0, 0.0, 0.0]}
_BY_ANYONE = ({"stop": True}, {"command": ["emergencyStop"]})  # whoever drives


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
    picture = NewestValue(picture_type(len(robot.joints)).itemsize)
    status = NewestValue(_STATUS_SIZE)
    channels = Channels(picture.name, status.name, outbox)
    process = context.Process(target=serve_page, args=(robot, port, channels), name="page", daemon=True)
    try:
        process.start()
        outbox.close()  # of this process: the pipe ends with the page
        yield PageLink(picture, status, inbox)
    finally:
        process.terminate()
        process.join(5.0)
        picture.close()
        status.close()


def serve_page(robot: RobotDescription, port: int, channels: Channels) -> None:
    """Serve the page until the process of the walk ends; the main function of this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the walk, which ends the page
    page = RobotPage(robot, port, channels)
    channels.outbox.send_bytes(json.dumps({"link": page.link}).encode())
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
            message = json.loads(text) if len(text) <= _LARGEST_MESSAGE else None
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        if "take" in message:
            self.leave(self.driver)
            self.driver = page
        elif page == self.driver or message in _BY_ANYONE:
            self._send(message)


class RobotPage:
    """Shows the robot and its state to all pages that are open; one of them drives.

    Attributes:
        link: Of the page, token included.
    """

    def __init__(self, robot: RobotDescription, port: int, channels: Channels) -> None:
        """Open the page at ``port`` or the next free one."""
        self._type, self._outbox = picture_type(len(robot.joints)), channels.outbox
        self._pictures = NewestValue(self._type.itemsize, channels.picture)
        self._statuses = NewestValue(_STATUS_SIZE, channels.status)
        self._wheel, self._pages = Wheel(self._send), dict[str, ServerConnection]()
        self._status, self._footprints = dict[str, Any](), list[Any]()
        guard = Guard()
        with guarded(guard, self._talk, {}):
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

    def _show_footprints(self, *numbers: list[list[float]]) -> None:
        if numbers != self._footprints:
            self._footprints = list(numbers)
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
            about = {"drives": drives, "viewers": len(self._pages), "links": self._links}
            broadcast(pages, json.dumps(self._status | about))


def show_picture(view: RobotView, picture: Picture) -> None:
    """Show one moment of the robot."""
    points = {name: picture[name] for name in ("com", "dcm", "zmp")}
    forces = {side: (picture[f"{side}_foot"], picture[f"{side}_force"]) for side in Side}
    view.show(picture["base"], picture["rotation"], picture["joints"], points, forces, float(picture["time"]))


def footprint_of(numbers: list[float]) -> Footprint:
    """Return a footprint of whether it is the left one, place, heading and time."""
    is_left, x, y, z, yaw, at = numbers
    return Footprint(Side.LEFT if is_left else Side.RIGHT, np.array([x, y, z]), yaw, at)
