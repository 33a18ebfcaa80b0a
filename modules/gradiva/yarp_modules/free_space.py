"""Where a goal may be: an ellipse that somebody sees free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray, PlanningError
from gradiva.middleware import MalformedMessage


@dataclass(frozen=True, slots=True, eq=False)
class FreeSpace:
    """The points :math:`C u + d` with :math:`|u| \\le 1`, in the frame of the odometry.

    Attributes:
        matrix: :math:`C`, [m], shape (2, 2).
        centre: :math:`d`, [m], shape (2,).
    """

    matrix: NDArray
    centre: NDArray

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> FreeSpace:
        """Return the ellipse of a message: the matrix row by row, then the centre.

        Raises:
            MalformedMessage: Not six finite numbers, or an ellipse without area.
        """
        values = np.array(numbers, dtype=float)
        if values.shape != (6,) or not np.isfinite(values).all():
            raise MalformedMessage("freeSpaceEllipse:in: expected six finite numbers, the matrix and the centre")
        matrix = values[:4].reshape(2, 2)
        if abs(np.linalg.det(matrix)) < 1e-9:
            raise MalformedMessage("freeSpaceEllipse:in: the ellipse has no area")
        return cls(matrix, values[4:])

    def require(self, x: float, y: float) -> None:
        """Pass when the place (x, y) [m] is free.

        Raises:
            PlanningError: It is not.
        """
        radius = float(np.linalg.norm(np.linalg.solve(self.matrix, np.array([x, y]) - self.centre)))
        if radius > 1.0:
            raise PlanningError(f"the goal ({x:g}, {y:g}) lies outside the free space, at {radius:.2f} of its radius")
