"""Visco-elastic ground: springs and dampers below each sole, which may differ in space and time, with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import casadi as cs
import numpy as np

from gradiva.common import ConfigError, FootContact, NDArray, Side, SoleRectangle, configuration, setting, so3
from gradiva.contacts import (
    SoleMoments,
    ViscoElasticEquations,
    ViscoElasticParameters,
    loaded_moments,
    normal_pressure,
    rectangle_moments,
)
from gradiva.robot_model import Compiler, FlatFunction
from gradiva.simulation.engine import mujoco
from gradiva.simulation.ground import GroundSite
from gradiva.simulation.soles import SoleBodies, SoleBox, SolePlaces, add_sole_body

_WHOLE = 1e-6  # [-] how far an interval may be from a whole number of steps
_RESERVE = 2.0  # [-] soles that stand still sink at most this times as deep as if they shared the load evenly


@configuration
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

    stiffness: float = setting("N/m³", above=0.0)
    damping: float = setting("N·s/m³", least=0.0)
    patches: tuple[GroundPatch, ...]
    pulls: bool
    slides: bool
    noise: WrenchNoiseConfig

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


@configuration
class GroundPatch:
    """A part of the ground, in space or in time, that differs from the rest.

    Attributes:
        stiffness: k per area of the sole, [N/m³].
        damping: b per area of the sole, [N·s/m³].
        beyond_x: Soles that touched down at or beyond this x stand on it, world, [m]; None: wherever they are.
        after: It is so from this time on, also under soles that stand there, [s]; None: from the start.
    """

    stiffness: float = setting("N/m³", above=0.0)
    damping: float = setting("N·s/m³", least=0.0)
    beyond_x: float | None = None
    after: float | None = None

    def __post_init__(self) -> None:
        if self.beyond_x is None and self.after is None:
            raise ConfigError("a patch needs beyond_x or after: the ground everywhere and always is no patch")

    def covers(self, x: float, time: float) -> bool:
        """Whether a sole that touched down at ``x`` [m] stands on it at ``time`` [s]."""
        return (self.beyond_x is None or x >= self.beyond_x) and (self.after is None or time >= self.after)


class NoiseTarget(StrEnum):
    """Targets of the noise of the contact wrench."""

    ROBOT = "robot"
    SENSORS = "sensors"
    BOTH = "both"


@configuration
class WrenchNoiseConfig:
    """White noise on the wrench of each sole that touches: drawn, held, drawn anew.

    What it does to a robot depends on its power, σ² times the interval: σ = 5 N drawn every 10 μs is σ = 0.5 N drawn
    every millisecond.

    Attributes:
        force: Standard deviation σ of each component of the force, [N].
        moment: Standard deviation of each component of the moment about the middle of the sole, [N·m].
        interval: From one draw to the next, [s]; of draws within a physics step the robot feels the mean.
        target: The robot feels it, the sensors measure it, or both; the same noise.
    """

    force: float = setting("N", least=0.0)
    moment: float = setting("N·m", least=0.0)
    interval: float = setting("s", above=0.0)
    target: NoiseTarget


class ViscoElasticGround:
    """A continuum of springs and dampers below each sole; its wrenches are exact for any pose of the sole.

    Wrenches are those at the beginning of a step, held over it: an explicit method, which at 1 ms follows a fine
    integration to a per cent as long as the damping of a sole times the step stays below the mass of its foot.
    """

    Config = ViscoElasticGroundConfig

    def __init__(self, config: ViscoElasticGroundConfig, site: GroundSite) -> None:
        """Take springs, dampers and noise, and the friction of the floor."""
        self._config = config
        self._friction = site.floor.friction
        self._height = site.height
        self._seed = site.seed
        self._compiler = site.compiler
        self._step = 0

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add the soles; the engine sees no floor."""
        self._boxes = tuple(soles)
        for sole in soles:
            add_sole_body(spec, sole)
        self._noise = WrenchNoise(self._config.noise, len(soles), timestep, self._seed)

    def bind(self, model: mujoco.MjModel) -> None:
        """Find the soles in the compiled model."""
        self._bodies = SoleBodies(model, self._boxes)
        self._function = soft_ground_function(
            self._bodies.places, model.nsite, self._height, self._compiler, pulls=self._config.pulls
        )
        self._soles = [SoftSole(self._config, self._friction, self._height) for _ in self._boxes]
        self._measured = np.zeros((len(self._boxes), 6))

    @property
    def contacts(self) -> tuple[FootContact | None, ...]:
        """Contact of the middle of each sole with the ground, in the order of the sensors; None in the air."""
        return tuple(sole.contact for sole in self._soles)

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach under a weight [N]."""
        area = sum(4.0 * box.half_size[0] * box.half_size[1] for box in self._boxes)
        return float(_RESERVE * weight / (self._config.softest * area))

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state, without noise."""
        data.xfrc_applied[:] = 0.0
        mujoco.mj_forward(model, data)  # places the soles
        self._exert(data, np.zeros_like(self._measured))
        mujoco.mj_forward(model, data)

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        mujoco.mj_step1(model, data)
        self._exert(data, self._noise.at(self._step))
        mujoco.mj_step2(model, data)
        self._step += 1

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return what the sensors measure in the last step, sensors' frames, [N, N·m], shape (sensors, 6)."""
        return self._measured

    def _exert(self, data: mujoco.MjData, noises: NDArray) -> None:
        outputs = self._evaluate(data, noises)
        if self._config.slides:
            self._slide(outputs)
        target = self._config.noise.target
        applied = outputs["applied" if target is NoiseTarget.SENSORS else "applied_disturbed"]
        measured = outputs["measured" if target is NoiseTarget.ROBOT else "measured_disturbed"]
        self._bodies.exert(data, applied)
        self._measured = measured.copy()

    def _evaluate(self, data: mujoco.MjData, noises: NDArray) -> Mapping[str, NDArray]:
        """Evaluate the function for the contacts of this instant."""
        function = self._function
        function.set(site_positions=data.site_xpos, site_rotations=data.site_xmat, noises=noises)
        self._bodies.twists(data, function.inputs["face_twists"])
        outputs, places = function(), function.outputs["places"].tolist()
        has_changed = [sole.meet(place, data.time) for sole, place in zip(self._soles, places, strict=True)]
        return self._evaluate_contacts() if any(has_changed) else outputs

    def _slide(self, outputs: Mapping[str, NDArray]) -> None:
        areas = outputs["projected_areas"].tolist()
        slides = [
            sole.slide(wrench, area) for sole, wrench, area in zip(self._soles, outputs["wrenches"], areas, strict=True)
        ]
        if any(slides):
            self._evaluate_contacts()

    def _evaluate_contacts(self) -> Mapping[str, NDArray]:
        """Evaluate the function anew, for contacts that have changed."""
        inputs = self._function.inputs
        for index, sole in enumerate(self._soles):
            inputs["touches"][index] = float(sole.contact is not None)
            if sole.contact is not None:
                inputs["rest_positions"][index] = sole.contact.rest_position
                inputs["rest_rotations"][index] = sole.contact.rest_rotation.ravel()
                inputs["grounds"][index] = sole.contact.stiffness, sole.contact.damping
        return self._function()


