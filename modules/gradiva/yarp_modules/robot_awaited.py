"""The controller of a module is prepared and its robot waited for beside the tick."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from gradiva.common import RobotInterface, RobotInterfaceError
from gradiva.middleware import NAMED_ERRORS

_LOGGER = logging.getLogger("gradiva.module")
_RETRY = 1.0  # [s] between two attempts
_TELL = 5  # attempts between two lines about what is missing
_PATIENCE = 5.0  # [s] for an attempt to end: one at a robot that hangs may ask a dozen ports in vain


class ReachableRobot(RobotInterface, Protocol):
    """A robot that has to be reached before it can be read."""

    def open(self) -> None:
        """Reach it.

        Raises:
            RobotInterfaceError: It is not there.
        """
        ...

    def close(self) -> None:
        """Let it hold itself, and leave it."""
        ...

    def rearm(self) -> None:
        """Take the motors anew."""
        ...

    def sample_time(self) -> float:
        """Return of when there are samples of all sensors, [s]."""
        ...


class RobotAwaited:
    """Prepares the controller of a robot, then tries once a second to reach the robot.

    Both may take a minute (the first compilation of a controller does), in a thread of its own: the module answers
    meanwhile, so that nothing that watches it gives it up.

    Attributes:
        missing: What is waited for; empty once the robot is there.
        is_preparing: Whether the controller is not ready yet.
        failure: Why the controller cannot be prepared; None while it can.
    """

    def __init__(self, robot: ReachableRobot, prepare: Callable[[], None], on_reached: Callable[[], None]) -> None:
        """Take a robot that is not reached yet.

        Args:
            robot: To be reached.
            prepare: Called once, before; an error there is the end (`failure`).
            on_reached: Called in the thread that reached it; after an error there the robot is left and tried again.
        """
        self._robot = robot
        self._prepare = prepare
        self.is_preparing = True
        self.failure: Exception | None = None
        self._on_reached = on_reached
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="robot awaited", daemon=True)
        self.missing = "the controller is being prepared; compiling it takes up to a minute the first time"

    def start(self) -> None:
        """Begin to prepare, then to look for the robot."""
        self._thread.start()

    def close(self) -> None:
        """Look no more; leave the robot if it was reached. An attempt that takes long leaves it when it ends."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        if not self.missing:
            self.missing = "the robot has been left"
            self._robot.close()

    def _run(self) -> None:
        try:
            self._prepare()
        except Exception as error:
            self.missing = f"the controller cannot be prepared: {error}"
            self.failure = error
            return
        self.is_preparing, self.missing = False, "the robot has not been looked for yet"
        attempt = 0
        while not self._stop.is_set():
            try:
                self._reach()
                _LOGGER.info("the robot is there")
                return
            except NAMED_ERRORS as error:
                self.missing = str(error)
            except Exception as error:  # the module goes on, and says so
                _LOGGER.exception("the robot cannot be reached")
                self.missing = f"{type(error).__name__}: {error}"
            if attempt % _TELL == 0:
                _LOGGER.warning("waiting for the robot: %s", self.missing)
            attempt += 1
            self._stop.wait(_RETRY)

    def _reach(self) -> None:
        self._robot.open()
        try:
            if self._stop.is_set():
                raise RobotInterfaceError("it was reached too late")
            self.missing = "the robot is there; narrower limits of its boards are compiled into the controller"
            self._on_reached()
        except Exception:
            self._robot.close()
            raise
        self.missing = ""
