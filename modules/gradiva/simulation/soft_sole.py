"""One sole on visco-elastic ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradiva.common import FootContact, NDArray, so3
from gradiva.simulation.viscoelastic_config import ViscoElasticGroundConfig


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
