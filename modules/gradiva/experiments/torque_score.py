"""How near torque control came to its limits, from its log."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradiva.telemetry import SignalLog

_SATURATED = "torque_control::saturated_joints"
_MISSED = "torque_control::missed::"
_NEGLIGIBLE = 1e-3  # in the units of the constraints, mostly N, N·m and m/s²: what has a price is never met exactly


def torque_score(log: SignalLog, window: slice) -> dict[str, Any] | None:
    """Return shares of the logged ticks, and the worst; None where torques are not controlled.

    Args:
        log: With what ``torque_signals`` tells.
        window: The rows that count.
    """
    if _SATURATED not in log:
        return None
    missed = {name.removeprefix(_MISSED): log[name][window, 0] for name in log if name.startswith(_MISSED)}
    return {
        "saturated_share": float(np.mean(log[_SATURATED][window, 0] > 0.0)),
        "missed": {
            name: {"share": float(np.mean(misses > _NEGLIGIBLE)), "max": float(misses.max())}
            for name, misses in missed.items()
            if misses.max() > _NEGLIGIBLE
        },
    }
