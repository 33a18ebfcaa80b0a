import contextlib
import socket
import threading
import time
from dataclasses import replace

import pytest

from pureyarp.errors import FrameTooLarge, NameServerUnreachable, NetworkError
from pureyarp.network.peers import NameClient
from pureyarp.network.settings import ConnectionLimits, Contact, NetworkSettings
from tests.middleware.recorded_questions import recorded_questions


class RecordedServer:
    """Answers each connection as a real name server once did, and remembers what was asked."""

    def __init__(self, answers: list[bytes]) -> None:
        self.questions: list[bytes] = []
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.settings = NetworkSettings(name_server_port=self._listener.getsockname()[1])
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with self._listener:
            for answer in self._answers:
                sock, _ = self._listener.accept()
                with sock:
                    self.questions.append(sock.recv(65536))
                    sock.sendall(answer)


def exchange(recording: str, *indices: int) -> list[tuple[bytes, bytes]]:
    return [recorded_questions(recording)[index] for index in indices]


def test_a_port_is_registered_and_released_in_the_recorded_words():
    exchanges = exchange("ns_port_open_close", 0, 5, 6, 12)
    server = RecordedServer([answer for _, answer in exchanges])
    client = NameClient(server.settings)
    assert client.register("/gold/a") == Contact("/gold/a", "tcp", "127.0.0.1", 10002)
    client.announce("/gold/a")
    assert client.register("") == Contact("/tmp/port/1", "tcp", "127.0.0.1", 10003)
    client.unregister("/tmp/port/1")
    assert server.questions == [question for question, _ in exchanges]


def test_properties_are_set_in_the_recorded_words():
    exchanges = exchange("ns_port_open_close", 1)
    server = RecordedServer([exchanges[0][1]])
    words = exchanges[0][0].decode().split()
    NameClient(server.settings).set_properties("/gold/a", {"offers": words[4:]})
    assert server.questions == [exchanges[0][0]]


def test_recorded_answers_are_understood():
    exchanges = exchange("ns_requests", 1, 3, 6, 13, 14)
    server = RecordedServer([answer for _, answer in exchanges])
    client = NameClient(server.settings)
    assert not client.query("/nothere").isValid()
    assert client.register("/raw/b", "tcp", "127.0.0.1", 12346).getPort() == 12346
    assert [contact.getRegName() for contact in client.list_names()] == [
        "/raw/a",
        "/raw/b",
        "/root",
        "/tmp/port/1",
        "/tmp/port/2",
        "fallback",
    ]
    assert client.check_property("/raw/a", "key", "v1")
    assert not client.check_property("/raw/a", "key", "zz")
    assert [q.rstrip() for q in server.questions] == [question.rstrip() for question, _ in exchanges]


def test_properties_keep_their_kinds(name_client):
    name_client.register("/a")
    assert name_client.set_property("/a", "key", "b c", 3, "a")
    assert name_client.get_property("/a", "key") == [3, "a", "b c"]
    assert name_client.get_property("/a", "other") == []
    assert not name_client.set_property("/b", "key", 1)


def test_the_name_server_itself_is_known_without_asking():
    settings = NetworkSettings(name_server_host="203.0.113.9", name_server_port=10100)
    assert NameClient(settings).query("/root") == Contact("/root", "tcp", "203.0.113.9", 10100)


def test_several_names_are_asked_for_over_one_connection(name_client, name_server):
    name_client.register("/a", port=12345)
    found = name_client.query_all(["/a", "/b", "/root"])
    assert [contact.getPort() for contact in found] == [12345, -1, name_server.contact.getPort()]


def test_the_address_is_said_where_the_server_would_see_another_one():
    server = RecordedServer([b"registration name /a ip 10.0.0.7 port 10002 type tcp\r\n*** end of message\r\n"])
    NameClient(replace(server.settings, listen_host="10.0.0.7")).register("/a")
    assert server.questions == [b"NAME_SERVER register /a ... 10.0.0.7 ...\r\n"]


@pytest.mark.parametrize("name", ["/a b", "/a\nNAME_SERVER unregister /b", "/a\r"])
def test_names_that_would_be_another_command_are_refused(name_client, name):
    with pytest.raises(NetworkError, match="names have no blanks"):
        name_client.query(name)


def test_nobody_answering_is_told_with_the_address_and_where_it_was_found():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        silent = NetworkSettings(name_server_port=port, found_in="/some/yarp.conf")
        with pytest.raises(NameServerUnreachable, match=f"127.0.0.1:{port} .*/some/yarp.conf.*timed out"):
            NameClient(silent, timeout=0.2).list_names()
    with pytest.raises(NameServerUnreachable, match="refused"):
        NameClient(silent, timeout=0.2).list_names()


def test_a_server_that_hangs_up_or_never_ends_is_told():
    with pytest.raises(NameServerUnreachable, match="without an answer"):
        NameClient(RecordedServer([b"registration"]).settings).query("/a")
    endless = RecordedServer([b"x" * 5000])
    small = replace(endless.settings, limits=ConnectionLimits(largest_frame=2048))
    with pytest.raises(FrameTooLarge, match="does not end its answer"):
        NameClient(small).query("/a")


def test_a_name_server_that_drips_is_given_up_when_the_time_for_the_whole_answer_is_over():
    """Each byte comes soon after the last one, but the answer never ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            sock, _ = listener.accept()
            with sock, contextlib.suppress(OSError):
                while True:
                    sock.sendall(b".")
                    time.sleep(0.02)

        threading.Thread(target=drip, daemon=True).start()
        client = NameClient(NetworkSettings(name_server_port=listener.getsockname()[1]), timeout=0.2)
        with pytest.raises(NameServerUnreachable):
            client.query("/a")
