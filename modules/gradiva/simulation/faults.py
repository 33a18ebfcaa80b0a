"""Faults of sensors and motors that begin at a time or last from the start."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from gradiva.common import ConfigError, ImuMeasurement, Measurement, ModelError, NDArray, nearest_name, so3
from gradiva.robot_model import RobotDescription
from gradiva.simulation.engine import mujoco

_ROOM_TEMPERATURE = 40.0  # [°C] of the motors of a robot at work


class FaultKind(StrEnum):
    """Kinds of faults."""

    FROZEN_WRENCH = "frozen_wrench"
    DEAD_WRENCH = "dead_wrench"
    NAN_WRENCH = "nan_wrench"
    REVERSED_WRENCH = "reversed_wrench"
    TURNED_WRENCH = "turned_wrench"
    ENCODER_OFFSET = "encoder_offset"
    NAN_ENCODER = "nan_encoder"
    DEAD_VELOCITY = "dead_velocity"
    NAN_IMU = "nan_imu"
    FROZEN_IMU = "frozen_imu"
    DEAD_GYROSCOPE = "dead_gyroscope"
    TILTED_IMU = "tilted_imu"
    SILENCE = "silence"
    HOT_MOTOR = "hot_motor"
    WEAK_MOTOR = "weak_motor"

    @property
    def is_of_wrench(self) -> bool:
        """Whether a force-torque sensor fails."""
        return self in (
            FaultKind.FROZEN_WRENCH,
            FaultKind.DEAD_WRENCH,
            FaultKind.NAN_WRENCH,
            FaultKind.REVERSED_WRENCH,
            FaultKind.TURNED_WRENCH,
        )

    @property
    def is_of_joint(self) -> bool:
        """Whether the encoder or the motor of a joint fails."""
        return self in (
            FaultKind.ENCODER_OFFSET,
            FaultKind.NAN_ENCODER,
            FaultKind.DEAD_VELOCITY,
            FaultKind.HOT_MOTOR,
            FaultKind.WEAK_MOTOR,
        )

    @classmethod
    def listed(cls) -> str:
        """Return all kinds in a line, by the name and the value that they need."""
        wrench, joint = ([kind for kind in cls if getattr(kind, of)] for of in ("is_of_wrench", "is_of_joint"))
        others = [kind for kind in cls if not (kind.is_of_wrench or kind.is_of_joint)]
        groups = {"NAME a force-torque sensor": wrench, "NAME a joint": joint, "NAME left empty": others}
        return "; ".join(f"{name}: {', '.join(map(_with_unit, kinds))}" for name, kinds in groups.items())


_UNITS = {
    FaultKind.TURNED_WRENCH: "rad",
    FaultKind.ENCODER_OFFSET: "rad",
    FaultKind.TILTED_IMU: "rad",
    FaultKind.HOT_MOTOR: "°C/s",
    FaultKind.WEAK_MOTOR: "fraction of its torque that is left",
}
"""Units of VALUE, of the kinds that have one."""


def _with_unit(kind: FaultKind) -> str:
    return f"{kind} (VALUE in {_UNITS[kind]})" if kind in _UNITS else str(kind)


_NEEDS_VALUE = (FaultKind.ENCODER_OFFSET, FaultKind.HOT_MOTOR, FaultKind.TURNED_WRENCH, FaultKind.TILTED_IMU)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault over an interval.

    Attributes:
        kind: What fails, and how.
        start: Since the robot's start, [s].
        duration: [s]; None for ever.
        name: Of the force-torque sensor or the joint; empty for the IMU and for the silence of all sensors.
        value: Of an encoder's offset [rad]; by how much a motor gets hotter [°C/s]; which part of its torque a weak
            motor has left, 0 for a dead one [-]; about its z axis by which a force-torque sensor is mounted turned, and
            about its x axis by which an IMU is mounted tilted [rad].
    """

    kind: FaultKind
    start: float
    duration: float | None = None
    name: str = ""
    value: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.start < math.inf:
            raise ConfigError(f"{self.kind} of '{self.name}': start={self.start}, must be 0 s or later, and finite")
        if self.duration is not None and self.duration <= 0.0:
            raise ConfigError(f"{self.kind}: duration={self.duration}, must be positive")
        if bool(self.name) != (self.kind.is_of_wrench or self.kind.is_of_joint):
            of = "a force-torque sensor" if self.kind.is_of_wrench else "a joint"
            needed = "is neither of a joint nor of a force-torque sensor: leave it empty" if self.name else f"name {of}"
            raise ConfigError(f"{self.kind}: name='{self.name}', {needed}")
        if self.kind in _NEEDS_VALUE and self.value == 0.0:
            raise ConfigError(f"{self.kind} of '{self.name}': value=0 is no fault")
        if self.kind is FaultKind.WEAK_MOTOR and not 0.0 <= self.value < 1.0:
            raise ConfigError(f"{self.kind} of '{self.name}': value={self.value}, must lie between 0 and 1")

    def __str__(self) -> str:
        """Return kind, name, value of those that have one, and interval."""
        until = f"to {self.end:.2f} s" if math.isfinite(self.end) else "s on"
        of = f" of {self.name}" if self.name else ""
        value = f" ({self.value:g} {_UNITS[self.kind]})" if self.kind in _UNITS else ""
        return f"{self.kind}{of}{value} from {self.start:.2f} {until}"

    @property
    def end(self) -> float:
        """End of the fault, [s]."""
        return math.inf if self.duration is None else self.start + self.duration

    def is_active(self, time: float) -> bool:
        """Whether it acts at ``time`` [s]."""
        return self.start <= time < self.end