class WrenchNoise:
    """Draws a wrench a sole and holds it for the interval of the configuration; the same seed draws the same.

    Of draws that are more frequent than the physics steps a step sees the mean, whose standard deviation is σ times
    the square root of interval over step.
    """

    def __init__(self, config: WrenchNoiseConfig, soles: int, timestep: float, seed: int) -> None:
        """Take the physics step [s].

        Raises:
            ConfigError: The interval is longer than a step, but no whole number of steps.
        """
        steps = config.interval / timestep
        self._steps = max(1, round(steps))
        if steps > 1.0 and abs(steps - self._steps) > _WHOLE:
            raise ConfigError(f"noise.interval={config.interval}: must be a multiple of timestep={timestep}, or less")
        self._deviation = np.repeat([config.force, config.moment], 3) * math.sqrt(min(1.0, steps))
        self._random = np.random.default_rng(seed)
        self._now = np.zeros((soles, 6))

    def at(self, step: int) -> NDArray:
        """Return the noise of a physics step, to be asked in order: world axes, [N, N·m], shape (soles, 6)."""
        if step % self._steps == 0 and self._deviation.any():
            self._now = self._deviation * self._random.standard_normal(self._now.shape)
        return self._now


class SoftSole:
    r"""Remembers where a sole touched down (thesis 8.1).

    The ground is at rest where the first corner of the sole met it: at that instant's x, y and yaw, level, at the
    height of the surface. The contact ends when the whole sole is above the surface. A sole that slides takes its
    place of rest along, so that the tangential force stays at the limit of friction,

    .. math:: \Delta \bar p_{xy} = \frac{1}{k a A} \left(\frac{\mu f_z}{|f_{xy}|} - 1\right) f_{xy}

    with the loaded area A and :math:`a = |e_3^T R e_3|`. Friction does not limit the moment about the vertical.

    Attributes:
        contact: Pose of rest of the middle of the face and properties of the ground below it; None in the air.
    """

    def __init__(self, config: ViscoElasticGroundConfig, friction: float, height: float) -> None:
        """Begin in the air, above a surface at ``height`` [m]; ``friction`` counts for a sole that may slide."""
        self._config = config
        self._friction = friction
        self._height = height
        self.contact: FootContact | None = None

    def meet(self, place: Sequence[float], time: float) -> bool:
        """Drop, keep or make the contact of this instant, with the ground as it is now; return whether it is another.

        Args:
            place: x and y of the middle of the face, world, [m]; its yaw, [rad]; height of its lowest corner above the
                surface, [m].
            time: [s].
        """
        before, self.contact = self.contact, None
        x, y, yaw, lowest = place
        if lowest < 0.0:
            self.contact = self._touching(x, y, yaw, time) if before is None else self._kept(before, time)
        return self.contact is not before

    def _touching(self, x: float, y: float, yaw: float, time: float) -> FootContact:
        rest = np.array([x, y, self._height])
        return FootContact(True, rest, so3.rotation_z(yaw), *self._config.spring(x, time))

    def _kept(self, contact: FootContact, time: float) -> FootContact:
        ground = self._config.spring(float(contact.rest_position[0]), time)
        if ground == (contact.stiffness, contact.damping):
            return contact
        return replace(contact, stiffness=ground.stiffness, damping=ground.damping)

    def slide(self, wrench: NDArray, projected_area: float) -> bool:
        """Move the place of rest until friction holds the sole; return whether it had to be moved.

        Args:
            wrench: Of the ground on the sole, world axes, [N, N·m], shape (6,).
            projected_area: Of its loaded part, seen from above: a A, [m²].
        """
        force, most = wrench[:2], self._friction * float(wrench[2])
        if self.contact is None or not math.hypot(*force) > most > 0.0:
            return False
        rest = self.contact.rest_position.copy()
        rest[:2] += (most / math.hypot(*force) - 1.0) / (self.contact.stiffness * projected_area) * force
        self.contact = replace(self.contact, rest_position=rest)
        return True


