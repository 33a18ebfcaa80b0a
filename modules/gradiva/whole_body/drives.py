"""Drives as layer 3 knows them: rotors' inertia, friction that is fed forward and learned, latency of torques."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import ConfigError, LowPass, NDArray, low_pass_gain, sealed
from gradiva.robot_model import IdynTreeModel, as_array


@dataclass(frozen=True, slots=True)
class DrivesConfig:
    """Fractions of what the robot's description says about its drives.

    Attributes:
        rotor_inertia: Fraction of the rotors' reflected inertia in the mass matrix, [-]; 0 knows links alone.
        friction_compensation: Fraction of Coulomb and viscous friction that is added to the torques, [-].
        friction_velocity: At which the compensation of Coulomb friction has reached 0.76 of its value, [rad/s].
        velocity_time_constant: In torque control, of the return of the desired velocity to the measured one, [s].
        friction_load: In torque control, fraction of a joint's torque that its gear loses as friction, [-].
        friction_learning: In torque control, rate at which each joint's fraction is learned, [1/s]; 0: it stays.
        largest_friction: Fraction up to which it is learned, [-].
        command_latency: In torque control, from a command to the torque, [s].
    """

    rotor_inertia: float
    friction_compensation: float
    friction_velocity: float
    velocity_time_constant: float
    friction_load: float
    acceleration_gain: float
    friction_learning: float
    largest_friction: float
    command_latency: float

    def __post_init__(self) -> None:
        if self.rotor_inertia < 0.0:
            raise ConfigError(f"rotor_inertia={self.rotor_inertia}, must not be negative")
        if not 0.0 <= self.friction_compensation <= 1.0:
            raise ConfigError(f"friction_compensation={self.friction_compensation}, must be in [0, 1]: more drives")
        for name in ("friction_velocity", "velocity_time_constant", "largest_friction"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")
        for name in ("friction_load", "friction_learning", "command_latency"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")


class FrictionFeedforward:
    r"""Compensates the friction of the drives at the desired joint velocities, and learns how large it is.

    .. math:: \tau_f = \alpha \left[(F_c + l |\tau|) \tanh \frac{v^*}{v_0} + F_v v^*\right]

    ================  ==========================================  =========
    Symbol            Field                                       Unit
    ================  ==========================================  =========
    :math:`\alpha`    fraction, at first ``friction_compensation`` -
    :math:`v_0`       ``friction_velocity``                       rad/s
    :math:`l`         ``friction_load``                           -
    :math:`F_c`       ``coulomb_friction`` of the description     N·m
    :math:`F_v`       ``viscous_friction`` of the description     N·m·s/rad
    ================  ==========================================  =========

    The velocity is the desired one: compensated at the measured velocity, Coulomb friction would turn over with its
    noise, and more of it than there is would drive the joint. Torque control has no desired velocities but those to
    which its accelerations lead,

    .. math:: \dot v^* = \ddot s^* + \frac{1}{T} (\dot s - v^*), \qquad T: \text{velocity\_time\_constant}

    Friction differs from joint to joint and from day to day by a factor of four, so torque control learns the fraction
    of each joint. What the joint accelerates less than commanded is a torque that nobody has compensated, and as far
    as it turns over with the velocity it is friction:

    .. math:: \dot e = \ddot s^* - \ddot s - \frac{e}{T}, \qquad
              \dot \alpha = \gamma \frac{I e}{T F_c} \tanh \frac{\dot s + e}{v_0}

    with the inertia I of the joint, rotor included, in the start posture while the base is held.

    Attributes:
        fractions: Of the nominal friction of each joint, [-], shape (a,).
        is_off: Whether it adds nothing.
    """

    def __init__(self, model: IdynTreeModel, config: DrivesConfig) -> None:
        """Take friction, inertia and torque limits of the actuated joints."""
        description = model.description
        self._actuated = actuated = description.selection
        self._limits = model.torque_limits()[actuated]
        self._coulomb = description.per_joint("coulomb_friction")[actuated]
        self._viscous = description.per_joint("viscous_friction")[actuated]
        self._config = config
        self._inverse_velocity = 1.0 / config.friction_velocity
        self._time_constant = config.velocity_time_constant
        has_friction = bool(self._coulomb.any() or self._viscous.any())
        self.learns = has_friction and config.friction_learning > 0.0
        self.is_off = not (has_friction and (config.friction_compensation > 0.0 or self.learns))
        if self.learns:
            dry = np.where(self._coulomb > 0.0, self._coulomb, np.inf)
            self._rate = config.friction_learning * _inertias(model)[actuated] / (self._time_constant * dry)
            self._gain = config.acceleration_gain * _inertias(model)[actuated]
        self.reset()

    def torques(self, velocities: NDArray, loads: NDArray | float = 0.0) -> NDArray:
        """Return the torques against friction, [N·m], shape (a,).

        Args:
            velocities: Desired, of the actuated joints, [rad/s], shape (a,).
            loads: Torques of the joints, [N·m], shape (a,).
        """
        dry = self._coulomb + self._config.friction_load * np.abs(loads)
        torques: NDArray = dry * np.tanh(self._inverse_velocity * velocities) + self._viscous * velocities
        return self.fractions * torques

    def reset(self) -> None:
        """Begin again, at rest; what was learned is forgotten."""
        self.fractions = np.full_like(self._coulomb, self._config.friction_compensation)
        self._velocity = LowPass(self._time_constant, np.zeros_like(self._coulomb))
        self._error = np.zeros_like(self._coulomb)
        self._last: tuple[NDArray, NDArray] | None = None

    def learn(self, commanded: NDArray, measured: NDArray, period: float) -> None:
        """Learn the fractions from the velocities of a tick.

        Args:
            commanded: Integral of the commanded accelerations, [rad/s], shape (n,).
            measured: Velocities at that instant, [rad/s], shape (n,).
            period: Since the last tick, [s].
        """
        commanded, measured = commanded[self._actuated], measured[self._actuated]
        if self._last is not None:
            gained = (commanded - self._last[0]) - (measured - self._last[1])
            self._error = (1.0 - low_pass_gain(self._time_constant, period)) * (self._error + gained)
            direction = np.tanh(self._inverse_velocity * (measured + self._error))
            learned = self.fractions + period * self._rate * self._error * direction
            self.fractions = np.minimum(np.maximum(learned, 0.0), self._config.largest_friction)
        self._last = commanded, measured

    def added_to(self, torques: NDArray, velocities: NDArray, accelerations: NDArray, period: float) -> NDArray:
        """Return the torques of torque control with those against friction, within the limits, [N·m], shape (a,).

        Args:
            torques: Without friction, [N·m], shape (a,).
            velocities: Measured, [rad/s], shape (n,).
            accelerations: Commanded for the coming ``period`` [s], [rad/s²], shape (n,).
            period: [s].
        """
        if self.is_off:
            return torques
        target = velocities + self._time_constant * accelerations
        friction = self.torques(self._velocity.update(target[self._actuated], period), torques)
        if self.learns:
            friction = friction + self._gain * self._error
        return sealed(np.clip(torques + friction, -self._limits, self._limits))


def _inertias(model: IdynTreeModel) -> NDArray:
    """Return the joints' inertias in the nominal posture, the base held, rotors included, [kg·m²], shape (n,)."""
    kinematics, joints = model.kinematics_and_dynamics(), len(model.description.joints)
    rest, gravity = np.zeros(joints), np.zeros(3)
    kinematics.setRobotState(np.eye(4), model.description.posture, np.zeros(6), rest, gravity)
    matrix = idyn.MatrixDynSize(6 + joints, 6 + joints)
    kinematics.getFreeFloatingMassMatrix(matrix)
    return np.diag(as_array(matrix))[6:] + np.diag(model.rotor_inertia)


