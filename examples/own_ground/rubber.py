"""A rubber mat: the engine's contact with a time constant and a damping ratio."""

from dataclasses import dataclass
from typing import Any

from gradiva.common import ConfigError
from gradiva.simulation import GroundSite, RigidConfig, RigidGround


@dataclass(frozen=True, slots=True)
class RubberConfig:
    """Table ``[simulation.grounds.rubber]``.

    Attributes:
        time_constant: In which a sole comes to rest, [s].
        damping_ratio: 1: without bouncing, [-].
        deepest: Depth that soles which stand still surely do not reach, [m].
    """

    time_constant: float
    damping_ratio: float
    deepest: float

    def __post_init__(self) -> None:
        if self.time_constant <= 0.0:
            raise ConfigError(f"time_constant={self.time_constant}: must be positive")


class Rubber(RigidGround):
    """A mat that yields: MuJoCo's mass-spring-damper in place of its stiffest contact."""

    Config = RubberConfig

    def __init__(self, config: RubberConfig, site: GroundSite) -> None:
        super().__init__(RigidConfig(), site)
        self._rubber = config

    def contact(self, timestep: float) -> dict[str, Any]:
        """Return the engine's parameters of the contact of a sole with the mat."""
        return super().contact(timestep) | {"solref": [self._rubber.time_constant, self._rubber.damping_ratio]}

    def deepest_rest(self, weight: float) -> float:
        """Return the depth [m] that soles which stand still do not reach."""
        return self._rubber.deepest
