import time

import pytest

from pureyarp.data import time_source
from pureyarp.data.stamp import Stamp
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import WireFamily
from tests.middleware.recorded_payloads import recorded_payloads


@pytest.fixture
def clock():
    times = iter([10.0, 10.5])
    time_source.use_time_source(lambda: next(times))
    yield
    time_source.use_time_source(time.time)


def state(stamp: Stamp) -> tuple[int, float]:
    return stamp.getCount(), stamp.getTime()


@pytest.mark.parametrize("family", list(WireFamily))
def test_a_stamp_is_written_and_read_as_recorded(family):
    recorded = {p.data for p in recorded_payloads() if p.decoded == "7 1700000001.5" and p.family is family}
    assert recorded == {Stamp(7, 1700000001.5).to_wire(family)}
    stamp = Stamp()
    assert stamp.from_wire(recorded.pop(), family) is family
    assert state(stamp) == (7, 1700000001.5)


@pytest.mark.parametrize(
    ("stamp", "envelope"),
    [
        (Stamp(5, 1700000000.123456789), "5 1700000000.12346"),
        (Stamp(6, 0.1), "6 0.1"),
        (Stamp(7, 1.5e9), "7 1500000000"),
    ],
)
def test_an_envelope_has_15_digits_as_recorded(stamp, envelope):
    assert stamp.to_wire_text() == envelope
    read = Stamp()
    read.from_wire_text(envelope)
    assert state(read) == (stamp.getCount(), float(envelope.split()[1]))


def test_an_envelope_may_be_any_text_of_a_list():
    stamp = Stamp()
    stamp.from_wire_text("(3 0.25) ")
    assert state(stamp) == (3, 0.25)


@pytest.mark.parametrize("text", ["", "5", "x 1.0", "1.5 2.0", "() 1"])
def test_another_envelope_is_refused(text):
    stamp = Stamp(1, 2.0)
    with pytest.raises(MalformedMessage, match="stamp"):
        stamp.from_wire_text(text)
    assert state(stamp) == (1, 2.0)


def test_a_stamp_is_valid_from_its_first_update_on(clock):
    stamp = Stamp()
    assert not stamp.isValid()
    stamp.update()
    assert stamp.isValid()
    assert state(stamp) == (0, 10.0)
    stamp.update()
    assert state(stamp) == (1, 10.5)
    stamp.update(99.0)
    assert state(stamp) == (2, 99.0)


def test_the_count_begins_again_behind_its_maximum():
    stamp = Stamp(2**31 - 1, 0.0)
    assert stamp.getMaxCount() == stamp.getCount()
    stamp.update(1.0)
    assert state(stamp) == (0, 1.0)
