"""How long the equations of soft ground take for one foot."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradiva.common import FootContact, Side, SoleRectangle, so3
from gradiva.contacts import SoleMotion, ViscoElasticContact
from gradiva.experiments.timing import benchmark_row, durations

_CALLS = 2000
_STIFFNESS, _DAMPING = 1e6, 1e4  # [N/m³], [N·s/m³]
_PERIOD = 1e-3  # [s] of torque control


def contact_rows(sole: SoleRectangle) -> list[dict[str, Any]]:
    """Return rows of the benchmark: wrench and its rate on a foot that rocks, half of the time on a part of its sole.

    Args:
        sole: Of the left foot.
    """
    model = ViscoElasticContact(sole, Side.LEFT)
    at_rest = FootContact(True, np.zeros(3), np.eye(3), _STIFFNESS, _DAMPING)
    motions = [_rocking(2.0 * math.pi * index / _CALLS) for index in range(_CALLS)]
    return [
        benchmark_row(
            "contacts.viscoelastic_wrench", durations(partial(model.wrench, motion, at_rest) for motion in motions)
        ),
        benchmark_row("contacts.rate", durations(partial(model.rate, motion, at_rest, _PERIOD) for motion in motions)),
    ]


def _rocking(phase: float) -> SoleMotion:
    turn = 0.1 * math.sin(phase) * np.array([0.5, 1.0, 0.2])
    twist = math.cos(phase) * np.array([0.01, -0.01, 0.02, 0.1, 0.2, 0.05])
    return SoleMotion(np.array([0.0, 0.0, -0.005]), so3.exp(turn), twist)
