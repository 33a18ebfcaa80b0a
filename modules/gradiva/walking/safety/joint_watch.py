"""Joints beyond their positions, velocities and torques, or off where they were told to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, Measurement, NDArray
from gradiva.walking.safety.persistence import Persistence
from gradiva.walking.safety.safety_event import Finding, SafetyKind


@dataclass(frozen=True, slots=True)
class JointWatchConfig:
    """What is borne of a joint.

    Attributes:
        position_margin: Kept from the position limits; negative: borne beyond them, [rad].
        position_duration: [s].
        velocity_factor: On the velocity limits, [-].
        velocity_duration: [s].
        torque_factor: On the torque limits, [-].
        torque_duration: [s].
        tracking_margin: Borne between told and measured position on top of what the servo yields at half its
            torque limit, [rad].
        tracking_duration: [s].
    """

    position_margin: float
    position_duration: float
    velocity_factor: float
    velocity_duration: float
    torque_factor: float
    torque_duration: float
    tracking_margin: float
    tracking_duration: float

    def __post_init__(self) -> None:
        for name in ("velocity_factor", "torque_factor", "tracking_margin"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        for name in ("position_duration", "velocity_duration", "torque_duration", "tracking_duration"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")


@dataclass(frozen=True, slots=True, eq=False)
class JointBounds:
    """What the joints of a robot are made for.

    Attributes:
        lower: Positions, [rad], shape (n,).
        upper: Positions, [rad], shape (n,).
        velocities: [rad/s], shape (n,).
        torques: [N·m], shape (n,).
        stiffness: Of the position servos, [N·m/rad], shape (n,).
    """

    lower: NDArray
    upper: NDArray
    velocities: NDArray
    torques: NDArray
    stiffness: NDArray


_KINDS = (SafetyKind.JOINT_POSITION, SafetyKind.JOINT_VELOCITY, SafetyKind.JOINT_TORQUE, SafetyKind.JOINT_TRACKING)
_NOUNS = ("is at", "moves at", "bears", "differs from its command by")
_UNITS = ("rad", "rad/s", "N·m", "rad")


class JointWatch:
    r"""Compares each joint with its bounds.

    With :math:`s, \dot s, \tau` as measured, :math:`s^*` as told one tick before, limits :math:`\underline s, \bar s,
    \bar v, \bar\tau` and the servo stiffness :math:`k`, all is well while

    .. math:: \underline s + m \le s \le \bar s - m, \quad |\dot s| \le f_v \bar v, \quad
        |\tau| < f_\tau \bar\tau, \quad |s - s^*| \le \bar\tau / 2 k + m_t

    A torque that is not finite counts as not measured.
    """

    def __init__(self, config: JointWatchConfig, joints: Sequence[str], bounds: JointBounds) -> None:
        """Take what is borne, the names and the limits."""
        n, margin = len(joints), config.position_margin
        self._joints = joints
        speed = config.velocity_factor * bounds.velocities
        torque = np.nextafter(config.torque_factor * bounds.torques, 0.0)  # a motor at its limit is beyond it
        tracking = 0.5 * bounds.torques / bounds.stiffness + config.tracking_margin
        self._lower = np.concatenate([bounds.lower + margin, -speed, -torque, -tracking])
        self._upper = np.concatenate([bounds.upper - margin, speed, torque, tracking])
        durations = (
            config.position_duration,
            config.velocity_duration,
            config.torque_duration,
            config.tracking_duration,
        )
        self._persistence = Persistence(np.repeat(durations, n))
        self._values = np.zeros(4 * n)
        self._parts = list(self._values.reshape(4, n))  # views
        self._is_wrong, self._is_above = np.zeros((2, 4 * n), dtype=bool)

    def reset(self) -> None:
        """Forget the past."""
        self._persistence.reset()

    def findings(self, measurement: Measurement, told_positions: NDArray, time: float) -> list[Finding]:
        """Return what is newly wrong.

        Args:
            measurement: Of this tick.
            told_positions: Where the joints were told to be by now, [rad], shape (n,).
            time: [s].
        """
        positions, velocities, torques, tracking = self._parts
        positions[:] = measurement.joint_positions
        velocities[:] = measurement.joint_velocities
        torques[:] = measurement.joint_torques
        np.subtract(positions, told_positions, tracking)
        np.less(self._values, self._lower, self._is_wrong)
        np.greater(self._values, self._upper, self._is_above)
        np.logical_or(self._is_wrong, self._is_above, self._is_wrong)
        return [self._finding(index) for index in self._persistence.update(self._is_wrong, time)]

    def _finding(self, index: int) -> Finding:
        part, joint = divmod(index, len(self._joints))
        value = self._values[index]
        limit = self._upper[index] if value > 0.5 * (self._lower[index] + self._upper[index]) else self._lower[index]
        unit = _UNITS[part]
        text = f"joint {self._joints[joint]} {_NOUNS[part]} {value:.2f} {unit}, the limit is {limit:.2f} {unit}"
        return Finding(_KINDS[part], self._joints[joint], text)
