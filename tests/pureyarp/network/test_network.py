"""The network of a process: beginning, end, its functions."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pureyarp.data import Bottle, Value
from pureyarp.network import Contact, ContactStyle, NameClient, NetworkSettings, current_settings, network, use_settings
from pureyarp.network.network import Network, NetworkBase, life, name_server_answers
from pureyarp.network.port_core import PortCore
from pureyarp.network.registrations import serves_names
from tests.pureyarp.network.raw_sockets import free_port
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until


@pytest.fixture
def echo(name_server) -> Iterator[PortCore]:
    """Return a port that repeats each request."""
    port = PortCore(handler=lambda message: ["echo", *message.items()] if message.wants_reply else None)
    port.open("/echo")
    yield port
    port.close()


def test_beginning_and_end_are_seen(name_server):
    life.end()
    assert not Network.isNetworkInitialized()
    Network()
    assert Network.initialized()
    assert Network.checkNetwork()
    Network.fini()
    assert not Network.initialized()
    Network.init()
    Network.init()
    Network.fini()
    assert Network.initialized()
    Network.autoInitMinimum()
    Network.fini()
    assert not Network.initialized()
    Network.fini()
    Network.init()
    assert Network.initialized()


def test_an_absent_name_server_is_no_network_until_it_is_there(name_server):
    name_server.stop()
    assert not Network.checkNetwork()
    assert not Network.checkNetwork(0.05)
    starter = threading.Timer(0.1, name_server.start)
    starter.start()
    assert Network.checkNetwork(10.0)
    starter.join()


@pytest.mark.usefixtures("numbers_in_order")
def test_names_are_registered_asked_for_and_forgotten(name_server):
    contact = Network.registerName("/a")
    assert contact.getPort() == name_server.contact.getPort() + 2
    assert Network.queryName("/a") == contact
    exact = Contact("/b", "tcp", "127.0.0.1", 12345)
    assert Network.registerContact(exact) == exact
    assert not Network.unregisterName("/a").isValid()
    assert not Network.unregisterContact(exact).isValid()
    assert not Network.queryName("/a").isValid()
    assert Network.queryName("tcp://127.0.0.1:12345/").getPort() == 12345


def test_properties_are_values(name_server):
    Network.registerName("/a")
    assert Network.setProperty("/a", "key", Value(5))
    assert Network.getProperty("/a", "key").asInt32() == 5
    assert Network.getProperty("/a", "other").isNull()
    assert not Network.setProperty("/b", "key", Value(5))


def test_without_a_name_server_questions_are_answered_by_nothing_and_a_line(name_server, caplog):
    name_server.stop()
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert not Network.queryName("/a").isValid()
        assert not Network.registerName("/a").isValid()
        assert not Network.setProperty("/a", "key", Value(5))
        assert Network.getProperty("/a", "key").isNull()
    assert caplog.text.count("no name server at 127.0.0.1:") == 4


def test_a_port_exists_while_it_answers(echo, name_client):
    name_client.register("/dead", "tcp", "127.0.0.1", 1)
    assert Network.exists("/echo")
    assert Network.sync("/echo")
    assert Network.poll("/echo") == 0
    assert not Network.exists("/dead")
    assert not Network.exists("/nobody")
    assert Network.poll("/nobody", True) == 1
    echo.close()
    assert not Network.exists("/echo")


def test_an_unknown_port_is_logged_unless_quiet(name_server, caplog):
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert not Network.exists("/nobody", True)
        assert not caplog.records
        assert not Network.exists("/nobody", False)
    assert "/nobody does not exist: the name server does not know /nobody" in caplog.text


@pytest.mark.parametrize("carrier", ["", "tcp", "fast_tcp", "text_ack"])
def test_a_message_is_written_and_its_reply_read(echo, carrier):
    style, reply = ContactStyle(carrier=carrier, timeout=5.0), Bottle()
    assert Network.write(Network.queryName("/echo"), Bottle("a 1 (2.5 b)"), reply, style)
    assert reply.toString() == "echo a 1 (2.5 b)"


def test_a_message_is_written_by_name_and_to_the_port_itself(echo):
    reply = Bottle()
    assert Network.write("/echo", Bottle("hello"), reply)
    assert reply.toString() == "echo hello"
    assert Network.write(Network.queryName("/echo"), Bottle("[ver]"), reply, True, True, 5.0)
    assert reply.toString() == "[ver] 1 2 3"
    assert Network.write(Contact("/echo"), Bottle("again"), reply)
    assert reply.toString() == "echo again"


def test_the_name_server_is_written_to(name_server):
    reply = Bottle()
    assert Network.writeToNameServer(Bottle("query /root"), reply, ContactStyle(timeout=5.0))
    assert reply.size() == 1
    assert reply.get(0).asString().startswith("registration name /root ip 127.0.0.1 port ")
    assert not Network.writeToNameServer(Bottle("bot query /root"), reply, ContactStyle(timeout=5.0))
    assert Network.write(Network.getNameServerName(), Bottle("bot query /root"), reply)


def test_messages_that_do_not_arrive_are_logged(name_server, caplog):
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert not Network.write("/nobody", Bottle("hello"), Bottle())
        assert not Network.write(Contact("127.0.0.1", 1), Bottle("hello"), Bottle())
        assert not Network.write(name_server.contact, Bottle("list"), Bottle(), ContactStyle(carrier="pigeon"))
    assert "/nobody was not written to: the name server does not know /nobody" in caplog.text
    assert "/127.0.0.1:1 was not written to: 127.0.0.1:1 cannot be reached" in caplog.text
    assert "carrier 'pigeon' is not spoken here (valid: " in caplog.text


def test_a_message_without_a_reply_is_taken(name_server):
    taken: list[object] = []
    port = PortCore(handler=lambda message: taken.append(message.items()))
    port.open("/in")
    assert Network.sendMessage("/in", Bottle("hello 5")) == 0
    wait_until(lambda: taken == [["hello", 5]])
    port.close()
    assert Network.sendMessage("/in", Bottle("hello 5"), True) == 1


def test_a_port_is_waited_for(name_server):
    port = PortCore()
    opener = threading.Timer(0.1, lambda: port.open("/late"))
    opener.start()
    assert Network.waitPort("/late")
    opener.join()
    port.close()


def test_a_connection_is_waited_for(echo):
    other = PortCore()
    other.open("/out")
    connector = threading.Timer(0.1, lambda: Network.connect("/out", "/echo"))
    connector.start()
    assert Network.waitConnection("/out", "/echo", True)
    connector.join()
    assert Network.isConnected("/out", "/echo", True)
    assert Network.isConnected("/out", "/echo", ContactStyle(carrier="tcp"))
    assert not Network.isConnected("/out", "/echo", "udp")
    assert Network.disconnect("/out", "/echo", True)
    other.close()


def test_waiting_ends_with_the_network(name_server):
    Network.init()
    ender = threading.Timer(0.1, Network.fini)
    ender.start()
    assert not Network.waitPort("/never", True)
    ender.join()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("/a", True), ("...", True), ("/a/b:i", True), ("a", False), ("", False), ("/a b", False), ("/a/", False)],
)
def test_names_of_ports_begin_with_a_slash_and_have_no_blanks(name, expected):
    assert Network.isValidPortName(name) is expected


def test_the_name_server_can_be_chosen(name_server):
    contact = Network.getNameServerContact()
    assert contact == name_server.contact
    use_settings(replace(name_server.settings, name_server_port=1))
    assert not Network.checkNetwork()
    assert Network.setNameServerContact(contact)
    assert Network.checkNetwork()
    assert Network.setNameServerName("/other")
    assert Network.getNameServerName() == "/other"


def test_a_local_network_is_this_processes_own(name_server):
    assert not Network.setLocalMode(True)
    assert Network.getLocalMode()
    assert Network.getNameServerContact() != name_server.contact
    assert Network.registerName("/a").isValid()
    assert Network.setLocalMode(False)
    assert Network.getNameServerContact() == name_server.contact


def test_files_are_in_the_folder_of_the_users_configuration():
    assert Network.getConfigFile("yarp.conf") == os.path.join(os.environ["YARP_CONFIG_HOME"], "yarp.conf")


def test_verbosity_is_a_level_of_the_log():
    logger = logging.getLogger("pureyarp")
    former = logger.level
    for verbosity, level in ((-1, logging.ERROR), (0, logging.WARNING), (1, logging.INFO), (5, logging.DEBUG)):
        Network.setVerbosity(verbosity)
        assert logger.level == level
    logger.setLevel(former)


def test_assertions_are_raised():
    NetworkBase.assertion(True)
    with pytest.raises(AssertionError):
        NetworkBase.assertion(False)


PARTICIPANT = """
import sys
from pureyarp.network.network import life
from pureyarp.network.port_core import PortCore

