"""A sole on soft ground in any pose, and its wrench by summing over its points."""

from itertools import pairwise

import numpy as np

from gradiva.common import FootContact, Side, SoleRectangle, so3
from gradiva.contacts import SoleMotion

SOLE = SoleRectangle(x=(-0.0535, 0.1065), y=(-0.031, 0.041), z=-0.0105)
GROUND = (1e6, 1e4)
REST_POSITION = np.array([0.4, -0.1, 0.0])
REST_ROTATION = so3.rotation_z(0.3)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)


def contact(stiffness=GROUND[0], damping=GROUND[1]):
    return FootContact(True, REST_POSITION, REST_ROTATION, stiffness, damping)


def displaced(displacement, rotation_vector=(0.0, 0.0, 0.0), twist=(0.0,) * 6):
    """The sole off its rest pose by a displacement and a rotation in the axes of world."""
    rotation = so3.exp(np.array(rotation_vector, dtype=float)) @ REST_ROTATION
    return SoleMotion(REST_POSITION + np.array(displacement), rotation, np.array(twist, dtype=float))


def moved(motion, acceleration, time):
    """The sole ``time`` later, its linear and angular acceleration constant; the rotation by Magnus' series."""
    velocity, omega = np.split(motion.twist, 2)
    linear, angular = np.split(np.asarray(acceleration), 2)
    turn = time * omega + time**2 / 2 * angular + time**3 / 12 * np.cross(angular, omega)
    return SoleMotion(
        motion.position + time * velocity + time**2 / 2 * linear,
        so3.exp(turn) @ motion.rotation,
        motion.twist + time * np.asarray(acceleration),
    )


def summed_wrench(motion, ground, side=Side.LEFT, unilateral=True):
    """Gauss' quadrature: exact for polynomials, on each piece of the sole on which the edge of the load is smooth."""
    corners = SOLE.corners(side)
    x0, y0 = corners.min(axis=0)
    x1, y1 = corners.max(axis=0)
    c, cx, cy = plane(motion, ground)
    breaks = [x0, x1]
    if unilateral:
        breaks += [-(c + cy * y) / cx for y in (y0, y1) if cx]
    breaks = sorted(x for x in breaks if x0 <= x <= x1)
    total = np.zeros(6)
    for low, high in pairwise(breaks):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            x = (low + high) / 2 + node * (high - low) / 2
            total += weight * (high - low) / 2 * _column(motion, ground, x, _span(c + cx * x, cy, y0, y1, unilateral))
    return abs(motion.rotation[2, 2]) * total


def plane(motion, ground):
    """The normal pressure at the origin and its slopes, from three points of the sole."""
    origin, ahead, aside = (pressure(motion, ground, x, y)[1][2] for x, y in ((0, 0), (1, 0), (0, 1)))
    return origin, ahead - origin, aside - origin


def pressure(motion, ground, x, y):
    """Where a point of the sole is from the sole's origin, and the force per area on it."""
    lever = motion.rotation @ [x, y, SOLE.z]
    rest = ground.rest_position + ground.rest_rotation @ [x, y, SOLE.z]
    velocity = motion.twist[:3] + np.cross(motion.twist[3:], lever)
    return lever, ground.stiffness * (rest - motion.position - lever) - ground.damping * velocity


def _span(at_zero, slope, y0, y1, unilateral):
    if not unilateral:
        return y0, y1
    if slope == 0.0:
        return (y0, y1) if at_zero > 0.0 else (y0, y0)
    edge = float(np.clip(-at_zero / slope, y0, y1))
    return (edge, y1) if slope > 0.0 else (y0, edge)


def _column(motion, ground, x, span):
    low, high = span
    total = np.zeros(6)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        y = (low + high) / 2 + node * (high - low) / 2
        lever, force = pressure(motion, ground, x, y)
        total += weight * (high - low) / 2 * np.concatenate((force, np.cross(lever, force)))
    return total