class SensorFaults:
    """Spoils measurements over the intervals of the faults; without faults they pass as they are."""

    def __init__(self, description: RobotDescription) -> None:
        self._joints = description.joints
        self._sensors = tuple(sensor.name for sensor in description.force_torque_sensors)
        self._real = frozenset(sensor.name for sensor in description.real_force_torque_sensors)
        self._faults: list[Fault] = []
        self._frozen: dict[Fault, NDArray | ImuMeasurement] = {}
        self._last: Measurement | None = None

    def add(self, fault: Fault) -> None:
        """Take a fault, now or later.

        Raises:
            ConfigError: Nothing reads the sensor.
            ModelError: The robot has no such joint or sensor.
        """
        names = self._sensors if fault.kind.is_of_wrench else self._joints
        if fault.name and fault.name not in names:
            what = "force-torque sensor" if fault.kind.is_of_wrench else "joint"
            raise ModelError(f"{fault.kind}: no {what} '{fault.name}'{nearest_name(fault.name, names)}")
        if fault.kind.is_of_wrench and fault.name not in self._real:
            raise ConfigError(f"{fault.kind}: no sensor '{fault.name}' is read, its wrench is estimated")
        self._faults.append(fault)

    def misplace(self, truth: Measurement, time: float) -> Measurement:
        """Return the truth with the encoders off, before noise and differences are made of it."""
        shifts = [fault for fault in self._active(time) if fault.kind is FaultKind.ENCODER_OFFSET]
        if not shifts:
            return truth
        positions = truth.joint_positions.copy()
        for fault in shifts:
            positions[self._joints.index(fault.name)] += fault.value
        return replace(truth, joint_positions=positions)

    def spoil(self, measurement: Measurement, time: float) -> Measurement:
        """Return what is read at ``time`` [s] instead of a measurement."""
        if not self._faults:
            self._last = measurement
            return measurement
        active = self._active(time)
        if self._last is not None and self.are_silent(time):
            return self._last
        self._last = replace(
            measurement,
            joint_positions=self._encoders(measurement.joint_positions, active),
            joint_velocities=self._velocities(measurement.joint_velocities, active),
            contact_wrenches=self._wrenches(measurement.contact_wrenches, active),
            imu=self._imu(measurement.imu, active),
            motor_temperatures=self._temperatures(measurement.motor_temperatures, time),
        )
        return self._last

    def are_silent(self, time: float) -> bool:
        """Return whether no sensor sends at ``time`` [s]."""
        return any(fault.kind is FaultKind.SILENCE for fault in self._active(time))

    def _active(self, time: float) -> list[Fault]:
        return [fault for fault in self._faults if fault.is_active(time)]

    def _encoders(self, values: NDArray, active: list[Fault]) -> NDArray:
        values = values.copy()
        for fault in active:
            if fault.kind is FaultKind.NAN_ENCODER:
                values[self._joints.index(fault.name)] = np.nan
        return values

    def _velocities(self, values: NDArray, active: list[Fault]) -> NDArray:
        values = self._encoders(values, active)
        for fault in active:
            if fault.kind is FaultKind.DEAD_VELOCITY:
                values[self._joints.index(fault.name)] = 0.0
        return values

    def _wrenches(self, wrenches: NDArray, active: list[Fault]) -> NDArray:
        wrenches = wrenches.copy()
        for fault in active:
            if fault.kind.is_of_wrench:
                row = self._sensors.index(fault.name)
                wrenches[row] = self._spoilt_wrench(fault, wrenches[row].copy())
        return wrenches

    def _spoilt_wrench(self, fault: Fault, wrench: NDArray) -> NDArray:
        match fault.kind:
            case FaultKind.DEAD_WRENCH:
                return np.zeros(6)
            case FaultKind.NAN_WRENCH:
                return np.full(6, np.nan)
            case FaultKind.REVERSED_WRENCH:
                return -wrench
            case FaultKind.TURNED_WRENCH:
                turn = so3.exp(np.array([0.0, 0.0, fault.value]))
                return np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
            case _:
                return self._frozen.setdefault(fault, wrench)  # type: ignore[return-value]

    def _imu(self, imu: ImuMeasurement | None, active: list[Fault]) -> ImuMeasurement | None:
        kinds = [fault.kind for fault in active]
        if imu is not None and FaultKind.NAN_IMU in kinds:
            return ImuMeasurement(np.full((3, 3), np.nan), np.full(3, np.nan), imu.time)
        for fault in active:
            if fault.kind is FaultKind.FROZEN_IMU and imu is not None:
                frozen = self._frozen.setdefault(fault, imu)
                assert isinstance(frozen, ImuMeasurement), "an IMU's fault keeps nothing else"
                return replace(frozen, time=imu.time)  # its stamps go on
            if fault.kind is FaultKind.DEAD_GYROSCOPE and imu is not None:
                imu = replace(imu, angular_velocity=np.zeros(3))
            if fault.kind is FaultKind.TILTED_IMU and imu is not None:
                mounting = so3.exp(np.array([fault.value, 0.0, 0.0]))
                imu = ImuMeasurement(imu.rotation @ mounting, mounting.T @ imu.angular_velocity, imu.time)
        return imu

    def _temperatures(self, temperatures: NDArray | None, time: float) -> NDArray | None:
        hot = [fault for fault in self._faults if fault.kind is FaultKind.HOT_MOTOR]
        if not hot:
            return temperatures
        temperatures = np.full(len(self._joints), _ROOM_TEMPERATURE)
        for fault in hot:
            temperatures[self._joints.index(fault.name)] += fault.value * max(0.0, min(time, fault.end) - fault.start)
        return temperatures


class MotorFaults:
    """Lowers the torque limits of the engine's actuators over the intervals of the faults."""

    def __init__(self, model: mujoco.MjModel, limits: NDArray) -> None:
        """Take the limits of the healthy motors, which may change from step to step, [N·m], shape (n, 2)."""
        self._model = model
        self._limits = limits
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Take a weak motor, now or later."""
        self._faults.append(fault)

    def apply(self, time: float) -> None:
        """Set the limits of the physics step at ``time`` [s]."""
        for fault in self._faults:
            actuator = self._model.actuator(fault.name).id
            fraction = fault.value if fault.is_active(time) else 1.0
            self._model.actuator_forcerange[actuator] = fraction * self._limits[actuator]
