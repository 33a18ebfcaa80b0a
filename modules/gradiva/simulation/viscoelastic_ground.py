"""A floor of springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from gradiva.common import FootContact, NDArray
from gradiva.robot_model import Compiler, interpreted
from gradiva.simulation.ground_config import GroundConfig
from gradiva.simulation.soft_ground_function import soft_ground_function
from gradiva.simulation.soft_sole import SoftSole
from gradiva.simulation.sole_body import SoleBodies, add_sole_body
from gradiva.simulation.sole_box import SoleBox
from gradiva.simulation.viscoelastic_config import NoiseTarget, ViscoElasticGroundConfig
from gradiva.simulation.wrench_noise import WrenchNoise

_RESERVE = 2.0  # [-] soles that stand still sink at most this times as deep as if they shared the load evenly


class ViscoElasticGround:
    """A continuum of springs and dampers below each sole; its wrenches are exact for any pose of the sole.

    Wrenches are those at the beginning of a step, held over it: an explicit method, which at 1 ms follows a fine
    integration to a per cent as long as the damping of a sole times the step stays below the mass of its foot.
    """

    def __init__(
        self,
        config: ViscoElasticGroundConfig,
        floor: GroundConfig,
        height: float,
        seed: int,
        compiler: Compiler = interpreted,
    ) -> None:
        """Take the properties.

        Args:
            config: Springs, dampers, noise.
            floor: Its friction.
            height: Of the surface, [m].
            seed: Of the noise.
            compiler: How the equations become fast.
        """
        self._compiler = compiler
        self._config = config
        self._friction = floor.friction
        self._height = height
        self._seed = seed
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
        self._told = np.zeros((len(self._boxes), 6))

    @property
    def contacts(self) -> tuple[FootContact | None, ...]:
        """Of the middle of each sole with the ground, in the order of the sensors; None in the air."""
        return tuple(sole.contact for sole in self._soles)

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach under a weight [N]."""
        area = sum(4.0 * box.half_size[0] * box.half_size[1] for box in self._boxes)
        return float(_RESERVE * weight / (self._config.softest * area))

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state, without noise."""
        data.xfrc_applied[:] = 0.0
        mujoco.mj_forward(model, data)  # places the soles
        self._exert(data, np.zeros_like(self._told))
        mujoco.mj_forward(model, data)

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        mujoco.mj_step1(model, data)
        self._exert(data, self._noise.at(self._step))
        mujoco.mj_step2(model, data)
        self._step += 1

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return what the sensors tell of the last step, sensors' frames, [N, N·m], shape (sensors, 6)."""
        return self._told

    def _exert(self, data: mujoco.MjData, noises: NDArray) -> None:
        outputs = self._evaluate(data, noises)
        if self._config.slides:
            self._slide(outputs)
        target = self._config.noise.target
        felt = outputs["felt" if target is NoiseTarget.SENSORS else "felt_disturbed"]
        told = outputs["told" if target is NoiseTarget.ROBOT else "told_disturbed"]
        self._bodies.exert(data, felt)
        self._told = told.copy()

    def _evaluate(self, data: mujoco.MjData, noises: NDArray) -> Mapping[str, NDArray]:
        """Evaluate the function for the contacts of this instant."""
        function = self._function
        function.set(site_positions=data.site_xpos, site_rotations=data.site_xmat, noises=noises)
        self._bodies.twists(data, function.inputs["face_twists"])
        outputs, places = function(), function.outputs["places"].tolist()
        has_changed = [sole.meet(place, data.time) for sole, place in zip(self._soles, places, strict=True)]
        return self._told_contacts() if any(has_changed) else outputs

    def _slide(self, outputs: Mapping[str, NDArray]) -> None:
        areas = outputs["projected_areas"].tolist()
        slides = [
            sole.slide(wrench, area) for sole, wrench, area in zip(self._soles, outputs["wrenches"], areas, strict=True)
        ]
        if any(slides):
            self._told_contacts()

    def _told_contacts(self) -> Mapping[str, NDArray]:
        """Evaluate the function anew, for contacts that have changed."""
        inputs = self._function.inputs
        for index, sole in enumerate(self._soles):
            inputs["touches"][index] = float(sole.contact is not None)
            if sole.contact is not None:
                inputs["rest_positions"][index] = sole.contact.rest_position
                inputs["rest_rotations"][index] = sole.contact.rest_rotation.ravel()
                inputs["grounds"][index] = sole.contact.stiffness, sole.contact.damping
        return self._function()
