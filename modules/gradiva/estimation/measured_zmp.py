r"""The ZMP that the foot wrenches tell.

It merges both feet (thesis equation 7.2.21),

.. math:: z = \frac{\sum_k f_{z,k} p_k + [-\mu_{y,k}, \mu_{x,k}]}{\sum_k f_{z,k}},

without what the sensor of a swinging foot tells of its own motion. A sensor above the foot feels the foot's inertia,
some newtons far from the stance foot.
"""

from __future__ import annotations

import casadi as cs

from gradiva.common import Side
from gradiva.estimation.memory import Memory, low_passed, symbolic_low_pass_gain


def measured_zmp(inputs: dict[str, cs.SX], feet: dict[str, cs.SX], memory: Memory) -> cs.SX:
    """Return the low-passed ZMP (world, (2, 1)); without load the last one.

    A robot that never stood has none: the point below its CoM is as good as any.
    """
    load, moment = _load_and_moment(inputs, feet)
    last, was_loaded = memory.last("zmp", 2), memory.last("was_loaded")
    is_loaded = load >= inputs["minimum_load"]
    share = symbolic_low_pass_gain(inputs["zmp_time_constant"], inputs["period"])
    now = moment / cs.if_else(is_loaded, load, 1.0)
    filtered = low_passed(last, now, cs.if_else(was_loaded > 0.5, share, 1.0))
    kept = cs.if_else(is_loaded, filtered, last)
    memory.keep(kept)
    memory.keep(cs.fmax(was_loaded, is_loaded))
    return cs.if_else(cs.logic_or(is_loaded, was_loaded > 0.5), kept, feet["com_position"][:2])


def _load_and_moment(inputs: dict[str, cs.SX], feet: dict[str, cs.SX]) -> tuple[cs.SX, cs.SX]:
    """Return the normal force [N] and the moments of the ZMP [N·m], (2, 1), of what is ground."""
    load, moment = cs.SX(1, 1), cs.SX(2, 1)
    for side in Side:
        wrench, position = feet[f"{side}_foot_wrench"], feet[f"{side}_foot_position"]
        force, in_contact = wrench[2], inputs[f"{side}_in_contact"]
        own = cs.fmin(cs.fmax(2.0 - force / inputs["swing_force"], 0.0), 1.0)  # all up to it, nothing from twice of it
        share = 1.0 - (1.0 - in_contact) * own
        load += share * force
        moment += share * (force * position[:2] + cs.vertcat(-wrench[4], wrench[3]))
    return load, moment
