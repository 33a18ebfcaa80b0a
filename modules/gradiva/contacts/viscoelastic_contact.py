r"""Visco-elastic contact: wrench, regressor and rate of a sole on a continuum of springs and dampers.

Each point :math:`x = p + r` of the loaded part of the sole feels :math:`\rho = k (\bar x - x) - b \dot x` per area of
ground, its rest place being :math:`\bar x = \bar p + \bar r`. With :math:`r = R \varepsilon` and
:math:`\bar r = \bar R \varepsilon` of the same point :math:`\varepsilon` of the sole frame, the integrals over the sole
need no more than the moments of its loaded part:

.. math::
    s = \int r, \quad \bar s = \int \bar r, \quad C = \int r r^\top, \quad N = \int r \bar r^\top, \quad
    Q = \mathrm{tr}(C) I - C = \int S(r)^\top S(r).

For :math:`a = |e_3^\top R e_3|`, :math:`d = \bar p - p` and a twist :math:`v, \omega` of the sole frame,

.. math::
    f &= a [k (A d + \bar s - s) - b (A v + \omega \times s)], \\
    \mu &= a [k (s \times d + \mathrm{ax} N) - b (s \times v + Q \omega)],

with :math:`\mathrm{ax} N = \int r \times \bar r`. The moments are taken about the origin of the sole frame, wherever
that is. About the centre of a fully loaded rectangle these are the thesis' equations (8.1.7).

**Rate.** :math:`[\dot f; \dot \mu] = h + g\, [\ddot p; \dot \omega]`, first with the loaded part held:

.. math::
    h_f &= \dot a f / a - a [k (A v + \omega \times s) + b\, \omega \times (\omega \times s)], \\
    h_\mu &= \dot a \mu / a + a [(\omega \times s) \times (k d - b v)
             + k (N \omega - \mathrm{tr}(N) \omega - s \times v) - b\, C \omega \times \omega], \\
    g &= -a \beta \begin{bmatrix} A I & -S(s) \\ S(s) & Q \end{bmatrix}, \qquad \beta = b + k\, \Delta t / 2.

**Moving edge.** By Leibniz' rule the line on which the pressure :math:`\rho_z` vanishes adds what it sweeps: it moves
outward at :math:`\dot \rho_z / |\nabla \rho_z|`, and carries no pressure but the shear :math:`\rho_\parallel`,

.. math::
    \begin{bmatrix} \dot f \\ \dot \mu \end{bmatrix}_e = a \int_e \begin{bmatrix} I \\ S(r) \end{bmatrix} \rho_\parallel
        \frac{\dot \rho_z}{|\nabla \rho_z|} \, dl, \qquad
    \dot \rho_z = -e_3^\top [k (v + \omega \times r) + b\, \omega \times (\omega \times r)
        + \beta (\dot v + \dot \omega \times r)].

The integrand is a cubic along the line: two Gauss points give it exactly. The normal force gets no such term.

:math:`\Delta t = 0` gives the derivative. A controller that chooses the acceleration once in :math:`\Delta t` and
holds it changes the wrench by :math:`\Delta t` times this rate with :math:`\beta` as above. With :math:`\beta = b`
instead, the velocity of the foot gets a pole at :math:`1 - k \Delta t / b`: unstable for
:math:`b \le k \Delta t / 2`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gradiva.common import FootContact, NDArray, Side, SoleRectangle
from gradiva.contacts.loaded_part import (
    LoadedEdge,
    LoadedPart,
    SoleMoments,
    loaded_part,
    normal_pressure,
    rectangle_moments,
)
from gradiva.contacts.plain_vectors import Matrix, Point, Vector, axial, combination, cross, times, trace

_GAUSS = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)  # [-] of a length; both weigh a half

_Arguments = tuple[list[float], list[list[float]], list[float], list[float], list[list[float]]]
"""Pose and twist of the sole, rest pose: plain numbers."""
_GIMBAL_LOCK = 1e-9  # [-] cosine of the pitch below which roll and yaw are one


class ViscoElasticParameters(NamedTuple):
    """A continuum of springs and dampers.

    Attributes:
        stiffness: k, force per displacement and area, [N/m³].
        damping: b, force per velocity and area, [N·s/m³].
    """

    stiffness: float
    damping: float


class SoleMotion(NamedTuple):
    """Pose and twist of a sole; world, mixed representation.

    Attributes:
        position: Origin of the sole frame, [m], shape (3,).
        rotation: Of the sole frame, shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray


