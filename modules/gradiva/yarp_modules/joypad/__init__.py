"""Drives the walk by keys: typed in a terminal, recorded in a file, or sent over RPC."""

from gradiva.yarp_modules.joypad.joypad_config import JoypadConfig
from gradiva.yarp_modules.joypad.joypad_module import JoypadModule
from gradiva.yarp_modules.joypad.key_stick import KeyStick
from gradiva.yarp_modules.joypad.recorded_keys import RecordedKeys

__all__ = ["JoypadConfig", "JoypadModule", "KeyStick", "RecordedKeys"]
