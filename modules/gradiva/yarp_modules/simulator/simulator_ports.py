"""The ports of a simulated robot, those that the Gazebo YARP plug-ins open; pushes and faults as commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from gradiva.common import nearest_name
from gradiva.middleware import (
    NAMED_ERRORS,
    AnalogSensorsServer,
    AnyPort,
    BoundPorts,
    ClockMessage,
    ControlBoardServer,
    Element,
    Measurements,
    NetworkError,
    RequestReader,
    SensorClass,
    TypedList,
    fill_bottle,
    open_port,
    send_ready,
    yarp,
)
from gradiva.robot_model import Environment
from gradiva.simulation import Fault, FaultKind, Push
from gradiva.yarp_modules.rpc_commands import fail, ok, word
from gradiva.yarp_modules.simulator.simulated_world import SimulatedWorld, WorldSample

PUSH_FORMAT = "link fx fy fz tx ty tz duration"
PUSH_HELP = (
    f"{PUSH_FORMAT}   forces in N, torques in N·m, axes of the world, at the link's centre of mass; duration in s"
)
PushLink = Callable[[str, tuple[float, ...], tuple[float, ...], float], Push]
FAULT_FORMAT = "KIND SECONDS [NAME [VALUE]]"
FAULT_HELP = f"fault {FAULT_FORMAT}   from now on, for ever if 0 s; KIND: {' '.join(FaultKind)}"
_LISTENER_PERIOD = 0.1  # [s] of real time between two looks: asking a port costs as much as sending a short message
CLOCK = "/clock"
_LARGEST_COUNT = 2**31 - 1


class SimulatorPorts:
    """Opens the ports and sends samples through them; ports without listeners cost nothing.

    ======================================  ==========================================================================
    Port                                    Content
    ======================================  ==========================================================================
    ``<prefix>/<part>/…``                   control boards: ``rpc:i command:i state:o stateExt:o``
    ``<prefix>/<server>/measures:o rpc:o``  force-torque and inertial sensors
    ``<prefix>/floating_base/state:o``      18 doubles, world: position, roll pitch yaw, linear and angular velocity,
                                            linear and angular acceleration
    ``<prefix>/flexible_joints/state:o``    of each joint in which a link bends: (name, stiffness [N·m/rad], position
                                            [rad], velocity [rad/s], torque [N·m]); of a rigid robot nothing
    ``<prefix>/applyExternalWrench/rpc:i``  pushes
    ``contact_wrenches``                    ground wrench of each foot's sensor, Vector of 6
    ``/clock``                              (seconds nanoseconds), int32
    ======================================  ==========================================================================
    """

    def __init__(
        self,
        world: SimulatedWorld,
        push: PushLink,
        environment: Environment = Environment.SIMULATION,
        lockstep_timeout: float | None = None,
    ) -> None:
        """Prepare the ports of a robot.

        Args:
            world: The robot.
            push: Called from a port's thread.
            environment: Whose names the ports have.
            lockstep_timeout: For the last message of a port to be sent before the next one, [s]: controllers in
                lockstep wait for each, with the instant at which it is sent as its stamp. None: none waits, and stamps
                are of the instant at which a sensor was sampled, as on robots.
        """
        ports = world.ports
        self._world, self._shows_ages = world, lockstep_timeout is None
        self._bound = BoundPorts(lockstep_timeout or 0.0)
        inertial = {SensorClass.GYROSCOPE, SensorClass.ORIENTATION}
        self._inertial = frozenset(name for name, sensors in world.metadata.items() if inertial & sensors.keys())
        self._boards = {
            name: ControlBoardServer(
                ports.full_name(environment, name), part, None, clock=lambda: world.time, ports=self._bound
            )
            for name, part in world.parts.items()
        }
        self._readings: Mapping[str, Measurements] = {}
        self._servers = {
            name: AnalogSensorsServer(
                ports.full_name(environment, name), sensors, self._reading_of(name), None, ports=self._bound
            )
            for name, sensors in world.metadata.items()
        }
        names = [ports.contact_wrenches[contact] for contact in world.contacts]
        self._wrenches = {name: yarp.BufferedPortVector() for name in names}  # in the order of the rows
        self._base_name = ports.full_name(environment, ports.floating_base)
        self._push_name = ports.full_name(environment, ports.external_wrench)
        self._flexible_name = ports.full_name(environment, ports.flexible_joints)
        self._base, self._clock, self._flexible = (yarp.BufferedPortBottle() for _ in range(3))
        self._push_port = yarp.Port()
        self._push_reader = RequestReader(lambda items: answer_push(items, push))  # the bindings do not keep it alive
        self._count = 0
        self._listeners = ListenerCache(self._listened())

    def open(self) -> None:
        """Open all ports.

        Raises:
            NetworkError: One cannot be opened; none stays open.
        """
        try:
            self._push_port.setReader(self._push_reader)
            plain: dict[str, AnyPort] = {
                self._base_name: self._base,
                self._flexible_name: self._flexible,
                self._push_name: self._push_port,
                CLOCK: self._clock,
            }
            plain.update(self._wrenches)
            for name, port in plain.items():
                open_port(port, name, "does another simulator run?")
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
        ports: list[AnyPort] = [*self._wrenches.values(), self._base, self._flexible, self._push_port, self._clock]
        for port in ports:
            port.interrupt()
            port.close()

    @property
    def wanted(self) -> list[str]:
        """Sensor servers with listeners, and the floating base if it has some."""
        base = [self._world.ports.floating_base] if self._listeners.has_listeners(self._base_name) else []
        return [*(name for name in self._servers if self._listeners.has_listeners(name)), *base]

    def publish(self, sample: WorldSample) -> None:
        """Send a sample: sensors, ground wrenches, base, then the boards; each with its time as Stamp."""
        self._listeners.look()
        count = self._count
        self._count = count + 1 if count < _LARGEST_COUNT else 0
        joints, wrenches, imu = self._times(sample)
        self._readings = sample.sensors
        for name in sample.sensors:
            self._servers[name].publish(imu if name in self._inertial else wrenches)
        self._publish_wrenches(sample, yarp.Stamp(count, wrenches))
        if sample.floating_base is not None:
            fill_bottle(self._base.prepare(), TypedList(float, sample.floating_base.tolist()))
            self._base.setEnvelope(yarp.Stamp(count, sample.time))
            self._base.write()
        if self._listeners.has_listeners(self._flexible_name):
            fill_bottle(self._flexible.prepare(), [[*joint] for joint in self._world.flexible_joints()])
            self._flexible.setEnvelope(yarp.Stamp(count, sample.time))
            self._flexible.write()
        for name, board in self._boards.items():
            if self._listeners.has_listeners(name):
                board.publish(self._world.parts[name].read(), joints)

    def _times(self, sample: WorldSample) -> tuple[float, float, float]:
        """Return the stamps of joints, wrenches and inertial unit, [s]."""
        measurement = sample.measurement
        if not self._shows_ages:
            return sample.time, sample.time, sample.time
        return measurement.time, measurement.wrenches_time, measurement.imu_time

    def publish_time(self, time: float) -> None:
        """Send the clock's time [s], to the nearest nanosecond."""
        if self._listeners.has_listeners(CLOCK):
            send_ready(self._clock, ClockMessage(time))

    def _listened(self) -> dict[str, Callable[[], bool]]:
        """Return, by name, functions that ask each port whether it has listeners."""
        servers: dict[str, ControlBoardServer | AnalogSensorsServer] = {**self._boards, **self._servers}
        others: dict[str, AnyPort] = {self._base_name: self._base, self._flexible_name: self._flexible}
        ports: dict[str, AnyPort] = {**self._wrenches, **others, CLOCK: self._clock}
        asked: dict[str, Callable[[], bool]] = {
            name: partial(_server_has_readers, one) for name, one in servers.items()
        }
        return asked | {name: partial(_port_has_readers, port) for name, port in ports.items()}

    def _reading_of(self, server: str) -> Callable[[], Measurements]:
        return lambda: self._readings[server]

    def _publish_wrenches(self, sample: WorldSample, stamp: yarp.Stamp) -> None:
        for row, (name, port) in enumerate(self._wrenches.items()):
            if self._listeners.has_listeners(name):
                vector = port.prepare()
                vector.resize(6)
                for place, value in enumerate(sample.measurement.contact_wrenches[row].tolist()):
                    vector.set(place, value)
                port.setEnvelope(stamp)
                self._bound.await_sent(port)
                port.write()