class WrenchRate(NamedTuple):
    r"""Rate of the wrench of the ground: :math:`[\dot f; \dot \mu] = h + g\, [\ddot p; \dot \omega]`.

    Attributes:
        drift: h, [N/s, N·m/s], shape (6,).
        gain: g, shape (6, 6).
    """

    drift: NDArray
    gain: NDArray


class ViscoElasticContact:
    """The closed form of V (9), (10), for any part of the sole; the equations stand in :class:`ViscoElasticEquations`.

    Wrenches are those of the ground on the foot, about the origin of the sole frame, in the axes of world. The
    contact's ``is_active`` is not used: geometry alone decides.
    """

    def __init__(self, sole: SoleRectangle, side: Side, *, is_unilateral: bool = True) -> None:
        """Prepare.

        Args:
            sole: Rectangle of the left sole, mirrored for the right one.
            side: Which foot.
            is_unilateral: The ground pushes only: a part that has lifted off carries nothing. Otherwise the whole sole
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
        pressure = normal_pressure(height, (contact.stiffness, contact.damping), *arguments)
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


class ViscoElasticEquations:
    """The integrals of one sole at one instant, and what follows from them.

    Numbers may be floats or the scalars of a symbolic library; results are lists of the same.

    Attributes:
        area: Of the loaded part of the sole, [m²].
    """

    __slots__ = (
        "_displaced",
        "_edge",
        "_lever",
        "_offset",
        "_omega",
        "_product",
        "_projection",
        "_projection_rate",
        "_spread",
        "_swept",
        "_swing",
        "_velocity",
        "area",
    )

    def __init__(
        self,
        moments: SoleMoments,
        position: Vector,
        rotation: Matrix,
        twist: Vector,
        rest_position: Vector,
        rest_rotation: Matrix,
        edge: LoadedEdge | None = None,
    ) -> None:
        """Integrate.

        Args:
            moments: Of the loaded part of the sole.
            position: p of the sole frame, world, [m].
            rotation: R, three rows.
            twist: v and ω, six numbers, [m/s, rad/s].
            rest_position: p̄, where the ground exerts no force, [m].
            rest_rotation: R̄, three rows.
            edge: Where the loaded part ends within the sole; None: nowhere.

        Raises:
            ZeroDivisionError: The sole stands upright on its edge.
        """
        area, x, y, xx, xy, yy, z = moments
        first = (x, y, z * area)
        second = ((xx, xy, z * x), (xy, yy, z * y), (z * x, z * y, z * z * area))
        rows = [times(second, row) for row in rotation]
        self.area = area
        self._velocity, self._omega = twist[:3], twist[3:]
        self._lever = times(rotation, first)  # s
        self._spread = [times(rotation, row) for row in rows]  # C
        self._product = [times(rest_rotation, row) for row in rows]  # N
        self._offset = combination(1.0, rest_position, -1.0, position)  # d
        lift = combination(1.0, times(rest_rotation, first), -1.0, self._lever)  # s̄ − s
        self._displaced = combination(area, self._offset, 1.0, lift)
        self._swing = cross(self._omega, self._lever)
        self._swept = combination(area, self._velocity, 1.0, self._swing)  # A v + ω × s
        self._edge = [] if edge is None else self._edge_points(edge, z, rotation, rest_rotation)
        upright = rotation[2][2]
        self._projection = abs(upright)  # a
        turning = self._omega[0] * rotation[1][2] - self._omega[1] * rotation[0][2]
        self._projection_rate = turning * upright / self._projection  # ȧ

    def regressor(self) -> tuple[list[float], list[float]]:
        """Return the wrenches of k = 1, b = 0 and of k = 0, b = 1, six numbers each."""
        a = self._projection
        spring, damper = (*self._displaced, *self._spring_moment()), (*self._swept, *self._damper_moment())
        return [a * value for value in spring], [-a * value for value in damper]

    def wrench(self, stiffness: float, damping: float) -> list[float]:
        """Return f and μ of the ground on the sole, about the origin of the sole frame, world axes, [N, N·m]."""
        k, b = self._projection * stiffness, -self._projection * damping
        force = combination(k, self._displaced, b, self._swept)
        return force + combination(k, self._spring_moment(), b, self._damper_moment())

    def drift(self, stiffness: float, damping: float) -> list[float]:
        """Return h, the rate of the wrench while the sole frame does not accelerate, [N/s, N·m/s]."""
        a, rate = self._projection, self._projection_rate / self._projection
        wrench = self.wrench(stiffness, damping)
        force, moment = self._force_drift(stiffness, damping), self._moment_drift(stiffness, damping)
        drift = combination(rate, wrench[:3], a, force) + combination(rate, wrench[3:], a, moment)
        for lever, swept in self._swept_shear(stiffness, damping):
            velocity = combination(1.0, self._velocity, 1.0, cross(self._omega, lever))
            turning = cross(self._omega, cross(self._omega, lever))
            rise = -stiffness * velocity[2] - damping * turning[2]
            drift = [value + rise * each for value, each in zip(drift, swept, strict=True)]
        return drift

    def gain(self, stiffness: float, damping: float, period: float = 0.0) -> list[list[float]]:
        """Return g, the derivative of the wrench's rate with respect to the sole's acceleration, six rows.

        Args:
            stiffness: k, [N/m³].
            damping: b, [N·s/m³].
            period: Δt for which the acceleration is held, 0 for the derivative, [s].
        """
        factor = -self._projection * (damping + 0.5 * stiffness * period)
        area, x, y, z = factor * self.area, *[factor * lever for lever in self._lever]
        (cxx, cxy, cxz), (_, cyy, cyz), (_, _, czz) = self._spread
        xy, xz, yz = -factor * cxy, -factor * cxz, -factor * cyz
        gain = [
            [area, 0.0, 0.0, 0.0, z, -y],
            [0.0, area, 0.0, -z, 0.0, x],
            [0.0, 0.0, area, y, -x, 0.0],
            [0.0, -z, y, factor * (cyy + czz), xy, xz],
            [z, 0.0, -x, xy, factor * (cxx + czz), yz],
            [-y, x, 0.0, xz, yz, factor * (cxx + cyy)],
        ]
        held = -(damping + 0.5 * stiffness * period)
        for (lx, ly, _), swept in self._swept_shear(stiffness, damping):
            rise = (0.0, 0.0, held, held * ly, -held * lx, 0.0)  # of the pressure with each acceleration
            gain = [
                [g + each * one for g, one in zip(row, rise, strict=True)]
                for row, each in zip(gain, swept, strict=True)
            ]
        return gain

    def _edge_points(
        self, edge: LoadedEdge, height: float, rotation: Matrix, rest_rotation: Matrix
    ) -> list[tuple[list[float], list[float], float]]:
        """Return lever r, r̄ - r and weight of the Gauss points of the moving edge, [m, m, m⁵/N]."""
        points = []
        for ratio in _GAUSS:
            x, y = (a + ratio * (b - a) for a, b in zip(edge.start, edge.end, strict=True))
            lever = times(rotation, (x, y, height))
            points.append(
                (lever, combination(1.0, times(rest_rotation, (x, y, height)), -1.0, lever), 0.5 * edge.mobility)
            )
        return points

    def _swept_shear(self, stiffness: float, damping: float) -> list[tuple[list[float], list[float]]]:
        """Return lever and wrench of the shear at each point of the moving edge, per rise of the pressure there."""
        swept = []
        for lever, lift, weight in self._edge:
            velocity = combination(1.0, self._velocity, 1.0, cross(self._omega, lever))
            displaced = combination(1.0, self._offset, 1.0, lift)
            factor = self._projection * weight
            x, y, _ = combination(factor * stiffness, displaced, -factor * damping, velocity)
            shear = [x, y, 0.0 * x]
            swept.append((lever, shear + cross(lever, shear)))
        return swept

    def _spring_moment(self) -> list[float]:
        """s × d + ax N."""
        return combination(1.0, cross(self._lever, self._offset), 1.0, axial(self._product))

    def _damper_moment(self) -> list[float]:
        """s × v + Q ω."""
        spun = combination(trace(self._spread), self._omega, -1.0, times(self._spread, self._omega))
        return combination(1.0, cross(self._lever, self._velocity), 1.0, spun)

    def _force_drift(self, stiffness: float, damping: float) -> list[float]:
        """−k (A v + ω × s) − b ω × (ω × s)."""
        return combination(-stiffness, self._swept, -damping, cross(self._omega, self._swing))

    def _moment_drift(self, stiffness: float, damping: float) -> list[float]:
        """(ω × s) × (k d − b v) + k (N ω − tr N ω − s × v) − b C ω × ω."""
        omega = self._omega
        turned = cross(self._swing, combination(stiffness, self._offset, -damping, self._velocity))
        twisted = combination(1.0, times(self._product, omega), -trace(self._product), omega)
        sprung = combination(stiffness, twisted, -stiffness, cross(self._lever, self._velocity))
        spun = cross(times(self._spread, omega), omega)
        return combination(1.0, combination(1.0, turned, 1.0, sprung), -damping, spun)


def static_sinkage(load: float, sole: SoleRectangle, stiffness: float) -> float:
    """Return f / (A k), the depth at which a level sole carries ``load`` [N] on ground of stiffness k [N/m³], [m]."""
    return load / (sole.length * sole.width * stiffness)


class LinearContact:
    r"""The first-order limit of the visco-elastic contact (thesis, corollary 1), for comparison.

    .. math::
        f = l w [k (\bar p - p) - b \dot p], \qquad
        \mu = -\tfrac{l w}{12} \mathrm{diag}(w^2, l^2, l^2 + w^2) (k \Theta + b \dot\Theta)

    with the length :math:`l` and the width :math:`w` of the sole, its centre :math:`p` and its roll, pitch and yaw
    :math:`\Theta`: :math:`R = R_z(\Theta_3) R_y(\Theta_2) R_x(\Theta_1)`. At rest the sole lies with the axes of world.
    """

    def __init__(self, length: float, width: float, parameters: ViscoElasticParameters) -> None:
        """Integrate.

        Args:
            length: l of the sole, along its x axis, [m].
            width: w of the sole, along its y axis, [m].
            parameters: k and b of the ground.
        """
        self._area = length * width
        self._spread = self._area / 12.0 * np.array([width**2, length**2, length**2 + width**2])
        self._parameters = parameters

    def wrench(self, displacement: NDArray, rotation: NDArray, twist: NDArray) -> NDArray:
        """Return the wrench of the ground about the centre of the sole, world axes, [N, N·m], shape (6,).

        Args:
            displacement: Of the centre from its rest position, [m], shape (3,).
            rotation: Of the sole, shape (3, 3).
            twist: Of the centre, linear then angular, [m/s, rad/s], shape (6,).

        Raises:
            ValueError: The sole points straight up or down: roll and yaw are not defined.
        """
        stiffness, damping = self._parameters
        angles = roll_pitch_yaw(rotation)
        force = -self._area * (stiffness * displacement + damping * twist[:3])
        moment = -self._spread * (stiffness * angles + damping * roll_pitch_yaw_rates(angles, twist[3:]))
        return np.concatenate((force, moment))


def roll_pitch_yaw(rotation: NDArray) -> NDArray:
    """Return the angles of a rotation, [rad], shape (3,).

    Raises:
        ValueError: The pitch is ±90°.
    """
    cosine = math.hypot(rotation[0, 0], rotation[1, 0])
    if cosine < _GIMBAL_LOCK:
        raise ValueError("at a pitch of ±90° roll and yaw are not defined")
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return np.array([roll, math.atan2(-rotation[2, 0], cosine), math.atan2(rotation[1, 0], rotation[0, 0])])


def roll_pitch_yaw_rates(angles: NDArray, angular_velocity: NDArray) -> NDArray:
    """Return the rates of roll, pitch and yaw of an angular velocity in world axes, [rad/s], shape (3,)."""
    _, pitch, yaw = (float(angle) for angle in angles)
    x, y, z = (float(rate) for rate in angular_velocity)
    ahead, aside = math.cos(yaw) * x + math.sin(yaw) * y, math.cos(yaw) * y - math.sin(yaw) * x
    return np.array([ahead / math.cos(pitch), aside, z + math.tan(pitch) * ahead])
