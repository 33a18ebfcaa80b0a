"""How near torque control is to its limits, as signals."""

from __future__ import annotations

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray
from gradiva.whole_body import TorqueController, WholeBodyController

_AT_THE_LIMIT = 1e-3  # [N·m] below a limit that is as good as reached


def torque_signals(command: JointCommand, limits: NDArray, whole_body: WholeBodyController) -> dict[str, float]:
    """Return how many joints are commanded their limit, and by how much layer 3 violates its limits in this tick.

    Args:
        command: That was sent; other than torques have no such signals.
        limits: Of the joints' torques, [N·m], shape (n,).
        whole_body: Layer 3, after its tick; violations are in the units of each group of constraints.
    """
    if command.mode is not ControlMode.TORQUE or not isinstance(whole_body, TorqueController):
        return {}
    saturated = np.count_nonzero(np.abs(command.values) > limits - _AT_THE_LIMIT)
    violations = whole_body.problem.violations()
    return {
        "torque_control::saturated_joints": float(saturated),
        **{f"torque_control::missed::{_signal_name(group)}": violation for group, violation in violations.items()},
    }


def _signal_name(group: str) -> str:
    """Return a name that MATLAB takes for a field."""
    return group.replace("'s", "").replace(" ", "_")
