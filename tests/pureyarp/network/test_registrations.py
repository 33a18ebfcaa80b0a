"""Registrations of this process, kept when the name server restarts."""

import contextlib
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pureyarp.network import Contact, NameClient, NameServer, NetworkSettings, use_settings
from pureyarp.network.port_core import OpenPorts
from pureyarp.network.registrations import (
    RegistrationKeeper,
    is_temporary,
    serve_names,
    serves_names,
    stop_serving_names,
)
from tests.pureyarp.network.raw_sockets import free_port
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import TIMEOUT, wait_until

OURS = Contact("/a", "tcp", "127.0.0.1", 12345)


@pytest.fixture
def keeper() -> Iterator[RegistrationKeeper]:
    keeper = RegistrationKeeper(period=0.05)
    yield keeper
    for name in keeper.kept_names():
        keeper.forget(name)
    wait_until(lambda: not threads_named("yarp registrations"))


@pytest.fixture
def temporary_server() -> Iterator[NameServer]:
    """Return a name server that lives in some other program."""
    server = NameServer(NetworkSettings(name_server_port=0), is_temporary=True)
    server.start()
    use_settings(server.settings)
    yield server
    server.stop()
    stop_serving_names()


def test_a_restarted_name_server_learns_ports_and_properties_again(name_server, name_client, keeper):
    keeper.keep("/a", OURS, {"accepts": ["tcp", "udp"]})
    wait_until(lambda: name_client.query("/a") == OURS)
    name_server.stop()
    keeper.check()
    name_server.start()
    wait_until(lambda: name_client.query("/a") == OURS)
    wait_until(lambda: name_client.get_property("/a", "accepts") == ["tcp", "udp"])


def test_an_absent_name_server_is_reported_once_and_its_return_too(name_server, keeper, caplog):
    keeper.keep("/a", OURS)
    name_server.stop()
    with caplog.at_level(logging.WARNING, "pureyarp"):
        keeper.check()
        keeper.check()
        name_server.start()
        wait_until(lambda: "answers again" in caplog.text)
    assert caplog.text.count("existing connections go on") == 1


def test_a_name_that_a_living_process_took_is_left_to_it(name_client, keeper, caplog):
    with socket.create_server(("127.0.0.1", 0)) as other:
        theirs = name_client.register("/a", "tcp", "127.0.0.1", other.getsockname()[1])
        keeper.keep("/a", OURS)
        wait_until(lambda: keeper.kept_names() == [])
        assert name_client.query("/a") == theirs
    assert "/a now belongs to tcp://127.0.0.1:" in caplog.text


def test_a_name_that_a_dead_process_took_is_taken_back(name_client, keeper):
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
    name_client.register("/a", "tcp", "127.0.0.1", number)
    keeper.keep("/a", OURS)
    wait_until(lambda: name_client.query("/a") == OURS)
    assert keeper.kept_names() == ["/a"]


def test_a_forgotten_name_is_not_registered_again(name_client, keeper):
    keeper.keep("/a", OURS)
    keeper.keep("/b", replace_name(OURS, "/b"))
    wait_until(lambda: name_client.query("/a") == OURS)
    keeper.forget("/a")
    name_client.unregister("/a")
    keeper.check()
    keeper.check()
    assert not name_client.query("/a").isValid()


def test_a_lost_name_is_reported_when_it_is_forgotten(name_server, keeper):
    newer = Contact("/a", "tcp", "127.0.0.1", 12346)
    keeper.keep("/a", OURS)
    keeper.keep("/a", newer)
    assert not keeper.forget("/a", OURS)
    assert keeper.kept_names() == ["/a"]
    assert keeper.forget("/a", newer)
    assert not keeper.forget("/a", newer)


def test_ports_of_one_network_are_not_registered_in_another(name_client, keeper):
    keeper.keep("/a", OURS)
    wait_until(lambda: name_client.query("/a") == OURS)
    other = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    other.start()
    use_settings(other.settings)
    keeper.check()
    assert not NameClient(other.settings).query("/a").isValid()
    other.stop()


def test_the_thread_lives_as_long_as_a_name_is_kept(name_server, keeper):
    assert not threads_named("yarp registrations")
    keeper.keep("/a", OURS)
    keeper.keep("/b", replace_name(OURS, "/b"))
    assert len(threads_named("yarp registrations")) == 1
    keeper.forget("/a")
    keeper.forget("/b")
    wait_until(lambda: not threads_named("yarp registrations"))
    keeper.keep("/a", OURS)
    assert len(threads_named("yarp registrations")) == 1


def test_the_name_server_of_another_program_is_replaced_when_that_ends(temporary_server, keeper):
    client = NameClient(temporary_server.settings)
    keeper.keep("/a", OURS)
    wait_until(lambda: client.query("/a") == OURS)
    assert is_temporary(client, temporary_server.settings)
    keeper.check()
    temporary_server.stop()
    wait_until(serves_names)
    wait_until(lambda: client.query("/a") == OURS)
    assert is_temporary(client, temporary_server.settings)


