"""Buffered ports, their callbacks and queues."""

import threading
from dataclasses import replace

import pytest

from pureyarp.data import Bottle, Property, Stamp, Vector
from pureyarp.network import Port, PortReader
from pureyarp.network.buffered_ports import (
    BufferedPortBottle,
    BufferedPortProperty,
    BufferedPortVector,
    MessageQueue,
)
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.settings import ConnectionLimits, use_settings
from tests.pureyarp.network.local_ports import nothing_is_left, quiet
from tests.pureyarp.network.number_ports import Collector, connected, numbers, write_number
from tests.waiting import TIMEOUT, wait_until


def test_a_bottle_arrives(opened):
    into, out = connected(opened)
    write_number(out, 7)
    assert into.read().toString() == "7"
    assert into.lastRead().toString() == "7"


def test_a_vector_arrives(opened):
    into, out = connected(opened, BufferedPortVector)
    out.prepare().array = Vector(3, 1.5).array
    out.write()
    assert list(into.read().array) == [1.5] * 3


def test_a_property_arrives(opened):
    into, out = connected(opened, BufferedPortProperty)
    out.prepare().put("key", 5)
    out.write()
    assert into.read().find("key").asInt32() == 5


def test_what_is_prepared_stays_until_it_is_cleared(opened):
    into, out = connected(opened)
    assert out.prepare() is out.prepare()
    write_number(out, 1, True)
    assert out.prepare().toString() == "1"
    assert out.unprepare()
    assert not out.unprepare()
    write_number(out, 3, True)
    wait_until(lambda: into.getPendingReads() == 1)
    assert into.read().toString() == "3"


def test_only_the_newest_message_is_kept(opened):
    into, out = connected(opened)
    for number in range(5):
        write_number(out, number, True)
    assert into.getPendingReads() == 1
    assert numbers(into, 1) == [4]
    assert into.read(False) is None


def test_a_strict_reader_keeps_all_messages(opened):
    into, out = connected(opened)
    into.setStrict()
    for number in range(200):
        write_number(out, number, True)
    assert into.getPendingReads() == 200
    assert numbers(into, 200) == list(range(200))


def test_a_full_strict_reader_makes_its_writers_wait(opened, name_server):
    use_settings(replace(name_server.settings, limits=ConnectionLimits(strict_queue=3)))
    into, out = connected(opened)
    into.setStrict()
    done = threading.Event()

    def write_ten():
        for number in range(10):
            write_number(out, number, True)
        done.set()

    threading.Thread(target=write_ten, daemon=True).start()
    wait_until(lambda: into.getPendingReads() == 3)
    assert not done.wait(0.05)
    assert numbers(into, 10) == list(range(10))
    assert done.wait(TIMEOUT)


def test_closing_a_full_strict_reader_lets_its_writers_go(opened, name_server):
    use_settings(replace(name_server.settings, limits=ConnectionLimits(strict_queue=1)))
    into, out = connected(opened)
    into.setStrict()
    write_number(out, 1, True)
    thread = threading.Thread(target=lambda: write_number(out, 2, True), daemon=True)
    with quiet():
        thread.start()
        wait_until(out.isWriting)
        into.close()
        thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_writing_never_waits_and_the_newest_message_arrives_in_the_end(opened):
    into, out = opened(Port, "/in"), opened(BufferedPortBottle, "/out")
    out.addOutput("/in")
    for number in range(100):
        write_number(out, number)
    assert out.isWriting()
    first, last = Bottle(), Bottle()
    assert into.read(first)
    assert into.read(last)
    assert (first.toString(), last.toString()) == ("0", "99")
    assert out._core.outputs.all()[0].dropped == 98
    out.waitForWrite()
    assert not out.isWriting()


def test_a_stalled_reader_does_not_hold_up_the_others(opened):
    stalled, quick, out = opened(Port, "/stalled"), opened(BufferedPortBottle, "/quick"), opened(BufferedPortBottle)
    out.addOutput("/stalled")
    out.addOutput("/quick")
    quick.setStrict()
    for number in range(50):
        write_number(out, number)
        wait_until(lambda number=number: quick.lastRead() is not None or quick.getPendingReads() > 0)
        assert numbers(quick, 1) == [number]
    assert stalled.read(Bottle())


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp", "text", "text_ack"])
def test_strictly_written_messages_all_arrive_in_their_order(opened, carrier):
    into, out = connected(opened, carrier=carrier)
    into.setStrict()
    for number in range(100):
        write_number(out, number, True)
    assert numbers(into, 100) == list(range(100))


