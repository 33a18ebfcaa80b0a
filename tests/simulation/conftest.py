"""Fixtures: robots that stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradiva.robot_model import RobotDescription
from gradiva.setup import load_robot
from gradiva.simulation import MujocoRobot

from .standing import configured, moved, standing_posture

MakeRobot = Callable[..., MujocoRobot]


@pytest.fixture(params=["icub_v2_7", "icub_v3", "talos"], scope="session")
def description(request: pytest.FixtureRequest) -> RobotDescription:
    return load_robot(request.param)


@pytest.fixture(scope="session")
def icub() -> RobotDescription:
    return load_robot("icub_v2_7")


@pytest.fixture(scope="session")
def make_icub(icub: RobotDescription) -> MakeRobot:
    posture = standing_posture(icub)

    def make(
        seed: int = 0, shift: tuple[float, float, float] = (0, 0, 0), heading: float = 0.0, **tables: Any
    ) -> MujocoRobot:
        start = moved(posture, np.array(shift, dtype=float), heading)
        return MujocoRobot(icub, configured(**tables), start, seed)

    return make
