"""Sensors: streams of samples, and noise, offsets, resolution, biases, drift and filters on the true measurement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum

import numpy as np

from gradiva.common import ImuMeasurement, Measurement, NDArray, configuration, low_pass_gain, setting, so3
from gradiva.simulation.transport import DrawnValues, StreamConfig, effect_generator

_LANDING_FORCE = 30.0  # [N] along the normal: a foot has touched down
_STREAMS = ("joints", "wrenches", "imu")
_DRIFT_TIME = 300.0  # [s] correlation time of the drift of wrenches and of the gyroscope's bias
_SCALES = ("wrench_range_ratio", "gyro_bandwidth")
_NO_ERRORS = (*_SCALES, "tilt_correlation_time")  # numbers that alone change no reading


class VelocitySource(StrEnum):
    """Source of joint velocities."""

    MEASURED = "measured"
    DIFFERENCE = "difference"


class ReadingSource(StrEnum):
    """Source of wrenches: the sensor, or the low pass of the robot's own estimation behind it."""

    RAW = "raw"
    FILTERED = "filtered"


_WRENCH_CUTOFF = 2.0  # [Hz] of the low pass of filtered wrenches
_LANDING_DURATION = 0.035  # [s] after a touch-down, in which the gyroscope has more noise


@configuration
class EncoderErrors:
    """Errors of the encoders of joints and motors.

    Attributes:
        encoder_noise: [rad].
        encoder_offset: Largest error of a joint's zero, [rad].
        encoder_resolution: Step of the joint encoders, 0 for none, [rad].
        velocity_source: Measured, or difference of two samples of the encoders over the time between them.
        velocity_noise: Of measured velocities, [rad/s].
        velocity_resolution: Step of measured velocities, that of the motor encoders; 0 for none, [rad/s].
    """

    encoder_noise: float = setting("rad", least=0.0)
    encoder_offset: float = setting("rad", least=0.0, most=math.pi)
    encoder_resolution: float = setting("rad", least=0.0)
    velocity_source: VelocitySource
    velocity_noise: float = setting("rad/s", least=0.0)
    velocity_resolution: float = setting("rad/s", least=0.0)


@configuration
class ForceTorqueErrors:
    """Errors of the force-torque sensors.

    Attributes:
        wrench_source: Raw, or behind a low pass.
        force_noise: Of each force-torque sensor, [N].
        torque_noise: Of each force-torque sensor, [N·m].
        force_bias: Largest constant error, [N].
        torque_bias: Largest constant error, [N·m].
        force_drift: Standard deviation to which a zeroed sensor drifts in the long run, [N].
        torque_drift: The same of torques, [N·m].
        wrench_gain_error: Largest relative error of a component's gain, [-].
        wrench_cross_talk: Largest fraction of one component that another one reads, both over their ranges, [-].
        wrench_range_ratio: Range of the sensors' torques over that of their forces, [m].
    """

    wrench_source: ReadingSource
    force_noise: float = setting("N", least=0.0)
    torque_noise: float = setting("N·m", least=0.0)
    force_bias: float = setting("N", least=0.0)
    torque_bias: float = setting("N·m", least=0.0)
    force_drift: float = setting("N", least=0.0)
    torque_drift: float = setting("N·m", least=0.0)
    wrench_gain_error: float = setting("-", least=0.0)
    wrench_cross_talk: float = setting("-", least=0.0)
    wrench_range_ratio: float = setting("m", above=0.0)

    @property
    def time_constant(self) -> float:
        """Time constant of the low pass on wrenches, 0 where they are raw, [s]."""
        return 0.0 if self.wrench_source is ReadingSource.RAW else 1.0 / (2.0 * math.pi * _WRENCH_CUTOFF)


@configuration
class InertialErrors:
    """Errors of the inertial unit.

    Attributes:
        gyro_noise: White, [rad/s].
        gyro_noise_density: One-sided, white up to the bandwidth, [rad/s/√Hz].
        gyro_bandwidth: At which the gyroscope's gain has fallen by 3 dB, [Hz].
        gyro_bias: Largest constant error of an axis, [rad/s].
        gyro_drift: Standard deviation of the slow part of the bias, [rad/s].
        tilt_noise: Of the attitude, about each horizontal axis, [rad].
        tilt_correlation_time: Of the tilt's error; 0 for an error drawn anew for each sample, [s].
        tilt_bias: Largest constant error of the attitude about each horizontal axis, [rad].
        heading_drift: Largest drift of the IMU's heading, [rad/s].
        landing_gyro_noise: Further white noise of the gyroscope after a foot has touched down, [rad/s].
    """

    gyro_noise: float = setting("rad/s", least=0.0)
    gyro_noise_density: float = setting("rad/s/√Hz", least=0.0)
    gyro_bandwidth: float = setting("Hz", above=0.0)
    gyro_bias: float = setting("rad/s", least=0.0)
    gyro_drift: float = setting("rad/s", least=0.0)
    tilt_noise: float = setting("rad", least=0.0, most=math.pi)
    tilt_correlation_time: float = setting("s", least=0.0)
    tilt_bias: float = setting("rad", least=0.0, most=math.pi)
    heading_drift: float = setting("rad/s", least=0.0)
    landing_gyro_noise: float = setting("rad/s", least=0.0)


