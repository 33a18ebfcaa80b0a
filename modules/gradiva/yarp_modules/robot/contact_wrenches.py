"""Reads the wrenches that the ground exerts on the feet, from sensors or from an estimator."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import PersistentConnections, RateLimitedLog, yarp
from gradiva.robot_model import Environment, ForceTorqueMount, IdynTreeModel, force_torque_mount
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot.sensors import Sensor, SensorClient, SourceClock, open_port

_LOGGER = logging.getLogger("gradiva.robot")


class WrenchSource(StrEnum):
    """Names the sources of the ground's wrenches."""

    SENSORS = "sensors"
    ESTIMATED = "estimated"


class ContactWrenches(Protocol):
    """Reads the rows of ``Measurement.contact_wrenches``."""

    @property
    def names(self) -> Sequence[str]:
        """Source of each row, for messages."""
        ...

    @property
    def ports(self) -> Sequence[str]:
        """Which ports of the robot have to be there."""
        ...

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return source, destination and carrier of the connections that its devices make once, below ``local``."""
        ...

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Reach the sources, ports below ``local``.

        Raises:
            RobotInterfaceError: One is not there.
        """
        ...

    def close(self) -> None:
        """Leave the sources."""
        ...

    def read(self, clocks: Sequence[SourceClock]) -> NDArray:
        """Return one row a sensor, [N, N·m], shape (sensors, 6), and update their clocks; NaN where there is none."""
        ...


class SensedWrenches:
    """Reads force-torque sensors: changes frame and sign, subtracts the weight of the foot.

    Sensors that are faster than the control are sampled, not averaged: the client hands out the last message alone.
    """

    def __init__(self, model: IdynTreeModel, environment: Environment) -> None:
        """Find the server and the sensor of each row.

        Raises:
            ModelError: A sensor does not sit on the foot that the description names.
            ConfigError: A row has no sensor.
        """
        ports = model.description.ports
        assert ports is not None, "checked by YarpRobot"
        self._servers: dict[str, SensorClient] = {}
        self._sources: list[tuple[str, str]] = []
        self._mounts: list[ForceTorqueMount] = []
        self._sensors: list[Sensor] = []
        for contact in model.description.real_force_torque_sensors:
            server, sensor = ports.sensor_of(contact.name)
            remote = ports.full_name(environment, server.name)
            self._servers.setdefault(remote, SensorClient(remote))
            self._sources.append((remote, sensor.name))
            self._mounts.append(force_torque_mount(model, sensor, contact))

    @property
    def names(self) -> Sequence[str]:
        """Sensor and server of each row."""
        return [f"{sensor} of {remote}" for remote, sensor in self._sources]

    @property
    def ports(self) -> Sequence[str]:
        """Those of the servers."""
        return [port for server in self._servers.values() for port in server.ports]

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return those of the servers."""
        return [each for server in self._servers.values() for each in server.connections(local, carrier)]

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Reach the servers."""
        for server in self._servers.values():
            server.open(local, carrier, max_age)
        self._sensors = [self._servers[remote].force_torque(sensor) for remote, sensor in self._sources]

    def close(self) -> None:
        """Leave the servers."""
        for server in self._servers.values():
            server.close()

    def read(self, clocks: Sequence[SourceClock]) -> NDArray:
        """Return the ground's wrenches."""
        rows = np.full((len(self._sensors), 6), np.nan)
        for row, (sensor, mount) in enumerate(zip(self._sensors, self._mounts, strict=True)):
            if (sample := sensor.read()) is not None:
                clocks[row].update(sample[1], control_time())
                rows[row] = mount.ground_wrench(sample[0])
        return rows


class EstimatedWrenches:
    """Reads the ports of ``wholeBodyDynamics``, which knows the weight and the motion of the feet."""

    def __init__(self, model: IdynTreeModel) -> None:
        """Take the names of the ports from the description."""
        ports = model.description.ports
        assert ports is not None, "checked by YarpRobot"
        self._remotes = [
            ports.contact_wrenches[contact.name] for contact in model.description.real_force_torque_sensors
        ]
        self._ports = [yarp.BufferedPortVector() for _ in self._remotes]
        self._last = np.full((len(self._remotes), 6), np.nan)
        self._connections: PersistentConnections | None = None
        self._malformed = RateLimitedLog(_LOGGER)

    @property
    def names(self) -> Sequence[str]:
        """The port of each row."""
        return self._remotes

    @property
    def ports(self) -> Sequence[str]:
        """The port of each row."""
        return self._remotes

    def connections(self, local: str, carrier: str) -> list[tuple[str, str, str]]:
        """Return none: those of the ports are looked after all the time."""
        return []

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Open a port for each row, such as ``<local>/left_foot/cartesianEndEffectorWrench:i``, and connect it."""
        names = [local + input_name(remote) for remote in self._remotes]
        for port, name in zip(self._ports, names, strict=True):
            open_port(port, name)
        pairs = [(remote, name, carrier) for remote, name in zip(self._remotes, names, strict=True)]
        self._connections = PersistentConnections(pairs)
        self._connections.start()

    def close(self) -> None:
        """Close the ports."""
        if self._connections is not None:
            self._connections.stop()
        for port in self._ports:
            port.interrupt()
            port.close()

    def read(self, clocks: Sequence[SourceClock]) -> NDArray:
        """Return the last wrenches, as they came."""
        for row, port in enumerate(self._ports):
            message = port.read(False)
            if message is None:
                continue
            if message.size() != 6:
                self._malformed.warning("%s sent %d numbers, not 6", self._remotes[row], message.size())
                continue
            stamp = yarp.Stamp()
            is_stamped = port.getEnvelope(stamp) and stamp.isValid()
            now = control_time()
            clocks[row].update(stamp.getTime() if is_stamped else now, now)
            self._last[row] = [message.get(place) for place in range(6)]
        return self._last.copy()


def contact_wrenches(model: IdynTreeModel, environment: Environment, source: WrenchSource) -> ContactWrenches:
    """Return the source of the wrenches that the configuration names."""
    if source is WrenchSource.ESTIMATED:
        return EstimatedWrenches(model)
    return SensedWrenches(model, environment)


def input_name(remote: str) -> str:
    """Return the end of our port's name for ``/wholeBodyDynamics/left_foot/cartesianEndEffectorWrench:o``."""
    return "/" + "/".join(remote.removesuffix(":o").split("/")[2:]) + ":i"
