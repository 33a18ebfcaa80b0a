"""MuJoCo, imported when its first name is used: typing a configuration, or a plan, needs none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradiva.common import LazyModule

if TYPE_CHECKING:
    import mujoco as mujoco
else:
    mujoco = LazyModule("mujoco")