def test_a_name_server_in_its_own_right_is_waited_for(name_server, keeper):
    use_settings(replace(name_server.settings, may_serve_names=True))
    keeper.keep("/a", OURS)
    keeper.check()
    name_server.stop()
    keeper.check()
    keeper.check()
    assert not serves_names()


def test_a_process_that_may_not_serve_names_does_not(temporary_server, keeper):
    use_settings(replace(temporary_server.settings, may_serve_names=False))
    keeper.keep("/a", OURS)
    keeper.check()
    temporary_server.stop()
    keeper.check()
    assert not serves_names()


def replace_name(contact: Contact, name: str) -> Contact:
    return Contact(name, contact.getCarrier(), contact.getHost(), contact.getPort())


class HangingServer:
    """A name server that knows no port and does not answer registrations until it is let go on.

    Attributes:
        is_asked: Set when a registration has come.
        goes_on: Set it to have registrations answered.
        settings: Of its network.
        commands: What it was asked, in order.
    """

    def __init__(self) -> None:
        self.is_asked, self.goes_on = threading.Event(), threading.Event()
        self.commands: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.settings = NetworkSettings(name_server_port=self._listener.getsockname()[1], may_serve_names=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.goes_on.set()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[sock], daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, sock.makefile("rw", newline="\n") as lines:
            for line in lines:
                words = line.split()[1:]
                self.commands.append(" ".join(words[:2]))
                answer = "[ok]\r\n" if words[0] == "bot" else "*** end of message\r\n"
                if words[0] == "register":
                    self.is_asked.set()
                    self.goes_on.wait(TIMEOUT)
                    answer = f"registration name {words[1]} ip 127.0.0.1 port 12345 type tcp\r\n" + answer
                elif words[0] == "query" and self.goes_on.is_set():
                    answer = f"registration name {words[1]} ip 127.0.0.1 port 12345 type tcp\r\n" + answer
                lines.write(answer)
                lines.flush()


@pytest.fixture
def hanging() -> Iterator[HangingServer]:
    server = HangingServer()
    use_settings(server.settings)
    yield server
    server.close()


def test_a_name_server_that_hangs_holds_up_no_port_that_opens_or_closes(hanging, keeper):
    """What is asked for one port is not asked under the lock that every other port needs."""
    keeper.keep("/a", OURS)
    assert hanging.is_asked.wait(TIMEOUT)
    keeper.keep("/b", replace_name(OURS, "/b"))
    assert keeper.forget("/b")
    assert keeper.kept_names() == ["/a"]
    assert not hanging.goes_on.is_set()  # still waiting for the answer about /a
    hanging.goes_on.set()


def test_a_name_that_is_let_go_while_it_is_registered_again_does_not_stay(hanging, keeper):
    keeper.keep("/a", OURS)
    assert hanging.is_asked.wait(TIMEOUT)
    assert keeper.forget("/a", OURS)
    hanging.goes_on.set()
    wait_until(lambda: "unregister /a" in hanging.commands)


def free_address() -> NetworkSettings:
    return NetworkSettings(name_server_port=free_port())


def test_this_process_serves_names_until_it_stops(caplog):
    settings = free_address()
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert serve_names(settings)
        assert serve_names(settings)
    assert len(caplog.records) == 1
    assert f"this process now serves names at 127.0.0.1:{settings.name_server_port}" in caplog.text
    assert NameClient(settings).register("/a").isValid()
    stop_serving_names()
    assert not serves_names()
    wait_until(lambda: not threads_named("yarp"))


def test_the_second_process_leaves_the_names_to_the_first(name_server):
    assert not serve_names(name_server.settings)
    assert not serves_names()


def test_names_are_served_on_loopback_alone():
    assert not serve_names(replace(free_address(), name_server_host="203.0.113.9"))
    assert not serves_names()


FORGETFUL = """
from pureyarp.network.network import Network
from pureyarp.network.ports import Port
Network.init()
port = Port()
assert port.open("/forgotten")
print(port.where().getPort())
"""


def test_a_port_that_was_closed_while_it_opened_does_not_hold_up_the_end():
    ports = OpenPorts()
    closed = []
    ports.add(SimpleNamespace(close=lambda: closed.append(1)))
    ports.close_all()
    assert closed == [1]


def test_a_program_that_forgets_its_ports_leaves_none_registered(name_server, name_client, tmp_path):
    (tmp_path / "yarp.conf").write_text(f"127.0.0.1 {name_server.settings.name_server_port} yarp")
    environment = {**os.environ, "YARP_CONFIG_HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", FORGETFUL], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > 0
    assert not name_client.query("/forgotten").isValid()
