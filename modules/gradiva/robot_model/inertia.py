r"""Inertias that no body can have, and the nearest that one can.

The principal moments :math:`A \le B \le C` of any distribution of mass obey :math:`A + B \ge C`, the triangle
inequality: :math:`A + B - C = 2 \int z^2 dm` with z along the axis of the largest moment. Models drawn by hand, or
mirrored by hand, sometimes break it, and physics engines refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradiva.common import ModelError, NDArray

_ZERO = 1e-15  # [kg·m²] what rounding leaves of none
_MARGIN = 1e-9  # [-] of the largest moment, by which balanced inertias are on the safe side of physics engines


def is_physical(inertia: NDArray) -> bool:
    """Tell whether a body can have this inertia about its centre of mass ([kg·m²], shape (3, 3))."""
    low, middle, high = np.linalg.eigvalsh(inertia)
    return bool(low >= -_ZERO and low + middle >= high - _ZERO)


def balanced(inertia: NDArray) -> NDArray:
    """Return the inertia with its two smaller moments raised alike until the triangle inequality holds, (3, 3).

    Axes and largest moment stay; an inertia that a body can have stays as it is.
    """
    if is_physical(inertia):
        return inertia
    moments, axes = np.linalg.eigh(inertia)
    moments = np.maximum(moments, 0.0)
    moments[:2] += 0.5 * max(0.0, (1.0 + _MARGIN) * moments[2] - moments[0] - moments[1])
    return np.array(axes @ np.diag(moments) @ axes.T)


def unphysical_links(links: Mapping[str, NDArray]) -> list[str]:
    """Return the links whose inertia no body can have, each with its principal moments.

    Args:
        links: Name to inertia about the centre of mass, [kg·m²], shape (3, 3).
    """
    wrong = {name: np.linalg.eigvalsh(inertia) for name, inertia in links.items() if not is_physical(inertia)}
    return [f"{name} ({a:.3g} + {b:.3g} < {c:.3g} kg·m²)" for name, (a, b, c) in wrong.items()]


def check_inertias(robot: str, links: Mapping[str, NDArray]) -> None:
    """Pass when every link has an inertia that a body can have.

    Args:
        robot: Name, for the message.
        links: As for ``unphysical_links``.

    Raises:
        ModelError: Some have not; carries their names, their principal moments and what to do.
    """
    if wrong := unphysical_links(links):
        raise ModelError(
            f"{robot}: no body can have the inertia of {'; '.join(wrong)}: the sum of the two smaller principal moments"
            " must reach the largest; correct the URDF, or set balance_inertia = true in robot.toml to raise them"
        )
