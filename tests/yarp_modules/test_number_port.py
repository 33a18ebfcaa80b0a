import pytest

from gradiva.middleware import MalformedMessage, as_items, yarp
from gradiva.yarp_modules.walking_ports import numbers_in


def test_numbers_may_come_in_a_list_or_without():
    assert numbers_in([0.1, 2, -3.0], "goal:i") == [0.1, 2.0, -3.0]
    assert numbers_in([[0.1, 2]], "goal:i") == [0.1, 2.0]


@pytest.mark.parametrize("text", ["", "a b", "1.0 [no]", "(1 2) 3", '1 "2"'])
def test_what_is_no_numbers_is_refused(text):
    with pytest.raises(MalformedMessage, match="goal:i: expected numbers"):
        numbers_in(as_items(yarp.Bottle(text)), "goal:i")