@configuration
class SensorConfig:
    """Streams and errors of the sensors; noises are standard deviations, drawn anew for each sample.

    "Largest" errors are drawn once, uniform within ±; drifts are of first order (Gauss-Markov).

    Attributes:
        joints: Stream of positions, velocities and torques.
        wrenches: Stream of the force-torque sensors; a sample is the mean over its period.
        imu: Stream of the inertial unit.
        encoders: Errors of positions and velocities.
        force_torque: Errors of the wrenches.
        inertial: Errors of the inertial unit.
    """

    joints: StreamConfig
    wrenches: StreamConfig
    imu: StreamConfig
    encoders: EncoderErrors
    force_torque: ForceTorqueErrors
    inertial: InertialErrors

    @property
    def streams(self) -> dict[str, StreamConfig]:
        """The three streams by their names."""
        return {name: getattr(self, name) for name in _STREAMS}

    @property
    def is_exact(self) -> bool:
        """Whether a measurement is the truth: no error is switched on."""
        errors = (asdict(table) for table in (self.encoders, self.force_torque, self.inertial))
        numbers = [number for table in errors for name, number in table.items() if name not in _NO_ERRORS]
        is_measured = self.encoders.velocity_source is VelocitySource.MEASURED
        return is_measured and not any(number for number in numbers if isinstance(number, float))

    @property
    def gyro_deviation(self) -> float:
        r"""Standard deviation that the gyroscope's noise density makes, [rad/s].

        :math:`\sigma = N \sqrt{\min(f_s / 2, \tfrac{\pi}{2} f)}` with the density N, the bandwidth f of a first-order
        low pass and the sampling rate :math:`f_s`.
        """
        band = 0.5 * math.pi * self.inertial.gyro_bandwidth
        if self.imu.period > 0.0:
            band = min(band, 0.5 / self.imu.period)
        return self.inertial.gyro_noise_density * math.sqrt(band)


class GaussMarkov:
    r"""Noise of first order: :math:`x_k = a x_{k-1} + \sigma \sqrt{1 - a^2} n_k`, :math:`a = e^{-\Delta t / T}`.

    Its standard deviation is :math:`\sigma`, and the correlation of two values falls to 1/e after T; T = 0 is white.
    """

    def __init__(self, deviation: float, time_constant: float, size: int, random: np.random.Generator) -> None:
        """Begin; the first value is drawn with the whole deviation."""
        self._deviation = deviation
        self._time_constant = time_constant
        self._random = random
        self._value = np.zeros(size)
        self._time: float | None = None

    def zero(self, time: float) -> None:
        """Begin at zero at ``time`` [s]: after a time t the deviation is σ √(1 − exp(−2t / T))."""
        self._time = time

    def at(self, time: float) -> NDArray:
        """Return the noise at ``time`` [s], which must not decrease, shape (size,)."""
        if self._deviation == 0.0:
            return self._value
        period = math.inf if self._time is None else time - self._time
        gain = low_pass_gain(self._time_constant, period)
        new = math.sqrt(gain * (2.0 - gain)) * self._deviation
        self._value = (1.0 - gain) * self._value + new * self._random.standard_normal(len(self._value))
        self._time = time
        return self._value


