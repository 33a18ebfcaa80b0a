"""A network of one test alone."""

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from pureyarp.network.name_server import NameServer
from pureyarp.network.network import life
from pureyarp.network.peers import NameClient
from pureyarp.network.registrations import begin_participation
from pureyarp.network.settings import NetworkSettings, use_settings

hypothesis.settings.register_profile("however fast the machine is", deadline=None)
hypothesis.settings.load_profile("however fast the machine is")

_VARIABLES = (
    "YARP_NAMESPACE",
    "YARP_IP",
    "YARP_PORT_PREFIX",
    "YARP_CLOCK",
    *(f"{prefix}_{name}" for prefix in ("PUREYARP", "GRADIVA_YARP") for name in ("LISTEN", "FAMILY", "LARGEST_FRAME")),
)


@pytest.fixture
def isolated_config_home(tmp_path, monkeypatch) -> Iterator[Path]:
    """Keep a test from the user's files and from the settings of others; return where its own files go."""
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("YARP_DATA_HOME", str(tmp_path / "data"))
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    use_settings(None)
    yield tmp_path / "config"
    life.end()
    use_settings(None)


@pytest.fixture
def own_name_server(isolated_config_home) -> Iterator[NameServer]:
    """Run a name server that this test alone uses."""
    server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    server.start()
    use_settings(server.settings)
    begin_participation()  # `Network.init` of a test may still be the first one
    yield server
    server.stop()


@pytest.fixture
def names(own_name_server) -> NameClient:
    """Return a client of it."""
    return NameClient(own_name_server.settings)
