"""Describe a robot on the YARP network: control boards, sensor servers and ports; the types of ``[ports]``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from gradiva.common import ConfigError, nearest_name


class Environment(StrEnum):
    """Distinguishes the simulated robot from the one in the laboratory; their ports differ by the prefix."""

    SIMULATION = "simulation"
    HARDWARE = "hardware"


class MeasuredWrench(StrEnum):
    """Direction of the wrench of a force-torque sensor that lies between a link and its child."""

    CHILD_ON_PARENT = "child_on_parent"
    PARENT_ON_CHILD = "parent_on_child"


class AngleUnit(StrEnum):
    """Unit of angles and, per second, angular velocities of a server of inertial sensors."""

    DEGREES = "degrees"
    RADIANS = "radians"


@dataclass(frozen=True, slots=True)
class ForceTorquePort:
    """A sensor of a ``multipleanalogsensors`` server: force then torque, [N, N·m].

    Attributes:
        name: In the server's data.
        frame: Of the model; the wrench is about its origin and in its axes.
        wrench: Its direction: child on parent, or parent on child.
        joint: Fixed joint of the model at which it lies: it feels all that hangs below. Empty for a sensor that the
            model does not have; it feels the ground alone.
        contact: The sensor of ``RobotDescription.force_torque_sensors`` whose ground wrench it carries; empty for
            those in arms and thighs.
    """

    name: str
    frame: str
    wrench: MeasuredWrench = MeasuredWrench.CHILD_ON_PARENT
    joint: str = ""
    contact: str = ""

    @property
    def sign(self) -> float:
        """Factor from what the child exerts on its parent (a standing foot: upward) to the reading."""
        return 1.0 if self.wrench is MeasuredWrench.CHILD_ON_PARENT else -1.0


@dataclass(frozen=True, slots=True)
class InertialPort:
    """A sensor of a ``multipleanalogsensors`` server: gyroscope, accelerometer and attitude.

    Attributes:
        name: In the server's data.
        frame: Of the model.
    """

    name: str
    frame: str


@dataclass(frozen=True, slots=True)
class ForceTorqueServer:
    """A server of force-torque sensors.

    Attributes:
        name: Of the server, below the robot's prefix.
        sensors: In the server's order.
    """

    name: str
    sensors: tuple[ForceTorquePort, ...]


@dataclass(frozen=True, slots=True)
class InertialServer:
    """A server of inertial sensors; accelerations are m/s².

    Attributes:
        name: Of the server, below the robot's prefix.
        sensors: In the server's order.
        angle_unit: Of its angles and angular velocities.
    """

    name: str
    sensors: tuple[InertialPort, ...]
    angle_unit: AngleUnit = AngleUnit.DEGREES


@dataclass(frozen=True, slots=True)
class RobotPorts:
    """Names of the robot's ports, and what is behind them in which order.

    Attributes:
        prefixes: By environment, such as ``/icubSim``.
        boards: Part, which is the control board below the prefix, to its joints in the order of the board; also those
            that walking does not move.
        force_torque_servers: All of them.
        inertial_servers: All of them.
        walking_imu: The inertial sensor that walking uses.
        contact_wrenches: By sensor of ``RobotDescription.force_torque_sensors``, the full name of the port of
            its ground wrench (Vector of 6, about the origin and in the axes of the sensor's frame).
        floating_base: Port of the true motion of the base, below the prefix; only in simulation.
        external_wrench: Port that takes pushes, below the prefix; only in simulation.
        flexible_joints: Port of the true deflections of links, below the prefix; only of our simulator.
    """

    prefixes: dict[str, str]
    boards: dict[str, tuple[str, ...]]
    force_torque_servers: tuple[ForceTorqueServer, ...]
    inertial_servers: tuple[InertialServer, ...]
    walking_imu: str
    contact_wrenches: dict[str, str]
    floating_base: str = "floating_base/state:o"
    external_wrench: str = "applyExternalWrench/rpc:i"
    flexible_joints: str = "flexible_joints/state:o"

    def __post_init__(self) -> None:
        if set(self.prefixes) != set(Environment):
            raise ConfigError(f"prefixes are needed of {', '.join(Environment)}, not of {', '.join(self.prefixes)}")
        for port in (*self.prefixes.values(), *self.contact_wrenches.values()):
            if not port.startswith("/") or port.endswith("/"):
                raise ConfigError(f"'{port}': names of ports begin with a slash and do not end with one")
        _refuse_twins("joint", (joint for joints in self.boards.values() for joint in joints))
        _refuse_twins("force-torque sensor", (sensor.name for sensor in self.force_torque_sensors))
        imus = [sensor.name for server in self.inertial_servers for sensor in server.sensors]
        _refuse_twins("inertial sensor", imus)
        if self.walking_imu not in imus:
            raise ConfigError(
                f"walking_imu: no inertial sensor '{self.walking_imu}'{nearest_name(self.walking_imu, imus)}"
            )

    @property
    def joints(self) -> tuple[str, ...]:
        """All joints, board by board."""
        return tuple(joint for joints in self.boards.values() for joint in joints)

    @property
    def force_torque_sensors(self) -> tuple[ForceTorquePort, ...]:
        """The sensors of all servers."""
        return tuple(sensor for server in self.force_torque_servers for sensor in server.sensors)

    def full_name(self, environment: Environment, name: str) -> str:
        """Return the name of a board, a server or a port with its prefix: ``/icubSim/left_leg``."""
        return f"{self.prefixes[environment]}/{name}"

    def board_of(self, joint: str) -> str:
        """Return the part that a joint belongs to.

        Raises:
            ConfigError: No control board has it.
        """
        for part, joints in self.boards.items():
            if joint in joints:
                return part
        raise ConfigError(f"no control board has joint '{joint}'{nearest_name(joint, self.joints)}")

    def sensor_of(self, contact: str) -> tuple[ForceTorqueServer, ForceTorquePort]:
        """Return the server and the sensor that carry the ground wrench of one of the description's sensors.

        Raises:
            ConfigError: There is none.
        """
        for server in self.force_torque_servers:
            for sensor in server.sensors:
                if sensor.contact == contact:
                    return server, sensor
        known = [sensor.contact for sensor in self.force_torque_sensors if sensor.contact]
        raise ConfigError(f"no force-torque sensor carries '{contact}'{nearest_name(contact, known)}")

    def imu(self) -> tuple[InertialServer, InertialPort]:
        """Return the server and the sensor of the inertial unit that walking uses."""
        wired = ((server, sensor) for server in self.inertial_servers for sensor in server.sensors)
        return next((server, sensor) for server, sensor in wired if sensor.name == self.walking_imu)

    def without_contacts(self) -> RobotPorts:
        """Return the ports of the same robot without force-torque sensors in its feet."""
        servers = [
            replace(server, sensors=tuple(sensor for sensor in server.sensors if not sensor.contact))
            for server in self.force_torque_servers
        ]
        kept = tuple(server for server in servers if server.sensors)
        return replace(self, force_torque_servers=kept, contact_wrenches={})

    def check(self, joints: Iterable[str], contacts: Iterable[str]) -> None:
        """Pass when every joint and every ground wrench that walking needs has its port.

        Raises:
            ConfigError: One has none; carries which.
        """
        for joint in joints:
            self.board_of(joint)
        for contact in contacts:
            self.sensor_of(contact)
            if contact not in self.contact_wrenches:
                raise ConfigError(f"contact_wrenches: no port for '{contact}'")


def _refuse_twins(kind: str, names: Iterable[str]) -> None:
    twins = [name for name, count in Counter(names).items() if count > 1]
    if twins:
        raise ConfigError(f"{kind} '{twins[0]}' is named twice")
