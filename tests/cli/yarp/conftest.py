"""A network of its own for every test: a name server in this process, found by a file in a scratch folder."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from gradiva.middleware import NameClient, NameServer, current_settings, use_settings, yarp
from tests.pureyarp.network.raw_sockets import free_port
from tests.waiting import TIMEOUT

_FOREIGN = ("YARP_NAMESPACE", "YARP_IP", "YARP_PORT_PREFIX", "YARP_CLOCK", "PUREYARP_LISTEN", "PUREYARP_FAMILY")


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Return the file with the address of a name server that does not run; started processes find it, too."""
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GRADIVA_YARP", "pureyarp")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    path = tmp_path / "yarp.conf"
    path.write_text(f"127.0.0.1 {free_port()} yarp\n")
    use_settings(None)
    yield path
    use_settings(None)


@pytest.fixture
def name_server(configured):
    server = NameServer(current_settings())
    server.start()
    yarp.Network.init()
    yield server
    yarp.Network.fini()
    server.stop()


@pytest.fixture
def names(name_server):
    """Return a function that returns the registered ports."""
    return lambda: {contact.getRegName() for contact in NameClient(current_settings()).list_names()}


class Echo(yarp.PortReader):
    """Answers ``say X...`` by ``X...``, is silent on ``silence``, and remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.silence = threading.Event()
        self.commands = []

    def read(self, connection):
        command = yarp.Bottle()
        if not command.read(connection):
            return False
        self.commands.append(command.toString())
        if command.get(0).asString() == "silence":
            self.silence.wait(TIMEOUT)
        writer = connection.getWriter()
        return writer is None or command.tail().write(writer)


@pytest.fixture
def echo(name_server):
    """An open RPC server called /echo."""
    reader, port = Echo(), yarp.RpcServer()
    port.setReader(reader)
    assert port.open("/echo")
    yield reader
    reader.silence.set()
    port.close()


class Tool:
    """The command in a process of its own."""

    def __init__(self, *arguments, **streams):
        command = [sys.executable, "-m", "gradiva.cli", *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | streams
        self.process = subprocess.Popen(command, text=True, env=os.environ.copy(), **streams)

    def stop(self, with_signal=signal.SIGINT):
        """Send a signal; return exit status, rest of standard output, rest of standard error."""
        self.process.send_signal(with_signal)
        return self.end()

    def end(self, text=None):
        """Wait for the end; return exit status, rest of standard output, rest of standard error."""
        out, err = self.process.communicate(text, timeout=TIMEOUT)
        return self.process.returncode, out, err


@pytest.fixture
def start():
    """Return a function that starts the command in a process of its own."""
    tools = []

    def start_one(*arguments, **streams):
        tools.append(Tool(*arguments, **streams))
        return tools[-1]

    yield start_one
    for tool in tools:
        if tool.process.poll() is None:
            tool.process.kill()
            tool.process.communicate()
