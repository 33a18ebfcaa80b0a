"""Where the divergent component of motion should be."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common.arrays import NDArray, freeze_arrays


@dataclass(frozen=True, slots=True, eq=False)
class DcmReference:
    r"""The divergent component of motion :math:`\xi = x + \eta \dot x` at one instant, on the ground plane.

    .. math:: \dot\xi = \sigma (\xi - z), \qquad \sigma = (\dot\eta + 1) / \eta

    With a constant CoM height :math:`1/\eta = \sigma = \zeta = \sqrt{g/h}`.

    Attributes:
        position: World, [m], shape (2,).
        velocity: World, [m/s], shape (2,).
        natural_frequency: 1/η, turns a CoM velocity into its share of the DCM, [rad/s].
        divergence_rate: σ, links the DCM to the ZMP, [rad/s].
        acceleration: World, [m/s²], shape (2,).
    """

    position: NDArray
    velocity: NDArray
    natural_frequency: float
    divergence_rate: float
    acceleration: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(2,), velocity=(2,), acceleration=(2,))

    @property
    def zmp_position(self) -> NDArray:
        """The zero moment point that goes with it (world, [m], shape (2,))."""
        return self.position - self.velocity / self.divergence_rate

    @property
    def zmp_velocity(self) -> NDArray:
        """Its velocity while σ stays as it is (world, [m/s], shape (2,))."""
        return self.velocity - self.acceleration / self.divergence_rate
