"""Applies pushes to the simulated robot."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from gradiva.common import so3
from gradiva.simulation.push import Push
from gradiva.simulation.rigid_tree import RigidTree


class Pusher:
    """Knows where on its rigid body each push acts; the first to write ``data.xfrc_applied`` in each step."""

    def __init__(self, pushes: Sequence[Push], tree: RigidTree, model: mujoco.MjModel) -> None:
        """Find the links.

        Raises:
            ModelError: The model has no such link.
        """
        self._pushes = []
        for push in pushes:
            body = tree.body_of(push.link)
            inertial = body.inertials.get(push.link)
            point = body.frames[push.link][:3, 3] if inertial is None else inertial.centre
            arm = point - body.inertial.centre  # from the body's to the link's centre of mass, body frame
            first = round(push.start / model.opt.timestep)
            steps = range(first, first + round(push.duration / model.opt.timestep))
            self._pushes.append((steps, model.body(body.name).id, np.array(push.force), arm))

    def apply(self, data: mujoco.MjData, step: int) -> None:
        """Set the external forces of a physics step."""
        data.xfrc_applied[:] = 0.0
        for steps, body, force, arm in self._pushes:
            if step in steps:
                lever = data.xmat[body].reshape(3, 3) @ arm
                data.xfrc_applied[body, :3] += force
                data.xfrc_applied[body, 3:] += so3.cross(lever, force)
