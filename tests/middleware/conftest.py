"""The fixtures of pureyarp: a network of one test alone."""

from tests.pureyarp.conftest import folder_of_nobody, names, own_name_server

__all__ = ["folder_of_nobody", "names", "own_name_server"]
