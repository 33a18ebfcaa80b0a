"""One sole of a robot on visco-elastic ground: wrench, regressor and rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradiva.common import FootContact, NDArray, Side, SoleRectangle
from gradiva.contacts.half_plane import Point
from gradiva.contacts.loaded_part import LoadedPart, loaded_part, normal_pressure
from gradiva.contacts.sole_moments import SoleMoments, rectangle_moments
from gradiva.contacts.viscoelastic_equations import ViscoElasticEquations

_Arguments = tuple[list[float], list[list[float]], list[float], list[float], list[list[float]]]
"""Pose and twist of the sole, rest pose: plain numbers."""


class SoleMotion(NamedTuple):
    """Where a sole is and how it moves; world, mixed representation.

    Attributes:
        position: Origin of the sole frame, [m], shape (3,).
        rotation: Of the sole frame, shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray


class WrenchRate(NamedTuple):
    r"""How the wrench of the ground changes: :math:`[\dot f; \dot \mu] = h + g\, [\ddot p; \dot \omega]`.

    Attributes:
        drift: h, [N/s, N·m/s], shape (6,).
        gain: g, shape (6, 6).
    """

    drift: NDArray
    gain: NDArray


class ViscoElasticContact:
    """The closed form of V (9), (10), for any part of the sole; the equations stand in ``viscoelastic_equations``.

    Wrenches are those of the ground on the foot, about the origin of the sole frame, in the axes of world. The
    contact's ``is_active`` is not asked: what the ground does, it does.
    """

    def __init__(self, sole: SoleRectangle, side: Side, *, is_unilateral: bool = True) -> None:
        """Prepare.

        Args:
            sole: Rectangle of the left sole, mirrored for the right one.
            side: Which foot.
            is_unilateral: The ground pushes only: what has lifted off carries nothing. Otherwise the whole sole
                sticks to it, as in the thesis.
        """
        self._corners: list[Point] = [(x, y) for x, y in sole.corners(side).tolist()]
        self._whole = rectangle_moments(sole, side)
        self._is_unilateral = is_unilateral

    def wrench(self, motion: SoleMotion, contact: FootContact) -> NDArray:
        """Return the wrench, [N, N·m], shape (6,)."""
        return np.array(self.equations(motion, contact).wrench(contact.stiffness, contact.damping))

    def regressor(self, motion: SoleMotion, contact: FootContact) -> NDArray:
        """Return Y of wrench = Y [k, b], shape (6, 2); the contact's own k and b tell which part is loaded."""
        return np.array(self.equations(motion, contact).regressor()).T

    def rate(self, motion: SoleMotion, contact: FootContact, period: float = 0.0) -> WrenchRate:
        """Return h and g.

        Args:
            motion: Of the sole.
            contact: With the ground.
            period: For which a controller holds the acceleration, 0 for the derivative, [s].
        """
        equations = self.equations(motion, contact)
        drift = equations.drift(contact.stiffness, contact.damping)
        return WrenchRate(np.array(drift), np.array(equations.gain(contact.stiffness, contact.damping, period)))

    def loaded_moments(self, motion: SoleMotion, contact: FootContact) -> SoleMoments:
        """Return area and moments of the loaded part of the sole; all zero for a sole in the air."""
        if not self._is_unilateral:
            return self._whole
        return self._loaded_part(self._arguments(motion, contact), contact).moments

    def equations(self, motion: SoleMotion, contact: FootContact) -> ViscoElasticEquations:
        """Return the integrals over the loaded part, from which all of these follow."""
        arguments = self._arguments(motion, contact)
        if not self._is_unilateral:
            return ViscoElasticEquations(self._whole, *arguments)
        part = self._loaded_part(arguments, contact)
        return ViscoElasticEquations(part.moments, *arguments, part.edge)

    def _loaded_part(self, arguments: _Arguments, contact: FootContact) -> LoadedPart:
        height = self._whole.height
        pressure = normal_pressure(height, *arguments, contact.stiffness, contact.damping)
        return loaded_part(self._corners, pressure, height)

    @staticmethod
    def _arguments(motion: SoleMotion, contact: FootContact) -> _Arguments:
        return (
            motion.position.tolist(),
            motion.rotation.tolist(),
            motion.twist.tolist(),
            contact.rest_position.tolist(),
            contact.rest_rotation.tolist(),
        )
