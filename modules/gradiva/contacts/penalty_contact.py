"""Contact forces that make touching points stop, whatever body they belong to."""

from __future__ import annotations

import numpy as np

from gradiva.common import NDArray, configuration, setting

_RANK_TOLERANCE = 1e-6  # [-] of the largest singular value: four corners of a rigid sole have rank 6 of 12


@configuration
class PenaltyConfig:
    """Gains with which a touching point is stopped and pushed out of the ground, independent of the robot.

    Attributes:
        stiffness: Acceleration per penetration, k_p, [1/s²].
        damping: Deceleration per velocity, k_v, [1/s].
        rest_penetration: Depth at which a point rests, ε, [m]; 0 lets a point that rests come off at any jolt.
    """

    stiffness: float = setting("1/s²", least=0.0)
    damping: float = setting("1/s", above=0.0, why="else nothing stops")
    rest_penetration: float = setting("m", least=0.0)


def penalty_accelerations(positions: NDArray, velocities: NDArray, config: PenaltyConfig) -> NDArray:
    r"""Return the desired accelerations of touching points (Rengifo et al., 2009, equation 17 and section V).

    .. math:: \ddot p_{x,y} = -k_v \dot p_{x,y}, \qquad
        \ddot p_z = k_p (-\epsilon - p_z) - k_v \min(0, \dot p_z)

    A point at rest lies at :math:`p_z = -\epsilon`; on its way out nothing brakes it.

    Args:
        positions: Of the points that touch, above the ground (z negative), [m], shape (n, 3).
        velocities: [m/s], shape (n, 3).
        config: Gains.

    Returns:
        [m/s²], shape (n, 3).
    """
    desired = -config.damping * velocities
    desired[:, 2] = -config.damping * np.minimum(velocities[:, 2], 0.0)
    desired[:, 2] -= config.stiffness * (config.rest_penetration + positions[:, 2])
    return desired


def penalty_forces(mobility: NDArray, free: NDArray, desired: NDArray, friction: float) -> NDArray:
    r"""Return the contact forces that give the points their accelerations (Rengifo et al., 2009, 18-20).

    .. math:: f' = (D^T A^{-1} D)^+ (\ddot p^d - \ddot p^0)

    the smallest forces that do it; then :math:`f_n = \max(0, f'_n)`, and what is tangential is shortened, in its
    direction, to :math:`\mu f_n`. Where nothing is cut the points accelerate as desired.

    A point that is cut slides, and its tangential acceleration is no longer free. So the normal forces are
    solved for once more, with friction at its limit, before they are cut. (The paper leaves this out; a brick that
    slides would then be carried as one that sticks, and sink.)

    Args:
        mobility: :math:`D^T A^{-1} D`, acceleration of the points per force on them, [1/kg], shape (3n, 3n).
        free: :math:`\ddot p^0`, accelerations without contact forces, [m/s²], shape (n, 3).
        desired: Accelerations wanted, [m/s²], shape (n, 3).
        friction: Coulomb's coefficient μ, [-].

    Returns:
        [N], shape (n, 3).
    """
    wanted = (desired - free).ravel()
    forces = _least_squares(mobility, wanted).reshape(-1, 3)
    is_cut = np.hypot(forces[:, 0], forces[:, 1]) > friction * np.maximum(forces[:, 2], 0.0)
    sliding = np.flatnonzero(is_cut).tolist()
    if sliding:
        forces = _with_sliding_points(mobility, wanted, forces, sliding, friction)
    return _within_cone(forces, friction)


def _with_sliding_points(
    mobility: NDArray, wanted: NDArray, sticking: NDArray, sliding: list[int], friction: float
) -> NDArray:
    """Return the forces where the points that slide have a normal acceleration to choose, and friction at its limit.

    Unknowns: the three components of the force on a point that sticks, the normal one on a point that slides.
    """
    spread = np.eye(len(wanted))  # from unknowns to forces
    chosen = np.ones(len(wanted), dtype=bool)
    for point in sliding:
        x, y, normal = 3 * point, 3 * point + 1, 3 * point + 2
        spread[[x, y], normal] = friction * sticking[point, :2] / np.hypot(*sticking[point, :2])
        chosen[[x, y]] = False
    unknowns = np.linalg.lstsq(mobility[chosen] @ spread[:, chosen], wanted[chosen], rcond=_RANK_TOLERANCE)[0]
    return (spread[:, chosen] @ unknowns).reshape(-1, 3)


def _within_cone(forces: NDArray, friction: float) -> NDArray:
    normal = np.maximum(forces[:, 2], 0.0)
    tangential = np.hypot(forces[:, 0], forces[:, 1])
    allowed = friction * normal
    scale = np.divide(allowed, tangential, out=np.ones_like(normal), where=tangential > allowed)
    return np.column_stack([scale * forces[:, 0], scale * forces[:, 1], normal])


def _least_squares(mobility: NDArray, accelerations: NDArray) -> NDArray:
    """Return the pseudo-inverse of a symmetric matrix times a vector, directions without mobility left out."""
    values, vectors = np.linalg.eigh(mobility)
    kept = values > _RANK_TOLERANCE * values[-1]
    vectors = vectors[:, kept]
    return vectors @ ((vectors.T @ accelerations) / values[kept])
