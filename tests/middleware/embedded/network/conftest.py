from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gradiva.middleware.embedded.network.current_settings import use_settings
from gradiva.middleware.embedded.network.name_client import NameClient
from gradiva.middleware.embedded.network.name_server import NameServer
from gradiva.middleware.embedded.network.network_life import life
from gradiva.middleware.embedded.network.settings import NetworkSettings


@pytest.fixture(autouse=True)
def folders_of_nobody(tmp_path, monkeypatch) -> Iterator[None]:
    """Keep the tests from the user's files and from each other's settings."""
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("YARP_DATA_HOME", str(tmp_path / "data"))
    for name in ("YARP_NAMESPACE", "YARP_IP", "YARP_PORT_PREFIX", "YARP_CLOCK", "GRADIVA_YARP_LISTEN"):
        monkeypatch.delenv(name, raising=False)
    use_settings(None)
    yield
    life.end()
    use_settings(None)


@pytest.fixture
def name_server() -> Iterator[NameServer]:
    """Return a running name server that this process uses."""
    server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    server.start()
    use_settings(server.settings)
    yield server
    server.stop()


@pytest.fixture
def name_client(name_server) -> NameClient:
    return NameClient(name_server.settings)


@pytest.fixture
def opened(name_server):
    """Return a function that opens a port of a kind, which is closed in the end."""
    with ExitStack() as stack:

        def open_port(kind, name: str = ""):
            port = kind()
            assert port.open(name)
            stack.callback(port.close)
            return port

        yield open_port
