"""A few letters by which two processes see whether they were configured alike."""

from __future__ import annotations

import hashlib

from gradiva.planner import PlannerConfig
from gradiva.robot_model import RobotDescription
from gradiva.walking import WalkingConfig


def planner_fingerprint(config: PlannerConfig) -> str:
    """Return eight letters and digits that tell one configuration of layer 1 from another."""
    return _fingerprint(config)


def model_control_fingerprint(robot: RobotDescription, config: WalkingConfig) -> str:
    """Return the same of layer 2."""
    return _fingerprint(
        robot.sole,
        config.walking.model,
        config.dcm_controller,
        config.dcm_mpc,
        config.zmp_com_controller,
        config.gain_schedule,
    )


def _fingerprint(*configurations: object) -> str:
    return hashlib.sha256(repr(configurations).encode()).hexdigest()[:8]
