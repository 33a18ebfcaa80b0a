"""What places the base in the world: the stance foot and the inertial unit, or a measurement of the base itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gradiva.common import EstimationError, Measurement, NDArray, PlanarPose, Side, WalkingReference, so3
from gradiva.estimation.attitude_filter import AttitudeFilter
from gradiva.estimation.stance_anchor import StanceAnchor

FootPoses = Mapping[Side, tuple[NDArray, NDArray]]
"""Position (3,) and rotation (3, 3) of each sole."""


class BaseSource(StrEnum):
    """Where pose and twist of the base come from."""

    ODOMETRY = "odometry"
    MEASURED = "measured"


class BaseEstimate(Protocol):
    """Gives the state function what it needs to know of the base."""

    @property
    def plan_origin(self) -> PlanarPose:
        """Where the origin of the plan's world lies in the frame of the odometry."""
        ...

    def reset(self) -> None:
        """Forget the past."""
        ...

    def inputs(
        self, measurement: Measurement, reference: WalkingReference, feet: FootPoses
    ) -> dict[str, npt.ArrayLike]:
        """Return the inputs of the state function that place the base.

        Args:
            measurement: One sample of all sensors.
            reference: The plan at the same time.
            feet: As last estimated.

        Raises:
            EstimationError: What it needs is not measured, or not finite.
        """
        ...

    def learn(self, outputs: Mapping[str, NDArray], measurement: Measurement) -> None:
        """Take in what the state function made of it."""
        ...


class OdometryBase:
    """The stance sole rests where it landed; tilt and angular velocity are those of the IMU, where there is one."""

    def __init__(self, anchor_blend_time: float, use_imu: bool, attitude_time_constant: float) -> None:
        """Take what ``StateEstimatorConfig`` says of it."""
        self._anchor = StanceAnchor(anchor_blend_time)
        self._use_imu = use_imu
        self._attitude_filter = AttitudeFilter(attitude_time_constant)
        self.reset()

    @property
    def plan_origin(self) -> PlanarPose:
        """See ``BaseEstimate.plan_origin``."""
        return self._anchor.plan_origin

    def reset(self) -> None:
        """See ``BaseEstimate.reset``: the next stance sole is taken on its planned pose."""
        self._anchor.reset()
        self._attitude_filter.reset()
        self._first_heading_over_imu: float | None = None

    def inputs(
        self, measurement: Measurement, reference: WalkingReference, feet: FootPoses
    ) -> dict[str, npt.ArrayLike]:
        """See ``BaseEstimate.inputs``."""
        imu = measurement.imu if self._use_imu else None
        if imu is not None and not (_is_finite(imu.rotation) and _is_finite(imu.angular_velocity)):
            raise EstimationError(f"the IMU is not finite at {measurement.time:.3f} s")
        stance, position, rotation = self._anchor.update(measurement.time, reference, feet)
        inputs: dict[str, npt.ArrayLike] = {
            "left_is_stance": float(stance is Side.LEFT),
            "stance_position": position,
            "stance_rotation": rotation,
            "use_imu": 0.0,
        }
        if imu is not None:
            inputs |= {"use_imu": 1.0, **self._attitude_filter.inputs(imu, measurement.time)}
        return inputs

    def learn(self, outputs: Mapping[str, NDArray], measurement: Measurement) -> None:
        """Let the odometry turn with the IMU: a stance sole that slips about the vertical is seen by it alone."""
        if not self._use_imu or measurement.imu is None:
            return
        self._attitude_filter.learn(outputs["attitude"])
        heading_over_imu = float(outputs["heading_over_imu"][0])
        if self._first_heading_over_imu is None:
            self._first_heading_over_imu = heading_over_imu
        self._anchor.turn_plan(so3.wrap_angle(self._first_heading_over_imu - heading_over_imu))


class MeasuredBase:
    """The base is where a simulator or a motion capture says; the world is theirs, and the plan's as well."""

    plan_origin = PlanarPose()

    def reset(self) -> None:
        """See ``BaseEstimate.reset``: there is nothing to forget."""

    def inputs(
        self, measurement: Measurement, reference: WalkingReference, feet: FootPoses
    ) -> dict[str, npt.ArrayLike]:
        """See ``BaseEstimate.inputs``."""
        base = measurement.base
        if base is None:
            raise EstimationError(
                'nothing measures the base; state_estimator.base="odometry" needs no such measurement'
            )
        values: dict[str, npt.ArrayLike] = {
            "measured_position": base.position,
            "measured_rotation": base.rotation,
            "measured_twist": base.twist,
        }
        if not all(_is_finite(value) for value in (base.position, base.rotation, base.twist)):
            raise EstimationError(f"the measured base is not finite at {measurement.time:.3f} s")
        return values

    def learn(self, outputs: Mapping[str, NDArray], measurement: Measurement) -> None:
        """See ``BaseEstimate.learn``: there is nothing to learn."""


def _is_finite(array: NDArray) -> bool:
    """Tell whether all numbers are; in half the time of asking each."""
    return math.isfinite(np.vdot(array, array))
