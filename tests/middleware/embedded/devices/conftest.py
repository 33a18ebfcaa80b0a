from collections.abc import Callable, Iterator

import pytest

from gradiva.middleware.embedded.data.property import Property
from gradiva.middleware.embedded.devices.poly_driver import PolyDriver
from gradiva.middleware.embedded.network.current_settings import use_settings
from gradiva.middleware.embedded.network.name_client import NameClient
from gradiva.middleware.embedded.network.name_server import NameServer
from gradiva.middleware.embedded.network.settings import NetworkSettings


@pytest.fixture(autouse=True)
def folders_of_nobody(tmp_path, monkeypatch) -> Iterator[None]:
    """Keep the tests from the user's files and from each other's settings."""
    monkeypatch.setenv("YARP_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("YARP_NAMESPACE", "YARP_IP", "YARP_PORT_PREFIX", "YARP_CLOCK", "GRADIVA_YARP_LISTEN"):
        monkeypatch.delenv(name, raising=False)
    use_settings(None)
    yield
    use_settings(None)


@pytest.fixture
def names() -> Iterator[NameClient]:
    """Run a name server of this test alone, and return a client of it."""
    server = NameServer(NetworkSettings(name_server_port=0, may_serve_names=False))
    server.start()
    use_settings(server.settings)
    yield NameClient(server.settings)
    server.stop()


@pytest.fixture
def opened(names) -> Iterator[Callable[..., PolyDriver]]:
    """Open devices by their parameters, and close them after the test."""
    drivers: list[PolyDriver] = []

    def open_device(device: str, **parameters: str | float) -> PolyDriver:
        config = Property()
        for key, value in {"device": device, **parameters}.items():
            config.put(key, value)
        drivers.append(PolyDriver(config))
        return drivers[-1]

    yield open_device
    for driver in drivers:
        driver.close()
