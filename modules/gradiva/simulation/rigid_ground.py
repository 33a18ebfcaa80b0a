"""A floor that does not yield."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from gradiva.common import ConfigError, NDArray, so3
from gradiva.simulation.sole_box import SoleBox
from gradiva.simulation.spec_tools import quaternion

_SOLE, _FLOOR = 1, 1  # collision bits: soles meet the floor, and nothing else


@dataclass(frozen=True, slots=True)
class GroundConfig:
    """The floor; on a slope the world is tilted with it, so that the floor stays z = const.

    Attributes:
        friction: Coulomb coefficient, [-].
        contact_time: Time constant of the contact, in physics steps, [-].
        gravity: [m/s²].
        slope_forward: By which the floor rises towards x, [rad].
        slope_left: By which the floor rises towards y, [rad].
    """

    friction: float
    contact_time: float
    gravity: float
    slope_forward: float
    slope_left: float

    def __post_init__(self) -> None:
        if self.friction <= 0.0:
            raise ConfigError(f"friction={self.friction}: must be positive")
        if self.gravity < 0.0:
            raise ConfigError(f"gravity={self.gravity}: must not be negative")
        if self.contact_time < 2.0:
            raise ConfigError(f"contact_time={self.contact_time}: below 2 steps the contact is unstable")
        if max(abs(self.slope_forward), abs(self.slope_left)) >= math.pi / 4:
            raise ConfigError("slopes must stay below 45° (0.785 rad)")

    @property
    def world_rotation(self) -> NDArray:
        """Of the world, whose xy plane is the floor, in level axes; shape (3, 3)."""
        return so3.exp(np.array([0.0, -self.slope_forward, 0.0])) @ so3.exp(np.array([self.slope_left, 0.0, 0.0]))

    @property
    def gravity_vector(self) -> NDArray:
        """World, [m/s²], shape (3,)."""
        return self.world_rotation.T @ np.array([0.0, 0.0, -self.gravity])


class RigidGround:
    """A plane; contacts by the engine: elliptic friction cones at the corners of the soles.

    Each sole is a body without mass, at the frame of its sensor: the interaction force with its foot is
    then exactly the contact wrench (the engine tells it as exerted by the sole on the foot's inside,
    hence the sign).
    """

    def __init__(self, config: GroundConfig, height: float) -> None:
        self._config = config
        self._height = height

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add the plane, the soles and a force and a torque sensor each, before all other sensors."""
        contact = {
            "condim": 3,
            "friction": [self._config.friction, 0.0, 0.0],
            "solref": [self._config.contact_time * timestep, 1.0],
            "solimp": [0.9, 0.95, 0.001, 0.5, 2.0],  # 0.01-0.03 mm of penetration under these robots
        }
        spec.worldbody.add_geom(
            name="floor",
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 1.0],
            pos=[0.0, 0.0, self._height],
            contype=0,
            conaffinity=_FLOOR,
            **contact,
        )
        for sole in soles:
            body = spec.body(sole.body).add_body(
                name=f"sole:{sole.sensor}", pos=sole.pose[:3, 3], quat=quaternion(sole.pose[:3, :3])
            )
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=sole.half_size,
                pos=sole.centre,
                quat=quaternion(sole.rotation),
                mass=0.0,
                contype=_SOLE,
                conaffinity=0,
                **contact,
            )
            _add_sensor(spec, body, sole.sensor)

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        mujoco.mj_step(model, data)

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return the mean wrench of the last step, sensors' frames, [N, N·m], shape (sensors, 6)."""
        return -data.sensordata.reshape(-1, 6)


def _add_sensor(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str) -> None:
    site = body.add_site(name=f"sensor:{name}")
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site.name)
