"""The unicycle that walks ahead of the feet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradiva.common import NDArray


@dataclass(frozen=True, slots=True)
class UnicycleState:
    """Pose (world) and velocity (own axes) of the unicycle.

    Attributes:
        x: [m].
        y: [m].
        yaw: Not wrapped, [rad].
        forward: [m/s].
        lateral: To the left, [m/s].
        angular: [rad/s].
    """

    x: float
    y: float
    yaw: float
    forward: float = 0.0
    lateral: float = 0.0
    angular: float = 0.0

    @property
    def velocity(self) -> NDArray:
        """Forward, lateral and angular velocity, shape (3,)."""
        return np.array([self.forward, self.lateral, self.angular])


@dataclass(frozen=True, slots=True, eq=False)
class UnicyclePath:
    """A path of the unicycle, sampled; it ends at rest where the last sample stands.

    Attributes:
        period: dT, [s].
        poses: x, y, yaw (world), [m, m, rad], shape (n, 3).
        velocities: Forward, lateral, angular, held over the interval that follows the sample, shape (n, 3).
        travelled: Integral of the forward and the lateral velocity, [m], shape (n, 2).
    """

    period: float
    poses: NDArray
    velocities: NDArray
    travelled: NDArray

    @classmethod
    def from_velocities(cls, start: UnicycleState, velocities: NDArray, period: float) -> UnicyclePath:
        r"""Integrate piecewise constant velocities exactly (thesis 10.1.1, with a lateral velocity).

        Each interval is an arc: its chord has the length :math:`v T \,\mathrm{sinc}(\omega T / 2)` and the
        direction of the yaw in the middle of the interval.

        Args:
            start: Where the first sample stands.
            velocities: Forward, lateral, angular, one row an interval, shape (n, 3).
            period: [s].
        """
        turned = period * velocities[:, 2]
        yaw = start.yaw + np.concatenate(([0.0], np.cumsum(turned)))
        middle = yaw[:-1] + 0.5 * turned
        chord = np.sinc(turned / (2.0 * math.pi)) * period
        c, s = chord * np.cos(middle), chord * np.sin(middle)
        forward, lateral = velocities[:, 0], velocities[:, 1]
        poses = np.empty((len(yaw), 3))
        poses[0] = start.x, start.y, start.yaw
        poses[1:, 0] = start.x + np.cumsum(c * forward - s * lateral)
        poses[1:, 1] = start.y + np.cumsum(s * forward + c * lateral)
        poses[:, 2] = yaw
        travelled = np.concatenate((np.zeros((1, 2)), period * np.cumsum(velocities[:, :2], axis=0)))
        return cls(period, poses, np.vstack((velocities, np.zeros((1, 3)))), travelled)

    @classmethod
    def standing(cls, state: UnicycleState, period: float) -> UnicyclePath:
        """Return the path that stays where ``state`` is."""
        return cls.from_velocities(state, np.zeros((0, 3)), period)

    @property
    def end_index(self) -> int:
        """Index of the last sample."""
        return len(self.poses) - 1

    @property
    def duration(self) -> float:
        """[s]."""
        return self.end_index * self.period

    def state(self, index: int) -> UnicycleState:
        """Return one sample; the last one for indices beyond the end."""
        index = min(index, self.end_index)
        return UnicycleState(*self.poses[index].tolist(), *self.velocities[index].tolist())
