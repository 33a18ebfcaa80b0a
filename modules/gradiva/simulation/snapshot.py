"""The plant at one instant, as the engine keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Positions and velocities after a physics step, forces of this step; read-only.

    Attributes:
        step: Number of the step.
        positions: Generalised positions of the engine.
        velocities: Generalised velocities of the engine.
        torques: Of the servos, [N·m], shape (n,).
        wrenches: Of the sensors, [N, N·m], shape (sensors, 6).
        wrench_sum: The wrenches of all steps so far, summed, shape (sensors, 6).
    """

    step: int
    positions: NDArray
    velocities: NDArray
    torques: NDArray
    wrenches: NDArray
    wrench_sum: NDArray
