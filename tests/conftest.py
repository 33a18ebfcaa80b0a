"""What the tests of several rooms share."""

from functools import lru_cache

import pytest

from gradiva.robot_model import IdynTreeModel, RobotDescription
from gradiva.setup import GccCompiler, cache_folder, load_robot

ROBOTS = ("g1", "icub_v2_7", "icub_v3", "talos")


@lru_cache
def description_of(name: str) -> RobotDescription:
    return load_robot(name)


@lru_cache
def model_of(name: str) -> IdynTreeModel:
    return IdynTreeModel(description_of(name))


@pytest.fixture(scope="session")
def compiler():
    return GccCompiler(cache_folder())


@pytest.fixture(params=ROBOTS)
def model(request) -> IdynTreeModel:
    return model_of(request.param)


@pytest.fixture
def icub() -> IdynTreeModel:
    return model_of("icub_v2_7")