def test_each_message_brings_its_own_envelope(opened):
    into, out = connected(opened)
    into.setStrict()
    for number in range(3):
        out.setEnvelope(Stamp(number, number / 2))
        write_number(out, number, True)
    stamp = Stamp()
    for number in range(3):
        assert numbers(into, 1) == [number]
        assert into.getEnvelope(stamp)
        assert (stamp.getCount(), stamp.getTime()) == (number, number / 2)


def test_many_write_to_many(opened):
    inputs = [opened(BufferedPortBottle, f"/in{index}") for index in range(3)]
    outputs = [opened(BufferedPortBottle, f"/out{index}") for index in range(3)]
    for out in outputs:
        for into in inputs:
            into.setStrict()
            assert out.addOutput(into.getName())
    for index, out in enumerate(outputs):
        write_number(out, index, True)
    for into in inputs:
        assert sorted(numbers(into, 3)) == [0, 1, 2]
        assert into.getInputCount() == 3


@pytest.mark.parametrize("wake", ["close", "interrupt"])
def test_a_waiting_reader_of_a_buffered_port_is_woken(opened, wake):
    port = opened(BufferedPortBottle)
    results: list = []
    thread = threading.Thread(target=lambda: results.append(port.read()), daemon=True)
    thread.start()
    getattr(port, wake)()
    thread.join(TIMEOUT)
    assert results == [None]


def test_a_target_period_returns_the_last_message_again(opened):
    into, out = connected(opened)
    into.setTargetPeriod(0.01)
    assert into.read() is None
    write_number(out, 4, True)
    assert numbers(into, 3) == [4, 4, 4]
    write_number(out, 5, True)
    assert numbers(into, 1) == [5]
    into.interrupt()
    assert into.read() is None


def test_a_vector_port_leaves_out_what_is_no_vector(opened, caplog):
    into, out = opened(BufferedPortVector, "/in"), opened(BufferedPortBottle, "/out")
    out.addOutput("/in")
    out.prepare().addString("no vector")
    out.writeStrict()
    for text in ("1.0", "2.0"):
        out.prepare().fromString(text)
        out.writeStrict()
    assert list(into.read().array) == [2.0]
    assert "was not taken" in caplog.text


def test_the_death_of_a_reader_is_noticed_by_a_later_write(opened):
    into, out = connected(opened)
    write_number(out, 1, True)
    for connection in into._core.inputs.all():
        connection.close()
        connection.join(TIMEOUT)
    with quiet():
        wait_until(lambda: (write_number(out, 2), out.getOutputCount() == 0)[1])


def test_a_property_port_is_one_of_its_own(opened):
    assert isinstance(opened(BufferedPortProperty).prepare(), Property)


def test_nothing_is_left_of_closed_ports(opened):
    with nothing_is_left():
        into, out = connected(opened)
        into.useCallback(Collector())
        for number in range(10):
            write_number(out, number)
        into.close()
        out.close()
        assert into.isClosed()


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


def test_a_request_to_a_buffered_port_gets_an_empty_answer(opened):
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


def alive() -> bool:
    return True


@pytest.fixture
def queue() -> MessageQueue:
    return MessageQueue()


def test_the_newest_message_takes_the_place_of_the_older(queue):
    for number in range(3):
        queue.put(number, alive)
    assert len(queue) == 1
    assert queue.take() == 2


def test_a_strict_queue_keeps_the_order(queue):
    queue.is_strict = True
    for number in range(3):
        queue.put(number, alive)
    assert [queue.take() for _ in range(3)] == [0, 1, 2]


def test_nothing_comes_in_time(queue):
    assert queue.take(0.0) is None
    assert queue.take(0.01) is None


def test_waiting_at_a_full_queue_ends_when_the_peer_has_gone(queue):
    queue.is_strict, queue.most = True, 1
    queue.put(1, alive)
    with pytest.raises(PeerGone):
        queue.put(2, lambda: False)
    assert len(queue) == 1


def test_a_stopped_queue_takes_and_gives_nothing(queue):
    queue.put(1, alive)
    queue.stop()
    queue.put(2, alive)
    assert queue.is_stopped
    assert queue.take() is None
    queue.restart()
    assert queue.take(0.0) is None


def test_waiting_for_a_message_ends_when_it_is_no_longer_wanted(queue):
    wanted, taken = [True], []
    thread = threading.Thread(target=lambda: taken.append(queue.take_while(lambda: wanted[0])), daemon=True)
    thread.start()
    queue.stop()
    queue.restart()
    wanted[0] = False
    queue.wake()
    thread.join(TIMEOUT)
    assert taken == [None]
