"""The simplest model of walking: a point mass at a constant height above its zero moment point."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
