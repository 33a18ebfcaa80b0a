"""Brings a robot up, check by check."""

from gradiva.yarp_modules.bring_up.bring_up import BringUp
from gradiva.yarp_modules.bring_up.checks import BringUpConfig

__all__ = ["BringUp", "BringUpConfig"]
