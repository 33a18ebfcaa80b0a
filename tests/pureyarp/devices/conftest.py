from collections.abc import Callable, Iterator

import pytest

from pureyarp.data.values import Property
from pureyarp.devices.poly_driver import PolyDriver


@pytest.fixture(autouse=True)
def undisturbed(isolated_config_home) -> None:
    """Keep all tests from the user's files and from each other's settings."""


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
