import numpy as np
import pytest

from gradiva.contacts import loaded_moments, polygon_moments
from gradiva.contacts.half_plane import clip

CORNERS = [(0.11, -0.03), (0.11, 0.04), (-0.05, 0.04), (-0.05, -0.03)]


def test_the_loaded_part_is_the_sole_cut_where_the_pressure_vanishes():
    random = np.random.default_rng(4)
    for c, cx, cy in random.normal(size=(200, 3)) * [0.05, 1.0, 1.0]:
        cut = polygon_moments(clip(CORNERS, -cx, -cy, c), -0.01)
        np.testing.assert_allclose(loaded_moments(CORNERS, (c, cx, cy), -0.01), cut, rtol=1e-11, atol=1e-18)


@pytest.mark.parametrize(("c", "share"), [(1.0, 1.0), (-1e-9, 0.0), (-1.0, 0.0)])
def test_a_level_sole_is_loaded_altogether_or_not_at_all(c, share):
    pressure = (c, 0.0, 0.0)
    whole = np.array(polygon_moments(CORNERS, 0.0))
    np.testing.assert_array_equal(loaded_moments(CORNERS, pressure, 0.0), share * whole)


def test_a_line_through_two_corners_leaves_a_triangle():
    (x0, y0), (x1, y1) = CORNERS[0], CORNERS[2]
    nx, ny = y1 - y0, x0 - x1
    part = loaded_moments(CORNERS, (-(nx * x0 + ny * y0), nx, ny), 0.0)
    assert part.area == pytest.approx(0.5 * 0.16 * 0.07, rel=1e-12)
