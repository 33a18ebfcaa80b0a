"""Soles that stay level where the robot tilts, and follow the ground where it slopes."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import FootReference, NDArray, RobotState, Side, altered, minimum_jerk, sealed, so3
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_AIRBORNE_LOAD = 0.05  # [-] of the weight: soles that carry less keep their height and tilt while the robot tilts
HEIGHT_GAIN = 1.0  # [-] k_P; both gains are worth a tenth of the largest pushes of iCub v2.7
INTEGRAL_GAIN = 10.0  # [1/s] k_I
TILT_GAIN = 20.0  # [1/s] of a tipped sole with load; 0: a robot pushed sideways rocks and falls on the other side
LEAK_TIME = 0.5  # [s] in which a sole that stands gives its offset back
LARGEST_HEIGHT_OFFSET = 0.06  # [m] offset of a sole that hangs in the air beside a robot that has tipped by 20°
LARGEST_TILT_OFFSET = 0.35  # [rad] offset of its tilt about each axis, likewise
SOLE_SPEED = 0.15  # [m/s] of that height: where load changes sides it jumps, and at 0.3 m/s knees shake
_LARGEST_OFFSET = np.array((LARGEST_TILT_OFFSET, LARGEST_TILT_OFFSET, LARGEST_HEIGHT_OFFSET))
SLIGHT_SLOPE = math.radians(1.0)  # [-] of the ground as soles show it; G1's gear play shows as much on level ground
LEVEL = sealed(np.zeros(2))
"""Slope of level ground, see ``SoleLevelling.levelled``."""
_TILT = np.array((1.0, 1.0, 0.0))  # of an offset, without its height
_NEGLIGIBLE = 1e-5  # [m, rad] offset of a sole
_LOAD_SHIFT = 0.3  # [s] in which loads of position servos become those of the plan, as long as a double support
_LEAST_LOAD = 1.0  # [N] of a sole, where those of both are weighed


class SoleLevelling:
    r"""Keeps the soles level, and those in the air at their height, while the robot itself tilts.

    Servos of position and velocity move the swinging foot relative to the body. Where the stance sole tips about an
    edge, the body tilts and the foot comes down early and on an edge, or hangs in the air when it should stand. Height
    and tilt of a sole without load are therefore fed back, with :math:`e` the planned pose less the measured one,

    .. math:: o = k_P e_z e_3 + k_I \int e \, dt, \qquad p = p_r + o_{z}, \quad R = Exp(o_{x,y}) R_r

    On a slope s [-] that the plan does not know, :math:`e_{x,y}` and :math:`e_z` are counted from the ground: a sole
    that lies on it leans by s, and one at a way d from the other sole is :math:`s \cdot d` lower. Slopes below 1° are
    errors of encoders, gears and inertial unit, from 2° on they count whole.

    A sole that carries load gives its offset back with a time constant. Under a robot that stands and is pushed it
    tips on an edge, which the ZMP cannot leave then, and the robot rocks back farther than it came: its tilt is
    integrated as well, so that it lies flat under the tilted robot (of a robot that walks, that costs a twentieth of
    the pushes). Torque control, which feeds the poses of the feet back itself, needs none of this.

    Attributes:
        offsets: Of each sole: tilt about x and y [rad] and height [m], shape (3,); empty while there are none.
    """

    def __init__(self, weight: float) -> None:
        """Take the robot's weight, [N]."""
        self._load = _AIRBORNE_LOAD * weight
        self.reset()

    def reset(self) -> None:
        """Forget the past: the soles are as planned."""
        self.offsets: dict[Side, NDArray] = {}
        self._integrals: dict[Side, NDArray] = {}

    def levelled(
        self,
        reference: WholeBodyReference,
        state: RobotState,
        is_active: bool,
        stands: bool,
        period: float,
        slope: NDArray = LEVEL,
    ) -> WholeBodyReference:
        """Return the reference of layer 3 with the feet where they come to their planned poses.

        Args:
            reference: With the planned feet.
            state: With the measured ones.
            is_active: Whether a push is being caught; otherwise offsets are given back.
            stands: Whether a robot that stands is pushed: its soles with load are laid flat as well.
            period: [s].
            slope: Of the ground beyond that of the plan, as x and y of its normal in world, [-], shape (2,).
        """
        slope, feet = _counted(slope) * slope, {}
        for side, foot in ((Side.LEFT, reference.left_foot), (Side.RIGHT, reference.right_foot)):
            hangs = is_active and state.foot_wrench(side)[2] < self._load
            error = _error(side, foot, state, slope)
            feet[side] = _moved(foot, *self._offset(side, error, hangs, stands and foot.in_contact, period))
        if not is_active and all(np.abs(offset).max() < _NEGLIGIBLE for offset in self.offsets.values()):
            self.reset()
        return altered(reference, left_foot=feet[Side.LEFT], right_foot=feet[Side.RIGHT])

    def _offset(
        self, side: Side, error: NDArray, hangs: bool, is_laid_flat: bool, period: float
    ) -> tuple[NDArray, NDArray]:
        """Return the offset of a sole after a period [s], and its rate; one that ``hangs`` in the air follows e."""
        last = self.offsets.get(side, np.zeros(3))
        if hangs:
            integral = self._integrals.get(side, last) + period * INTEGRAL_GAIN * error
            offset = integral + np.array((0.0, 0.0, HEIGHT_GAIN * error[2]))
        else:
            integral = offset = last - min(1.0, period / LEAK_TIME) * last
            if is_laid_flat:
                integral = offset = offset + period * TILT_GAIN * error * _TILT
        self._integrals[side] = integral.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        offset = offset.clip(-_LARGEST_OFFSET, _LARGEST_OFFSET)
        offset[2] = last[2] + np.clip(offset[2] - last[2], -SOLE_SPEED * period, SOLE_SPEED * period)
        self.offsets[side] = offset
        return offset, (offset - last) / period


