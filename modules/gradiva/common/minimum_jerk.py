r"""The minimum-jerk and minimum-acceleration time laws.

With :math:`\sigma = (t - t_0) / T` in [0, 1]: minimum acceleration :math:`s = 3\sigma^2 - 2\sigma^3`,
minimum jerk :math:`s = 10\sigma^3 - 15\sigma^4 + 6\sigma^5`.
"""

from __future__ import annotations


def minimum_jerk(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the quintic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    square = ratio * ratio
    return (
        square * ratio * (10.0 + ratio * (-15.0 + 6.0 * ratio)),
        30.0 * square * (1.0 - ratio) * (1.0 - ratio),
        60.0 * ratio * (1.0 + ratio * (-3.0 + 2.0 * ratio)),
    )


def minimum_acceleration(ratio: float) -> tuple[float, float, float]:
    """Return s, ds/dσ and d²s/dσ² of the cubic; constant outside [0, 1]."""
    if ratio <= 0.0:
        return 0.0, 0.0, 0.0
    if ratio >= 1.0:
        return 1.0, 0.0, 0.0
    return ratio * ratio * (3.0 - 2.0 * ratio), 6.0 * ratio * (1.0 - ratio), 6.0 - 12.0 * ratio
