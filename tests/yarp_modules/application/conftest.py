"""Applications of the tests: small files, programs that every machine has."""

import pytest

from tests.middleware.conftest import isolated_config_home, own_name_server

__all__ = ["isolated_config_home", "own_name_server"]


@pytest.fixture
def written(tmp_path):
    """Return a function that writes an application and returns its file."""

    def write(text, name="file"):
        path = tmp_path / f"{name}.xml"
        path.write_text(text)
        return path

    return write
