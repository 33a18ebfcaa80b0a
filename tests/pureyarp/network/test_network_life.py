import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pureyarp.network.network import life, name_server_answers
from pureyarp.network.peers import NameClient
from pureyarp.network.port_core import PortCore
from pureyarp.network.registrations import serves_names
from pureyarp.network.settings import NetworkSettings, current_settings, use_settings
from tests.pureyarp.network.raw_sockets import free_port
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until

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


def test_one_that_does_not_answer_elsewhere_is_told_and_asked_again(caplog):
    use_settings(NetworkSettings(name_server_host="localhost.invalid", found_in="/some/yarp.conf"))
    with caplog.at_level(logging.ERROR, "pureyarp"):
        life.begin()
    assert not serves_names()
    assert "no name server answers at localhost.invalid:10000 (/some/yarp.conf)" in caplog.text


def test_tools_do_not_serve_names(free_address):
    use_settings(replace(free_address, may_serve_names=False))
    life.begin()
    assert not serves_names()


def test_what_has_the_address_but_serves_no_names_is_told(free_address, caplog):
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
