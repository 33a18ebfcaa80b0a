"""Wrenches of the linear inverted pendulum: those of ``walking`` on numbers, and a second statement of them."""

import casadi as cs
import numpy as np

from gradiva.contacts import ContactPlane
from gradiva.walking import pendulum_wrenches

LEVEL = ContactPlane()


def wrenches_in_numbers(force, zmp, feet, zmp_points, plane=LEVEL):
    """Return what ``pendulum_wrenches`` gives for arrays and foot references."""
    numbers = [{"position": cs.DM(foot.position), "in_contact": cs.DM(foot.in_contact)} for foot in feet]
    points = [cs.DM(np.asarray(point)) for point in zmp_points]
    found = pendulum_wrenches(cs.DM(force), cs.DM(zmp), numbers, points, (cs.DM(plane.height), cs.DM(plane.slope)))
    return [np.array(wrench)[:, 0] for wrench in found]


def left_fraction(zmp, feet, zmp_points):
    """Return the fraction of the load on the left foot, in [0, 1]."""
    left, right = feet
    if not right.in_contact:
        return 1.0
    if not left.in_contact:
        return 0.0
    line = np.subtract(*zmp_points)
    return float(np.clip((zmp - zmp_points[1]) @ line / (line @ line), 0.0, 1.0))


def expected_wrenches(force, zmp, feet, zmp_points, plane):
    """Return the wrenches by fractions of the force through shifted points."""
    fraction = left_fraction(zmp, feet, zmp_points)
    fractions = fraction, 1.0 - fraction
    shift = zmp - fractions @ np.asarray(zmp_points)
    places = [np.array([*(point + shift), plane.height_at(*(point + shift))]) for point in zmp_points]
    parts = [part * force for part in fractions]
    return [
        np.concatenate((part, np.cross(place - foot.position, part)))
        for part, place, foot in zip(parts, places, feet, strict=True)
    ]
