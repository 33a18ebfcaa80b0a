"""Questions to devices that answer, that hang, that come to themselves."""

from __future__ import annotations

import threading

import pytest

from gradiva.middleware.bottles import RequestReader
from pureyarp.data.values import Bottle
from pureyarp.devices.device_ports import QuestionPort
from pureyarp.errors import PeerUnreachable
from pureyarp.network.ports import RpcServer
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
    port = QuestionPort(timeout=0.2)
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
