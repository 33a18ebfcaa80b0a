"""What the engine says beside its results."""

from __future__ import annotations

import mujoco


def silence_engine() -> None:
    """Keep MuJoCo's warnings off the terminal, and from a log file of its own in the working folder.

    They tell that a simulation diverges; ``MujocoRobot.read`` reports that by name.
    """
    mujoco.set_mju_user_warning(_ignore)


def _ignore(warning: str) -> None:
    pass
