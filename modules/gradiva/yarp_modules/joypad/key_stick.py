"""Keys as a stick: each press moves it a little, and the goal follows smoothly."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from gradiva.common import NDArray
from gradiva.yarp_modules.joypad.joypad_config import JoypadConfig


class KeyCommand(StrEnum):
    """What a key asks the coordinator for; the values are its words."""

    PREPARE = "prepareRobot"
    START = "startWalking"
    PAUSE = "pauseWalking"
    STOP = "stopWalking"
    HOME = "goHome"
    EMERGENCY_STOP = "emergencyStop"
    QUIT = "quit"  # the joypad itself


HELP = (
    "up down     faster, slower (backward)     w s",
    "left right  turn                          a d",
    "j l         sidestep",
    "0           stick to the middle: the robot stands",
    "p g         prepare, start                space  pause     x  stop     h  go home",
    "e           emergency stop                q  quit",
)
_MOVES = {  # forward, angular, lateral
    "up": (1, 0, 0),
    "w": (1, 0, 0),
    "down": (-1, 0, 0),
    "s": (-1, 0, 0),
    "left": (0, 1, 0),
    "a": (0, 1, 0),
    "right": (0, -1, 0),
    "d": (0, -1, 0),
    "j": (0, 0, 1),
    "l": (0, 0, -1),
}
_COMMANDS = {
    "p": KeyCommand.PREPARE,
    "g": KeyCommand.START,
    "space": KeyCommand.PAUSE,
    "x": KeyCommand.STOP,
    "h": KeyCommand.HOME,
    "e": KeyCommand.EMERGENCY_STOP,
    "q": KeyCommand.QUIT,
}
KEYS = (*_MOVES, *_COMMANDS, "0")


class KeyStick:
    """Where the stick is. A terminal tells only when a key goes down, so that each press is a step of the stick.

    Attributes:
        target: Forward, angular, lateral, where the keys have put it, −1 to 1, shape (3,).
    """

    def __init__(self, config: JoypadConfig) -> None:
        """Put the stick in the middle."""
        self._config = config
        self.target: NDArray = np.zeros(3)
        self._deflection: NDArray = np.zeros(3)

    def press(self, key: str) -> KeyCommand | None:
        """Move the stick, or return what the key asks for; keys that mean nothing are left.

        Whatever is asked for but going home lets go of the stick.
        """
        if key in _MOVES:
            moved = self.target + self._config.step * np.array(_MOVES[key])
            moved[np.abs(moved) < 0.5 * self._config.step] = 0.0  # the middle is found again
            self.target = np.clip(moved, -1.0, 1.0)
            return None
        command = _COMMANDS.get(key)
        if command is not None or key == "0":
            self.release()
        return command

    def release(self) -> None:
        """Let the stick go to the middle, at once."""
        self.target, self._deflection = np.zeros(3), np.zeros(3)

    def goal(self, period: float) -> list[float]:
        """Return forward, angular, lateral, ``period`` [s] after the last call."""
        reach = self._config.ramp * period
        self._deflection = self._deflection + np.clip(self.target - self._deflection, -reach, reach)
        return np.where(np.abs(self._deflection) < self._config.dead_zone, 0.0, self._deflection).tolist()