def soft_ground_function(
    soles: Sequence[SolePlaces], sites: int, height: float, compiler: Compiler, *, pulls: bool
) -> FlatFunction:
    """Return the function.

    Its inputs, one row for each site or sole: ``site_positions`` (3), ``site_rotations`` (9) and ``face_twists``,
    angular first, as the engine has them; ``rest_positions`` (3), ``rest_rotations`` (9) and ``grounds`` (k, b) of the
    contacts; ``touches``, 1 for a sole with a contact, else 0; and ``noises``, on the wrenches of those that touch.

    Its outputs, one row for each sole: ``places``, x and y of the middle of the face, its yaw, and the height of its
    lowest corner above the surface; ``projected_areas``, of the loaded parts, seen from above [m²]; ``wrenches`` about
    the middles of the faces, world axes; ``applied`` about the sensors and ``measured`` in their axes, both with noise
    (``..._disturbed``) and without.

    Args:
        soles: Where they are in the tables.
        sites: How many the engine has.
        height: Of the surface of the ground, [m].
        compiler: How the function becomes fast.
        pulls: The whole sole sticks; else the ground only pushes.
    """
    n = len(soles)
    inputs = {
        "site_positions": cs.SX.sym("site_positions", sites, 3),
        "site_rotations": cs.SX.sym("site_rotations", sites, 9),
        "face_twists": cs.SX.sym("face_twists", n, 6),
        "rest_positions": cs.SX.sym("rest_positions", n, 3),
        "rest_rotations": cs.SX.sym("rest_rotations", n, 9),
        "grounds": cs.SX.sym("grounds", n, 2),
        "touches": cs.SX.sym("touches", n),
        "noises": cs.SX.sym("noises", n, 6),
    }
    rows = [_of_sole(inputs, index, sole, height, pulls) for index, sole in enumerate(soles)]
    outputs = {name: cs.vertcat(*(row[name] for row in rows)) for name in rows[0]}
    return FlatFunction("soft_ground", inputs, outputs, compiler)