class Sensors:
    """Adds the errors of the sensors to a true measurement; the same seed gives the same errors."""

    def __init__(self, config: SensorConfig, joints: int, wrenches: int, seed: int) -> None:
        """Draw the constant errors of so many joints and force-torque sensors."""
        self._joints = JointSensors(config.encoders, joints, seed)
        self._wrenches = WrenchSensors(config.force_torque, wrenches, seed)
        self._imu = InertialSensor(config, seed)
        self._last: Measurement | None = None
        self._config, self._is_exact = config, config.is_exact

    def drawn(self, joints: Sequence[str], wrenches: Sequence[str]) -> list[DrawnValues]:
        """Return the constant errors of these joints and force-torque sensors."""
        wrench, inertial, imu = self._config.force_torque, self._config.inertial, self._imu
        axes = ("fx", "fy", "fz", "tx", "ty", "tz")
        sensors = [f"{name} {axis}" for name in wrenches for axis in axes]
        scale = np.tile(np.repeat([wrench.force_bias, wrench.torque_bias], 3), len(wrenches))
        return [
            DrawnValues.within(
                "encoder offset", "rad", joints, self._joints.offsets, self._config.encoders.encoder_offset
            ),
            DrawnValues.within("wrench offset", "N, N·m", sensors, self._wrenches.biases, scale),
            DrawnValues.within("gyroscope bias", "rad/s", ("x", "y", "z"), imu.bias, inertial.gyro_bias),
            DrawnValues.within("tilt bias of the IMU", "rad", ("roll", "pitch"), imu.tilt_bias, inertial.tilt_bias),
            DrawnValues.within(
                "heading drift", "rad/s", ("yaw",), np.array([imu.heading_rate]), inertial.heading_drift
            ),
        ]

    def measure(self, truth: Measurement, joints: bool = True, wrenches: bool = True, imu: bool = True) -> Measurement:
        """Return the measurement with the errors of the sensors.

        Args:
            truth: Without errors.
            joints: Whether the sample of the joints is a new one; else it is read again as it was.
            wrenches: The same of the force-torque sensors.
            imu: The same of the inertial unit.
        """
        if self._is_exact:
            return truth
        last = self._last
        if last is None:
            last, joints, wrenches, imu = truth, True, True, True
        positions, velocities = last.joint_positions, last.joint_velocities
        if joints:
            positions, velocities = self._joints.measure(truth)
        read_wrenches = self._wrenches.measure(truth) if wrenches else last.contact_wrenches
        read_imu = last.imu
        if imu and truth.imu is not None:
            read_imu = self._imu.measure(truth.imu, truth.imu_time, self._wrenches.landing_time)
        self._last = Measurement(
            time=truth.time,
            joint_positions=positions,
            joint_velocities=velocities,
            joint_torques=truth.joint_torques,
            contact_wrenches=read_wrenches,
            imu=read_imu,
            base=truth.base,
            contact_wrenches_time=truth.contact_wrenches_time,
            deflections=truth.deflections,
        )
        return self._last


class JointSensors:
    """Encoders of joints and motors. The order is theirs: position + offset + noise, rounded, then differentiated."""

    def __init__(self, config: EncoderErrors, joints: int, seed: int) -> None:
        self._config = config
        self._position_noise = effect_generator(seed, "encoder_noise")
        self._velocity_noise = effect_generator(seed, "velocity_noise")
        self.offsets = config.encoder_offset * effect_generator(seed, "encoder_offset").uniform(-1.0, 1.0, joints)
        self._last: tuple[float, NDArray, NDArray] | None = None  # time, positions, velocities

    def measure(self, truth: Measurement) -> tuple[NDArray, NDArray]:
        """Return positions [rad] and velocities [rad/s], shape (n,) each."""
        config = self._config
        positions = truth.joint_positions + self.offsets
        positions = quantised(
            positions + _white(config.encoder_noise, positions, self._position_noise), config.encoder_resolution
        )
        if config.velocity_source is VelocitySource.DIFFERENCE:
            return positions, self._difference(truth, positions)
        velocities = truth.joint_velocities
        velocities = velocities + _white(config.velocity_noise, velocities, self._velocity_noise)
        return positions, quantised(velocities, config.velocity_resolution)

    def _difference(self, truth: Measurement, positions: NDArray) -> NDArray:
        velocities = truth.joint_velocities
        if self._last is not None:
            time, last_positions, velocities = self._last
            if truth.time > time:
                velocities = (positions - last_positions) / (truth.time - time)
        self._last = (truth.time, positions, velocities)
        return velocities


