"""Grounds: the interface, what all grounds share, and which ones there are.

A ground is added by its class, by a line in ``GROUNDS`` or an entry point of the group ``gradiva.grounds``, and by its
table ``[simulation.grounds.NAME]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gradiva.common import ConfigError, NDArray, Registry, configuration, nearest_name, plugin_errors, setting, so3
from gradiva.robot_model import Compiler, interpreted
from gradiva.simulation.engine import mujoco
from gradiva.simulation.soles import SoleBox

if TYPE_CHECKING:
    from gradiva.simulation.simulation_config import SimulationConfig


class GroundKind(StrEnum):
    """Grounds that are shipped."""

    RIGID = "rigid"
    VISCOELASTIC = "viscoelastic"
    PENALTY = "penalty"


_SPOKEN = {GroundKind.VISCOELASTIC: "soft"}  # kinds that commands and results call otherwise
_STEEPEST = math.pi / 4  # [rad]
_HIGHEST_BUMP = 0.1  # [m]
_OWN_FIELDS = (GroundKind.VISCOELASTIC, GroundKind.PENALTY)  # tables that are fields of SimulationConfig


def ground_names() -> dict[str, str]:
    """Return the names of all grounds in commands and results, by kind: shipped ones, then those of packages."""
    return {str(kind): ground_name(kind) for kind in GROUNDS.names()}


def ground_name(kind: str) -> str:
    """Return the name of a ground in commands and results.

    Raises:
        ConfigError: No ground is called so.
    """
    if ":" not in kind and kind not in (names := GROUNDS.names()):
        raise ConfigError(f"kind='{kind}': no such ground{nearest_name(kind, names)}")
    return _SPOKEN.get(GroundKind(kind), kind) if kind in GROUNDS.shipped else kind


def ground_table(kind: str) -> str:
    """Return the name of a ground's own table."""
    return f"simulation.{kind}" if kind in _OWN_FIELDS else f"simulation.grounds.{kind}"


@dataclass(frozen=True, slots=True)
class Bump:
    """A box on a rigid floor, its edges along x and y.

    Attributes:
        x: Of its middle, world, [m].
        y: Likewise.
        height: Of its top above the floor, [m].
        length: Along x, [m].
        width: Along y, [m].
    """

    x: float
    y: float
    height: float
    length: float = 0.1
    width: float = 0.1

    def __post_init__(self) -> None:
        for name in ("height", "length", "width"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"bump: {name}={getattr(self, name)}, must be positive")
        if self.height > _HIGHEST_BUMP:
            why = "only the soles meet a bump, so that the body would walk through a higher one"
            raise ConfigError(f"bump: height={self.height}, at most {_HIGHEST_BUMP} m: {why}")

    def __str__(self) -> str:
        return f"bump of {1e3 * self.height:.0f} mm at ({self.x:.2f}, {self.y:.2f}) m"


@configuration
class GroundConfig:
    """The floor; on a slope the world is tilted with it, so that the floor stays z = const.

    Attributes:
        kind: Name of a ground, which has a table of its own: a shipped one (`GroundKind`), an entry point of the group
            ``gradiva.grounds``, or ``package.module:Class``.
        friction: Coulomb coefficient, [-].
        contact_time: Time constant of the contact with a rigid floor, in physics steps of ``timestep``: 28 steps of
            1 ms are 28 ms.
        gravity: [m/s²].
        slope_forward: By which the floor rises towards x, [rad].
        slope_left: By which the floor rises towards y, [rad].
        bumps: On a rigid floor.
    """

    kind: str
    friction: float = setting("-", above=0.0)
    contact_time: float = setting("physics steps", least=2.0, why="below 2 physics steps the contact is unstable")
    gravity: float = setting("m/s²", least=0.0)
    slope_forward: float = setting("rad", above=-_STEEPEST, below=_STEEPEST, why="slopes stay below 45°")
    slope_left: float = setting("rad", above=-_STEEPEST, below=_STEEPEST, why="slopes stay below 45°")
    bumps: tuple[Bump, ...] = ()

    def __post_init__(self) -> None:
        ground_name(self.kind)
        if self.bumps and self.kind in _OWN_FIELDS:
            raise ConfigError(f"bumps are those of a rigid floor, kind='{self.kind}' has none")

    @property
    def world_rotation(self) -> NDArray:
        """Rotation of the world, whose xy plane is the floor, in level axes; shape (3, 3)."""
        return floor_rotation(self.slope_forward, self.slope_left)

    @property
    def gravity_vector(self) -> NDArray:
        """World, [m/s²], shape (3,)."""
        return self.world_rotation.T @ np.array([0.0, 0.0, -self.gravity])

    @property
    def steepness(self) -> float:
        """Angle between the floor and the horizontal, [rad]."""
        return math.acos(math.cos(self.slope_forward) * math.cos(self.slope_left))

    @property
    def uphill(self) -> float:
        """Heading in which the floor rises most, counter-clockwise from x, [rad]; 0 where it is level."""
        up = self.world_rotation[2]
        return math.atan2(up[1], up[0])


