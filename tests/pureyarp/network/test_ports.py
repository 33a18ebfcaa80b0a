"""Ports: names, messages, envelopes, requests, families."""

import socket
import threading
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pureyarp.data import Bottle, Stamp, Vector
from pureyarp.network import Contact, IncomingMessage, registrations, use_settings
from pureyarp.network.byte_stream import PeerGone
from pureyarp.network.outputs import PortOutputs
from pureyarp.network.peers import request
from pureyarp.network.ports import Port, PortReader, RpcClient, RpcServer, SynchronousQueue, read_reply
from pureyarp.wire import CARRIERS, WireFamily, encode_vocab
from tests.pureyarp.network.local_ports import OFFLINE, Inbox, address_of, nothing_is_left, open_core, quiet
from tests.pureyarp.network.number_ports import Doubler
from tests.pureyarp.network.running_threads import in_background, joined
from tests.waiting import TIMEOUT, wait_until


def test_a_port_is_known_by_its_name_until_it_is_closed(name_server, name_client):
    port = Port()
    assert port.open("/a")
    assert name_client.query("/a") == port.where() == Contact("/a", "tcp", "127.0.0.1", port.where().getPort())
    assert name_client.get_property("/a", "accepts") == sorted(["tcp", "fast_tcp", "udp", "text", "text_ack"])
    assert port.isOpen()
    port.close()
    assert not name_client.query("/a").isValid()
    assert not port.isOpen()
    assert port.getName() == "/a"


def test_an_anonymous_port_gets_a_name(opened):
    assert opened(Port).getName().startswith("/tmp/port/")


@pytest.mark.parametrize("name", ["a", "/a@b", "/a\tb"])
def test_what_is_no_name_is_refused(name_server, name, caplog):
    assert not Port().open(name)
    assert "is no name of a port" in caplog.text


def test_nothing_opens_without_a_name_server(name_server, caplog):
    use_settings(OFFLINE)
    assert not Port().open("/a")
    assert "no name server" in caplog.text


def test_nothing_opens_before_the_network_was_initialised(caplog):
    assert not Port().open("/a")
    assert "call Network.init() first" in caplog.text


def test_a_port_that_is_open_is_opened_anew(opened, name_client):
    port = opened(Port, "/a")
    assert port.open("/b")
    assert port.getName() == "/b"
    assert not name_client.query("/a").isValid()


def test_a_name_ends_before_its_first_blank(opened, caplog):
    assert opened(Port, "/a b").getName() == "/a"
    assert "a port is called /a instead of '/a b'" in caplog.text


def test_a_port_opens_again_after_it_was_closed(opened):
    port = opened(Port, "/a")
    port.close()
    assert port.open("/b")
    assert port.getName() == "/b"


def test_a_living_name_stays_that_of_its_first_port(opened, name_client, caplog):
    first, second = opened(Port, "/a"), Port()
    assert not second.open("/a")
    assert "/a is open already, at tcp://127.0.0.1:" in caplog.text
    assert (second.isOpen(), second.getName()) == (False, "/a")
    second.close()
    assert name_client.query("/a") == first.where()


@pytest.mark.parametrize("answers", [True, False], ids=["another_port_listens_there", "nobody_listens_there"])
def test_a_name_that_was_left_behind_is_opened_again(opened, name_client, answers):
    """As after a process was killed; its TCP port may be that of another one by now."""
    other = opened(Port, "/other").where()
    name_client.register("/a", "tcp", "127.0.0.1", other.getPort() if answers else 1)
    assert opened(Port, "/a").where() == name_client.query("/a")
    assert name_client.query("/other") == other


