"""Slopes of the ground: references of layer 3 for level ground on them, and the begin of torque control there."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import FootReference, NDArray, RobotState, Side, altered, minimum_jerk, sealed, so3
from gradiva.whole_body.whole_body_reference import WholeBodyReference

SLIGHT_SLOPE = math.radians(1.0)  # [-] of the ground as soles show it; G1's gear play shows as much on level ground
LEVEL = sealed(np.zeros(2))
"""Slope of level ground, as x and y of its normal."""
_LOAD_SHIFT = 0.3  # [s] in which loads of position servos become those of the plan, as long as a double support
_LEAST_LOAD = 1.0  # [N] of a sole, where those of both are weighed


def on_slope(reference: WholeBodyReference, state: RobotState, slope: NDArray, fraction: float) -> WholeBodyReference:
    """Return a reference for level ground on a slope: soles lean as the ground, they and the CoM rise and fall with it.

    Heights are counted from the soles as they are estimated, each by its load.

    Args:
        reference: Of level ground.
        state: With the poses of the soles and their loads.
        slope: Of the ground beyond that of the plan, as x and y of its normal in world, [-], shape (2,).
        fraction: Of slope and heights that counts, [-].
    """
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
