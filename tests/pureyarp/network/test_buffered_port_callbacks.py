"""Buffered ports that call and that answer."""

from pureyarp.data.streams import Stamp
from pureyarp.data.values import Bottle
from pureyarp.network.buffered_ports import (
    BufferedPortBottle,
)
from pureyarp.network.ports import Port, PortReader
from tests.pureyarp.network.local_ports import quiet
from tests.pureyarp.network.number_ports import Collector, connected, numbers, write_number
from tests.waiting import wait_until


def test_a_callback_gets_the_messages_one_after_the_other(opened):
    into, out = connected(opened)
    into.setStrict()
    collector = Collector()
    into.useCallback(collector)
    for number in range(20):
        write_number(out, number, True)
    wait_until(lambda: len(collector.texts) == 20)
    assert collector.texts == [f"/in: {number}" for number in range(20)]


class SelfReading(BufferedPortBottle):
    def __init__(self) -> None:
        super().__init__()
        self.stamps: list[int] = []

    def onRead(self, datum) -> None:
        if datum.get(0).asInt32() == 13:
            raise ValueError("unlucky")
        stamp = Stamp()
        self.getEnvelope(stamp)
        self.stamps.append(stamp.getCount())


def test_a_port_calls_itself_and_survives_its_exceptions(opened):
    into, out = opened(SelfReading, "/in"), opened(BufferedPortBottle, "/out")
    out.addOutput("/in")
    into.setStrict()
    into.useCallback()
    with quiet():
        for number in (12, 13, 14):
            out.setEnvelope(Stamp(number, 0.5))
            write_number(out, number, True)
        wait_until(lambda: len(into.stamps) == 2)
    assert into.stamps == [12, 14]


def test_a_callback_is_disabled(opened):
    into, out = connected(opened)
    collector = Collector()
    into.useCallback(collector)
    into.disableCallback()
    write_number(out, 5, True)
    assert numbers(into, 1) == [5]
    assert collector.texts == []


def test_an_interrupted_port_calls_back_again_after_it_was_resumed(opened):
    into, out = connected(opened)
    collector = Collector()
    into.useCallback(collector)
    into.interrupt()
    write_number(out, 1, True)
    into.resume()
    write_number(out, 2, True)
    wait_until(lambda: collector.texts)
    assert collector.texts == ["/in: 2"]


def test_who_asks_a_buffered_port_gets_an_empty_answer(opened):
    into, client = opened(BufferedPortBottle, "/in"), opened(Port, "/client")
    client.addOutput("/in")
    answer = Bottle("before")
    assert client.write(Bottle("5"), answer)
    assert answer.toString() == ""
    assert numbers(into, 1) == [5]


class Replier(PortReader):
    def read(self, reader) -> bool:
        question, answer = Bottle(), Bottle("answer")
        question.read(reader)
        return answer.write(reader.getWriter())


def test_a_replier_answers_and_keeps_questions_from_being_read(opened):
    into, client = opened(BufferedPortBottle, "/in"), opened(Port, "/client")
    into.setReplier(Replier())
    client.addOutput("/in")
    answer = Bottle()
    assert client.write(Bottle("5"), answer)
    assert answer.toString() == "answer"
    assert into.getPendingReads() == 0
    assert client.write(Bottle("6"))
    assert numbers(into, 1) == [6]
