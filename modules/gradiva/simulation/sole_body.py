"""The part of the engine's model that a ground acts on: one body without mass a sole."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from gradiva.common import NDArray, so3
from gradiva.simulation.soft_ground_function import SolePlaces
from gradiva.simulation.sole_box import SoleBox
from gradiva.simulation.spec_tools import quaternion

_SITE = mujoco.mjtObj.mjOBJ_SITE


def add_sole_body(spec: mujoco.MjSpec, sole: SoleBox) -> mujoco.MjsBody:
    """Add a body ``sole:<sensor>`` at the frame of its sensor, with sites at that frame and on the sole's face.

    A body without mass passes on to its foot exactly what the ground does to it. The site ``face:<sensor>`` lies in
    the middle of the face that touches, its axes those of the sole frame.
    """
    body = spec.body(sole.body).add_body(
        name=f"sole:{sole.sensor}", pos=sole.pose[:3, 3], quat=quaternion(sole.pose[:3, :3])
    )
    body.explicitinertial, body.ipos = True, np.zeros(3)  # outside forces act at the frame, not where MuJoCo guesses
    body.add_site(name=f"sensor:{sole.sensor}")
    body.add_site(name=f"face:{sole.sensor}", pos=sole.face, quat=quaternion(sole.rotation))
    return body


class SoleBodies:
    """The soles in a compiled model: how their faces move, and how wrenches on them get into the engine."""

    def __init__(self, model: mujoco.MjModel, soles: Sequence[SoleBox]) -> None:
        """Find the bodies that ``add_sole_body`` made."""
        self._model = model
        self._bodies = [int(model.body(f"sole:{sole.sensor}").id) for sole in soles]
        self._faces = [int(model.site(f"face:{sole.sensor}").id) for sole in soles]
        self._sensors = [int(model.site(f"sensor:{sole.sensor}").id) for sole in soles]
        self._soles = soles

    @property
    def places(self) -> list[SolePlaces]:
        """Where they are in the engine's tables."""
        halves = [(float(sole.half_size[0]), float(sole.half_size[1])) for sole in self._soles]
        return [SolePlaces(*place) for place in zip(self._faces, self._sensors, halves, strict=True)]

    def twists(self, data: mujoco.MjData, into: NDArray) -> None:
        """Write the twists of the middles of the faces, angular first, shape (n, 6)."""
        for face, twist in zip(self._faces, into, strict=True):
            mujoco.mj_objectVelocity(self._model, data, _SITE, face, twist, 0)

    def at_sensors(self, data: mujoco.MjData, wrenches: NDArray) -> NDArray:
        """Return wrenches about the middles of the faces as wrenches about the sensors.

        Args:
            data: Of the engine.
            wrenches: World axes, [N, N·m], shape (n, 6).
        """
        moved = wrenches.copy()
        arms = data.site_xpos[self._faces] - data.xpos[self._bodies]
        moved[:, 3:] += so3.cross(arms.T, wrenches[:, :3].T).T
        return moved

    def exert(self, data: mujoco.MjData, wrenches: NDArray) -> None:
        """Add wrenches about the sensors, world axes, shape (n, 6), to what acts from outside."""
        data.xfrc_applied[self._bodies] += wrenches

    def told(self, data: mujoco.MjData, wrenches: NDArray) -> NDArray:
        """Return wrenches about the sensors, world axes, as the sensors tell them: in their own, shape (n, 6)."""
        rotations = data.xmat[self._bodies].reshape(-1, 3, 3)
        return (wrenches.reshape(-1, 2, 3) @ rotations).reshape(-1, 6)
