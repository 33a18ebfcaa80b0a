"""A path made of straight pieces."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from gradiva.common import NDArray


class Polyline:
    """Points joined by straight lines, addressed by the length along them.

    Args:
        points: World, [m], shape (k, 2); repeated points are dropped.
        extension: By how much the last piece is lengthened, [m].
    """

    def __init__(self, points: NDArray, extension: float = 0.0) -> None:
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = np.vstack((points[:1], points[1:][steps > 1e-9]))
        if len(points) < 2:
            points = np.vstack((points, points + np.array([1e-9, 0.0])))
        pieces = np.diff(points, axis=0)
        lengths = np.linalg.norm(pieces, axis=1)
        self._tangents = (pieces / lengths[:, None]).tolist()
        self._points = points.tolist()
        self._starts = np.concatenate(([0.0], np.cumsum(lengths)[:-1])).tolist()
        self.length = float(lengths.sum()) + extension

    def at(self, length: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the point ([m]) and the unit tangent at ``length`` [m] from the beginning."""
        index = max(0, bisect_right(self._starts, length) - 1)
        x, y = self._points[index]
        tx, ty = self._tangents[index]
        along = length - self._starts[index]
        if not math.isfinite(along):
            raise ValueError(f"length={length} is not finite")
        return (x + along * tx, y + along * ty), (tx, ty)
