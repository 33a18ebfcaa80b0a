"""Closed-loop walks that the tests of this room share."""

from functools import lru_cache

import pytest

from gradiva.experiments import SimulatedWalk
from gradiva.setup import load_setup


@lru_cache
def setup_of(robot, *overrides, noise=False):
    return load_setup(robot, overrides, noise=noise)


@pytest.fixture
def ready():
    """A function that returns a robot that stands, started, ready for goals."""

    def make(robot, *overrides, seed=0, noise=False, settle=0.5):
        walk = SimulatedWalk(setup_of(robot, "walking.prepare_duration=0.5", *overrides, noise=noise), seed)
        assert walk.get_ready(settle)
        return walk

    return make
