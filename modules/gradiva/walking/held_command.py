"""What may be sent to the motors, what was sent last, and where the joints freeze."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from gradiva.common import ControlMode, JointCommand, Measurement, NDArray, NoSolutionFound, sealed
from gradiva.safety import JointBounds

_FARTHEST_OFFSET = 4.0  # [-] of what a servo yields at its torque limit; arms of robots that walk fast: 3.2
_FARTHEST = 0.15  # [rad] from its set-point that a joint is still held by it; standing robots yield by 0.03


class HeldCommand:
    r"""Remembers what was last sent and keeps commands within what the joints are made for.

    With the limits :math:`\underline s, \bar s, \bar v, \bar\tau` of a joint, its servo's stiffness :math:`k` and where
    it should be :math:`s_d`, which layer 3 keeps within :math:`|\Delta s_d| \le \bar v \Delta t`,

    .. math:: |s^* - s_d| \le 4 \bar\tau / k, \qquad
              \underline s - \bar\tau / k \le s^* \le \bar s + \bar\tau / k, \qquad
              |\dot s^*| \le \bar v, \qquad |\tau^*| \le \bar\tau:

    a set-point may lie beyond a position limit by what the servo yields, for it asks for a torque.

    Attributes:
        last: None before the first command.
        at_rest: No velocity in any joint: for joints of which no position is known.
    """

    def __init__(self, bounds: JointBounds) -> None:
        """Take what the joints are made for."""
        self._bounds = bounds
        yielding = bounds.torques / bounds.stiffness
        self._limits = {
            ControlMode.POSITION: (bounds.lower - yielding, bounds.upper + yielding),
            ControlMode.VELOCITY: (-bounds.velocities, bounds.velocities),
            ControlMode.TORQUE: (-bounds.torques, bounds.torques),
        }
        self._farthest_offset = _FARTHEST_OFFSET * yielding
        self.at_rest: JointCommand = JointCommand(ControlMode.VELOCITY, np.zeros(len(yielding)))
        self.last: JointCommand | None = None

    def within_limits(self, command: JointCommand, desired: NDArray | None = None) -> JointCommand:
        """Return a command with each joint's value within its limits; nearly always itself.

        Args:
            command: Of layer 3.
            desired: Where the joints should be, without what is fed forward, [rad], shape (n,).

        Raises:
            NoSolutionFound: It has another size than the robot, or is not finite.
        """
        (lower, upper), values = self._limits[command.mode], command.values
        if values.shape != lower.shape or not math.isfinite(values.dot(values)):
            wrong = f"{values.shape}, {np.count_nonzero(~np.isfinite(values))} of it not finite"
            raise NoSolutionFound("layer 3", f"a command of {command.mode} with shape {wrong}")
        if desired is not None and command.mode is ControlMode.POSITION:
            lower = np.maximum(lower, desired - self._farthest_offset)
            upper = np.minimum(upper, desired + self._farthest_offset)
        bounded = np.minimum(np.maximum(values, lower), upper)
        return JointCommand(command.mode, sealed(bounded)) if np.count_nonzero(bounded != values) else command

    def start_of_move(self, measurement: Measurement) -> NDArray:
        """Return the positions with which a move of position servos begins without a jump, [rad], shape (n,).

        Where the joints were last commanded to be, as servos that bear weight have yielded; a joint that is farther
        away has been moved from outside meanwhile, and begins where it is.
        """
        if self.last is None or self.last.mode is not ControlMode.POSITION:
            return self._taken_over(measurement.joint_positions, measurement)
        is_held = np.abs(self.last.values - measurement.joint_positions) < _FARTHEST
        return np.where(is_held, self.last.values, measurement.joint_positions)

    def frozen(self, measurement: Measurement | None, believed: NDArray | None) -> JointCommand:
        """Return the command that stops the joints, whatever kind of thing the measurement is.

        They stay where they were last commanded to be. Out of velocity and torque control they stay where they are:
        at the encoders, where these lie near what was believed of them before, else at what was believed; after
        torques, so far beyond that the servos carry what the joints carry. Where no position is known they rest.

        Args:
            measurement: The newest one; anything where it is what fails.
            believed: The last positions that were believed, [rad], shape (n,).
        """
        if self.last is not None and self.last.mode is ControlMode.POSITION:
            return self.last
        positions = self._trusted(getattr(measurement, "joint_positions", None), believed)
        if positions is None or not np.isfinite(positions).all():
            return self.at_rest
        return self.within_limits(JointCommand(ControlMode.POSITION, self._taken_over(positions, measurement)))

    def _trusted(self, read: Any, believed: NDArray | None) -> NDArray | None:
        """Return the encoders' positions, where they are not near what was believed that, [rad], shape (n,)."""
        if not self._is_reading(read):
            return believed
        if believed is None:
            return read
        return np.where(np.abs(read - believed) < _FARTHEST, read, believed)  # NaN is not near

    def _is_reading(self, value: Any) -> TypeGuard[NDArray]:
        is_array = isinstance(value, np.ndarray) and value.dtype == np.float64
        return is_array and value.shape == self._bounds.lower.shape

    def _taken_over(self, positions: NDArray, measurement: Measurement | None) -> NDArray:
        """Return with which set-points position servos take over joints that are at ``positions``, [rad], shape (n,).

        After torques, those in which they exert the measured torques, or the commanded ones where none are measured.
        """
        if self.last is None or self.last.mode is not ControlMode.TORQUE:
            return positions
        bounds, carried = self._bounds, self.last.values
        torques: Any = getattr(measurement, "joint_torques", None)
        if self._is_reading(torques):
            carried = np.where(np.isfinite(torques), torques, carried)
        return positions + carried.clip(-bounds.torques, bounds.torques) / bounds.stiffness


class TorqueRamp:
    r"""Limits the rate of the commanded torques.

    .. math:: \tau_k = \tau_{k-1} + \mathrm{clip}(\tau_k^* - \tau_{k-1}, \pm \dot\tau_{max} \Delta t)

    The first command starts from the torques of the servos that it takes over from, within the joints' limits.
    """

    def __init__(self, rate: float, limits: NDArray) -> None:
        """Take the highest rate, [N·m/s], and the torque limits of the joints, [N·m], shape (n,)."""
        self._rate = rate
        self._limits = limits
        self._torques: NDArray | None = None

    def reset(self) -> None:
        """Begin again: the next command starts from the measured torques."""
        self._torques = None

    def limited(self, command: JointCommand, measured_torques: NDArray, period: float) -> JointCommand:
        """Return what may be sent of a command for the coming ``period`` [s]; other than torques pass as they are.

        Args:
            command: Of layer 3.
            measured_torques: [N·m], shape (n,); not finite where nothing measures them, and such a joint may jump once.
            period: [s].
        """
        if command.mode is not ControlMode.TORQUE:
            self._torques = None
            return command
        if self._torques is None:
            carried = np.where(np.isfinite(measured_torques), measured_torques, command.values)
            self._torques = carried.clip(-self._limits, self._limits)
        most = self._rate * period
        change = command.values - self._torques
        if np.count_nonzero(np.abs(change) <= most) == len(change):
            self._torques = command.values
            return command
        self._torques = self._torques + change.clip(-most, most)
        return JointCommand(ControlMode.TORQUE, self._torques)
