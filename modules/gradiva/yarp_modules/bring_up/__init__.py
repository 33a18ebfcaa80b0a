"""Brings a robot up, check by check."""

from gradiva.yarp_modules.bring_up.board_checks import BringUpConfig
from gradiva.yarp_modules.bring_up.bring_up import BringUp

__all__ = ["BringUp", "BringUpConfig"]
