"""Heights and forces of the corners of two soles during a walk, and how often they land."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray
from gradiva.experiments.simulated_walk import SimulatedWalk
from gradiva.simulation import PenaltyGround
from gradiva.walking import WalkingState


@dataclass(frozen=True, slots=True, eq=False)
class VertexRecord:
    """Left sole, then right one; corners front right, front left, rear left, rear right.

    Attributes:
        times: Of the samples, [s], shape (t,).
        heights: Above the ground, [m], shape (t, 2, 4).
        forces: Normal, [N], shape (t, 2, 4).
        standing: Whether the plan lets the foot stand, 0 or 1, shape (t, 2).
    """

    times: NDArray
    heights: NDArray
    forces: NDArray
    standing: NDArray

    @property
    def steps(self) -> int:
        """How often the plan lifted a foot."""
        return int((np.diff(self.standing, axis=0) < 0).sum())

    def landings(self) -> NDArray:
        """Return how high each corner had been before each of its landings, [m], shape (landings,)."""
        corners = self.heights.reshape(len(self.times), -1).T
        return np.array([peak for heights in corners for peak in _peaks_before_landing(heights)])


class VertexRecorder:
    """Observes a walk on penalty contacts: one sample a tick, while the robot walks."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, NDArray, NDArray, tuple[bool, bool]]] = []

    def __call__(self, walk: SimulatedWalk) -> None:
        """Take the contact at the beginning of the last physics step."""
        ground, log = walk.robot.ground, walk.log
        assert isinstance(ground, PenaltyGround)
        assert log is not None
        if log.state is WalkingState.WALKING and log.reference is not None:
            standing = (log.reference.left_foot.in_contact, log.reference.right_foot.in_contact)
            self._samples.append((walk.time, ground.corner_heights, ground.corner_forces[:, :, 2], standing))

    def record(self) -> VertexRecord:
        """Return what was seen so far."""
        times, heights, forces, standing = zip(*self._samples, strict=True)
        return VertexRecord(np.array(times), np.array(heights), np.array(forces), np.array(standing, dtype=float))


def _peaks_before_landing(heights: NDArray) -> list[float]:
    peaks, highest = [], 0.0
    for height in heights.tolist():
        if height > 0.0:
            highest = max(highest, height)
        elif highest > 0.0:
            peaks.append(highest)
            highest = 0.0
    return peaks
