import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from gradiva.common import Side
from gradiva.contacts import support_polygon
from gradiva.simplified_model.phase_polygons import phase_polygons

from .stepping import SOLE, SteppingPlan

PREVIEW = SteppingPlan().preview(160)  # 0.2 s before the first weight shift


def test_phases_follow_each_other_and_cover_the_preview():
    phases = phase_polygons(PREVIEW, SOLE, 0.005)
    assert phases[0].start == 0
    assert phases[-1].end == 100
    assert all(before.end == after.start for before, after in pairwise(phases))
    assert [phase.end for phase in phases] == [20, 50, 60, 90, 100]


def test_each_phase_has_the_polygon_of_its_feet():
    for start, end, polygon in phase_polygons(PREVIEW, SOLE, 0.005):
        for sample in range(start, end):
            feet = [
                (PREVIEW.left_foot_poses[sample], Side.LEFT, PREVIEW.left_in_contact[sample]),
                (PREVIEW.right_foot_poses[sample], Side.RIGHT, PREVIEW.right_in_contact[sample]),
            ]
            poses, sides, _ = zip(*(foot for foot in feet if foot[2]), strict=True)
            np.testing.assert_array_equal(polygon.vertices, support_polygon(poses, sides, SOLE, 0.005).vertices)


def test_a_foot_in_the_air_may_move_within_a_phase():
    poses = PREVIEW.right_foot_poses.copy()
    poses[20:50, 0] = np.linspace(0.0, 0.3, 30)
    moving = dataclasses.replace(PREVIEW, right_foot_poses=poses)
    assert [phase.end for phase in phase_polygons(moving, SOLE, 0.005)] == [20, 50, 60, 90, 100]


def test_a_jump_is_refused():
    with pytest.raises(ValueError, match="0 foot poses"):
        phase_polygons(dataclasses.replace(PREVIEW, left_in_contact=[False] * 100), SOLE, 0.005)
