"""""" ""

import math

import numpy as np
import pytest

from gradiva.common import ConfigError, Side, SoleRectangle
from gradiva.contacts import SupportPolygon, support_polygon
from gradiva.contacts.support_polygon import clip

SQUARE = [(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)]


def area(corners):
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs) / 2


def test_a_line_through_the_middle_leaves_half():
    left = clip(SQUARE, 1.0, 0.0, 0.0)
    assert sorted(left) == [(-1.0, -1.0), (-1.0, 1.0), (0.0, -1.0), (0.0, 1.0)]
    assert area(left) == pytest.approx(2.0)


def test_a_cut_corner_leaves_five():
    left = clip(SQUARE, 1.0, 1.0, 1.0)
    assert len(left) == 5
    assert area(left) == pytest.approx(3.5)


def test_the_length_of_the_normal_does_not_matter():
    assert clip(SQUARE, 5.0, 5.0, 5.0) == clip(SQUARE, 1.0, 1.0, 1.0)


def test_a_line_on_the_edge_cuts_nothing_and_one_beyond_leaves_nothing():
    assert sorted(clip(SQUARE, 1.0, 0.0, 1.0)) == sorted(SQUARE)
    assert clip(SQUARE, 1.0, 0.0, -1.5) == []
    assert clip([], 1.0, 0.0, 0.0) == []


SOLE = SoleRectangle(x=(-0.05, 0.10), y=(-0.03, 0.04), z=0.0)
BOTH = (Side.LEFT, Side.RIGHT)


@pytest.fixture
def square() -> SupportPolygon:
    return SupportPolygon([(0.0, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0), (0.5, 0.0)])


def test_hull_keeps_the_corners_only_and_goes_counter_clockwise(square):
    np.testing.assert_array_equal(square.vertices, [[0, 0], [1, 0], [1, 1], [0, 1]])
    np.testing.assert_allclose(square.normals, [[0, -1], [1, 0], [0, 1], [-1, 0]], atol=1e-15)
    np.testing.assert_allclose(square.offsets, [0, 1, 1, 0], atol=1e-15)


def test_hull_of_random_points_contains_them_and_its_corners_are_among_them():
    rng = np.random.default_rng(1)
    for _ in range(50):
        points = rng.normal(size=(8, 2))
        polygon = SupportPolygon(points)
        assert np.all(points @ polygon.normals.T <= polygon.offsets + 1e-12)
        assert all(np.any(np.all(points == vertex, axis=1)) for vertex in polygon.vertices)
        np.testing.assert_allclose(np.linalg.norm(polygon.normals, axis=1), 1.0)


def test_edge_i_runs_from_vertex_i_to_the_next(square):
    following = np.roll(square.vertices, -1, axis=0)
    for vertex, after, normal, offset in zip(square.vertices, following, square.normals, square.offsets, strict=True):
        assert normal @ vertex == pytest.approx(offset)
        assert normal @ after == pytest.approx(offset)


def test_the_edge_belongs_to_the_polygon(square):
    assert square.contains((1.0, 0.3))
    assert not square.contains((1.0 + 1e-9, 0.3))
    assert square.contains((1.0 + 1e-9, 0.3), tolerance=1e-8)


@pytest.mark.parametrize(
    ("point", "distance"),
    [((0.5, 0.4), -0.4), ((0.9, 0.5), -0.1), ((1.0, 0.5), 0.0), ((1.2, 0.5), 0.2), ((1.3, 1.4), 0.5)],
)
def test_distance_is_negative_inside_and_euclidean_outside(square, point, distance):
    assert square.distance(point) == pytest.approx(distance, abs=1e-15)


def test_a_point_inside_is_its_own_projection(square):
    np.testing.assert_array_equal(square.project((0.3, 0.8)), (0.3, 0.8))


@pytest.mark.parametrize(
    ("point", "nearest"), [((0.4, -2.0), (0.4, 0.0)), ((5.0, 0.2), (1.0, 0.2)), ((-1.0, 3.0), (0.0, 1.0))]
)
def test_projection_lands_on_the_nearest_edge_or_corner(square, point, nearest):
    np.testing.assert_allclose(square.project(point), nearest, atol=1e-15)


def test_projection_is_nearer_than_any_point_of_the_boundary():
    rng = np.random.default_rng(2)
    polygon = SupportPolygon(rng.normal(size=(7, 2)))
    ratios = np.linspace(0.0, 1.0, 200)[:, None, None]
    boundary = (1 - ratios) * polygon.vertices + ratios * np.roll(polygon.vertices, -1, axis=0)
    for point in 4.0 * rng.normal(size=(50, 2)):
        nearest = polygon.project(point)
        assert polygon.contains(nearest, tolerance=1e-12)
        if not polygon.contains(point):
            best = np.linalg.norm(boundary - point, axis=2).min()
            assert np.linalg.norm(point - nearest) <= best + 1e-12
            assert np.linalg.norm(point - nearest) == pytest.approx(polygon.distance(point))


