"""Questions to a port and its replies."""

import pytest

from pureyarp.data.values import Bottle
from pureyarp.network.ports import Port, PortReader, RpcClient, RpcServer
from tests.pureyarp.network.local_ports import quiet
from tests.pureyarp.network.number_ports import Doubler
from tests.pureyarp.network.running_threads import in_background, joined
from tests.waiting import TIMEOUT, wait_until


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


def test_who_does_not_reply_has_replied_nothing(opened):
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


def test_an_exception_of_a_reader_is_told_to_the_client_and_ends_nothing(opened):
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


def test_a_client_without_a_server_is_told(opened, caplog):
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
