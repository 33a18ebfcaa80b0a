import pytest

from pureyarp.errors import MalformedMessage
from pureyarp.wire.yarp_number import expected_number, number_in, yarp_number


def test_a_number_stands_between_letters():
    assert yarp_number(10) == bytes.fromhex("5941 0a000000 5250")
    assert yarp_number(-1) == bytes.fromhex("5941 ffffffff 5250")


@pytest.mark.parametrize("value", [0, 1, -1, 7777 + 131, 2**31 - 1, -(2**31)])
def test_a_number_is_read_back(value):
    assert number_in(yarp_number(value)) == value


def test_other_letters_carry_no_number():
    assert number_in(b"YA\0\0\0\0RQ") is None
    with pytest.raises(MalformedMessage, match="an acknowledgement should be a YARP number, got 4e 4f"):
        expected_number(b"NO NUMBE", "an acknowledgement")
