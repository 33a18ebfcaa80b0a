"""The support polygon of every sample of a preview."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradiva.common import DcmPreview, NDArray, Side, SoleRectangle
from gradiva.contacts import SupportPolygon, support_polygon


class PhasePolygon(NamedTuple):
    """Consecutive samples of a preview with the same feet on the ground, at the same places.

    Attributes:
        start: First sample.
        end: One past the last sample.
        polygon: Where the ZMP may be.
    """

    start: int
    end: int
    polygon: SupportPolygon


def phase_polygons(preview: DcmPreview, sole: SoleRectangle, margin: float) -> list[PhasePolygon]:
    """Return the contact phases of a preview, in order; a foot in the air may move within one.

    Args:
        preview: N samples.
        sole: Rectangle of the left sole.
        margin: By how much its edges are moved inwards, [m].

    Raises:
        ValueError: A phase without a foot on the ground, or a pose that is not finite.
    """
    bounds = _phase_bounds(preview)
    return [PhasePolygon(start, end, _polygon(preview, start, sole, margin)) for start, end in pairwise(bounds)]


def _phase_bounds(preview: DcmPreview) -> list[int]:
    left, right = preview.left_in_contact[:, None], preview.right_in_contact[:, None]
    grounded = np.hstack((left, right, preview.left_foot_poses * left, preview.right_foot_poses * right))
    changes = np.flatnonzero((grounded[1:] != grounded[:-1]).any(axis=1)) + 1
    return [0, *changes.tolist(), len(grounded)]


def _polygon(preview: DcmPreview, sample: int, sole: SoleRectangle, margin: float) -> SupportPolygon:
    poses: list[NDArray] = []
    sides: list[Side] = []
    if preview.left_in_contact[sample]:
        poses.append(preview.left_foot_poses[sample])
        sides.append(Side.LEFT)
    if preview.right_in_contact[sample]:
        poses.append(preview.right_foot_poses[sample])
        sides.append(Side.RIGHT)
    return support_polygon(poses, sides, sole, margin)
