"""Serve control boards and analog sensors through the bindings of this process."""

from __future__ import annotations

from collections.abc import Callable

from gradiva.middleware import yarp
from gradiva.middleware.bottles import CommandReader, RequestReader, send_ready
from pureyarp.devices import device_servers
from pureyarp.devices.analog_sensors_client import Measurements, Metadata
from pureyarp.devices.control_board_device import ControlBoardDevice
from pureyarp.devices.server_ports import Answer, RawAnswers, ReadyMessage, ServerPorts
from pureyarp.wire.elements import Element, WireFamily


class BoundPorts(ServerPorts):
    """Make the ports of servers from the bindings that were chosen."""

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
        send_ready(port, message)


class ControlBoardServer(device_servers.ControlBoardServer):
    """Serves one part of a robot so that every ``remote_controlboard`` can open it.

    Args:
        name: Such as ``/icubSim/torso``.
        device: What is commanded and measured.
        period: Of the states, [s]; None: only `publish` sends them, for instance in step with a simulation.
        family: Whose messages are spoken; None: as the settings say.
        clock: The time of the states and the answers, [s].
    """

    def __init__(
        self,
        name: str,
        device: ControlBoardDevice,
        period: float | None = 0.01,
        family: WireFamily | None = None,
        clock: Callable[[], float] = yarp.now,
    ) -> None:
        super().__init__(name, device, period, family, clock, BoundPorts())


class AnalogSensorsServer(device_servers.AnalogSensorsServer):
    """Publishes analog sensors as YARP's own server of multiple analog sensors does.

    Args:
        name: Beginning of the names of both ports.
        sensors: The sensors of each kind.
        read: Returns their measurements in the same order, or raises; called from the server's thread, or by `publish`.
        period: Between two messages, [s] of real time; None leaves it to the caller to `publish`.
        clock: The time of the messages, [s].
    """

    def __init__(
        self,
        name: str,
        sensors: Metadata,
        read: Callable[[], Measurements],
        period: float | None = 0.01,
        clock: Callable[[], float] = yarp.now,
    ) -> None:
        super().__init__(name, sensors, read, period, clock, BoundPorts())