class ListenerCache:
    """Caches which of many ports have listeners; a new one is noticed within a tenth of a second.

    Args:
        counts: By name of the port, asks whether the port has listeners.
    """

    def __init__(self, counts: Mapping[str, Callable[[], bool]]) -> None:
        self._counts = counts
        self._with_listeners: frozenset[str] = frozenset()
        self._due = -float("inf")

    def look(self) -> None:
        """Ask the ports, if it is time."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _LISTENER_PERIOD
            self._with_listeners = frozenset(name for name, has_some in self._counts.items() if has_some())

    def has_listeners(self, name: str) -> bool:
        """Return whether a port had listeners at the last look."""
        return name in self._with_listeners


def answer_push(items: Sequence[Element], push: PushLink) -> list[Element]:
    """Push as requested; return ``[ACK] …`` or ``[ERROR] …`` with the reason."""
    if items and items[0] == "help":
        return [PUSH_HELP]
    try:
        link, numbers = _taken_apart(items)
        return [f"[ACK] Correct command format: {push(link, numbers[:3], numbers[3:6], numbers[6])}"]
    except (ValueError, *NAMED_ERRORS) as error:
        return [f"[ERROR] {error}"]


def _taken_apart(items: Sequence[Element]) -> tuple[str, tuple[float, ...]]:
    if len(items) != 8 or not isinstance(items[0], str):
        raise ValueError(f"expected: {PUSH_FORMAT}")
    numbers = tuple(float(item) for item in items[1:] if isinstance(item, int | float))
    if len(numbers) != 7:
        raise ValueError(f"expected seven numbers behind the link: {PUSH_FORMAT}")
    return items[0], numbers


def answer_fault(items: Sequence[Element], time: float, inject: Callable[[Fault], None]) -> list[Element]:
    """Let a sensor or a motor fail as requested.

    Args:
        items: Of the request, behind the word.
        time: Since the robot's start, [s]: when the fault begins.
        inject: Takes the fault; `WalkingError` where the robot has no such joint or sensor.
    """
    try:
        fault = parse_fault(items, time)
        inject(fault)
    except NAMED_ERRORS as error:
        return fail(str(error))
    except ValueError as error:
        return fail(f"{error}; expected: fault {FAULT_FORMAT}")
    return ok(str(fault.kind), ["start", time])


def parse_fault(items: Sequence[Element], time: float) -> Fault:
    """Return the fault of a request.

    Raises:
        ValueError: It is no fault.
        ConfigError: Its values do not fit its kind.
    """
    if not 2 <= len(items) <= 4:
        raise ValueError(f"{len(items)} words")
    kind, duration = items[:2]
    name: Element = items[2] if len(items) > 2 else ""
    value: Element = items[3] if len(items) > 3 else 0.0
    if word(kind) not in list(FaultKind):
        raise ValueError(f"no kind of fault '{word(kind)}'{nearest_name(word(kind), list(FaultKind))}")
    if not isinstance(duration, int | float) or not isinstance(value, int | float) or not isinstance(name, str):
        raise ValueError("seconds and value have to be numbers, the name a word")
    return Fault(FaultKind(word(kind)), time, float(duration) or None, name, float(value))


def _server_has_readers(server: ControlBoardServer | AnalogSensorsServer) -> bool:
    return server.has_readers


def _port_has_readers(port: AnyPort) -> bool:
    return int(port.getOutputCount()) > 0
