"""The gains of one control loop of one joint."""

from __future__ import annotations

import logging

from pureyarp.data.vectors import StandardVector
from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")

# In the order in which they travel.
_FIELDS = (
    "kp",
    "kd",
    "ki",
    "max_int",
    "max_output",
    "offset",
    "scale",
    "stiction_up_val",
    "stiction_down_val",
    "kff",
)


class Pid:
    """The gains and limits of one control loop of one joint, in the board's own units.

    Attributes:
        kp: Proportional gain.
        kd: Derivative gain.
        ki: Integral gain.
        max_int: Limit of the integral.
        max_output: Limit of the output.
        offset: Added to the output.
        scale: Divides the gains.
        stiction_up_val: Compensates stiction upwards.
        stiction_down_val: Compensates stiction downwards.
        kff: Feedforward gain.
    """

    def __init__(
        self,
        kp: float = 0.0,
        kd: float = 0.0,
        ki: float = 0.0,
        int_max: float = 0.0,
        scale: float = 0.0,
        out_max: float = 0.0,
        st_up: float = 0.0,
        st_down: float = 0.0,
        kff: float = 0.0,
    ) -> None:
        """Take the gains; those left out are zero."""
        self.kp, self.kd, self.ki = kp, kd, ki
        self.max_int, self.max_output = int_max, out_max
        self.offset = 0.0
        self.scale = scale
        self.stiction_up_val, self.stiction_down_val = st_up, st_down
        self.kff = kff

    def clear(self) -> None:
        """Set all to zero."""
        fill_pid(self, [0.0] * len(_FIELDS))

    def isEqual(self, p: Pid) -> bool:
        """Tell whether all gains and limits are the same."""
        return pid_to_items(self) == pid_to_items(p)

    def setMaxInt(self, m: float) -> None:
        """Set the limit of the integral."""
        self.max_int = m

    def setMaxOut(self, m: float) -> None:
        """Set the limit of the output."""
        self.max_output = m

    def setStictionValues(self, up_value: float, down_value: float) -> None:
        """Set how stiction is compensated."""
        self.stiction_up_val, self.stiction_down_val = up_value, down_value


def pid_to_items(pid: Pid) -> list[Element]:
    """Return gains and limits in the order in which they travel."""
    return [float(getattr(pid, name)) for name in _FIELDS]


def fill_pid(pid: Pid, values: Element) -> bool:
    """Take gains and limits in the order in which they travel; False, and a line, if they are not all numbers."""
    numbers = [value for value in values if isinstance(value, int | float)] if isinstance(values, list) else []
    if len(numbers) != len(_FIELDS):
        _log.error("the board answers %r as a PID, not %d numbers", values, len(_FIELDS))
        return False
    for name, value in zip(_FIELDS, numbers, strict=True):
        setattr(pid, name, float(value))
    return True


class PidVector(StandardVector[Pid]):
    """The gains of several joints; ``PidVector(n)`` has n of them, all zero."""

    @staticmethod
    def _checked(number: object) -> Pid:
        if not isinstance(number, Pid):
            raise TypeError(f"a Pid is expected, not {number!r}")
        return number

    @staticmethod
    def _zero() -> Pid:
        return Pid()
