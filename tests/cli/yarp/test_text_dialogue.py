import socket
import threading

import pytest

from gradiva.cli.yarp.connections import TextDialogue


@pytest.fixture
def sockets():
    ours, theirs = socket.socketpair()
    ours.settimeout(5.0)
    with ours, theirs:
        yield ours, theirs


def test_an_answer_is_the_lines_before_the_acknowledgement(sockets):
    ours, theirs = sockets
    theirs.sendall(b"Welcome <ping>\r\nThis is /me\r\nThere are no in")
    dialogue = TextDialogue(ours, "<ping>")
    assert theirs.recv(100) == b"CONNACK <ping>\r\n"
    rest = threading.Thread(target=theirs.sendall, args=(b"puts\r\n<ACK>\r\n<ACK>\r\n",))
    rest.start()
    assert dialogue.ask("*") == ["This is /me", "There are no inputs"]
    assert dialogue.ask("q") == []
    rest.join()


def test_a_peer_that_closes_is_an_error(sockets):
    ours, theirs = sockets
    theirs.sendall(b"Welcome x\r\nhalf a li")
    dialogue = TextDialogue(ours, "x")
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError, match="closed"):
        dialogue.ask("*")


def test_an_answer_without_end_is_refused(sockets, monkeypatch):
    monkeypatch.setattr("gradiva.cli.yarp.connections._MAX_REPLY", 1000)
    ours, theirs = sockets
    theirs.sendall(b"Welcome x\r\n" + b"line\r\n" * 1000)
    dialogue = TextDialogue(ours, "x")
    with pytest.raises(OSError, match="does not end"):
        dialogue.ask("*")


def test_a_line_without_end_is_refused(sockets, monkeypatch):
    monkeypatch.setattr("gradiva.cli.yarp.connections._MAX_REPLY", 1000)
    ours, theirs = sockets
    theirs.sendall(b"W" * 3000)
    with pytest.raises(OSError, match="does not end"):
        TextDialogue(ours, "x")
