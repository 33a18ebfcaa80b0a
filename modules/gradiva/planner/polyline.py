"""A line through points, with the heading of a body that walks along it."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from gradiva.common import NDArray

_SMOOTH_TURN = 0.6  # [rad] between the two pieces at an end of the line, up to which it goes on
_LATER = 0.02  # [-] of the length ahead counts as distance: of two places equally near, the first is meant

Point = tuple[float, float]


class Polyline:
    """Points joined by lines, addressed by the length along the straight pieces.

    The heading turns from piece to piece at a constant rate, over ``rounding`` before and behind each point or from
    middle to middle of shorter pieces. Pieces up to twice as long as ``rounding`` are taken for samples of a curve:
    they are cubics with these headings at their ends, and the turn goes on in the first and the last one. Samples of a
    circle get its tangent at each length.

    Attributes:
        length: [m].
    """

    def __init__(self, points: NDArray, rounding: float, start_heading: float | None = None) -> None:
        """Join the points.

        Args:
            points: World, [m], shape (k, 2); repeated points are dropped.
            rounding: Over which the heading turns before and behind a point, [m].
            start_heading: From which it turns into the first piece, [rad]; by default the first piece's own.
        """
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = np.vstack((points[:1], points[1:][steps > 1e-9]))
        if len(points) < 2:
            ahead = start_heading or 0.0
            points = np.vstack((points, points + 1e-9 * np.array([math.cos(ahead), math.sin(ahead)])))
        self._vertices = points
        self._points: list[Point] = [(x, y) for x, y in points.tolist()]
        pieces = np.diff(points, axis=0)
        widths = np.linalg.norm(pieces, axis=1)
        self._widths: list[float] = widths.tolist()
        self._starts: list[float] = np.concatenate(([0.0], np.cumsum(widths))).tolist()
        self.length = self._starts[-1]
        self._rounding = rounding
        self._knots, self._headings = self._heading_knots(pieces, widths, start_heading)

    def at(self, length: float) -> tuple[Point, float, float]:
        """Return the point ([m]), the heading ([rad]) and its rate ([rad/m]) at ``length`` [m] from the beginning."""
        if not math.isfinite(length):
            raise ValueError(f"length={length} is not finite")
        length = min(max(length, 0.0), self.length)
        index = min(bisect_right(self._starts, length) - 1, len(self._widths) - 1)
        heading, rate = self._heading(length)
        return self._place(index, (length - self._starts[index]) / self._widths[index]), heading, rate

    def nearest(self, point: Point, first: float = 0.0, last: float = math.inf) -> float:
        """Return the length at which the line is nearest to ``point`` between ``first`` and ``last``, [m]."""
        starts, widths = np.array(self._starts[:-1]), np.array(self._widths)
        pieces = np.diff(self._vertices, axis=0)
        along = np.einsum("ij,ij->i", point - self._vertices[:-1], pieces) / widths
        lengths = np.clip(starts + np.clip(along, 0.0, widths), first, min(last, self.length))
        ratios = np.clip((lengths - starts) / widths, 0.0, 1.0)
        places = self._vertices[:-1] + ratios[:, None] * pieces
        distances = np.hypot(*(places - point).T) + _LATER * (lengths - first)
        distances[(starts > last) | (starts + widths < first)] = math.inf
        return float(lengths[int(np.argmin(distances))])

    def from_length(self, length: float) -> NDArray:
        """Return the points of the rest of the line from ``length`` [m] on, shape (k, 2)."""
        place, *_ = self.at(length)
        return np.vstack((place, self._vertices[np.array(self._starts) > length + 1e-9]))

    def _place(self, index: int, ratio: float) -> Point:
        """Return the point at a fraction of one piece: on a straight line, or on Hermite's cubic."""
        (x0, y0), (x1, y1), width, r = self._points[index], self._points[index + 1], self._widths[index], ratio
        if width > 2.0 * self._rounding:
            return x0 + r * (x1 - x0), y0 + r * (y1 - y0)
        first, last = self._heading(self._starts[index])[0], self._heading(self._starts[index + 1])[0]
        rise, leave, arrive = r * r * (3.0 - 2.0 * r), width * r * (1.0 - r) ** 2, width * r * r * (r - 1.0)
        x = x0 + rise * (x1 - x0) + leave * math.cos(first) + arrive * math.cos(last)
        return x, y0 + rise * (y1 - y0) + leave * math.sin(first) + arrive * math.sin(last)

    def _heading(self, length: float) -> tuple[float, float]:
        """Return the heading and its rate."""
        knots, headings = self._knots, self._headings
        index = min(max(bisect_right(knots, length), 1), len(knots) - 1)
        width, change = knots[index] - knots[index - 1], headings[index] - headings[index - 1]
        rate = change / width if width > 0.0 else 0.0
        return headings[index - 1] + rate * (length - knots[index - 1]), rate

    def _heading_knots(
        self, pieces: NDArray, widths: NDArray, start_heading: float | None
    ) -> tuple[list[float], list[float]]:
        """Return lengths, and the headings there, between which the heading is linear."""
        headings = np.unwrap(np.arctan2(pieces[:, 1], pieces[:, 0]))
        starts = np.array(self._starts[:-1])
        rounded = np.minimum(self._rounding, 0.5 * widths)
        knots = np.column_stack((starts + rounded, starts + widths - rounded)).ravel()
        first = headings[0] + self._end_turn(headings[::-1], widths[::-1])
        if start_heading is not None:
            first = start_heading + 2.0 * math.pi * round((first - start_heading) / (2.0 * math.pi))
        last = headings[-1] + self._end_turn(headings, widths)
        values = np.concatenate(([first], np.repeat(headings, 2), [last]))
        return np.concatenate(([0.0], knots, [self.length])).tolist(), values.tolist()

    def _end_turn(self, headings: NDArray, widths: NDArray) -> float:
        """Return by how much the heading turns from the middle of the last piece to the end of a sampled curve."""
        if len(widths) < 2 or max(widths[-2:]) > 2.0 * self._rounding:
            return 0.0
        turn = float(headings[-1] - headings[-2])
        return turn * float(widths[-1] / (widths[-1] + widths[-2])) if abs(turn) < _SMOOTH_TURN else 0.0
