"""Streams of a walking module beside its RPC: goals, free space, the base by another localisation, the logger."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gradiva.common import Measurement
from gradiva.middleware import (
    NAMED_ERRORS,
    Element,
    MalformedMessage,
    RateLimitedLog,
    VectorsCollectionServer,
    Vocab32,
    as_items,
    open_port,
    yarp,
)
from gradiva.walking import Signals, WalkingLog, element_names, walking_signals
from gradiva.yarp_modules.robot.sensors import TrueDeflections

_LOGGER = logging.getLogger("gradiva.module")
_TRUE_DEFLECTIONS = tuple(f"simulation::flexible_joints::{name}" for name in ("positions", "velocities", "torques"))
_POSE = 6  # position and roll, pitch, yaw
Take = Callable[[list[float]], None]


class WalkingPorts:
    """Opens and reads the ports ``goal:i``, ``freeSpaceEllipse:in``, ``robotBase:i`` and ``logger``.

    ``robotBase:i`` (x y z roll pitch yaw of the base, [m, rad], by another localisation) is kept and reported by
    getStatus; the walk goes by its own odometry.

    Attributes:
        logger: Signals of each tick.
        robot_base: The last message of ``robotBase:i``; empty before the first.
        refused: Malformed messages so far.
    """

    def __init__(
        self, prefix: str, joints: Sequence[str], flexible: Sequence[str] = (), bending: Sequence[str] = ()
    ) -> None:
        """Take the beginning of all names, and the joints of the robot; see `WalkingLoggerPort`."""
        self._prefix = prefix
        self._inputs = {name: NumberPort(name) for name in ("goal:i", "freeSpaceEllipse:in", "robotBase:i")}
        self._refusals = RateLimitedLog(_LOGGER, 2.0)
        self.logger = WalkingLoggerPort(f"{prefix}/logger", joints, flexible, bending)
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
        """Hand on the messages since the last call; malformed ones are counted and logged."""
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
            self._refusals.warning("refused a message: %s", error, trace=not isinstance(error, NAMED_ERRORS))

    def _take_base(self, numbers: list[float]) -> None:
        self.robot_base = tuple(numbers[:_POSE])


class NumberPort:
    """Takes Vectors, or Bottles of numbers, also of one list of numbers; keeps only the newest message."""

    def __init__(self, what: str) -> None:
        """Take the meaning of the numbers, for messages of errors."""
        self._what = what
        self._port = yarp.BufferedPortBottle()

    def open(self, name: str) -> None:
        """Open the port.

        Raises:
            NetworkError: It could not be opened.
        """
        open_port(self._port, name)

    def take(self) -> list[float] | None:
        """Return the newest message since the last call, or None; does not wait.

        Raises:
            MalformedMessage: It is none of numbers.
        """
        message = self._port.read(False)
        return None if message is None else numbers_in(as_items(message), self._what)

    def close(self) -> None:
        """Close the port."""
        self._port.interrupt()
        self._port.close()


class WalkingLoggerPort:
    """Publishes the signals of the balancing robot as a VectorsCollection, while it has readers."""

    def __init__(
        self, name: str, joints: Sequence[str], flexible: Sequence[str] = (), bending: Sequence[str] = ()
    ) -> None:
        """Take the beginning of the names of the ports, and the names of joints in the description's order.

        Args:
            name: Of the ports.
            joints: Actuated ones.
            flexible: Flexible ones as the controller knows them.
            bending: Flexible ones of the simulated plant.
        """
        self._server = VectorsCollectionServer(name)
        self._joints, self._flexible, self._bending = joints, flexible, bending
        self._known: set[str] = set()
        self._stamp = yarp.Stamp()

    def open(self) -> None:
        """Open the ports.

        Raises:
            NetworkError: They could not be opened.
        """
        self._server.open()

    def close(self) -> None:
        """Close the ports."""
        self._server.close()

    def send(self, time: float, signals: Mapping[str, float | npt.ArrayLike]) -> None:
        """Publish the signals of a tick at ``time`` [s], see `tick_signals`; none of a tick without control loop."""
        if not signals or not (self._server.is_heard or not self._known):  # the names are published in any case
            return
        values = {name: _listed(value) for name, value in signals.items()}
        for name in values.keys() - self._known:
            self._introduce(name, len(values[name]))
        self._stamp.update(time)
        self._server.send(values, self._stamp)

    def _introduce(self, name: str, size: int) -> None:
        is_time = name.startswith("tick::")
        flexible = self._bending if name in _TRUE_DEFLECTIONS else self._flexible
        elements = element_names(name, self._joints, flexible) if not is_time else (name.rpartition("::")[2],)
        self._server.populate_metadata(name, elements or tuple(f"element_{index}" for index in range(size)))
        self._known.add(name)


def tick_signals(
    log: WalkingLog, measurement: Measurement, tick_times: Mapping[str, float], truth: TrueDeflections | None = None
) -> Signals:
    """Return the signals of a tick for loggers; none where the control loop did not run.

    Args:
        log: Of the tick.
        measurement: That it saw.
        tick_times: How long its parts took, [s].
        truth: True deflections of a simulated robot whose links bend, the newest ones.
    """
    if log.desired is None:
        return {}
    signals = walking_signals(log, measurement) | {f"tick::{part}": value for part, value in tick_times.items()}
    if truth is not None and truth.stiffness:
        signals |= dict(zip(_TRUE_DEFLECTIONS, truth.motion, strict=True))
    return signals


def numbers_in(items: Sequence[Element], what: str) -> list[float]:
    """Return the numbers of a message.

    Raises:
        MalformedMessage: There is something else in it.
    """
    if len(items) == 1 and isinstance(items[0], list):
        items = items[0]
    numbers = [float(item) for item in items if isinstance(item, (int, float)) and not isinstance(item, Vocab32)]
    if len(numbers) != len(items) or not items:
        raise MalformedMessage(f"{what}: expected numbers, got {len(items)} values")
    return numbers


def _listed(value: float | npt.ArrayLike) -> list[float]:
    if isinstance(value, float):
        return [value]
    numbers: list[float] = (value if isinstance(value, np.ndarray) else np.asarray(value, dtype=float)).ravel().tolist()
    return numbers
