"""Drives the walk by keys: typed in a terminal, recorded in a file, or sent over RPC."""

from gradiva.yarp_modules.joypad.joypad_module import JoypadModule
from gradiva.yarp_modules.joypad.keys import JoypadConfig, KeyStick, RecordedKeys

__all__ = ["JoypadConfig", "JoypadModule", "KeyStick", "RecordedKeys"]
