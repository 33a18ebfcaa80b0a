import pytest

from pureyarp.wire.carriers import (
    CARRIERS,
    FAST_TCP,
    MCAST,
    SHMEM,
    TCP,
    TEXT,
    TEXT_ACK,
    UDP,
    carrier_of_header,
)
from pureyarp.wire.yarp_number import yarp_number


@pytest.mark.parametrize(
    ("carrier", "header"),
    [
        (UDP, "59 41 61 1E 00 00 52 50"),
        (MCAST, "59 41 62 1E 00 00 52 50"),
        (FAST_TCP, "59 41 64 1E 00 00 52 50"),
        (TCP, "59 41 E4 1E 00 00 52 50"),
        (SHMEM, "59 41 6F 1E 00 00 52 50"),
        (TEXT, "43 4F 4E 4E 45 43 54 20"),
        (TEXT_ACK, "43 4F 4E 4E 41 43 4B 20"),
    ],
)
def test_the_headers_are_those_that_were_recorded(carrier, header):
    assert carrier.header == bytes.fromhex(header)
    assert carrier_of_header(carrier.header) is carrier


@pytest.mark.parametrize(
    ("specifier", "carrier"), [(16, UDP), (0x83, TCP), (0x93, TCP), (0x13, FAST_TCP), (0x41, MCAST), (5, None)]
)
def test_the_low_bits_of_the_specifier_decide(specifier, carrier):
    assert carrier_of_header(yarp_number(7777 + specifier)) is carrier


@pytest.mark.parametrize("header", [b"GET / HT", b"NAME_SER", b"HUMANITY", b"\0" * 8, yarp_number(0), yarp_number(-5)])
def test_other_headers_introduce_no_carrier(header):
    assert carrier_of_header(header) is None


def test_who_acknowledges_and_who_replies():
    assert {name for name, carrier in CARRIERS.items() if carrier.has_ack} == {"tcp", "text_ack"}
    assert {name for name, carrier in CARRIERS.items() if carrier.has_reply} == {"tcp", "fast_tcp", "text_ack"}
