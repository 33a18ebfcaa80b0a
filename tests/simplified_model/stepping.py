"""A plan for a point mass: the ZMP goes from foot to foot, the DCM follows backwards in time."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import DcmPreview, NDArray, SoleRectangle

SOLE = SoleRectangle(x=(-0.0535, 0.1065), y=(-0.031, 0.041), z=-0.0105)
GRID = 0.005  # [s]
SIGMA = math.sqrt(9.81 / 0.53)  # [rad/s]


class SteppingPlan:
    """Stand 1 s, walk, close the feet, stand; the ZMP is constant in single support and linear in double."""

    def __init__(
        self,
        steps: int = 8,
        length: float = 0.15,
        turn: float = 0.0,
        step_time: float = 0.8,
        double_support: float = 0.2,
    ) -> None:
        self._zmp: list[NDArray] = []
        self._contacts: list[tuple[bool, bool]] = []
        self._feet: list[NDArray] = []
        self._stand_and_walk(steps, length, turn, step_time, double_support)
        self.zmp_positions = np.array(self._zmp)
        self.contacts = np.array(self._contacts)
        self.feet = np.array(self._feet)
        dcm = [self.zmp_positions[-1]]
        for zmp in self.zmp_positions[::-1]:
            dcm.append(zmp + math.exp(-SIGMA * GRID) * (dcm[-1] - zmp))
        self.dcm_positions = np.array(dcm[::-1])

    def preview(self, index: int, period: float = 0.02, samples: int = 100) -> DcmPreview:
        """The plan from the grid point ``index`` on."""
        points = index + round(period / GRID) * np.arange(samples + 1)
        points = np.minimum(points, len(self.zmp_positions) - 1)
        here = points[:-1]
        return DcmPreview(
            period=period,
            dcm_positions=self.dcm_positions[points],
            divergence_rates=np.full(samples, SIGMA),
            left_in_contact=self.contacts[here, 0],
            right_in_contact=self.contacts[here, 1],
            left_foot_poses=self.feet[here, 0],
            right_foot_poses=self.feet[here, 1],
        )

    def _stand_and_walk(self, steps: int, length: float, turn: float, step_time: float, double_support: float) -> None:
        feet = np.array([[0.0, 0.08, 0.0], [0.0, -0.08, 0.0]])
        zmp = self._hold(1.0, _middle(feet), feet, (True, True))
        middle, heading = np.zeros(2), 0.0
        for step in range(steps):
            stance, swing = step % 2, (step + 1) % 2
            target = _offset(feet[stance])
            self._shift(double_support, zmp, target, feet)
            zmp = self._hold(step_time - double_support, target, feet, (stance == 0, stance == 1))
            heading += turn
            middle = middle + length * np.array([math.cos(heading), math.sin(heading)])
            side = 1.0 if swing == 0 else -1.0
            feet = feet.copy()
            feet[swing, :2] = middle + 0.08 * side * np.array([-math.sin(heading), math.cos(heading)])
            feet[swing, 2] = heading
        self._shift(double_support, zmp, _middle(feet), feet)
        self._hold(4.0, _middle(feet), feet, (True, True))

    def _hold(self, duration: float, zmp: NDArray, feet: NDArray, contacts: tuple[bool, bool]) -> NDArray:
        for _ in range(round(duration / GRID)):
            self._append(zmp, feet, contacts)
        return zmp

    def _shift(self, duration: float, start: NDArray, end: NDArray, feet: NDArray) -> None:
        for ratio in np.arange(0.0, 1.0 - 1e-9, GRID / duration):
            self._append(start + ratio * (end - start), feet, (True, True))

    def _append(self, zmp: NDArray, feet: NDArray, contacts: tuple[bool, bool]) -> None:
        self._zmp.append(zmp)
        self._feet.append(feet)
        self._contacts.append(contacts)


def _offset(foot: NDArray) -> NDArray:
    return foot[:2] + 0.03 * np.array([math.cos(foot[2]), math.sin(foot[2])])


def _middle(feet: NDArray) -> NDArray:
    return 0.5 * (_offset(feet[0]) + _offset(feet[1]))