def _error(side: Side, foot: FootReference, state: RobotState, slope: NDArray) -> NDArray:
    """Return e of a sole beside the other one on a slope: tilt about x and y [rad] and height [m], shape (3,)."""
    position = state.foot_position(side)
    tilt = so3.log(foot.rotation @ state.foot_rotation(side).T)[:2] - (slope[1], -slope[0])
    way = position - state.foot_position(side.other)
    return np.array([*tilt, float(foot.position[2] - position[2] - slope @ way[:2])])


def _counted(slope: NDArray) -> float:
    """Return the fraction of a slope that counts, [-]: nothing below 1°, all from 2° on."""
    return min(1.0, max(0.0, math.hypot(*slope) / SLIGHT_SLOPE - 1.0))


def on_slope(reference: WholeBodyReference, state: RobotState, slope: NDArray) -> WholeBodyReference:
    """Return a reference for level ground on a slope: soles lean as the ground, they and the CoM rise and fall with it.

    Heights are counted from the soles as they are estimated, each by its load. Slopes below 1° change nothing, from 2°
    on they count whole.

    Args:
        reference: Of level ground.
        state: With the poses of the soles and their loads.
        slope: As in ``SoleLevelling.levelled``.
    """
    fraction = _counted(slope)
    a, b = (fraction * slope).tolist()
    turn, left, right = so3.exp(np.array((-b, a, 0.0))), reference.left_foot, reference.right_foot
    heights = [
        state.foot_position(side)[2] - foot.position[2] + a * foot.position[0] + b * foot.position[1]
        for side, foot in ((Side.LEFT, left), (Side.RIGHT, right))
    ]
    loads = np.maximum([state.foot_wrench(side)[2] for side in Side], _LEAST_LOAD)
    ground = fraction * float(loads @ heights / loads.sum())

    def along(value: NDArray, rise: float = 0.0) -> NDArray:
        value = value.copy()
        value[2] += rise - a * value[0] - b * value[1]
        return value

    def moved(foot: FootReference) -> FootReference:
        motion = {"twist": along(foot.twist), "acceleration": along(foot.acceleration)}
        return altered(foot, position=along(foot.position, ground), rotation=turn @ foot.rotation, **motion)

    com = {"com_velocity": along(reference.com_velocity), "com_acceleration": along(reference.com_acceleration)}
    position = along(reference.com_position, ground)
    return altered(reference, left_foot=moved(left), right_foot=moved(right), com_position=position, **com)


