"""Requests with a timeout, the newest message, reconnection."""

from __future__ import annotations

import logging
import threading

import pytest

from gradiva.middleware.bottles import RequestReader
from pureyarp.data import streams
from pureyarp.data.values import Bottle
from pureyarp.devices.device_ports import ConnectionKeeper, LastMessage, TimedRpcClient
from pureyarp.errors import MalformedMessage, PeerUnreachable
from pureyarp.network import buffered_ports
from pureyarp.network.buffered_ports import NewestMessagePort
from pureyarp.network.channels import IncomingMessage
from pureyarp.network.ports import RpcServer
from pureyarp.network.settings import Contact
from pureyarp.wire.elements import WireFamily
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until


class Device:
    """Answers a question by itself, once it may."""

    def __init__(self):
        self.may_answer = threading.Event()
        self.answered = []
        self._reader = RequestReader(self._answer)
        self.port = RpcServer()
        self.port.setReader(self._reader)
        assert self.port.open("/device/rpc:i")

    def _answer(self, question):
        self.may_answer.wait(TIMEOUT)
        self.answered.append(question)
        return question


@pytest.fixture
def device(names):
    device = Device()
    yield device
    device.may_answer.set()
    device.port.close()


@pytest.fixture
def port(names):
    port = TimedRpcClient(timeout=0.2)
    assert port.open("/client/rpc:o")
    yield port
    port.close()


def test_a_device_that_is_not_connected_is_named(port):
    with pytest.raises(PeerUnreachable, match=r"^the arm does not answer"):
        port.ask([1], Bottle(), "the arm")


def test_a_device_that_hangs_is_given_up_and_its_late_answer_is_not_taken_for_the_next_one(port, device):
    assert port.addOutput("/device/rpc:i")
    answer = Bottle()
    with pytest.raises(PeerUnreachable, match=r"does not answer within 0.2 s"):
        port.ask([1], answer, "the arm")
    assert answer.items == []
    device.may_answer.set()
    wait_until(lambda: device.answered == [[1]])
    port.asPort().setTimeout(TIMEOUT)
    port.ask([2], answer, "the arm")
    assert answer.items == [2]


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


class Connection:
    """A connection that needs several attempts."""

    def __init__(self) -> None:
        self.is_there = True
        self.attempts = 0
        self.needed = 3

    def reconnect(self) -> bool:
        self.attempts += 1
        self.is_there = self.attempts >= self.needed
        return self.is_there


def test_what_is_lost_is_tried_until_it_is_back_with_a_line_each_way(caplog):
    connection = Connection()
    keeper = ConnectionKeeper("/board", lambda: connection.is_there, connection.reconnect, 0.01, 0.01)
    with caplog.at_level(logging.WARNING, "pureyarp"):
        keeper.start()
        connection.is_there = False
        wait_until(lambda: "is back" in caplog.text)
        keeper.stop()
        keeper.join()
    assert connection.attempts == 3
    assert [record.message for record in caplog.records] == [
        "/board is gone; trying to reach it again every 0.0 s",
        "/board is back",
    ]


def test_a_connection_that_lives_is_left_alone():
    connection, looks = Connection(), []
    keeper = ConnectionKeeper("/board", lambda: looks.append(1) is None, connection.reconnect, 0.001, 0.001)
    keeper.start()
    wait_until(lambda: len(looks) > 5)
    keeper.stop()
    keeper.join()
    assert connection.attempts == 0


def test_stopping_ends_the_attempts_and_the_thread():
    connection = Connection()
    connection.needed = 10**9
    connection.is_there = False
    keeper = ConnectionKeeper("/stopped", lambda: connection.is_there, connection.reconnect, 0.001, 0.001)
    keeper.start()
    wait_until(lambda: connection.attempts > 2)
    keeper.stop()
    keeper.join()
    assert threads_named("keeper of /stopped") == []


def test_a_keeper_that_never_started_can_be_stopped():
    keeper = ConnectionKeeper("/never", lambda: True, lambda: True)
    keeper.stop()
    keeper.join()
    assert threads_named("keeper of /never") == []
