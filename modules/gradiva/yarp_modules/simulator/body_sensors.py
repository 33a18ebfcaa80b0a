"""Computes the readings of a simulated robot's sensor servers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from gradiva.common import Measurement, ModelError, NDArray, so3
from gradiva.middleware import Measurements, SensorClass, SensorMeasurement, SensorMetadata
from gradiva.robot_model import AngleUnit, ForceTorquePort, InertialPort, InertialServer, RobotDescription, RobotPorts
from gradiva.simulation import BodyProbes, Cut, Fault, FaultKind

_INERTIAL = (SensorClass.GYROSCOPE, SensorClass.LINEAR_ACCELEROMETER, SensorClass.ORIENTATION)
Metadata = dict[SensorClass, list[SensorMetadata]]


@dataclass(frozen=True, slots=True, eq=False)
class _Mount:
    """Transforms the ground wrench of a foot's sensor to the frame of its server.

    Attributes:
        row: Of ``Measurement.contact_wrenches``.
        rotation: Of the frame of the row in that of the server's sensor, shape (3, 3).
        position: Of its origin there, [m], shape (3,).
    """

    row: int
    rotation: NDArray
    position: NDArray


class BodySensors:
    """Turns measurements and the probes of the plant into the messages of all sensor servers.

    Sensors in the feet measure the ground's wrench of the measurement, noise and faults included, and the weight and
    inertia below them; one that is frozen, by a fault, repeats all of its reading. The inertial unit of walking has
    the measurement's attitude and rate, others the truth.
    """

    def __init__(self, description: RobotDescription, ports: RobotPorts, probes: BodyProbes) -> None:
        """Find all sensors in the model.

        Raises:
            ModelError: The model lacks a joint or frame of a sensor.
        """
        self._ports = ports
        self._probes = probes
        imu = ports.imu()[1]
        pose = probes.pose_between(description.imu_frame, imu.frame)
        if pose is None:
            raise ModelError(f"sensor '{imu.name}' is not rigidly connected to '{description.imu_frame}'")
        self._imu_turn = pose[:3, :3]  # of the measurement's frame in the sensor's
        rows = {sensor.name: row for row, sensor in enumerate(description.force_torque_sensors)}
        frames = [sensor.frame for sensor in description.force_torque_sensors]
        self._mounts = {
            sensor.name: self._mount(sensor, rows[sensor.contact], frames[rows[sensor.contact]])
            for sensor in ports.force_torque_sensors
            if sensor.contact
        }
        self._last: dict[str, NDArray] = {}  # reading of each foot's sensor
        self._freezes: list[Fault] = []

    def note_fault(self, fault: Fault) -> None:
        """Take a fault; a sensor that freezes in the air would else pass for one without ground contact."""
        if fault.kind is FaultKind.FROZEN_WRENCH:
            self._freezes.append(fault)

    def metadata(self) -> dict[str, Metadata]:
        """Return the names of each server's sensors."""
        readings: dict[str, Metadata] = {}
        for force_server in self._ports.force_torque_servers:
            readings[force_server.name] = {
                SensorClass.FORCE_TORQUE: [SensorMetadata(sensor.name, sensor.name) for sensor in force_server.sensors]
            }
        for server in self._ports.inertial_servers:
            sensors = [SensorMetadata(sensor.name, sensor.name) for sensor in server.sensors]
            readings[server.name] = dict.fromkeys(_INERTIAL, sensors)
        return readings

    def read(self, measurement: Measurement, time: float, wanted: Collection[str]) -> dict[str, Measurements]:
        """Return the readings of the ``wanted`` servers at ``time`` [s]."""
        if wanted:
            self._probes.refresh()
        readings: dict[str, Measurements] = {}
        inner = self._inner_wrenches(wanted)
        for force_server in self._ports.force_torque_servers:
            if force_server.name in wanted:
                wrenches = [self._wrench(sensor, measurement, inner) for sensor in force_server.sensors]
                readings[force_server.name] = {SensorClass.FORCE_TORQUE: [_sample(wrench, time) for wrench in wrenches]}
        for server in self._ports.inertial_servers:
            if server.name in wanted:
                readings[server.name] = self._inertial_units(server, measurement, time)
        return readings

    def _mount(self, sensor: ForceTorquePort, row: int, frame: str) -> _Mount:
        pose = self._probes.pose_between(frame, sensor.frame)
        if pose is None:
            raise ModelError(f"sensor '{sensor.name}' is not rigidly connected to '{frame}'")
        return _Mount(row, pose[:3, :3], pose[:3, 3])

    def _inner_wrenches(self, wanted: Collection[str]) -> dict[str, NDArray]:
        """Return the wrenches of the bodies below the wanted servers' sensors, by sensor; soles left out."""
        servers = [server for server in self._ports.force_torque_servers if server.name in wanted]
        sensors = [sensor for server in servers for sensor in server.sensors if sensor.joint]
        cuts = tuple(Cut(sensor.joint, sensor.frame, sensor.contact) for sensor in sensors)
        return dict(zip((sensor.name for sensor in sensors), self._probes.wrenches(cuts), strict=True))

    def _wrench(self, sensor: ForceTorquePort, measurement: Measurement, inner: Mapping[str, NDArray]) -> NDArray:
        if sensor.name not in self._mounts:
            return sensor.sign * inner[sensor.name]
        if self._is_frozen(sensor.contact, measurement.time) and sensor.name in self._last:
            return self._last[sensor.name]
        mount = self._mounts[sensor.name]
        ground = measurement.contact_wrenches[mount.row]
        force = mount.rotation @ ground[:3]
        moment = mount.rotation @ ground[3:] + so3.cross(mount.position, force)
        reading = np.concatenate([force, moment])
        if sensor.joint:
            reading += inner[sensor.name]
        self._last[sensor.name] = sensor.sign * reading
        return self._last[sensor.name]

    def _is_frozen(self, contact: str, time: float) -> bool:
        return any(fault.name == contact and fault.is_active(time) for fault in self._freezes)

    def _inertial_units(self, server: InertialServer, measurement: Measurement, time: float) -> Measurements:
        scale = math.degrees(1.0) if server.angle_unit is AngleUnit.DEGREES else 1.0
        rates, accelerations, attitudes = [], [], []
        for sensor in server.sensors:
            rotation, rate, acceleration = self._inertial_unit(sensor, measurement)
            rates.append(_sample(scale * rate, time))
            accelerations.append(_sample(acceleration, time))
            attitudes.append(_sample(scale * so3.roll_pitch_yaw(rotation), time))
        return dict(zip(_INERTIAL, (rates, accelerations, attitudes), strict=True))

    def _inertial_unit(self, sensor: InertialPort, measurement: Measurement) -> tuple[NDArray, NDArray, NDArray]:
        truth = self._probes.inertial(sensor.frame)
        if measurement.imu is None or sensor.name != self._ports.walking_imu:
            return truth.rotation, truth.angular_velocity, truth.acceleration
        turn = self._imu_turn
        return measurement.imu.rotation @ turn.T, turn @ measurement.imu.angular_velocity, truth.acceleration


def _sample(values: NDArray, time: float) -> SensorMeasurement:
    return SensorMeasurement(tuple(values.tolist()), time)
