"""A network of one test alone."""

from tests.pureyarp.conftest import isolated_config_home, names, own_name_server

__all__ = ["isolated_config_home", "names", "own_name_server"]
