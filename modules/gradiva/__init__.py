"""Gradiva, "she who walks": footsteps, divergent component of motion and whole-body control for humanoids.

The nouns that `__init__.pyi` lists are imported when they are first used; each works alone::

    robot = gradiva.load_robot("icub_v3")
    ik = gradiva.InverseKinematics(robot, [gradiva.FrameTask("l_hand"), gradiva.ComTask(), gradiva.PostureTask()])
    plan = gradiva.WalkingPlanner(robot).plan(gradiva.VelocityCommand(0.2, duration=5.0))
    outcome = gradiva.simulate(robot, gradiva.GoalCommand(2.0, 1.0))
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "1.0.0"


def _rooms() -> dict[str, str]:
    """Return the room of each public noun, from the lines ``from ROOM import NOUN as NOUN`` of the stub."""
    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    imports = [line.split() for line in lines if line.startswith("from gradiva.")]
    return {words[3]: words[1] for words in imports}


_ROOMS = _rooms()
__all__ = ["__version__", *_ROOMS]


def __getattr__(name: str) -> Any:
    """Import a public noun from its room.

    Raises:
        AttributeError: There is none of that name; the message names the nearest.
    """
    if name not in _ROOMS:
        from gradiva.common.errors import nearest_name

        raise AttributeError(f"module 'gradiva' has no attribute '{name}'{nearest_name(name, _ROOMS)}")
    found = getattr(import_module(_ROOMS[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
