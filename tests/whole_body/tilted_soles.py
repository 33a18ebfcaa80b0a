"""References of layer 3 and states of a robot whose soles tilt, hang in the air, or lie on a slope."""

from dataclasses import dataclass

import numpy as np

from gradiva.common import FootReference, Side, altered, so3
from tests.whole_body.standing_robot import reference, state

WEIGHT = 320.0  # [N]


@dataclass(frozen=True, slots=True)
class Feet:
    left_foot: FootReference
    right_foot: FootReference
    com_position: np.ndarray | None = None
    com_velocity: np.ndarray | None = None
    com_acceleration: np.ndarray | None = None


def standing(side_heights, loads, tilt=0.0, in_contact=False, left_tilt=None):
    """References at height 0 and a state with the soles at their heights, tilted about x, under their loads."""
    flat, rolled = np.eye(3), so3.exp(np.array([tilt, 0.0, 0.0]))
    rotations = {Side.LEFT: rolled if left_tilt is None else so3.exp(np.array(left_tilt)), Side.RIGHT: rolled}
    feet = [FootReference(np.array([0.0, y, 0.0]), flat, np.zeros(6), np.zeros(6), in_contact) for y in (0.08, -0.08)]
    body = Feet(*feet)
    fields = {}
    for side in Side:
        fields[f"{side}_foot_position"] = np.array([0.0, 0.0, side_heights[side]])
        fields[f"{side}_foot_rotation"] = rotations[side]
        fields[f"{side}_foot_wrench"] = np.array([0.0, 0.0, loads[side] * WEIGHT, 0.0, 0.0, 0.0])
    return body, altered(state(), **fields)


def on_a_slope(tilt):
    """Return a reference for level ground, and the state on ground tilted about x and y, right foot in the air."""
    loads = {Side.LEFT: 1.0, Side.RIGHT: 0.0}
    body, state = standing({Side.LEFT: 0.0, Side.RIGHT: 0.02}, loads, left_tilt=(*tilt, 0.0))
    velocity = np.array([0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    swing = altered(body.right_foot, twist=velocity, acceleration=2.0 * velocity)
    com = {"com_position": np.array([0.02, 0.01, 0.5]), "com_velocity": velocity[:3], "com_acceleration": velocity[:3]}
    return altered(body, left_foot=altered(body.left_foot, in_contact=True), right_foot=swing, **com), state


def begun_on_a_slope(time, lean=(0.03, -0.05, 0.0)):
    """Return the reference of a robot that stands, and the state of one that leans with its loads shared otherwise."""
    body = reference()
    loads = {
        "left_foot_wrench": np.array([5.0, 2.0, 200.0, 4.0, -3.0, 0.5]),
        "right_foot_wrench": np.array([-4.0, -2.0, 120.0, 2.0, -6.0, -0.5]),
    }
    halves = {name: np.array([0.0, 0.0, 160.0, 0.0, -2.0, 0.0]) for name in loads}
    positions = {"left_foot_position": np.array([0.0, 0.08, 0.0]), "right_foot_position": np.array([0.0, -0.08, 0.0])}
    turned = so3.exp(np.array(lean)) @ body.pelvis_rotation
    return altered(body, time=time, **halves), altered(state(), base_rotation=turned, **positions, **loads)
