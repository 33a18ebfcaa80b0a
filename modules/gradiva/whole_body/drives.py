"""Drives as layer 3 knows them: how much of the rotors' inertia, and the friction that is fed forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common import ConfigError, LowPass, NDArray, sealed
from gradiva.robot_model import IdynTreeModel


@dataclass(frozen=True, slots=True)
class DrivesConfig:
    """Fractions of what the robot's description says about its drives.

    Attributes:
        rotor_inertia: Fraction of the rotors' reflected inertia in the mass matrix, [-]; 0 knows links alone.
        friction_compensation: Fraction of Coulomb and viscous friction that is added to the torques, [-].
        friction_velocity: At which the compensation of Coulomb friction has reached 0.76 of its value, [rad/s].
        velocity_time_constant: In torque control, of the return of the desired velocity to the measured one, [s].
    """

    rotor_inertia: float
    friction_compensation: float
    friction_velocity: float
    velocity_time_constant: float

    def __post_init__(self) -> None:
        if self.rotor_inertia < 0.0:
            raise ConfigError(f"rotor_inertia={self.rotor_inertia}, must not be negative")
        if not 0.0 <= self.friction_compensation <= 1.0:
            raise ConfigError(f"friction_compensation={self.friction_compensation}, must be in [0, 1]: more drives")
        for name in ("friction_velocity", "velocity_time_constant"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


class FrictionFeedforward:
    r"""Compensates the friction of the drives at the desired joint velocities.

    .. math:: \tau_f = \alpha \left(F_c \tanh \frac{v^*}{v_0} + F_v v^*\right)

    ================  ==========================================  =========
    Symbol            Field                                       Unit
    ================  ==========================================  =========
    :math:`\alpha`    ``friction_compensation``                   -
    :math:`v_0`       ``friction_velocity``                       rad/s
    :math:`F_c`       ``coulomb_friction`` of the description     N·m
    :math:`F_v`       ``viscous_friction`` of the description     N·m·s/rad
    ================  ==========================================  =========

    The velocity is the desired one: compensated at the measured velocity, Coulomb friction would turn over with its
    noise, and more of it than there is would drive the joint. Torque control has no desired velocities but those to
    which its accelerations lead,

    .. math:: \dot v^* = \ddot s^* + \frac{1}{T} (\dot s - v^*), \qquad T: \text{velocity\_time\_constant}

    Attributes:
        is_off: Whether it adds nothing.
    """

    def __init__(self, model: IdynTreeModel, config: DrivesConfig) -> None:
        """Take friction and torque limits of the actuated joints."""
        description = model.description
        self._actuated = actuated = description.selection
        self._limits = model.torque_limits()[actuated]
        self._coulomb = config.friction_compensation * description.per_joint("coulomb_friction")[actuated]
        self._viscous = config.friction_compensation * description.per_joint("viscous_friction")[actuated]
        self._inverse_velocity = 1.0 / config.friction_velocity
        self._time_constant = config.velocity_time_constant
        self.is_off = not (self._coulomb.any() or self._viscous.any())
        self.reset()

    def torques(self, velocities: NDArray) -> NDArray:
        """Return the torques [N·m] at desired velocities [rad/s] of the actuated joints, shape (a,)."""
        torques: NDArray = self._coulomb * np.tanh(self._inverse_velocity * velocities)
        return torques + self._viscous * velocities

    def reset(self) -> None:
        """Begin again, at rest."""
        self._velocity = LowPass(self._time_constant, np.zeros_like(self._coulomb))

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
        friction = self.torques(self._velocity.update(target[self._actuated], period))
        return sealed(np.clip(torques + friction, -self._limits, self._limits))