def test_shrinking_moves_every_edge_by_the_margin(square):
    smaller = square.shrunk(0.1)
    corners = {tuple(vertex) for vertex in smaller.vertices.round(12)}
    assert corners == {(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)}
    np.testing.assert_allclose([smaller.distance(vertex) for vertex in square.vertices], 0.1 * 2**0.5)


def test_shrinking_drops_edges_that_vanish():
    cut_corner = SupportPolygon([(0, 0), (1, 0), (1, 0.99), (0.99, 1), (0, 1)])
    assert len(cut_corner.shrunk(0.1).offsets) == 4


def test_a_margin_that_leaves_nothing_is_refused(square):
    with pytest.raises(ValueError, match="nothing is left"):
        square.shrunk(0.51)
    with pytest.raises(ValueError, match=r"margin=-0\.1"):
        square.shrunk(-0.1)


@pytest.mark.parametrize("points", [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 0)], [(3, 3)] * 5, []])
def test_points_without_an_area_are_refused(points):
    with pytest.raises(ValueError, match="not on a line"):
        SupportPolygon(points)


def test_what_is_not_finite_is_refused(square):
    with pytest.raises(ValueError, match="not finite"):
        SupportPolygon([(0, 0), (1, 0), (math.nan, 1)])
    for method in (square.project, square.contains, square.distance):
        with pytest.raises(ValueError, match="not finite"):
            method((0.0, math.inf))


def test_one_foot_is_its_rectangle_where_the_foot_is():
    polygon = support_polygon([(1.0, 2.0, math.pi / 2)], [Side.LEFT], SOLE)
    expected = {(1.03, 1.95), (1.03, 2.10), (0.96, 2.10), (0.96, 1.95)}
    assert {tuple(vertex) for vertex in polygon.vertices.round(12)} == expected


def test_feet_side_by_side_make_a_rectangle():
    polygon = support_polygon([(0.0, 0.08, 0.0), (0.0, -0.08, 0.0)], BOTH, SOLE)
    np.testing.assert_allclose(
        polygon.vertices, [[-0.05, -0.12], [0.10, -0.12], [0.10, 0.12], [-0.05, 0.12]], atol=1e-12
    )


def test_the_right_foot_mirrors_the_left():
    left = support_polygon([(0.1, 0.08, 0.2), (0.0, -0.08, -0.1)], BOTH, SOLE)
    right = support_polygon([(0.0, 0.08, 0.1), (0.1, -0.08, -0.2)], BOTH, SOLE)
    mirrored = SupportPolygon(left.vertices * [1.0, -1.0])
    np.testing.assert_allclose(mirrored.vertices, right.vertices, atol=1e-12)


def test_the_margin_shrinks_each_sole_before_the_hull():
    poses = [(0.15, 0.08, 0.0), (0.0, -0.08, 0.0)]
    whole, inner = support_polygon(poses, BOTH, SOLE), support_polygon(poses, BOTH, SOLE, margin=0.005)
    distances = [whole.distance(vertex) for vertex in inner.vertices]
    assert max(distances) <= -0.005 + 1e-12
    assert len(inner.offsets) == len(whole.offsets) == 6


def test_the_world_may_turn_and_move():
    shift, angle = np.array([3.0, -2.0]), 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    poses = np.array([[0.1, 0.08, 0.2], [0.0, -0.08, -0.1]])
    moved = [(*(turn @ pose[:2] + shift), pose[2] + angle) for pose in poses]
    point = np.array([0.3, 0.2])
    nearest = support_polygon(poses, BOTH, SOLE).project(point)
    np.testing.assert_allclose(
        support_polygon(moved, BOTH, SOLE).project(turn @ point + shift), turn @ nearest + shift, atol=1e-12
    )


def test_the_same_phase_gives_the_same_polygon_again():
    poses = [(0.11, 0.08, 0.0), (0.0, -0.08, 0.0)]
    assert support_polygon(poses, BOTH, SOLE) is support_polygon(np.array(poses), list(BOTH), SOLE)


def test_feet_that_make_no_polygon_are_refused():
    with pytest.raises(ValueError, match="0 foot poses"):
        support_polygon([], [], SOLE)
    with pytest.raises(ValueError, match="1 foot poses for 2 sides"):
        support_polygon([(0, 0, 0)], BOTH, SOLE)
    with pytest.raises(ValueError, match="not finite"):
        support_polygon([(math.nan, 0, 0)], [Side.LEFT], SOLE)
    with pytest.raises(ConfigError, match=r"margin=0.035 m leaves nothing"):
        support_polygon([(0, 0, 0)], [Side.LEFT], SOLE, margin=0.035)
