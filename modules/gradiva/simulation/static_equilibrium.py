"""A robot that stands still from the first instant: its joint torques, and how deep its soles are pressed in."""

from __future__ import annotations

import mujoco
import numpy as np

from gradiva.common import NDArray
from gradiva.simulation.ground import Ground

_TOUCHING = 0.005  # [m] soles nearer to the floor than this carry
_LYING_ON = 0.001  # [m] a robot that starts higher than this above the floor starts in the air
_HALVINGS = 30  # of centimetres, down to 0.1 nm


def standing_torques(
    model: mujoco.MjModel, data: mujoco.MjData, feet: tuple[str, str], floor: float, degrees: NDArray
) -> NDArray:
    r"""Return the torques that hold the robot still, the load shared by least squares.

    .. math:: h = [0; \tau] + \sum_k J_k^T f_k, \qquad f = (J_b^T)^+ h_b, \qquad \tau = h_s - \sum_k J_{ks}^T f_k

    with base rows b, joint rows s, and :math:`h` at zero velocity.

    Args:
        model: Of the engine.
        data: After ``mj_forward``, at rest.
        feet: Sites at the soles; those that do not touch the floor carry nothing.
        floor: Height of the touching soles' sites, [m].
        degrees: Index of each joint's velocity, shape (n,).

    Returns:
        [N·m], shape (n,).
    """
    touching = [foot for foot in feet if data.site(foot).xpos[2] < floor + _TOUCHING]
    jacobian = np.zeros((6 * len(touching), model.nv))
    for row, foot in enumerate(touching):
        block = jacobian[6 * row : 6 * row + 6]
        mujoco.mj_jacSite(model, data, block[:3], block[3:], data.site(foot).id)
    wrenches = np.linalg.lstsq(jacobian[:, :6].T, data.qfrc_bias[:6], rcond=None)[0]
    return (data.qfrc_bias - jacobian.T @ wrenches)[degrees]


def weight_of(model: mujoco.MjModel) -> float:
    """Return the weight of all bodies, [N]."""
    return float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity))


def sink_to_weight(model: mujoco.MjModel, data: mujoco.MjData, ground: Ground, feet: tuple[str, str]) -> None:
    """Lower a robot whose soles are level on the floor until the floor carries it, else leave it.

    Bisection on the height of the base: the vertical momentum rests at the right depth.

    Args:
        model: Of the engine.
        data: At the start posture, with the control that holds it; its height is changed.
        ground: That carries.
        feet: Sites at the soles, at height zero where the soles touch.
    """
    top, momentum_rate = float(data.qpos[2]), np.empty(model.nv)

    def lift(height: float) -> float:
        """What the ground exerts beyond the weight: row of the base's height in M times the accelerations, [N]."""
        data.qpos[2] = height
        ground.forward(model, data)
        mujoco.mj_mulM(model, data, momentum_rate, data.qacc)
        return float(momentum_rate[2])

    low, high = top - ground.deepest_rest(weight_of(model)), top
    stands = min(data.site(foot).xpos[2] for foot in feet) < _LYING_ON
    if stands and lift(high) < 0.0 < lift(low):
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if lift(middle) > 0.0:
                low = middle
            else:
                high = middle
        top = 0.5 * (low + high)
    lift(top)
