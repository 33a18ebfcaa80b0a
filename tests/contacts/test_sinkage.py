import pytest

from gradiva.common import SoleRectangle
from gradiva.contacts import static_sinkage


def test_a_sole_sinks_until_the_ground_carries_its_load():
    sole = SoleRectangle(x=(-0.05, 0.15), y=(-0.04, 0.06), z=0.0)
    assert static_sinkage(320.0, sole, 8e5) == pytest.approx(0.02)
