"""The part of the engine's model that a ground acts on: one body without mass a sole."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import NDArray, so3
from gradiva.simulation.sole_box import SoleBox
from gradiva.simulation.spec_tools import quaternion


def add_sole_body(spec: mujoco.MjSpec, sole: SoleBox) -> mujoco.MjsBody:
    """Add a body ``sole:<sensor>`` at the frame of its sensor, with sites at that frame and on the sole's face.

    A body without mass passes on to its foot exactly what the ground does to it. The site ``face:<sensor>`` lies in
    the middle of the face that touches, its axes those of the sole frame.
    """
    body = spec.body(sole.body).add_body(
        name=f"sole:{sole.sensor}", pos=sole.pose[:3, 3], quat=quaternion(sole.pose[:3, :3])
    )
    body.add_site(name=f"sensor:{sole.sensor}")
    body.add_site(name=f"face:{sole.sensor}", pos=sole.face, quat=quaternion(sole.rotation))
    return body


class SoleFace:
    """Where the touching face of one sole is, how it moves, and how a wrench on it gets into the engine.

    Attributes:
        half_size: Half the extent along x and y of the sole frame, [m].
    """

    def __init__(self, model: mujoco.MjModel, sole: SoleBox) -> None:
        """Find the sole in a compiled model."""
        self.half_size = (float(sole.half_size[0]), float(sole.half_size[1]))
        self.body = int(model.body(f"sole:{sole.sensor}").id)
        self._site = int(model.site(f"face:{sole.sensor}").id)
        self._root = int(model.body_rootid[self.body])

    def position(self, data: mujoco.MjData) -> NDArray:
        """Of the middle of the face, world, [m], shape (3,)."""
        return data.site_xpos[self._site]

    def rotation(self, data: mujoco.MjData) -> NDArray:
        """Of the sole frame, shape (3, 3)."""
        return data.site_xmat[self._site].reshape(3, 3)

    def twist(self, data: mujoco.MjData) -> NDArray:
        """Of the middle of the face, linear then angular, world, [m/s, rad/s], shape (6,)."""
        angular, linear = data.cvel[self.body].reshape(2, 3)  # of the point at the robot's centre of mass
        arm = data.site_xpos[self._site] - data.subtree_com[self._root]
        return np.concatenate([linear + so3.cross(angular, arm), angular])

    def apply(self, data: mujoco.MjData, wrench: NDArray) -> None:
        """Add a wrench about the middle of the face (world, [N, N·m], shape (6,)) to what acts from outside."""
        data.xfrc_applied[self.body] += _moved(wrench, data.site_xpos[self._site] - data.xipos[self.body])

    def in_sensor(self, data: mujoco.MjData, wrench: NDArray) -> NDArray:
        """Return a wrench about the middle of the face, world axes, as the sensor of the sole tells it, shape (6,)."""
        rotation = data.xmat[self.body].reshape(3, 3)  # the body's frame is the sensor's
        moved = _moved(wrench, data.site_xpos[self._site] - data.xpos[self.body])
        return (moved.reshape(2, 3) @ rotation).ravel()


def _moved(wrench: NDArray, arm: NDArray) -> NDArray:
    """Return a wrench about another point, from which ``arm`` leads to the old one."""
    moved = wrench.copy()
    moved[3:] += so3.cross(arm, wrench[:3])
    return moved
