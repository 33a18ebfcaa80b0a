import pytest

from gradiva.common import PlanningError
from gradiva.middleware import MalformedMessage
from gradiva.yarp_modules.coordinator_commands import FreeSpace


def test_the_edge_of_the_ellipse_is_free_and_what_lies_beyond_is_not():
    space = FreeSpace.from_numbers([2.0, 0.0, 0.0, 1.0, 0.5, 0.0])
    space.require(2.5, 0.0)
    space.require(0.5, -1.0)
    with pytest.raises(PlanningError, match=r"the goal \(2.6, 0\) lies outside the free space, at 1.05 of its radius"):
        space.require(2.6, 0.0)


@pytest.mark.parametrize("numbers", [[1.0] * 5, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [float("inf"), 0, 0, 1, 0, 0]])
def test_what_is_no_ellipse_is_refused(numbers):
    with pytest.raises(MalformedMessage, match="freeSpaceEllipse"):
        FreeSpace.from_numbers(numbers)