life.begin()
port = PortCore()
port.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
port.close()
life.end()
"""


@pytest.fixture
def free_address(tmp_path) -> NetworkSettings:
    """Return settings that name a free address, which is also what the processes of this test read in their file."""
    port = free_port()
    folder = Path(os.environ["YARP_CONFIG_HOME"])
    folder.mkdir()
    (folder / "yarp.conf").write_text(f"127.0.0.1 {port} yarp\n")
    use_settings(None)
    return current_settings()


def start_participant(port: str) -> subprocess.Popen[str]:
    """Start another process that opens a port until its standard input ends."""
    command = [sys.executable, "-c", PARTICIPANT, port]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Wait until a participant's port is open; end it afterwards."""
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.stdin.close()


def is_known(name: str) -> bool:
    return name_server_answers(current_settings()) and NameClient(current_settings()).query(name).isValid()


def test_a_name_server_that_is_there_is_used(name_server):
    life.begin()
    assert life.has_begun
    assert not serves_names()
    life.end()
    assert not life.has_begun
    assert name_server_answers(name_server.settings)


def test_where_there_is_none_on_loopback_this_process_serves_names(free_address):
    life.begin()
    life.begin()
    assert serves_names()
    assert name_server_answers(free_address)
    life.end()
    assert not name_server_answers(free_address)
    wait_until(lambda: not threads_named("yarp"))


