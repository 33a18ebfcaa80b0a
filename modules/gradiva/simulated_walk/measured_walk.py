"""Arranges what a robot measured of a walk, from its first reading to its fall, for the search for causes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, EstimationError, Measurement, NDArray, Side
from gradiva.estimation import Estimator
from gradiva.planner import WalkingPlanner
from gradiva.robot_model import RobotDescription
from gradiva.telemetry import SignalLog

Mask = npt.NDArray[np.bool_]
"""Which rows."""

_LOADED = 0.3  # [-] of the weight; a foot that carries less may be about to land or to leave
_SMOOTHING = 0.03  # [s] to either side of an acceleration


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredWalk:
    r"""The robot's own measurements, row by row; nothing in it is the simulator's truth.

    World axes are those of the estimate: z is up by the IMU where there is one.

    Attributes:
        robot: Its mass and soles are what the controller believes.
        times: [s], shape (T,).
        com_position: [m], shape (T, 3).
        com_velocity: [m/s], shape (T, 3).
        zmp_position: By the wrenches of the feet, [m], shape (T, 2).
        carries: For each side, whether this foot carries the robot alone by the plan, shape (T,).
        foot_rotations: For each side, of the sole, shape (T, 3, 3).
        foot_wrenches: For each side, force then torque about the origin of the sole, [N, N·m], shape (T, 6).
    """

    robot: RobotDescription
    times: NDArray
    com_position: NDArray
    com_velocity: NDArray
    zmp_position: NDArray
    carries: Mapping[Side, Mask]
    foot_rotations: Mapping[Side, NDArray]
    foot_wrenches: Mapping[Side, NDArray]

    @classmethod
    def of_log(cls, log: SignalLog, robot: RobotDescription) -> MeasuredWalk:
        """Return the ticks of a log of walking signals."""
        is_single = log["walking::is_double_support"][:, 0] < 0.5
        is_left = log["stance_foot::is_left"][:, 0] > 0.5
        return cls(
            robot,
            times=log.times,
            com_position=log["com::position::measured"],
            com_velocity=log["com::velocity::measured"],
            zmp_position=log["zmp::measured"],
            carries={Side.LEFT: is_single & is_left, Side.RIGHT: is_single & ~is_left},
            foot_rotations={side: rotations_of(log[f"{side}_foot::orientation::measured"]) for side in Side},
            foot_wrenches={
                side: np.hstack([log[f"{side}_foot::{part}::measured"] for part in ("linear_force", "angular_torque")])
                for side in Side
            },
        )

    @classmethod
    def of_standing(
        cls,
        measurements: Sequence[Measurement],
        estimator: Estimator,
        planner: WalkingPlanner,
        robot: RobotDescription,
    ) -> MeasuredWalk | None:
        """Return what a robot measured that stood on both feet before it balanced.

        Measurements that the estimator refuses, as an encoder gave no number, are left out; None where all are.

        Args:
            measurements: In the order of their times.
            estimator: Of the controller; it forgets what it knew.
            planner: Its plan of standing is where the feet are.
            robot: The robot's description.
        """
        estimator.reset()
        plan = planner.standing(planner.at_origin(measurements[0].time if measurements else 0.0))
        times, states = [], []
        for measurement in measurements:
            with suppress(EstimationError):
                states.append(estimator.update(measurement, plan.at(measurement.time)))
                times.append(measurement.time)
        if not states:
            return None
        nowhere = np.zeros(len(states), dtype=bool)
        return cls(
            robot,
            times=np.array(times),
            com_position=np.array([state.com_position for state in states]),
            com_velocity=np.array([state.com_velocity for state in states]),
            zmp_position=np.array([state.zmp_position for state in states]),
            carries=dict.fromkeys(Side, nowhere),
            foot_rotations={side: np.array([state.foot_rotation(side) for state in states]) for side in Side},
            foot_wrenches={side: np.array([state.foot_wrench(side) for state in states]) for side in Side},
        )

    def __len__(self) -> int:
        return len(self.times)

    def followed_by(self, later: MeasuredWalk) -> MeasuredWalk:
        """Return both as one."""
        return self._each(lambda own, others: np.concatenate([own, others]), later)

    def until(self, time: float) -> MeasuredWalk:
        """Return the rows up to ``time`` [s]."""
        rows = slice(0, int(np.searchsorted(self.times, time, side="right")))
        return self._each(lambda values: values[rows])

    def _each(self, change: Callable[..., Any], *others: MeasuredWalk) -> MeasuredWalk:
        """Return the walk of which each array is ``change`` of those of this walk and of ``others``."""
        walks = (self, *others)

        def of(name: str) -> NDArray:
            """Return one array after the change."""
            array: NDArray = change(*(getattr(walk, name) for walk in walks))
            return array

        def of_sides(name: str) -> dict[Side, Any]:
            """Return the arrays of both feet after the change."""
            return {side: change(*(getattr(walk, name)[side] for walk in walks)) for side in Side}

        return MeasuredWalk(
            self.robot,
            times=of("times"),
            com_position=of("com_position"),
            com_velocity=of("com_velocity"),
            zmp_position=of("zmp_position"),
            carries=of_sides("carries"),
            foot_rotations=of_sides("foot_rotations"),
            foot_wrenches=of_sides("foot_wrenches"),
        )

    # -- what follows from it ----------------------------------------------------------------------------------

    @property
    def weight(self) -> float:
        """Weight of the model, [N]."""
        return self.robot.mass * GRAVITY

    @property
    def force(self) -> NDArray:
        """Force of the ground on both feet, [N], shape (T, 3)."""
        return sum((self.foot_wrenches[side][:, :3] for side in Side), np.zeros((len(self), 3)))

    @property
    def com_acceleration(self) -> NDArray:
        """Acceleration of the measured CoM, [m/s²], shape (T, 3)."""
        return self.smooth_rate(self.com_velocity)

    def smooth_rate(self, values: NDArray) -> NDArray:
        """Return the central difference of ``values``, shape (T, n), over some rows; nothing at both ends."""
        steps = self._smoothing_steps
        rate = np.zeros_like(values)
        if len(self) > 2 * steps:
            change = values[2 * steps :] - values[: -2 * steps]
            rate[steps:-steps] = change / (self.times[2 * steps :] - self.times[: -2 * steps])[:, None]
        return rate

    @property
    def unexplained_force(self) -> NDArray:
        r"""Horizontal force that the feet do not feel, :math:`m \ddot x - \sum F`, [N], shape (T, 2).

        Both terms are averaged over the same time. It is that of a push as long as the standing foot neither
        slides nor tips: the CoM velocity is reckoned from that foot.
        """
        steps = self._smoothing_steps
        if len(self) <= 2 * steps:
            return np.zeros((len(self), 2))
        window = np.ones(2 * steps + 1) / (2 * steps + 1)
        felt = np.column_stack([np.convolve(self.force[:, axis], window, "same") for axis in (0, 1)])
        unexplained = self.robot.mass * self.com_acceleration[:, :2] - felt
        unexplained[:steps] = unexplained[-steps:] = 0.0
        return unexplained

    def is_loaded(self, side: Side) -> Mask:
        """Tell in which rows a foot carries a good part of the weight, shape (T,)."""
        loaded: Mask = self.foot_wrenches[side][:, 2] > _LOADED * self.weight
        return loaded

    def sole_slopes(self, side: Side) -> NDArray:
        """Return how steeply a sole rises towards x and y of the world against gravity, [-], shape (T, 2)."""
        normals = self.foot_rotations[side][:, :, 2]
        return -normals[:, :2] / normals[:, 2:]

    def wrench_in_foot(self, side: Side) -> NDArray:
        """Return the wrench about the origin of the sole in the axes of the sole, [N, N·m], shape (T, 6)."""
        wrenches, rotations = self.foot_wrenches[side], self.foot_rotations[side]
        return np.hstack([np.einsum("tji,tj->ti", rotations, wrenches[:, part]) for part in (slice(3), slice(3, 6))])

    def pressure_off_middle(self, side: Side) -> NDArray:
        """Return where the centre of pressure is from the middle of the sole's face, [m], shape (T, 2)."""
        wrench, middle = self.wrench_in_foot(side), self.robot.sole.middle(side)
        normal = np.maximum(wrench[:, 2], 1.0)
        x = (-wrench[:, 4] + middle[2] * wrench[:, 0]) / normal
        y = (wrench[:, 3] + middle[2] * wrench[:, 1]) / normal
        return np.column_stack([x, y]) - middle[:2]

    @property
    def _smoothing_steps(self) -> int:
        period = float(np.median(np.diff(self.times))) if len(self) > 1 else _SMOOTHING
        return max(1, round(_SMOOTHING / period))


def rotations_of(roll_pitch_yaw: NDArray) -> NDArray:
    """Return rotation matrices, shape (T, 3, 3), as ``so3.roll_pitch_yaw`` takes them apart."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(roll_pitch_yaw.T), np.sin(roll_pitch_yaw.T)
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