def floor_rotation(slope_forward: float, slope_left: float) -> NDArray:
    """Return the rotation in level axes, shape (3, 3), of a floor that rises ahead and to the left by angles [rad]."""
    return so3.exp(np.array([0.0, -slope_forward, 0.0])) @ so3.exp(np.array([slope_left, 0.0, 0.0]))


def slope_components(steepness: float, uphill: float) -> tuple[float, float]:
    """Return ``slope_forward`` and ``slope_left`` [rad] of a floor.

    Args:
        steepness: Against the horizontal, [rad].
        uphill: Heading in which it rises most, counter-clockwise from x on the floor, [rad].
    """
    forward = math.asin(math.sin(steepness) * math.cos(uphill))
    return forward, math.atan(math.tan(steepness) * math.sin(uphill))


class Ground(Protocol):
    """Interface of a ground: builds its part of the engine's model, steps the physics, returns the contact wrenches.

    A class of a ground has the attribute ``Config``, a dataclass that its table is read into, and is made by
    ``Class(config, site)`` with a `GroundSite`. `RigidGround` is the shortest one, and may be derived from.

    A ground that is no contact of the engine applies its forces in ``step``, between ``mj_step1`` and
    ``mj_step2``, through ``data.xfrc_applied``, to which it adds: pushes are in it already.
    """

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add floor, soles and sensors to the robot's model; a step will take ``timestep`` [s]."""
        ...

    def bind(self, model: mujoco.MjModel) -> None:
        """Find the soles in the compiled model; once, before all that follows."""
        ...

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach under a weight [N]."""
        ...

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state, in which no time passes."""
        ...

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        ...

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return what the ground exerted on each sole during the last step.

        Returns:
            About the origin and in the axes of the sensors' frames, [N, N·m], shape (sensors, 6).
        """
        ...


GROUNDS = Registry(
    "gradiva.grounds",
    "ground",
    shipped={
        GroundKind.RIGID: "gradiva.simulation.rigid_ground:RigidGround",
        GroundKind.VISCOELASTIC: "gradiva.simulation.viscoelastic_ground:ViscoElasticGround",
        GroundKind.PENALTY: "gradiva.simulation.penalty_ground:PenaltyGround",
    },
    interface=Ground,
)


@dataclass(frozen=True, slots=True)
class GroundSite:
    """The place where a ground is laid.

    Attributes:
        floor: ``[simulation.ground]``: friction, gravity, slope.
        height: Of the surface, world, [m].
        seed: Of its noise.
        compiler: How equations become fast.
    """

    floor: GroundConfig
    height: float
    seed: int = 0
    compiler: Compiler = interpreted


def choose_ground(config: SimulationConfig, height: float, seed: int, compiler: Compiler = interpreted) -> Ground:
    """Return the ground of ``[simulation.ground] kind``.

    Args:
        config: All tables of the simulation.
        height: Of the surface, world, [m].
        seed: Of its noise.
        compiler: How its equations become fast.

    Raises:
        ConfigError: The ground cannot be loaded, or refuses its table.
    """
    kind = config.ground.kind
    made = GROUNDS.kind(kind)
    if kind in _OWN_FIELDS:
        own = getattr(config, kind)
    else:
        own = GROUNDS.config(made, config.grounds.get(kind, {}), f"[{ground_table(kind)}]")
    with plugin_errors(f"[{ground_table(kind)}]", made):
        ground: Ground = made(own, GroundSite(config.ground, height, seed, compiler))
    return ground
