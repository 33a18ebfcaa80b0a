r"""Soft floors: how soft the simulated one is, and whether a robot balances on one foot on it.

With :math:`\rho = k_\theta / (m g h)`, the stiffness against tipping of servos and one sole over that of gravity, a
pendulum on this spring, undamped and without delay, is stable for

.. math:: K_{CoM} < K_{ZMP} (\rho - K_p + \rho K_p K_{ZMP} / \omega).

Damping and delays are in ``WrenchLoop``, cut at the velocity of the CoM: on one foot, with the gains of walking and on
a floor of 28 ms, or on the simulated one where that is softer, it has to be stable, by the argument principle, with
:math:`M_s \le 2` below 5 Hz.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradiva.setup.load_setup import Setup
from gradiva.setup.wrench_loop import WrenchLoop
from gradiva.simulation import GroundKind

CONTACT_TIMES = (0.002, 0.006, 0.02)
"""Times in which a floor lets a sole come to rest, from hard to soft, [s]."""
SOFT_FLOOR = 0.028
"""Time constant of the softest floor that K_CoM is designed for, [s]; a foot of a robot whose servos yield: ρ < 1."""
_SLOWEST, _FREQUENCIES = 0.005, 120  # [Hz]; of the return difference
_TURN, _HALVINGS = 0.5 * math.pi, 6  # [rad] by which it may turn between two of them; past 180° a turn is lost
HIGHEST = 5.0
"""Highest frequency of balance, [Hz]; from it on the loop through the wrenches has margins of its own."""
_FADING = 0.05  # [1/s] rate at which motions have to die away: integrals of the controller are on the unit circle


def floor_time(setup: Setup) -> float:
    """Return the time constant of the softest floor that may be drawn, [s]; zero where the floor is not rigid."""
    simulation = setup.simulation
    drawn = simulation.model_errors.floor_contact_time
    return known_floor_time(setup) + drawn if simulation.ground.kind == GroundKind.RIGID else 0.0


def known_floor_time(setup: Setup) -> float:
    """Return the time constant of the contact with the floor as configured, before errors of the model, [s]."""
    return setup.simulation.ground.contact_time * setup.simulation.timestep


def stands_softly(setup: Setup) -> bool:
    """Return whether the floor is softer than those of the margins, so that M_s of balance counts."""
    return floor_time(setup) > CONTACT_TIMES[-1]


def is_too_soft(setup: Setup) -> bool:
    """Return whether the simulated floor is softer than the softest one that gains are made for."""
    return floor_time(setup) > SOFT_FLOOR * (1.0 + 1e-9)


def soft_floor_note(setup: Setup) -> str:
    """Return how soft the simulated floor is, beside the softest one that gains are made for."""
    found = f"its time constant is {in_ms(floor_time(setup))}, they are made for up to {in_ms(SOFT_FLOOR)}"
    return f"the simulated floor is softer than gains are made for: {found}"


def stiffer_floor(setup: Setup) -> str:
    """Return, as advice, the value of the key with which the floor is no softer than gains are made for."""
    left = SOFT_FLOOR - known_floor_time(setup)
    if left >= 0.0:
        return f"simulation.model_errors.floor_contact_time of up to {left:.3g} s is a stiffer floor"
    steps, step = math.floor(SOFT_FLOOR / setup.simulation.timestep + 1e-6), 1e3 * setup.simulation.timestep
    return f"simulation.ground.contact_time of up to {steps} physics steps (of {step:g} ms) is a stiffer floor"


def in_ms(time: float) -> str:
    """Return a time [s] in milliseconds."""
    return f"{1e3 * time:.0f} ms"


def balance_peak(loop: WrenchLoop) -> float:
    """Return M_s of the loop cut at the velocity of the CoM; infinite where the loop is unstable."""
    radius = math.exp(_FADING * loop.period)
    frequencies = (0.0, *np.geomspace(_SLOWEST, 0.5 / loop.period, _FREQUENCIES).tolist())
    found = {frequency: _balance_at(loop, radius, frequency) for frequency in frequencies}
    for _ in range(_HALVINGS):
        between = pairwise(sorted(found))
        halves = [0.5 * (a + b) for a, b in between if abs(_turn(found[a].angle, found[b].angle)) > _TURN]
        found |= {frequency: _balance_at(loop, radius, frequency) for frequency in halves + _beside_peak(found)}
    turned = np.unwrap([found[frequency].angle for frequency in sorted(found)])
    unstable = loop.unstable_poles(radius) - round((turned[-1] - turned[0]) / math.pi)
    return math.inf if unstable else _peak(found)[1]


class _Balance(NamedTuple):
    """Holds 1 / |1 - L| of the loop cut at the velocity of the CoM, and the angle of its return difference, [rad]."""

    sensitivity: float
    angle: float


def _balance_at(loop: WrenchLoop, radius: float, frequency: float) -> _Balance:
    gain, difference = loop.balance(radius * complex(np.exp(2j * np.pi * frequency * loop.period)))
    sensitivity = 1.0 / float(np.abs(1.0 - np.linalg.eigvals(gain)).min())
    return _Balance(sensitivity, float(np.angle(np.linalg.slogdet(difference)[0])))


def _turn(before: float, after: float) -> float:
    """Return the least turn from one angle to another, [rad]."""
    return math.remainder(after - before, 2.0 * math.pi)


def _peak(found: Mapping[float, _Balance]) -> tuple[float, float]:
    """Return frequency [Hz] and value of the largest sensitivity of balance."""
    sensitivity, frequency = max((each.sensitivity, f) for f, each in found.items() if f <= HIGHEST)
    return frequency, sensitivity


def _beside_peak(found: Mapping[float, _Balance]) -> list[float]:
    """Return the frequencies half-way from the largest sensitivity to both neighbours, [Hz]."""
    ordered, (frequency, _) = sorted(found), _peak(found)
    row = ordered.index(frequency)
    return [0.5 * (frequency + ordered[each]) for each in (row - 1, row + 1) if 0 <= each < len(ordered)]