class WrenchSensors:
    r"""Force-torque sensors: :math:`w = G \, w_{true} + b + d(t) + n`.

    G is the gain matrix that is left after the calibration, b the offset, d the drift since the sensor was zeroed.

    Attributes:
        landing_time: When a sensor last felt its foot touch down, [s]; −∞ before.
    """

    def __init__(self, config: ForceTorqueErrors, sensors: int, seed: int) -> None:
        self._random = effect_generator(seed, "wrench_noise")
        self._noise = np.repeat([config.force_noise, config.torque_noise], 3)
        scale = np.repeat([config.force_bias, config.torque_bias], 3)
        self.biases = scale * effect_generator(seed, "wrench_bias").uniform(-1.0, 1.0, (sensors, 6))
        self._drift_scale = np.repeat([config.force_drift, config.torque_drift], 3)
        drifts = float(self._drift_scale.any())
        random = effect_generator(seed, "wrench_drift")
        self._drift = GaussMarkov(drifts, _DRIFT_TIME, 6 * sensors, random)
        self._drift.zero(0.0)
        self._gains = gain_matrices(config, sensors, seed)
        self._is_loaded = np.ones(sensors, dtype=bool)
        self.landing_time = -math.inf

    def measure(self, truth: Measurement) -> NDArray:
        """Return the readings, [N, N·m], shape (sensors, 6)."""
        wrenches, time = truth.contact_wrenches, truth.wrenches_time
        is_loaded = wrenches[:, 2] > _LANDING_FORCE
        if (is_loaded & ~self._is_loaded).any():
            self.landing_time = time
        self._is_loaded = is_loaded
        drift = self._drift_scale * self._drift.at(time).reshape(wrenches.shape)
        read = (self._gains @ wrenches[:, :, None])[:, :, 0] + self.biases + drift
        if self._noise.any():
            read += self._noise * self._random.standard_normal(read.shape)
        return read


def gain_matrices(config: ForceTorqueErrors, sensors: int, seed: int) -> NDArray:
    """Return the matrix of each force-torque sensor from true to read wrench, shape (sensors, 6, 6).

    Off the diagonal the errors are fractions of the components' ranges, which the scale turns into N and N·m.
    """
    random = effect_generator(seed, "wrench_gain")
    ranges = np.repeat([1.0, config.wrench_range_ratio], 3)
    errors = random.uniform(-1.0, 1.0, (sensors, 6, 6)) * np.outer(ranges, 1.0 / ranges)
    gain = np.where(np.eye(6, dtype=bool), config.wrench_gain_error, config.wrench_cross_talk)
    return np.asarray(np.eye(6) + gain * errors)


class InertialSensor:
    """Inertial unit: gravity corrects the tilt and leaves an error; nothing corrects the heading, which drifts."""

    def __init__(self, sensors: SensorConfig, seed: int) -> None:
        self._config = config = sensors.inertial
        self._white = effect_generator(seed, "gyro_noise")
        self._landing = effect_generator(seed, "landing_gyro_noise")
        correlation = 1.0 / (2.0 * math.pi * config.gyro_bandwidth)
        self._band = GaussMarkov(sensors.gyro_deviation, correlation, 3, effect_generator(seed, "gyro_noise_density"))
        self.bias = config.gyro_bias * effect_generator(seed, "gyro_bias").uniform(-1.0, 1.0, 3)
        self._drift = GaussMarkov(config.gyro_drift, _DRIFT_TIME, 3, effect_generator(seed, "gyro_drift"))
        self.tilt_bias = config.tilt_bias * effect_generator(seed, "tilt_bias").uniform(-1.0, 1.0, 2)
        self._tilt = GaussMarkov(
            config.tilt_noise, config.tilt_correlation_time, 2, effect_generator(seed, "tilt_noise")
        )
        self.heading_rate = config.heading_drift * effect_generator(seed, "heading_drift").uniform(-1.0, 1.0)

    def measure(self, truth: ImuMeasurement, time: float, landing_time: float) -> ImuMeasurement:
        """Return the reading at ``time`` [s] of a robot of which a foot last touched down at ``landing_time`` [s]."""
        config = self._config
        error = np.zeros(3)
        error[:2] = self.tilt_bias + self._tilt.at(time)
        error[2] = self.heading_rate * time
        rate = truth.angular_velocity + self.bias + self._drift.at(time) + self._band.at(time)
        rate = rate + _white(config.gyro_noise, rate, self._white)
        if 0.0 <= time - landing_time < _LANDING_DURATION:
            rate = rate + _white(config.landing_gyro_noise, rate, self._landing)
        return ImuMeasurement(so3.exp(error) @ truth.rotation, rate, truth.time)


def quantised(values: NDArray, step: float) -> NDArray:
    """Return the multiples of ``step`` nearest to the values; the values themselves where it is 0."""
    return values if step == 0.0 else step * np.round(values / step)


def _white(deviation: float, like: NDArray, random: np.random.Generator) -> NDArray | float:
    return deviation * random.standard_normal(like.shape) if deviation > 0.0 else 0.0
