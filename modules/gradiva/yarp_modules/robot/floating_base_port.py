"""The true motion of the base, which simulators tell; for logs and scores, never for control."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import yarp
from gradiva.middleware.bottles import as_items
from gradiva.middleware.persistent_connections import PersistentConnections
from gradiva.yarp_modules.robot.contact_wrenches import open_port
from gradiva.yarp_modules.robot.remote_imu import rotation_of
from gradiva.yarp_modules.tick_timing import control_time

_NUMBERS = 18  # position, roll pitch yaw, linear and angular velocity, linear and angular acceleration


@dataclass(frozen=True, slots=True, eq=False)
class FloatingBase:
    """Where the base truly is, in world.

    Attributes:
        time: When it was there, by the simulator's stamp, [s].
        position: [m], shape (3,).
        rotation: Shape (3, 3).
        twist: Linear, then angular velocity, [m/s, rad/s], shape (6,).
    """

    time: float
    position: NDArray
    rotation: NDArray
    twist: NDArray


class FloatingBasePort:
    """Keeps the last message of ``<prefix>/floating_base/state:o``."""

    def __init__(self, remote: str) -> None:
        """Prepare; `open` connects."""
        self._remote = remote
        self._port = yarp.BufferedPortBottle()
        self._connections: PersistentConnections | None = None
        self._last: FloatingBase | None = None

    def open(self, local: str, carrier: str) -> None:
        """Open ``<local>/floating_base/state:i`` and connect it.

        Raises:
            RobotInterfaceError: The name is taken.
        """
        name = f"{local}/floating_base/state:i"
        open_port(self._port, name)
        self._connections = PersistentConnections([(self._remote, name, carrier)])
        self._connections.start()

    def close(self) -> None:
        """Close the port."""
        if self._connections is not None:
            self._connections.stop()
        self._port.interrupt()
        self._port.close()

    def read(self) -> FloatingBase | None:
        """Return the last message; None before the first, and of one that is none."""
        message = self._port.read(False)
        if message is not None:
            numbers = [item for item in as_items(message) if isinstance(item, int | float)]
            if len(numbers) == _NUMBERS and np.isfinite(numbers).all():
                self._last = self._base(np.array(numbers, dtype=float))
        return self._last

    def _base(self, numbers: NDArray) -> FloatingBase:
        stamp = yarp.Stamp()
        time = stamp.getTime() if self._port.getEnvelope(stamp) and stamp.isValid() else control_time()
        return FloatingBase(time, numbers[:3], rotation_of(numbers[3:6]), numbers[6:12])
