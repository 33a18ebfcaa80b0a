from contextlib import ExitStack

import pytest

from pureyarp.network import NameClient, NameServer, buffered_ports, inputs, ports


@pytest.fixture(autouse=True)
def undisturbed(isolated_config_home, monkeypatch) -> None:
    """Keep all tests from the user's files and from each other's settings, and have waiting connections look often."""
    monkeypatch.setattr(ports, "PEER_CHECK_PERIOD", 0.05)
    monkeypatch.setattr(buffered_ports, "PEER_CHECK_PERIOD", 0.05)
    monkeypatch.setattr(inputs, "_LOOK", 0.05)


@pytest.fixture
def name_server(own_name_server) -> NameServer:
    """Return a running name server that this process uses."""
    return own_name_server


@pytest.fixture
def numbers_in_order(monkeypatch) -> None:
    """Let name servers hand out one number after the other, whatever else listens on this machine."""
    monkeypatch.setattr("pureyarp.network.name_server.is_listened", lambda host, number: False)


@pytest.fixture
def name_client(names) -> NameClient:
    return names


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
