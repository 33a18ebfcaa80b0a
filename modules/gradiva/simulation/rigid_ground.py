"""A floor that does not yield."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradiva.common import NDArray
from gradiva.simulation.engine import mujoco
from gradiva.simulation.ground import GroundSite
from gradiva.simulation.rigid_tree import quaternion
from gradiva.simulation.soles import SoleBox, add_sole_body

_SOLE, _FLOOR = 1, 1  # collision bits: soles meet the floor, and nothing else
_DEEPEST = 0.001  # [m] more than any robot here sinks in where the contact takes 2 ms
_STIFFEST = 2.0  # [steps] the shortest contact time; the depth grows with its square


@dataclass(frozen=True, slots=True)
class RigidConfig:
    """Holds nothing: friction and contact time of a rigid floor stand in ``[simulation.ground]``."""


class RigidGround:
    """A plane with bumps; contacts by the engine: elliptic friction cones at the corners of the soles.

    Each sole is a body without mass, at the frame of its sensor: the interaction force with its foot is
    then exactly the contact wrench (the engine reports it as exerted by the sole on the foot's inside,
    hence the sign).
    """

    Config = RigidConfig

    def __init__(self, config: RigidConfig, site: GroundSite) -> None:
        """Take the floor; its own table is empty."""
        self._floor = site.floor
        self._height = site.height

    def contact(self, timestep: float) -> dict[str, Any]:
        """Return the engine's parameters of the contact of a sole with the plane; a step takes ``timestep`` [s]."""
        return {
            "condim": 3,
            "friction": [self._floor.friction, 0.0, 0.0],
            "solref": [self._floor.contact_time * timestep, 1.0],
            "solimp": [0.9, 0.95, 0.001, 0.5, 2.0],  # 0.01-0.03 mm of penetration under these robots
        }

    def add_to(self, spec: mujoco.MjSpec, soles: Sequence[SoleBox], timestep: float) -> None:
        """Add the plane, its bumps, the soles and a force and a torque sensor each, before all other sensors."""
        contact = self.contact(timestep)
        spec.worldbody.add_geom(
            name="floor",
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 1.0],
            pos=[0.0, 0.0, self._height],
            contype=0,
            conaffinity=_FLOOR,
            **contact,
        )
        for number, bump in enumerate(self._floor.bumps):
            spec.worldbody.add_geom(
                name=f"bump {number}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[0.5 * bump.length, 0.5 * bump.width, 0.5 * bump.height],
                pos=[bump.x, bump.y, self._height + 0.5 * bump.height],
                contype=0,
                conaffinity=_FLOOR,
                **contact,
            )
        for sole in soles:
            add_sole_body(spec, sole).add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=sole.half_size,
                pos=sole.centre,
                quat=quaternion(sole.rotation),
                mass=0.0,
                contype=_SOLE,
                conaffinity=0,
                **contact,
            )
            _add_sensor(spec, sole.sensor)

    def bind(self, model: mujoco.MjModel) -> None:
        """Do nothing: the engine knows its contacts."""

    def deepest_rest(self, weight: float) -> float:
        """Return a depth [m] that soles which stand still surely do not reach, whatever the weight."""
        return _DEEPEST * (self._floor.contact_time / _STIFFEST) ** 2

    def forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Compute accelerations and contact wrenches of the present state."""
        mujoco.mj_forward(model, data)

    def step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Advance the physics by one step."""
        mujoco.mj_step(model, data)

    def wrenches(self, data: mujoco.MjData) -> NDArray:
        """Return the mean wrench of the last step, sensors' frames, [N, N·m], shape (sensors, 6)."""
        return -data.sensordata.reshape(-1, 6)


def _add_sensor(spec: mujoco.MjSpec, name: str) -> None:
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=f"sensor:{name}")
