"""Serve control boards and analog sensors through the bindings of this process."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradiva.middleware import yarp
from gradiva.middleware.bottles import CommandReader, RequestReader, send_ready
from pureyarp.devices import device_servers
from pureyarp.devices.analog_sensors_client import Measurements, Metadata
from pureyarp.devices.control_board_device import ControlBoardDevice
from pureyarp.devices.server_ports import Answer, RawAnswers, ReadyMessage, ServerPorts
from pureyarp.network.buffered_ports import BufferedPort as PurePort
from pureyarp.wire.elements import Element, WireFamily

_LOOK = 0.0002  # [s] between two looks whether a message has been sent


class BoundPorts(ServerPorts):
    """Make the ports of servers from the bindings that were chosen.

    A port of the real bindings drops a message while the last one is being sent, the newest as well, and a reader in
    lockstep then waits in vain. A strict write would wait for ever for a reader that hangs.

    Args:
        timeout: Longest time that a message waits until the one before is sent, [s]; 0: it may be dropped. A reader
            that hangs for longer is not waited for until it has read on.
    """

    def __init__(self, timeout: float = 0.0) -> None:
        self._timeout = timeout
        self._hanging: set[int] = set()

    def output(self) -> yarp.BufferedPortBottle:
        """Return a port that publishes."""
        return yarp.BufferedPortBottle()

    def input(self) -> yarp.Port:
        """Return a port that receives."""
        return yarp.Port()

    def requests(self, answer: Answer, raw_answers: RawAnswers | None = None) -> yarp.PortReader:
        """Return a reader that answers requests."""
        return RequestReader(answer, raw_answers)

    def commands(self, take: Callable[[list[Element]], None]) -> yarp.PortReader:
        """Return a reader that hands commands on."""
        return CommandReader(take)

    def stamp(self, count: int, time: float) -> yarp.Stamp:
        """Return the envelope of a message."""
        return yarp.Stamp(count, time)

    def send(self, port: yarp.BufferedPortBottle, message: ReadyMessage) -> None:
        """Send a message to all who are connected."""
        self.await_sent(port)
        send_ready(port, message)

    def await_sent(self, port: yarp.BufferedPortBottle | yarp.BufferedPortVector) -> None:
        """Wait until a port has sent its last message, up to the timeout; pureyarp's drop no newest one."""
        if self._timeout <= 0.0 or isinstance(port, PurePort):
            return
        deadline = time.monotonic() + (0.0 if id(port) in self._hanging else self._timeout)
        while (is_busy := port.isWriting()) and time.monotonic() < deadline:
            time.sleep(_LOOK)
        (self._hanging.add if is_busy else self._hanging.discard)(id(port))


class ControlBoardServer(device_servers.ControlBoardServer):
    """Serves one part of a robot so that every ``remote_controlboard`` can open it.

    Args:
        name: Such as ``/icubSim/torso``.
        device: What is commanded and measured.
        period: Of the states, [s]; None: only `publish` sends them, for instance in step with a simulation.
        family: Whose messages are spoken; None: as the settings say.
        clock: The time of the states and the answers, [s].
        ports: How its ports send.
    """

    def __init__(
        self,
        name: str,
        device: ControlBoardDevice,
        period: float | None = 0.01,
        family: WireFamily | None = None,
        clock: Callable[[], float] = yarp.now,
        ports: BoundPorts | None = None,
    ) -> None:
        super().__init__(name, device, period, family, clock, ports or BoundPorts())


class AnalogSensorsServer(device_servers.AnalogSensorsServer):
    """Publishes analog sensors as YARP's own server of multiple analog sensors does.

    Args:
        name: Beginning of the names of both ports.
        sensors: The sensors of each kind.
        read: Returns their measurements in the same order, or raises; called from the server's thread, or by `publish`.
        period: Between two messages, [s] of real time; None leaves it to the caller to `publish`.
        clock: The time of the messages, [s].
        ports: How its ports send.
    """

    def __init__(
        self,
        name: str,
        sensors: Metadata,
        read: Callable[[], Measurements],
        period: float | None = 0.01,
        clock: Callable[[], float] = yarp.now,
        ports: BoundPorts | None = None,
    ) -> None:
        super().__init__(name, sensors, read, period, clock, ports or BoundPorts())