_REMEMBERED = 100  # [ticks] more than latency and lag together


class CommandedMotion:
    r"""Predicts velocities over the lag of their measurement by the accelerations that were commanded.

    With :math:`c(t) = \int \dot\nu^* dt`, the lag l of the measured velocities and the latency d of the torques,

    .. math:: \nu(t) = \nu(t - l) + c(t - d) - c(t - l - d).
    """

    def __init__(self, latency: float, size: int) -> None:
        """Take the latency [s] and the size of ν."""
        self._latency = latency
        self._rest = np.zeros(size)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._sums: deque[NDArray] = deque([self._rest], maxlen=_REMEMBERED)

    def add(self, change: NDArray) -> None:
        """Remember the change of ν that is commanded for the coming period, shape (6 + n,)."""
        self._sums.append(self._sums[-1] + change)

    def acted(self, lag: float, period: float) -> NDArray:
        """Return c as it had acted ``lag`` [s] ago, shape (6 + n,)."""
        steps = round((lag + self._latency) / period)
        return self._sums[-1 - min(steps, len(self._sums) - 1)]

    def predicted(self, velocity: NDArray, lag: float, period: float) -> NDArray:
        """Return ν now, of one that was measured ``lag`` [s] ago, shape (6 + n,)."""
        if lag < 0.5 * period:
            return velocity
        return velocity + self.acted(0.0, period) - self.acted(lag, period)
