"""The linear inverted pendulum, the model of the robot in layers 1 and 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import GRAVITY, ConfigError, NDArray


@dataclass(frozen=True, slots=True)
class LinearInvertedPendulum:
    r"""A point mass that stays at one height, pushed away by its zero moment point (thesis 4.4).

    .. math:: \ddot x = \zeta^2 (x - z), \qquad \xi = x + \dot x / \zeta, \qquad
        \dot\xi = \zeta (\xi - z), \qquad \zeta = \sqrt{g / h}

    For a constant ZMP over a time t,
    :math:`x(t) = z + (x - z) \cosh \zeta t + \dot x \sinh(\zeta t) / \zeta` and
    :math:`\xi(t) = z + e^{\zeta t} (\xi - z)`.

    ======================  ============================  =====
    Symbol                  Name                          Unit
    ======================  ============================  =====
    :math:`x`               ``com_position``              m
    :math:`\xi`             ``dcm_position``              m
    :math:`z`               ``zmp_position``              m
    :math:`\zeta`           ``natural_frequency``         rad/s
    :math:`h`, :math:`g`    ``com_height``, ``gravity``   m, m/s²
    ======================  ============================  =====

    All positions are on the ground plane, world, shape (2,).

    Attributes:
        com_height: Above the ground, [m].
        gravity: [m/s²].

    Raises:
        ConfigError: The height or the gravity is not positive.
    """

    com_height: float
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not (self.com_height > 0.0 and self.gravity > 0.0):
            raise ConfigError(f"com_height={self.com_height}, gravity={self.gravity}: both must be positive")

    @property
    def natural_frequency(self) -> float:
        """ζ, [rad/s]."""
        return math.sqrt(self.gravity / self.com_height)

    def dcm(self, com_position: NDArray, com_velocity: NDArray) -> NDArray:
        """Return the divergent component of motion of a CoM position [m] and velocity [m/s]."""
        return com_position + com_velocity / self.natural_frequency

    def com_acceleration(self, com_position: NDArray, zmp_position: NDArray) -> NDArray:
        """Return the CoM acceleration [m/s²] that a ZMP causes."""
        return self.natural_frequency**2 * (com_position - zmp_position)

    def propagate_dcm(self, dcm_position: NDArray, zmp_position: NDArray, duration: float) -> NDArray:
        """Return the DCM after ``duration`` [s] of a constant ZMP."""
        return zmp_position + math.exp(self.natural_frequency * duration) * (dcm_position - zmp_position)

    def propagate(
        self, com_position: NDArray, com_velocity: NDArray, zmp_position: NDArray, duration: float
    ) -> tuple[NDArray, NDArray]:
        """Return the CoM position [m] and velocity [m/s] after ``duration`` [s] of a constant ZMP."""
        frequency = self.natural_frequency
        cosh, sinh = math.cosh(frequency * duration), math.sinh(frequency * duration)
        offset = com_position - zmp_position
        position = zmp_position + offset * cosh + com_velocity * (sinh / frequency)
        return position, offset * (frequency * sinh) + com_velocity * cosh

    def wrench_offset(self, wrench: NDArray, mass: float) -> NDArray:
        r"""Return the offset by which a constant external wrench moves the pendulum ([m], shape (2,)).

        .. math:: \ddot x = \zeta^2 (x + d - z), \qquad
            d = \frac{1}{m g} \begin{bmatrix} h F_x + n_y \\ h F_y - n_x \end{bmatrix}

        so that :math:`x + d` and :math:`\xi + d` move as CoM and DCM of a pendulum that nothing pushes.

        Args:
            wrench: Force F and moment n about the CoM, world axes, [N, N·m], shape (6,).
            mass: m, [kg].
        """
        moment = np.array((wrench[4], -wrench[3]))
        return (self.com_height * wrench[:2] + moment) / (mass * self.gravity)
