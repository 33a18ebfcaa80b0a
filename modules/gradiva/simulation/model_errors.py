"""Errors of the controller's model: simulated links, soles and floor differ from it, drawn from the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradiva.common import NDArray, configuration, setting, so3
from gradiva.simulation.ground import GroundConfig
from gradiva.simulation.rigid_tree import RigidBody, RigidTree
from gradiva.simulation.soles import SoleBox
from gradiva.simulation.transport import DrawnValues
from gradiva.simulation.urdf import Inertial

_LEAST_FRICTION = 0.01  # [-] of a drawn floor


@configuration
class ModelErrorConfig:
    """Ranges of the errors; each is drawn once, uniformly within ±, by a generator of its own; 0 switches it off.

    Attributes:
        link_mass: Relative error of the mass of each moving body, [-].
        trunk_com: Error of each coordinate of the trunk's centre of mass, [m]; of other bodies in proportion to their
            radius of gyration.
        link_inertia: Relative error of the second moments of each body about its principal axes, [-].
        sole_tilt: Error of each sole's roll and pitch, about the middle of its face, [rad].
        sole_offset: Error of each coordinate of the place of each sole, [m].
        floor_friction: Error of the coefficient of friction, [-].
        floor_slope: Added to each of the floor's slopes, [rad].
        floor_contact_time: Added to the time constant of the contact with a rigid floor, drawn between 0 and this, [s].
    """

    link_mass: float = setting("-", least=0.0, below=1.0, why="masses could vanish")
    trunk_com: float = setting("m", least=0.0)
    link_inertia: float = setting("-", least=0.0, below=1.0, why="masses could vanish")
    sole_tilt: float = setting("rad", least=0.0)
    sole_offset: float = setting("m", least=0.0)
    floor_friction: float = setting("-", least=0.0)
    floor_slope: float = setting("rad", least=0.0)
    floor_contact_time: float = setting("s", least=0.0)

    def sole_reach(self, soles: Sequence[SoleBox]) -> float:
        """Return a height by which no point of a sole is higher or lower than in the model, [m]."""
        longest = max(float(np.hypot(*sole.half_size[:2])) for sole in soles)
        return self.sole_offset + 2.0 * self.sole_tilt * longest


class ModelErrors:
    """Draws the errors; the same seed draws the same, whichever other errors are switched on."""

    def __init__(self, config: ModelErrorConfig, seed: int) -> None:
        """Take the ranges and the seed."""
        self._config = config
        self._seed = seed
        self._drawn: dict[str, NDArray] = {}
        self._sizes: dict[str, NDArray] = {}  # factors on the range of each value, where they differ

    def _draw(self, name: str, shape: int | tuple[int, ...], lowest: float = -1.0) -> NDArray:
        """Return what the range called ``name`` allows, of a generator that the seed and this name choose."""
        random = np.random.default_rng([self._seed, *name.encode()])
        values: NDArray = getattr(self._config, name) * random.uniform(lowest, 1.0, shape)
        self._drawn[name] = values
        return values

    def drawn(self, bodies: Sequence[str], soles: Sequence[str]) -> list[DrawnValues]:
        """Return what was drawn so far; ``bodies`` and ``soles`` are the names of those that it was drawn for."""
        kinds: dict[str, tuple[str, Sequence[str]]] = {
            "link_mass": ("-", bodies),
            "trunk_com": ("m", _each(bodies, "xyz")),
            "link_inertia": ("-", _each(bodies, "123")),
            "sole_tilt": ("rad", _each(soles, ("roll", "pitch"))),
            "sole_offset": ("m", _each(soles, "xyz")),
            "floor_friction": ("-", ("floor",)),
            "floor_slope": ("rad", ("forward", "left")),
            "floor_contact_time": ("s", ("floor",)),
        }
        found = []
        for name, values in self._drawn.items():
            effect, size = _EFFECTS.get(name, name.replace("_", " ")), self._sizes.get(name, np.ones(values.shape))
            reach = getattr(self._config, name) * size
            found.append(DrawnValues.within(effect, *kinds[name], size * values, reach))
        return found

    def of_links(self, tree: RigidTree, trunk: str) -> RigidTree:
        """Return the tree with other masses, centres of mass and inertias.

        Args:
            tree: As in the model.
            trunk: Link whose body is the trunk.
        """
        count, trunk_radius = len(tree.bodies), _radius_of_gyration(tree.body_of(trunk).inertial)
        factors = 1.0 + self._draw("link_mass", count)
        shifts = self._draw("trunk_com", (count, 3)) / trunk_radius
        radii = np.array([_radius_of_gyration(body.inertial) for body in tree.bodies])
        self._sizes["trunk_com"] = np.repeat(radii[:, None] / trunk_radius, 3, axis=1)
        stretches = np.sqrt(1.0 + self._draw("link_inertia", (count, 3)))
        if not any((self._config.link_mass, self._config.trunk_com, self._config.link_inertia)):
            return tree
        errors = zip(tree.bodies, factors.tolist(), shifts, stretches, strict=True)
        return RigidTree(tuple(_with_errors(*error) for error in errors))

    def of_soles(self, soles: Sequence[SoleBox]) -> tuple[SoleBox, ...]:
        """Return the soles, each tilted about the middle of its face and shifted, in the axes of the sole frame."""
        if not any((self._config.sole_tilt, self._config.sole_offset)):
            return tuple(soles)
        tilts, offsets = self._draw("sole_tilt", (len(soles), 2)), self._draw("sole_offset", (len(soles), 3))
        return tuple(
            sole.moved(so3.exp(np.append(tilt, 0.0)), offset)
            for sole, tilt, offset in zip(soles, tilts, offsets, strict=True)
        )

    def of_floor(self, floor: GroundConfig, timestep: float) -> GroundConfig:
        """Return the floor with other friction, slopes and contact time; a step of the physics takes ``timestep`` [s].

        Friction that would be drawn below `_LEAST_FRICTION` is that much.
        """
        forward, left = self._draw("floor_slope", 2).tolist()
        return replace(
            floor,
            friction=max(_LEAST_FRICTION, floor.friction + float(self._draw("floor_friction", 1)[0])),
            contact_time=floor.contact_time + float(self._draw("floor_contact_time", 1, lowest=0.0)[0]) / timestep,
            slope_forward=floor.slope_forward + forward,
            slope_left=floor.slope_left + left,
        )


_EFFECTS = {  # of what is added or, of mass and inertia, multiplied with one more; the others are errors by their names
    "link_mass": "change of link mass",
    "trunk_com": "shift of centre of mass",
    "link_inertia": "change of link inertia",
    "floor_friction": "change of floor friction",
    "floor_slope": "change of floor slope",
    "floor_contact_time": "change of contact time",
}


def _each(names: Sequence[str], parts: Sequence[str]) -> list[str]:
    return [f"{name} {part}" for name in names for part in parts]


def _radius_of_gyration(inertial: Inertial) -> float:
    r"""Return :math:`\sqrt{\mathrm{tr} \Sigma / m}`, the distance of mass from the centre, [m]."""
    return float(np.sqrt(0.5 * np.trace(inertial.inertia) / inertial.mass))


def _with_errors(body: RigidBody, factor: float, shift: NDArray, stretch: NDArray) -> RigidBody:
    r"""Return a body of another mass, its points moved as those of a body that is shifted and stretched.

    A stretch A along the principal axes, about the centre of mass c, keeps any inertia physical: with the moments
    of second order :math:`\Sigma = \tfrac 1 2 \mathrm{tr}(I) 1 - I` of each link

    .. math:: c_i' = c + d + A (c_i - c), \qquad \Sigma_i' = A \Sigma_i A

    and likewise those of the whole body, whose principal moments are scaled by the squares of the stretch.

    Args:
        body: With its links.
        factor: On all masses, [-].
        shift: d of a body whose radius of gyration is 1 m, [m], shape (3,).
        stretch: Along the principal axes, [-], shape (3,).
    """
    whole = body.inertial
    axes = np.linalg.eigh(whole.inertia)[1]
    deformation = (axes * stretch) @ axes.T
    centre = whole.centre + shift * _radius_of_gyration(whole)
    inertials = {}
    for name, own in body.inertials.items():
        moments = deformation @ _complement(own.inertia, 0.5) @ deformation
        inertials[name] = Inertial(
            factor * own.mass,
            centre + deformation @ (own.centre - whole.centre),
            factor * _complement(moments, 1.0),
        )
    return replace(body, inertials=inertials)


def _complement(matrix: NDArray, trace_factor: float) -> NDArray:
    """Return second moments of an inertia (factor ½), or the inertia of second moments (factor 1), shape (3, 3)."""
    return trace_factor * np.trace(matrix) * np.eye(3) - matrix
