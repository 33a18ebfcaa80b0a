"""The ports of a simulated robot: those that the Gazebo YARP plug-ins open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from gradiva.middleware import (
    AnalogSensorsServer,
    ClockMessage,
    ControlBoardServer,
    Measurements,
    NetworkError,
    RequestReader,
    TypedList,
    fill_bottle,
    send_ready,
    yarp,
)
from gradiva.robot_model import Environment
from gradiva.yarp_modules.simulator.audience import Audience
from gradiva.yarp_modules.simulator.external_wrench import PushLink, answer_push
from gradiva.yarp_modules.simulator.simulated_world import SimulatedWorld, WorldSample

AnyPort = yarp.Port | yarp.BufferedPortBottle | yarp.BufferedPortVector

CLOCK = "/clock"
_LARGEST_COUNT = 2**31 - 1


class SimulatorPorts:
    """Opens the ports and sends samples through them; only whoever is connected costs anything.

    ======================================  ==========================================================================
    Port                                    Content
    ======================================  ==========================================================================
    ``<prefix>/<part>/…``                   control boards: ``rpc:i command:i state:o stateExt:o``
    ``<prefix>/<server>/measures:o rpc:o``  force-torque and inertial sensors
    ``<prefix>/floating_base/state:o``      18 doubles, world: position, roll pitch yaw, linear and angular velocity,
                                            linear and angular acceleration
    ``<prefix>/applyExternalWrench/rpc:i``  pushes
    ``contact_wrenches``                    ground wrench of each foot's sensor, Vector of 6
    ``/clock``                              (seconds nanoseconds), int32
    ======================================  ==========================================================================
    """

    def __init__(
        self, world: SimulatedWorld, push: PushLink, environment: Environment = Environment.SIMULATION
    ) -> None:
        """Prepare the ports of ``world``'s robot; ``push`` is called from a port's thread."""
        ports = world.ports
        self._world = world
        self._boards = {
            name: ControlBoardServer(ports.full_name(environment, name), part, None, clock=lambda: world.time)
            for name, part in world.parts.items()
        }
        self._readings: Mapping[str, Measurements] = {}
        self._servers = {
            name: AnalogSensorsServer(ports.full_name(environment, name), sensors, self._reading_of(name), None)
            for name, sensors in world.metadata.items()
        }
        names = [ports.contact_wrenches[contact] for contact in world.contacts]
        self._wrenches = {name: yarp.BufferedPortVector() for name in names}  # in the order of the rows
        self._base_name = ports.full_name(environment, ports.floating_base)
        self._push_name = ports.full_name(environment, ports.external_wrench)
        self._base, self._clock = yarp.BufferedPortBottle(), yarp.BufferedPortBottle()
        self._push_port = yarp.Port()
        self._push_reader = RequestReader(lambda items: answer_push(items, push))  # the bindings do not keep it alive
        self._count = 0
        self._audience = Audience(self._listened())

    def open(self) -> None:
        """Open all ports.

        Raises:
            NetworkError: One cannot be opened; none stays open.
        """
        try:
            self._push_port.setReader(self._push_reader)
            plain: dict[str, AnyPort] = {
                self._base_name: self._base,
                self._push_name: self._push_port,
                CLOCK: self._clock,
            }
            plain.update(self._wrenches)
            for name, port in plain.items():
                if not port.open(name):
                    raise NetworkError(f"port {name} could not be opened: does another simulator run?")
            for server in self._servers.values():
                server.open()
            for board in self._boards.values():
                board.open()
        except NetworkError:
            self.close()
            raise

    def close(self) -> None:
        """Close all ports."""
        servers: list[ControlBoardServer | AnalogSensorsServer] = [*self._boards.values(), *self._servers.values()]
        for server in servers:
            server.close()
        ports: list[AnyPort] = [*self._wrenches.values(), self._base, self._push_port, self._clock]
        for port in ports:
            port.interrupt()
            port.close()

    @property
    def wanted(self) -> list[str]:
        """Sensor servers that somebody listens to, and the floating base if somebody does."""
        base = [self._world.ports.floating_base] if self._audience.hears(self._base_name) else []
        return [*(name for name in self._servers if self._audience.hears(name)), *base]

    def publish(self, sample: WorldSample) -> None:
        """Send a sample: sensors, ground wrenches, base, then the boards; all with its time as Stamp."""
        self._audience.look()
        stamp = yarp.Stamp(self._count, sample.time)
        self._count = self._count + 1 if self._count < _LARGEST_COUNT else 0
        self._readings = sample.sensors
        for name in sample.sensors:
            self._servers[name].publish(sample.time)
        self._publish_wrenches(sample, stamp)
        if sample.floating_base is not None:
            fill_bottle(self._base.prepare(), TypedList(float, sample.floating_base.tolist()))
            self._base.setEnvelope(stamp)
            self._base.write()
        for name, board in self._boards.items():
            if self._audience.hears(name):
                board.publish(self._world.parts[name].read(), sample.time)

    def tell_time(self, time: float) -> None:
        """Send the clock's time [s], to the nearest nanosecond."""
        if self._audience.hears(CLOCK):
            send_ready(self._clock, ClockMessage(time))

    def _listened(self) -> dict[str, Callable[[], bool]]:
        """Return how to ask each port whether somebody listens."""
        servers: dict[str, ControlBoardServer | AnalogSensorsServer] = {**self._boards, **self._servers}
        ports: dict[str, AnyPort] = {**self._wrenches, self._base_name: self._base, CLOCK: self._clock}
        asked: dict[str, Callable[[], bool]] = {
            name: partial(_server_has_readers, one) for name, one in servers.items()
        }
        return asked | {name: partial(_port_has_readers, port) for name, port in ports.items()}

    def _reading_of(self, server: str) -> Callable[[], Measurements]:
        return lambda: self._readings[server]

    def _publish_wrenches(self, sample: WorldSample, stamp: yarp.Stamp) -> None:
        for row, (name, port) in enumerate(self._wrenches.items()):
            if self._audience.hears(name):
                vector = port.prepare()
                vector.resize(6)
                for place, value in enumerate(sample.measurement.contact_wrenches[row].tolist()):
                    vector.set(place, value)
                port.setEnvelope(stamp)
                port.write()


def _server_has_readers(server: ControlBoardServer | AnalogSensorsServer) -> bool:
    return server.has_readers


def _port_has_readers(port: AnyPort) -> bool:
    return int(port.getOutputCount()) > 0
