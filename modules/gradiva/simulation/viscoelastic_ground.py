"""A floor of springs and dampers."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from gradiva.common import FootContact, NDArray
from gradiva.simulation.ground_config import GroundConfig
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

    def __init__(self, config: ViscoElasticGroundConfig, floor: GroundConfig, height: float, seed: int) -> None:
        """Take the properties, the friction of the floor, the height of the surface [m], and the seed of the noise."""
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
        self._soles = [SoftSole(box, self._config, self._friction, self._height) for box in self._boxes]
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
        motions = self._bodies.motions(data)
        wrenches = np.array([sole.wrench(motion, data.time) for sole, motion in zip(self._soles, motions, strict=True)])
        felt = told = self._bodies.at_sensors(data, wrenches)
        if noises.any():
            is_touching = np.array([[sole.contact is not None] for sole in self._soles])
            disturbed = self._bodies.at_sensors(data, wrenches + is_touching * noises)
            felt = felt if self._config.noise.target is NoiseTarget.SENSORS else disturbed
            told = told if self._config.noise.target is NoiseTarget.ROBOT else disturbed
        self._bodies.exert(data, felt)
        self._told = self._bodies.told(data, told)
