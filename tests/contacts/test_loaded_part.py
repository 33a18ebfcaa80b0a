"""""" ""

import numpy as np
import pytest

from gradiva.common import Side, SoleRectangle
from gradiva.contacts import loaded_moments, polygon_moments, rectangle_moments
from gradiva.contacts.support_polygon import clip

SOLE = SoleRectangle(x=(-0.05, 0.11), y=(-0.03, 0.04), z=-0.01)


def test_a_rectangle_has_the_moments_of_the_textbook():
    area, x, y, xx, xy, yy, height = rectangle_moments(SOLE, Side.LEFT)
    assert area == pytest.approx(0.16 * 0.07)
    assert (x, y) == pytest.approx((area * 0.03, area * 0.005))
    assert xx == pytest.approx(area * (0.03**2 + 0.16**2 / 12))
    assert yy == pytest.approx(area * (0.005**2 + 0.07**2 / 12))
    assert xy == pytest.approx(area * 0.03 * 0.005)
    assert height == -0.01


def test_the_right_sole_has_the_mirrored_moments():
    left, right = rectangle_moments(SOLE, Side.LEFT), rectangle_moments(SOLE, Side.RIGHT)
    np.testing.assert_allclose(right, np.array(left) * [1, 1, -1, 1, -1, 1, 1], atol=1e-18)


def test_a_triangle_has_the_moments_of_the_textbook():
    base, tall = 0.3, 0.2
    moments = polygon_moments([(0.0, 0.0), (base, 0.0), (0.0, tall)], 0.0)
    area = base * tall / 2
    expected = (area, area * base / 3, area * tall / 3, area * base**2 / 6, area * base * tall / 12, area * tall**2 / 6)
    np.testing.assert_allclose(moments[:6], expected, rtol=1e-14)


def test_two_parts_have_the_moments_of_the_whole():
    square = [(0.1, -0.1), (0.3, -0.1), (0.3, 0.2), (0.1, 0.2)]
    parts = polygon_moments([square[0], square[1], square[3]], 0.0), polygon_moments(square[1:], 0.0)
    np.testing.assert_allclose(np.sum(parts, axis=0), polygon_moments(square, 0.0), rtol=1e-13)


@pytest.mark.parametrize("corners", [[], [(0.1, 0.2)], [(0.1, 0.2), (0.3, 0.1)]])
def test_fewer_than_three_corners_span_nothing(corners):
    assert polygon_moments(corners, 0.5) == (0.0,) * 6 + (0.5,)


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
