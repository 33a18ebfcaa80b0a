"""Sensors: noise, offsets, resolution and biases on the true measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gradiva.common import ConfigError, ImuMeasurement, Measurement, NDArray, low_pass_gain, so3


class VelocitySource(StrEnum):
    """Source of joint velocities."""

    MEASURED = "measured"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class SensorConfig:
    """Faults of the sensors; noises are standard deviations, drawn anew at each reading.

    Attributes:
        encoder_noise: [rad].
        encoder_offset: Largest constant error of a joint; drawn once, uniform within ±, [rad].
        encoder_resolution: Step of the encoders, 0 for none, [rad].
        velocity_source: Measured, or difference of two readings of the encoders over the time between them.
        velocity_noise: Of measured velocities, [rad/s].
        force_noise: Of each force-torque sensor, [N].
        torque_noise: Of each force-torque sensor, [N·m].
        force_bias: Largest constant error, drawn once, uniform within ±, [N].
        torque_bias: Largest constant error, drawn once, uniform within ±, [N·m].
        gyro_noise: [rad/s].
        tilt_noise: Of the attitude, about each horizontal axis, [rad].
        tilt_correlation_time: After which the tilt's error has faded to 1/e and another has come; 0 for an error drawn
            anew at each reading, [s].
        heading_drift: Largest drift of the IMU's heading, drawn once, uniform within ±, [rad/s].
        delay: Of all sensors, [s].
    """

    encoder_noise: float
    encoder_offset: float
    encoder_resolution: float
    velocity_source: VelocitySource
    velocity_noise: float
    force_noise: float
    torque_noise: float
    force_bias: float
    torque_bias: float
    gyro_noise: float
    tilt_noise: float
    tilt_correlation_time: float
    heading_drift: float
    delay: float

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and value < 0.0:
                raise ConfigError(f"{name}={value}: must not be negative")


class Sensors:
    """Adds offsets, biases, noise and steps to a true measurement; the same seed gives the same errors.

    The order is that of a real encoder: position + offset + noise, rounded, then differentiated.
    """

    def __init__(self, config: SensorConfig, joints: int, wrenches: int, seed: int) -> None:
        self._config = config
        self._random = np.random.default_rng(seed)
        self._offsets = self._random.uniform(-1.0, 1.0, joints) * config.encoder_offset
        scale = np.repeat([config.force_bias, config.torque_bias], 3)
        self._biases = self._random.uniform(-1.0, 1.0, (wrenches, 6)) * scale
        self._heading_rate = self._random.uniform(-1.0, 1.0) * config.heading_drift
        self._tilt_error = np.zeros(2)
        self._tilt_time: float | None = None
        self._last: tuple[float, NDArray, NDArray] | None = None  # time, positions, velocities
        faults = (
            getattr(config, name) for name in config.__dataclass_fields__ if name not in ("delay", "velocity_source")
        )
        self._is_exact = config.velocity_source is VelocitySource.MEASURED and not any(faults)

    def measure(self, truth: Measurement) -> Measurement:
        """Return the measurement with the errors of the sensors."""
        if self._is_exact:
            return truth
        positions = self._positions(truth.joint_positions)
        return Measurement(
            time=truth.time,
            joint_positions=positions,
            joint_velocities=self._velocities(truth, positions),
            joint_torques=truth.joint_torques,
            contact_wrenches=self._wrenches(truth.contact_wrenches),
            imu=None if truth.imu is None else self._imu(truth.imu, truth.time),
            base=truth.base,
        )

    def _positions(self, true_positions: NDArray) -> NDArray:
        config = self._config
        positions = true_positions + self._offsets + self._noise(config.encoder_noise, true_positions.shape)
        if config.encoder_resolution == 0.0:
            return positions
        return config.encoder_resolution * np.round(positions / config.encoder_resolution)

    def _velocities(self, truth: Measurement, positions: NDArray) -> NDArray:
        velocities = truth.joint_velocities
        noise = self._noise(self._config.velocity_noise, velocities.shape)
        if self._config.velocity_source is VelocitySource.MEASURED:
            return velocities + noise
        if self._last is not None:
            time, last_positions, velocities = self._last
            if truth.time > time:
                velocities = (positions - last_positions) / (truth.time - time)
        self._last = (truth.time, positions, velocities)
        return velocities

    def _wrenches(self, true_wrenches: NDArray) -> NDArray:
        wrenches = true_wrenches + self._biases
        shape = (len(wrenches), 3)
        wrenches[:, :3] += self._noise(self._config.force_noise, shape)
        wrenches[:, 3:] += self._noise(self._config.torque_noise, shape)
        return wrenches

    def _imu(self, truth: ImuMeasurement, time: float) -> ImuMeasurement:
        """Gravity corrects the tilt and leaves noise; nothing corrects the heading, which drifts."""
        error = np.zeros(3)
        error[:2] = self._tilt(time)
        error[2] = self._heading_rate * time
        gyro = self._noise(self._config.gyro_noise, (3,))
        return ImuMeasurement(so3.exp(error) @ truth.rotation, truth.angular_velocity + gyro)

    def _tilt(self, time: float) -> NDArray:
        """First-order Gauss-Markov: what is left of the last error, and as much that is new as keeps the deviation."""
        period = math.inf if self._tilt_time is None else time - self._tilt_time
        share = low_pass_gain(self._config.tilt_correlation_time, period)
        new = math.sqrt(share * (2.0 - share)) * self._noise(self._config.tilt_noise, (2,))
        self._tilt_error = (1.0 - share) * self._tilt_error + new
        self._tilt_time = time
        return self._tilt_error

    def _noise(self, deviation: float, shape: tuple[int, ...]) -> NDArray | float:
        return deviation * self._random.standard_normal(shape) if deviation > 0.0 else 0.0