def test_a_port_that_is_still_open_does_not_bring_the_name_server_back(free_address):
    life.begin()
    port = PortCore()
    port.open("/a")
    wait_until(lambda: is_known("/a"))
    life.end()
    wait_until(lambda: not threads_named("yarp registrations"))
    assert not serves_names()
    life.begin()
    assert serves_names()
    wait_until(lambda: is_known("/a"))
    port.close()
    assert not is_known("/a")


def test_of_processes_that_begin_at_once_one_serves_the_others(free_address):
    names = [f"/p{index}" for index in range(3)]
    with ExitStack() as stack:
        processes = [start_participant(name) for name in names]
        for process in processes:
            stack.enter_context(ended(process))
        wait_until(lambda: all(is_known(name) for name in names))
    assert not name_server_answers(free_address)


def test_a_remote_name_server_that_does_not_answer_is_logged_and_asked_again(caplog):
    use_settings(NetworkSettings(name_server_host="localhost.invalid", found_in="/some/yarp.conf"))
    with caplog.at_level(logging.ERROR, "pureyarp"):
        life.begin()
    assert not serves_names()
    assert "no name server answers at localhost.invalid:10000 (/some/yarp.conf)" in caplog.text


def test_tools_do_not_serve_names(free_address):
    use_settings(replace(free_address, may_serve_names=False))
    life.begin()
    assert not serves_names()


def test_another_program_at_the_address_of_the_name_server_is_logged(free_address, caplog, monkeypatch):
    monkeypatch.setattr(network, "_RACE", 0.1)
    with socket.create_server(("127.0.0.1", free_address.name_server_port)) as other:
        other.close()
    with socket.socket() as other:
        other.bind(("127.0.0.1", free_address.name_server_port))  # bound, not listening: refused at once
        with caplog.at_level(logging.ERROR, "pureyarp"):
            life.begin()
    assert "something else has that address" in caplog.text


def test_a_private_network_is_seen_by_this_process_alone(name_server):
    former = current_settings()
    life.set_private(True)
    assert life.is_private
    assert current_settings().name_server_port != former.name_server_port
    NameClient(current_settings()).register("/a")
    assert not NameClient(former).query("/a").isValid()
    life.set_private(False)
    assert not life.is_private
    assert current_settings() == former


def test_a_survivor_serves_names_when_the_process_that_did_is_killed(free_address):
    with ended(start_participant("/first")) as first:
        with ended(start_participant("/second")), ended(start_participant("/third")):
            first.send_signal(signal.SIGKILL)
            first.wait()
            wait_until(lambda: is_known("/second") and is_known("/third"))
            assert not is_known("/first")
        assert not name_server_answers(free_address)
