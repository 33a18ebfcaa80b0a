"""Closed-loop walks that the tests of this room share."""

from functools import lru_cache

import pytest

from gradiva.setup import load_setup
from gradiva.simulated_walk import SimulatedWalk


@lru_cache
def setup_of(robot, *overrides, plant=None):
    return load_setup(robot, overrides, plant=plant)


@pytest.fixture
def ready():
    """A function that returns a robot that stands, started, ready for goals."""

    def make(robot, *overrides, seed=0, plant=None, settle=0.5):
        walk = SimulatedWalk(setup_of(robot, "walking.prepare_duration=0.5", *overrides, plant=plant), seed)
        assert walk.get_ready(settle)
        return walk

    return make
