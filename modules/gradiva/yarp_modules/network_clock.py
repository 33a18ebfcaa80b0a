"""YARP's network clock as the clock of ticks, control and samples; the machine's where none is followed.

Never YARP's system clock: that is a wall clock, which may be set during a walk.
"""

from __future__ import annotations

import math

from gradiva.middleware import yarp
from gradiva.session import TickClock


def _network_time() -> float | None:
    if not yarp.isNetworkClock():
        return None
    return float(yarp.now()) if yarp.isValid() else math.nan


CLOCK = TickClock(_network_time)
present_time, control_time = CLOCK.now, CLOCK.control_time
