import pytest

from gradiva.contacts.half_plane import clip

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
