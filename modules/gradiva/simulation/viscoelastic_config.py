"""All that can be chosen of a visco-elastic ground."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gradiva.common import ConfigError
from gradiva.contacts import ViscoElasticParameters


@dataclass(frozen=True, slots=True)
class GroundPatch:
    """A part of the ground, in space or in time, that differs from the rest.

    Attributes:
        stiffness: k per area of the sole, [N/m³].
        damping: b per area of the sole, [N·s/m³].
        beyond_x: Soles that touched down at or beyond this x stand on it, world, [m]; None: wherever they are.
        after: It is so from this time on, also under soles that stand there, [s]; None: from the start.
    """

    stiffness: float
    damping: float
    beyond_x: float | None = None
    after: float | None = None

    def __post_init__(self) -> None:
        _check_spring(self.stiffness, self.damping)
        if self.beyond_x is None and self.after is None:
            raise ConfigError("a patch needs beyond_x or after: the ground everywhere and always is no patch")

    def covers(self, x: float, time: float) -> bool:
        """Whether a sole that touched down at ``x`` [m] stands on it at ``time`` [s]."""
        return (self.beyond_x is None or x >= self.beyond_x) and (self.after is None or time >= self.after)


class NoiseTarget(StrEnum):
    """What the noise of the contact wrench disturbs."""

    ROBOT = "robot"
    SENSORS = "sensors"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class WrenchNoiseConfig:
    """White noise on the wrench of each sole that touches: drawn, held, drawn anew.

    What it does to a robot depends on its power, σ² times the interval: σ = 5 N drawn every 10 μs is σ = 0.5 N drawn
    every millisecond.

    Attributes:
        force: Standard deviation σ of each component of the force, [N].
        moment: Standard deviation of each component of the moment about the middle of the sole, [N·m].
        interval: From one draw to the next, [s]; of draws within a physics step the robot feels the mean.
        target: The robot feels it, the sensors tell it, or both; the same noise.
    """

    force: float
    moment: float
    interval: float
    target: NoiseTarget

    def __post_init__(self) -> None:
        for name in ("force", "moment"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}: must not be negative")
        if self.interval <= 0.0:
            raise ConfigError(f"interval={self.interval}: must be positive")


@dataclass(frozen=True, slots=True)
class ViscoElasticGroundConfig:
    """A continuum of springs and dampers below the soles (thesis 8.1).

    Attributes:
        stiffness: k per area of the sole, [N/m³].
        damping: b per area of the sole, [N·s/m³].
        patches: Where and when it is different; of those that cover a sole the last counts.
        pulls: The whole sole sticks while any of it is below the surface, as in the thesis; else each point is only
            pushed, and the part of the sole that would be pulled carries nothing.
        slides: The friction of ``[simulation.ground]`` limits the tangential force; else the sole sticks.
        noise: On the wrenches.
    """

    stiffness: float
    damping: float
    patches: tuple[GroundPatch, ...]
    pulls: bool
    slides: bool
    noise: WrenchNoiseConfig

    def __post_init__(self) -> None:
        _check_spring(self.stiffness, self.damping)

    @property
    def softest(self) -> float:
        """Smallest stiffness that occurs anywhere, [N/m³]."""
        return min([self.stiffness, *(patch.stiffness for patch in self.patches)])

    def spring(self, x: float, time: float) -> ViscoElasticParameters:
        """Return k [N/m³] and b [N·s/m³] below a sole that touched down at ``x`` [m], at ``time`` [s]."""
        for patch in reversed(self.patches):
            if patch.covers(x, time):
                return ViscoElasticParameters(patch.stiffness, patch.damping)
        return ViscoElasticParameters(self.stiffness, self.damping)


def _check_spring(stiffness: float, damping: float) -> None:
    if stiffness <= 0.0:
        raise ConfigError(f"stiffness={stiffness}: must be positive")
    if damping < 0.0:
        raise ConfigError(f"damping={damping}: must not be negative")
