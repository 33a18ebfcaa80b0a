"""One sole on visco-elastic ground."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gradiva.common import FootContact, NDArray, Side, SoleRectangle, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.simulation.sole_box import SoleBox
from gradiva.simulation.viscoelastic_config import ViscoElasticGroundConfig


class SoftSole:
    r"""Remembers where a sole touched down, and tells what the ground does to it (thesis 8.1).

    The ground is at rest where the first corner of the sole met it: at that instant's x, y and yaw, level, at the
    height of the surface. The contact ends when the whole sole is above the surface. A sole that slides takes its
    place of rest along, so that the tangential force stays at the limit of friction,

    .. math:: \Delta \bar p_{xy} = \frac{1}{k a A} \left(\frac{\mu f_z}{|f_{xy}|} - 1\right) f_{xy}

    with the loaded area A and :math:`a = |e_3^T R e_3|`. Friction does not limit the moment about the vertical.
    """

    def __init__(self, box: SoleBox, config: ViscoElasticGroundConfig, friction: float, height: float) -> None:
        """Begin in the air, above a surface at ``height`` [m]; ``friction`` counts for a sole that may slide."""
        self._half_size = x, y = float(box.half_size[0]), float(box.half_size[1])
        face = SoleRectangle((-x, x), (-y, y), 0.0)
        self._sole = ViscoElasticContact(face, Side.LEFT, is_unilateral=not config.pulls)
        self._config = config
        self._friction = friction
        self._height = height
        self._contact: FootContact | None = None

    @property
    def contact(self) -> FootContact | None:
        """Pose of rest of the middle of the face and properties of the ground below it; None in the air."""
        return self._contact

    def wrench(self, motion: SoleMotion, time: float) -> NDArray:
        """Return what the ground does to the sole, about the middle of its face, world axes, [N, N·m], shape (6,).

        Args:
            motion: Of the middle of the face.
            time: [s].
        """
        self._contact = contact = self._touching(motion, time)
        if contact is None:
            return np.zeros(6)
        wrench = self._sole.wrench(motion, contact)
        slides = self._config.slides and math.hypot(wrench[0], wrench[1]) > self._friction * wrench[2] > 0.0
        return self._slide(motion, contact, wrench) if slides else wrench

    def _touching(self, motion: SoleMotion, time: float) -> FootContact | None:
        """Return the contact of this instant: dropped, kept or new, with the ground as it is now."""
        x, y = self._half_size
        tilt_x, tilt_y = motion.rotation[2, :2].tolist()
        if motion.position[2] - x * abs(tilt_x) - y * abs(tilt_y) >= self._height:
            return None
        contact = self._contact
        if contact is None:
            rest = np.array([motion.position[0], motion.position[1], self._height])
            ground = self._config.spring(float(rest[0]), time)
            return FootContact(True, rest, so3.rotation_z(so3.yaw(motion.rotation)), *ground)
        ground = self._config.spring(float(contact.rest_position[0]), time)
        if ground == (contact.stiffness, contact.damping):
            return contact
        return replace(contact, stiffness=ground.stiffness, damping=ground.damping)

    def _slide(self, motion: SoleMotion, contact: FootContact, wrench: NDArray) -> NDArray:
        """Move the place of rest until friction holds the sole."""
        force = wrench[:2]
        area = abs(motion.rotation[2, 2]) * self._sole.loaded_moments(motion, contact).area
        surplus = self._friction * wrench[2] / math.hypot(*force) - 1.0
        rest = contact.rest_position.copy()
        rest[:2] += surplus / (contact.stiffness * area) * force
        self._contact = replace(contact, rest_position=rest)
        return self._sole.wrench(motion, self._contact)