def _of_sole(inputs: dict[str, cs.SX], index: int, sole: SolePlaces, height: float, pulls: bool) -> dict[str, cs.SX]:
    """Return the rows of one sole."""
    position, rotation = inputs["site_positions"][sole.face, :].T, _square(inputs["site_rotations"][sole.face, :])
    stiffness, damping = _scalars(inputs["grounds"][index, :])
    equations = _equations(inputs, index, sole, pulls)
    touches = inputs["touches"][index]
    wrench = touches * cs.vertcat(*equations.wrench(stiffness, damping))
    tilt = cs.fabs(rotation[2, 0]) * sole.half_size[0] + cs.fabs(rotation[2, 1]) * sole.half_size[1]
    yaw = cs.atan2(rotation[1, 0], rotation[0, 0])
    axes, arm = _square(inputs["site_rotations"][sole.sensor, :]), position - inputs["site_positions"][sole.sensor, :].T
    applied, disturbed = (
        cs.vertcat(about_face[:3], about_face[3:] + cs.cross(arm, about_face[:3]))
        for about_face in (wrench, wrench + touches * inputs["noises"][index, :].T)
    )
    return {
        "places": cs.horzcat(position[0], position[1], yaw, position[2] - tilt - height),
        "projected_areas": cs.fabs(rotation[2, 2]) * equations.area,
        "wrenches": wrench.T,
        "applied": applied.T,
        "applied_disturbed": disturbed.T,
        "measured": _in_axes(axes, applied),
        "measured_disturbed": _in_axes(axes, disturbed),
    }


def _equations(inputs: dict[str, cs.SX], index: int, sole: SolePlaces, pulls: bool) -> ViscoElasticEquations:
    twist = _scalars(inputs["face_twists"][index, :])
    motion = (
        _scalars(inputs["site_positions"][sole.face, :]),
        _rows(inputs["site_rotations"][sole.face, :]),
        [*twist[3:], *twist[:3]],
        _scalars(inputs["rest_positions"][index, :]),
        _rows(inputs["rest_rotations"][index, :]),
    )
    (x, y), ground = sole.half_size, _scalars(inputs["grounds"][index, :])
    face = SoleRectangle((-x, x), (-y, y), 0.0)
    return ViscoElasticEquations(_moments(face, motion, ground, pulls), *motion)


def _moments(face: SoleRectangle, motion: Any, ground: Any, pulls: bool) -> SoleMoments:
    if pulls:
        return rectangle_moments(face, Side.LEFT)
    corners = [(x, y) for x, y in face.corners(Side.LEFT).tolist()]
    return loaded_moments(corners, normal_pressure(face.z, ground, *motion), face.z)


def _scalars(row: cs.SX) -> list[Any]:
    """Return the entries, which the equations of the ground take for numbers."""
    return cs.horzsplit(row)


def _rows(entries: cs.SX) -> list[list[Any]]:
    """Return a rotation as rows of scalars."""
    scalars = _scalars(entries)
    return [scalars[0:3], scalars[3:6], scalars[6:9]]


def _square(entries: cs.SX) -> cs.SX:
    return cs.reshape(entries, 3, 3).T


def _in_axes(axes: cs.SX, wrench: cs.SX) -> cs.SX:
    """Return a wrench in these axes as a row."""
    return cs.vertcat(axes.T @ wrench[:3], axes.T @ wrench[3:]).T
