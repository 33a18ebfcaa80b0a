"""Bringing a robot up, check by check."""

from gradiva.yarp_modules.bring_up.bring_up import BringUp
from gradiva.yarp_modules.bring_up.bring_up_config import BringUpConfig

__all__ = ["BringUp", "BringUpConfig"]