def lean_of_soles(state: RobotState) -> float:
    """Return by how much the soles lean together, as on a slope, [-]."""
    return 0.5 * math.hypot(*(state.left_foot_rotation[:2, 2] + state.right_foot_rotation[:2, 2]).tolist())


class SlopedBegin:
    r"""Lets torque control begin on a slope as the robot stands, and come to what is planned.

    The robot leans with the ground and becomes upright, as one body about its ankles, while its CoM comes over the
    middle of the feet: with s, which falls from 1 to 0 by minimum jerk, trunk and pelvis are

    .. math:: R = Exp(s \theta_0) R_r

    Servos of position share the load by the lengths of the legs, a plan by the place of the CoM. The difference is
    given back as fast as steps shift it in a double support.
    """

    def __init__(self, start: float, end: float) -> None:
        """Take the times between which the CoM comes to the middle, [s]."""
        self._start, self._duration = start, end - start
        self._lean: NDArray | None = None  # θ0, [rad], shape (3,)
        self._shift = 0.0  # [N] of load from the right foot to the left one

    def applied(self, body: WholeBodyReference, state: RobotState) -> WholeBodyReference:
        """Return the reference of layer 3 as far as the begin goes."""
        if self._lean is None:
            self._lean = so3.log(state.base_rotation @ body.pelvis_rotation.T) * (1.0, 1.0, 0.0)
            left, right = (
                state.left_foot_wrench - body.left_foot_wrench,
                state.right_foot_wrench - body.right_foot_wrench,
            )
            self._shift = 0.5 * float(left[2] - right[2])
        time = body.time - self._start
        fraction = 1.0 - minimum_jerk(time / self._duration)[0]
        if fraction <= 0.0:
            return body
        turn = so3.exp(fraction * self._lean)
        body = altered(body, torso_rotation=turn @ body.torso_rotation, pelvis_rotation=turn @ body.pelvis_rotation)
        shift = self._shift * (1.0 - minimum_jerk(time / _LOAD_SHIFT)[0])
        return body if shift == 0.0 else _with_load_shifted(body, shift)


def _with_load_shifted(body: WholeBodyReference, shift: float) -> WholeBodyReference:
    """Return the reference with load [N] of the right foot on the left one; force and moment of both stay."""
    left, right = body.left_foot, body.right_foot
    if not (left.in_contact and right.in_contact):
        return body
    force = np.array((0.0, 0.0, shift))
    moment = -0.5 * np.cross(left.position - right.position, force)
    wrench = np.concatenate((force, moment)), np.concatenate((-force, moment))
    return altered(
        body,
        left_foot_wrench=body.left_foot_wrench + wrench[0],
        right_foot_wrench=body.right_foot_wrench + wrench[1],
    )


def _moved(foot: FootReference, offset: NDArray, rate: NDArray) -> FootReference:
    """Return a foot that is tilted about x and y [rad] and lifted [m] by an offset, shape (3,), and its rate."""
    tilt, rise = np.array((offset[0], offset[1], 0.0)), np.array((0.0, 0.0, offset[2]))
    twist = foot.twist.copy()
    twist[2:5] += rate[2], rate[0], rate[1]
    return altered(foot, position=foot.position + rise, rotation=so3.exp(tilt) @ foot.rotation, twist=twist)
