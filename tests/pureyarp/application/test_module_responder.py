import threading

import pytest

from pureyarp.application.rf_module import ModuleResponder, is_farewell, lines_of
from pureyarp.data.streams import ConnectionReader, ConnectionWriter
from pureyarp.data.values import Bottle
from pureyarp.wire.binary import decode_list
from pureyarp.wire.text import to_text


def answered(payload: bytes | str, reply: str) -> ConnectionWriter:
    writer = ConnectionWriter(is_text=isinstance(payload, str))
    responder = ModuleResponder(lambda command: Bottle(reply))
    assert responder.read(ConnectionReader(payload, writer=writer))
    return writer


@pytest.mark.parametrize("text", ["quit", "[quit]", "exit", "bye now", "[bye]"])
def test_farewells_are_known_as_strings_and_vocabs(text):
    assert is_farewell(Bottle(text))


@pytest.mark.parametrize("text", ["", "quitter", "5", "(quit)", '"good bye"'])
def test_other_words_are_no_farewells(text):
    assert not is_farewell(Bottle(text))


def test_on_a_binary_connection_many_lines_are_an_ordinary_bottle():
    writer = answered(Bottle("help").to_wire(), '[many] "one line" two')
    assert to_text(decode_list(bytes(writer.data)).items) == '[many] "one line" two'


def test_on_a_text_connection_many_lines_are_lines():
    assert bytes(answered("help", '[many] "one line" two').data) == b"one line\ntwo\n"
    assert bytes(answered("help", '"one line" two').data) == b'"one line" two\n'


def test_a_reply_is_read_line_by_line_only_where_it_says_so():
    assert lines_of(Bottle("[many] 1 2.5 (3 4)")) == ["1", "2.5", "(3 4)"]
    assert lines_of(Bottle("one 2")) == ["one 2"]


def test_a_sender_that_wants_no_reply_is_answered_all_the_same():
    heard = []

    def answer(command: Bottle) -> Bottle:
        heard.append(command.toString())
        return Bottle("[ok]")

    assert ModuleResponder(answer).read(ConnectionReader(Bottle("go").to_wire(), writer=None))
    assert heard == ["go"]


def test_what_is_no_bottle_or_the_end_of_a_connection_is_not_answered():
    responder = ModuleResponder(lambda command: pytest.fail("answered"))
    assert not responder.read(ConnectionReader(b"\xff" * 8, writer=ConnectionWriter()))
    assert not responder.read(ConnectionReader(b"", is_valid=False))


def test_one_can_wait_for_replies_that_are_on_their_way():
    may_answer, order = threading.Event(), []

    def answer(command: Bottle) -> Bottle:
        may_answer.wait()
        order.append("answered")
        return Bottle("[ok]")

    responder = ModuleResponder(answer)
    reading = threading.Thread(target=responder.read, args=[ConnectionReader("go", writer=ConnectionWriter(True))])
    reading.start()
    while responder._at_work == 0:
        pass
    may_answer.set()
    responder.wait_for_replies()
    order.append("waited")
    reading.join()
    assert order == ["answered", "waited"]
