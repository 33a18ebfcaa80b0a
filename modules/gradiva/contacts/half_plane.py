"""What a half-plane leaves of a polygon."""

from __future__ import annotations

Point = tuple[float, float]


def clip(corners: list[Point], nx: float, ny: float, b: float) -> list[Point]:
    r"""Return the corners of what is inside :math:`n_x x + n_y y \le b`, in the same order.

    Args:
        corners: Of a convex polygon, in order, [m].
        nx: Of the outward normal, of any length.
        ny: The same.
        b: Offset of the line.
    """
    kept: list[Point] = []
    start = corners[-1] if corners else (0.0, 0.0)
    outside_start = nx * start[0] + ny * start[1] - b
    for end in corners:
        outside_end = nx * end[0] + ny * end[1] - b
        if outside_start * outside_end < 0.0:
            ratio = outside_start / (outside_start - outside_end)
            kept.append((start[0] + ratio * (end[0] - start[0]), start[1] + ratio * (end[1] - start[1])))
        if outside_end <= 0.0:
            kept.append(end)
        start, outside_start = end, outside_end
    return kept
