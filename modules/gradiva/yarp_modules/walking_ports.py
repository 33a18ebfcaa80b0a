"""What streams into and out of a walking module, beside its RPC."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from gradiva.middleware import NAMED_ERRORS
from gradiva.yarp_modules.number_port import NumberPort
from gradiva.yarp_modules.walking_logger_port import WalkingLoggerPort
from pureyarp.rate_limited_log import RateLimitedLog

_LOGGER = logging.getLogger("gradiva.module")
_POSE = 6  # position and roll, pitch, yaw

Take = Callable[[list[float]], None]


class WalkingPorts:
    """The ports ``goal:i``, ``freeSpaceEllipse:in``, ``robotBase:i`` and ``logger``.

    ``robotBase:i`` (x y z roll pitch yaw of the base, [m, rad], by somebody else's localisation) is kept and told by
    getStatus; the walk goes by its own odometry.

    Attributes:
        logger: Signals of each tick.
        robot_base: The last message of ``robotBase:i``; empty before the first.
        refused: Malformed messages so far.
    """

    def __init__(self, prefix: str, joints: Sequence[str]) -> None:
        """Take the beginning of all names, and the joints of the robot."""
        self._prefix = prefix
        self._inputs = {name: NumberPort(name) for name in ("goal:i", "freeSpaceEllipse:in", "robotBase:i")}
        self._complaints = RateLimitedLog(_LOGGER, 2.0)
        self.logger = WalkingLoggerPort(f"{prefix}/logger", joints)
        self.robot_base: tuple[float, ...] = ()
        self.refused = 0

    def open(self) -> None:
        """Open all.

        Raises:
            NetworkError: One could not be opened.
        """
        for name, port in self._inputs.items():
            port.open(f"{self._prefix}/{name}")
        self.logger.open()

    def close(self) -> None:
        """Close all."""
        for port in self._inputs.values():
            port.close()
        self.logger.close()

    def read(self, take_goal: Take, take_free_space: Take) -> None:
        """Hand on what has come since the last call; what is malformed is counted and told."""
        for name, take in (
            ("goal:i", take_goal),
            ("freeSpaceEllipse:in", take_free_space),
            ("robotBase:i", self._take_base),
        ):
            self._read(self._inputs[name], take)

    def _read(self, port: NumberPort, take: Take) -> None:
        try:
            numbers = port.take()
            if numbers is not None:
                take(numbers)
        except Exception as error:  # no message may keep the tick from serving the commands over RPC
            self.refused += 1
            self._complaints.warning("refused a message: %s", error, trace=not isinstance(error, NAMED_ERRORS))

    def _take_base(self, numbers: list[float]) -> None:
        self.robot_base = tuple(numbers[:_POSE])