def test_a_port_that_hangs_keeps_its_name(name_server, name_client, monkeypatch):
    monkeypatch.setattr(registrations, "_ANSWER_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # its connections are never answered
        contact = name_client.register("/a", "tcp", "127.0.0.1", hanging.getsockname()[1])
        assert not Port().open("/a")
        assert name_client.query("/a") == contact


def test_a_port_opens_at_a_wanted_address(name_server, name_client, opened):
    free = opened(Port)
    number = free.where().getPort()
    free.close()
    port = Port()
    assert port.open(Contact("/a", "tcp", "127.0.0.1", number))
    assert name_client.query("/a").getPort() == number
    port.close()


def test_a_port_whose_address_is_taken_does_not_take_a_name(name_server, name_client, opened, caplog):
    taken = opened(Port, "/a").where()
    port = Port()
    for name in ("/a", "/b"):
        assert not port.open(Contact(name, "tcp", "127.0.0.1", taken.getPort()))
    assert "is it taken?" in caplog.text
    assert name_client.query("/a") == taken
    assert not name_client.query("/b").isValid()


def test_an_unregistered_port_opens_at_an_address(name_client):
    port = Port()
    assert port.open(Contact("/a", "tcp", "127.0.0.1", 0), False)
    assert not name_client.query("/a").isValid()
    port.close()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_message_is_read(opened, carrier):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    assert out.addOutput("/in", carrier)
    _, results = in_background(lambda: out.write(Bottle("hello 1 2.5 (3 x)")))
    bottle = Bottle()
    assert into.read(bottle)
    assert bottle.toString() == "hello 1 2.5 (3 x)"
    wait_until(lambda: results == [True])


def test_a_writer_waits_until_its_message_is_read(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    thread, results = in_background(lambda: out.write(Bottle("1")))
    wait_until(lambda: out.isWriting())
    assert results == []
    assert into.read(Bottle())
    joined(thread)
    assert results == [True]
    assert not out.isWriting()


def test_an_envelope_travels_beside_every_message(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    stamp = Stamp()
    assert not into.getEnvelope(stamp)
    out.setEnvelope(Stamp(5, 1700000000.25))
    for _ in range(2):
        thread, _ = in_background(lambda: out.write(Bottle("1")))
        assert into.read(Bottle())
        assert into.getEnvelope(stamp)
        assert (stamp.getCount(), stamp.getTime()) == (5, 1700000000.25)
        joined(thread)


def test_an_envelope_may_be_anything(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    out.setEnvelope(Bottle("any (thing 1.5)"))
    thread, _ = in_background(lambda: out.write(Bottle("1")))
    assert into.read(Bottle())
    envelope = Bottle()
    assert into.getEnvelope(envelope)
    assert envelope.toString() == "any (thing 1.5)"
    joined(thread)


@pytest.mark.parametrize("wake", ["close", "interrupt"])
def test_a_waiting_reader_is_woken(opened, wake):
    port = opened(Port, "/in")
    thread, results = in_background(lambda: port.read(Bottle()))
    getattr(port, wake)()
    joined(thread)
    assert results == [False]


def test_an_interrupted_port_reads_again_after_it_was_resumed(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    into.interrupt()
    assert not into.read(Bottle())
    into.resume()
    thread, _ = in_background(lambda: out.write(Bottle("1")))
    assert into.read(Bottle())
    joined(thread)


def test_what_is_no_message_for_the_reader_is_left_out(opened, caplog):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    vector = Vector(2)
    vector.array[:] = 1.5, 2.5

    def write():
        out.write(Bottle("not a vector"))
        out.write(vector)

    thread, _ = in_background(write)
    read = Vector()
    assert into.read(read)
    assert list(read.array) == [1.5, 2.5]
    assert "was not read" in caplog.text
    joined(thread)


def test_a_port_that_is_closed_or_interrupted_sends_nothing(opened):
    assert Port().write(Bottle("1"))  # to nobody
    port = opened(Port)
    port.interrupt()
    assert not port.write(Bottle("1"))
    port.resume()
    assert port.write(Bottle("1"))


def test_an_output_is_added_by_contact(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    into.setReader(Doubler())
    assert out.addOutput(into.where())
    assert out.write(Bottle("1"))
    assert out._core.outputs.all()[0].target == "/in"


def test_nothing_is_left_of_closed_ports(opened):
    with nothing_is_left():
        ports = [opened(Port, f"/port{index}") for index in range(4)]
        for carrier, out in zip(CARRIERS, ports[1:], strict=False):
            assert out.addOutput("/port0", carrier)
            out._core.offer([1])
            out._core.offer([2])
        for port in ports:
            port.close()


def test_the_death_of_a_receiver_is_reported_once(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    into.setReader(Doubler())
    out.addOutput("/in")
    assert out.write(Bottle("1"))
    assert out.write(Bottle("1"))
    for connection in into._core.inputs.all():
        connection.close()  # as when its process dies
        connection.join(TIMEOUT)
    with quiet():
        assert not out.write(Bottle("1"))
    assert out.getOutputCount() == 0
    assert out.write(Bottle("1"))


def test_the_death_of_a_sender_is_forgotten_at_once(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    wait_until(lambda: into.getInputCount() == 1)
    out.close()
    wait_until(lambda: into.getInputCount() == 0)


def test_an_administrator_is_no_input(opened):
    port = opened(Port, "/in")
    with socket.create_connection(("127.0.0.1", port.where().getPort()), TIMEOUT) as sock:
        sock.sendall(bytes.fromhex("5941e41e00005250") + b"\6\0\0\0admin\0")
        wait_until(lambda: len(port._core.inputs.all()) == 1)
        assert port.getInputCount() == 0


def test_a_sender_whose_message_is_not_read_may_die(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in")
    with quiet():
        thread, _ = in_background(lambda: out.write(Bottle("1")))
        wait_until(out.isWriting)
        out.close()
        joined(thread)
        wait_until(lambda: into.getInputCount() == 0)


def test_connecting_again_replaces_the_connection(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    for carrier in ("tcp", "udp", "text", "fast_tcp"):
        assert out.addOutput("/in", carrier)
        wait_until(lambda: into.getInputCount() == 1)
        assert out.getOutputCount() == 1
        assert into._core.inputs.all()[0].carrier_name == carrier


def test_a_rooted_sender_that_connects_again_replaces_its_older_self(opened, name_server):
    into, first = opened(Port, "/in"), opened(Port, "/out")
    first.addOutput("/in")
    second = Port()
    second.open(Contact("/out", "tcp", "127.0.0.1", 0), False)
    second._core.settings = name_server.settings
    assert second.addOutput("/in")
    wait_until(lambda: into.getInputCount() == 1)
    with quiet():
        assert not first.write(Bottle("1"))
    second.close()


def test_a_closing_receiver_has_its_senders_disconnect(opened):
    into, out = opened(Port, "/in"), opened(Port, "/out")
    out.addOutput("/in", "udp")
    assert out.getOutputCount() == 1
    into.close()
    assert out.getOutputCount() == 0


class Failing(PortReader):
    def read(self, reader) -> bool:
        raise ValueError("out of paper")


def test_a_read_message_is_replied_to(opened):
    server, client = opened(Port, "/server"), opened(Port, "/client")
    client.addOutput("/server")
    answer = Bottle()
    thread, results = in_background(lambda: client.write(Bottle("question"), answer))
    question = Bottle()
    assert server.read(question, True)
    assert server.reply(Bottle("[ok] answer"))
    joined(thread)
    assert results == [True]
    assert (question.toString(), answer.toString()) == ("question", "[ok] answer")


def test_only_a_message_that_waits_is_replied_to(opened, caplog):
    assert not opened(Port, "/server").reply(Bottle("hello"))
    assert "no message to reply to" in caplog.text


def test_without_a_reply_the_answer_is_empty(opened):
    server, client = opened(Port, "/server"), opened(Port, "/client")
    client.addOutput("/server")
    answer = Bottle("before")
    thread, results = in_background(lambda: client.write(Bottle("question"), answer))
    assert server.read(Bottle())
    joined(thread)
    assert results == [True]
    assert answer.toString() == ""


def test_a_reply_may_end_the_connection(opened):
    server, client = opened(Port, "/server"), opened(Port, "/client")
    client.addOutput("/server")
    answer = Bottle()
    thread, _ = in_background(lambda: client.write(Bottle("question"), answer))
    assert server.read(Bottle(), True)
    assert server.replyAndDrop(Bottle("last"))
    joined(thread)
    assert answer.toString() == "last"
    wait_until(lambda: server.getInputCount() == 0)


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_a_reader_is_called_and_answers(opened, carrier):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    server.setReader(Doubler())
    assert client.addOutput("/server", carrier)
    answer = Bottle()
    for number in (1.5, -2.0):
        assert client.write(Bottle(str(number)), answer)
        assert answer.get(0).asFloat64() == 2 * number


def test_an_exception_of_a_reader_is_answered_and_ends_nothing(opened):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    server.setReader(Failing())
    client.addOutput("/server")
    answer = Bottle()
    with quiet():
        for _ in range(2):
            assert client.write(Bottle("print"), answer)
            assert answer.toString() == '[fail] "out of paper"'


def test_an_rpc_server_reads_and_replies(opened):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    client.addOutput("/server")
    answer = Bottle()
    thread, _ = in_background(lambda: client.write(Bottle("question"), answer))
    assert server.read(Bottle())
    assert server.reply(Bottle("answer"))
    joined(thread)
    assert answer.toString() == "answer"


def test_servers_do_not_ask_and_clients_are_not_asked(opened, caplog):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    assert not server.write(Bottle("1"))
    assert not client.read(Bottle())
    assert not server.addOutput("/client")
    assert client.addOutput("/server")
    assert client.addOutput("/server")
    opened(RpcServer, "/other")
    assert not client.addOutput("/other")
    for reason in ("does not write", "does not read", "Outputs not allowed", "RPC output already connected"):
        assert reason in caplog.text


def test_a_client_without_a_server_is_logged(opened, caplog):
    assert not opened(RpcClient, "/client").write(Bottle("1"), Bottle())
    assert "not connected to any port" in caplog.text


def test_a_silent_server_is_waited_for_so_long_and_answers_the_next_question(opened):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    client.addOutput("/server")
    client.asPort().setTimeout(0.05)
    answer = Bottle()
    with quiet():
        assert not client.write(Bottle("first"), answer)
    client.asPort().setTimeout(TIMEOUT)

    def serve():
        question = Bottle()
        for _ in range(2):
            server.read(question)
            server.reply(Bottle(f"answer to {question.toString()}"))

    thread, _ = in_background(serve)
    assert client.write(Bottle("second"), answer)
    assert answer.toString() == "answer to second"
    joined(thread)


def test_closing_a_client_ends_its_waiting(opened):
    _, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    client.addOutput("/server")
    with quiet():
        thread, results = in_background(lambda: client.write(Bottle("1"), Bottle()))
        wait_until(client.isWriting)
        client.close()
        joined(thread)
    assert results == [False]


def test_closing_a_server_ends_the_waiting_of_its_client(opened):
    server, client = opened(RpcServer, "/server"), opened(RpcClient, "/client")
    client.addOutput("/server")
    with quiet():
        thread, results = in_background(lambda: client.write(Bottle("1"), Bottle()))
        wait_until(client.isWriting)
        server.close()
        joined(thread)
    assert len(results) == 1


def message(is_alive: bool = True) -> IncomingMessage:
    return IncomingMessage(b"", "", True, SimpleNamespace(is_alive=lambda: is_alive))


def test_a_message_is_handed_over_and_its_reply_back():
    queue, replies = SynchronousQueue(), []
    sent = message()
    thread = threading.Thread(target=lambda: replies.append(queue.hand_over(sent)), daemon=True)
    thread.start()
    handover = queue.take()
    assert handover.message is sent
    handover.finish(b"reply")
    handover.finish(b"another")
    thread.join(TIMEOUT)
    assert replies == [b"reply"]


def test_a_stop_lets_both_sides_go():
    queue, results = SynchronousQueue(), []
    threads = [
        threading.Thread(target=lambda: results.append(queue.hand_over(message())), daemon=True),
        threading.Thread(target=lambda: results.append(queue.hand_over(message())), daemon=True),
    ]
    for thread in threads:
        thread.start()
    queue.stop()
    for thread in threads:
        thread.join(TIMEOUT)
    assert results == [None, None]
    assert queue.take() is None


def test_a_sender_that_has_gone_is_not_waited_for():
    queue = SynchronousQueue()
    with pytest.raises(PeerGone):
        queue.hand_over(message(is_alive=False))


def test_a_connection_that_comes_after_the_end_is_closed():
    closed = []
    outputs = PortOutputs()
    outputs.close()
    with pytest.raises(PeerGone, match="closed while it was connected to /in"):
        outputs.add(SimpleNamespace(target="/in", close=lambda: closed.append(1)))
    assert closed == [1]
    assert len(outputs) == 0


ITEMS = [encode_vocab("set"), 1, 0.1, "x", [1.5, 2.5]]


@pytest.mark.parametrize("server_family", WireFamily)
@pytest.mark.parametrize("client_family", WireFamily)
@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "text_ack"])
def test_a_server_answers_in_the_family_of_its_client(server_family, client_family, carrier):
    with ExitStack() as stack:
        server = open_core(stack, "/server", Inbox(lambda items: items), replace(OFFLINE, family=server_family))
        settings = replace(OFFLINE, family=client_family)
        assert request(server.contact, ITEMS, carrier=carrier, timeout=TIMEOUT, settings=settings) == ITEMS


def test_a_connection_learns_the_family_of_the_replies():
    four = replace(OFFLINE, family=WireFamily.YARP_4)
    with ExitStack() as stack:
        server = open_core(stack, "/server", settings=four)
        server.handler = lambda message: Bottle("1 0.1 x").to_wire(WireFamily.YARP_4)
        client = open_core(stack, "/client")
        client.connect(address_of(server))
        _, [(output, reply)] = client.call(["question"], TIMEOUT)
        answer = Bottle()
        assert read_reply(answer, output, reply)
        assert answer.items == [1, 0.1, "x"]
        assert output.family is WireFamily.YARP_4
