"""Messages that are kept as they came and taken apart when they are read."""

from __future__ import annotations

import logging

import pytest

from pureyarp.data import streams
from pureyarp.devices.device_ports import LastMessage
from pureyarp.errors import MalformedMessage
from pureyarp.network import buffered_ports
from pureyarp.network.buffered_ports import NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.settings import Contact
from pureyarp.wire.elements import WireFamily


class Sender:
    """Sender of the messages of these tests."""

    sender, family, remote = "/sender", WireFamily.YARP_3, Contact()

    def is_alive(self) -> bool:
        return True

    def finish(self) -> None:
        raise AssertionError("nobody ends this connection")


class NumberReader:
    """Reads messages of one number and counts how many it took apart."""

    def __init__(self) -> None:
        self.port = NewestMessagePort()
        self.last = LastMessage(self.port, "number", self._number)
        self.decoded = 0

    def receive(self, text: str) -> None:
        self.port._handle(IncomingMessage(text, "", False, Sender()))

    def value(self) -> int | None:
        received = self.last.read()
        return None if received is None else received.content

    def _number(self, message: IncomingMessage) -> int:
        self.decoded += 1
        match message.items():
            case [int(number)]:
                return number
        raise MalformedMessage("no number")


@pytest.fixture
def reader() -> NumberReader:
    return NumberReader()


def test_before_the_first_message_there_is_nothing(reader):
    assert reader.value() is None


def test_only_what_is_read_is_decoded_and_only_once(reader):
    for number in range(5):
        reader.receive(str(number))
    assert reader.decoded == 0
    assert [reader.value(), reader.value()] == [4, 4]
    assert reader.decoded == 1


def test_what_is_malformed_leaves_the_former_message_and_one_line(reader, caplog):
    reader.receive("1")
    assert reader.value() == 1
    with caplog.at_level(logging.ERROR, "pureyarp"):
        for _ in range(3):
            reader.receive("nonsense")
            assert reader.value() == 1
        assert caplog.messages == [" was sent no number: no number"]
        reader.receive("2")
        assert reader.value() == 2
        reader.receive("nonsense")
        assert reader.value() == 2
        assert len(caplog.messages) == 2


def test_the_age_counts_from_the_arrival_not_from_the_reading(reader, monkeypatch):
    times = iter([10.0, 10.25])
    for module in (streams, buffered_ports):
        monkeypatch.setattr(module, "now", lambda: next(times))
    reader.receive("1")
    received = reader.last.read()
    assert received is not None
    assert received.arrived_at == 10.0
    assert received.age() == 0.25
    assert 0.0 <= received.silence() < 60.0
