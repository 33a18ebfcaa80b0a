"""Place the base in the world: by the stance foot and the inertial unit, or by a measurement of the base itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    EstimationError,
    ImuMeasurement,
    Measurement,
    NDArray,
    PlanarPose,
    Side,
    WalkingReference,
    low_pass_gain,
    minimum_jerk,
    so3,
)

FootPoses = Mapping[Side, tuple[NDArray, NDArray]]
"""Position (3,) and rotation (3, 3) of each sole."""


class BaseEstimate(Protocol):
    """Gives the state function its inputs about the base."""

    @property
    def plan_origin(self) -> PlanarPose:
        """Origin of the plan's world in the frame of the odometry."""
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
        """Correct the odometry by the outputs of the state function."""
        ...


class OdometryBase:
    """The stance sole rests where it landed; tilt and angular velocity are those of the IMU, where there is one."""

    def __init__(self, anchor_blend_time: float, use_imu: bool, attitude_time_constant: float) -> None:
        """Take its part of ``StateEstimatorConfig``."""
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
        """See ``BaseEstimate.learn``: nothing is corrected."""


def _is_finite(array: NDArray) -> bool:
    """Return whether all numbers are finite, in a quarter of the time of asking each."""
    flat = array.ravel()
    return math.isfinite(flat.dot(flat))


class StanceAnchor:
    """Hold the pose of the stance sole, continuous over contact switches.

    A foot never lands exactly where the plan put it. At the switch the new stance sole is taken where the estimate
    sees it, so nothing jumps; then the difference to the plan fades within ``blend_time``: the plan's feet are the
    robot's feet, and there is no lasting offset between the CoM reference and the foot that has to support it.
    The remaining error moves the origin of the plan in the frame of the odometry instead.
    """

    def __init__(self, blend_time: float) -> None:
        self._blend_time = blend_time
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next stance sole is taken on its planned pose."""
        self._stance: Side | None = None
        self._switch_time = -np.inf
        self._position_offset = np.zeros(3)
        self._rotation_offset = np.zeros(3)
        self._sole_by_odometry = PlanarPose()
        self._anchor = self._from_anchor = PlanarPose()
        self._position = self._rotation = np.zeros(0)

    @property
    def plan_origin(self) -> PlanarPose:
        """Origin of the plan's world by odometry: the stance sole has not moved since it landed."""
        return self._sole_by_odometry @ self._from_anchor

    def turn_plan(self, yaw: float) -> None:
        """Turn the plan's world by ``yaw`` [rad] in the odometry: by that the stance sole has slipped."""
        sole = self._sole_by_odometry
        self._sole_by_odometry = PlanarPose(sole.x, sole.y, so3.wrap_angle(yaw + self._anchor.yaw))

    def update(
        self, time: float, reference: WalkingReference, feet: Mapping[Side, tuple[NDArray, NDArray]]
    ) -> tuple[Side, NDArray, NDArray]:
        """Return the stance side and the position (3,) and rotation (3, 3) of its sole in world.

        Args:
            time: [s].
            reference: Says which foot is the stance and where it was planned.
            feet: The last estimate of each sole's position and rotation.
        """
        if reference.stance_foot is not self._stance:
            self._switch(time, reference, feet)
        planned = reference.foot(reference.stance_foot)
        left = 1.0 - minimum_jerk((time - self._switch_time) / self._blend_time)[0]
        position, rotation = planned.position, planned.rotation
        if left > 0.0:
            position = position + left * self._position_offset
            rotation = so3.exp(left * self._rotation_offset) @ rotation
        if position is not self._position or rotation is not self._rotation:  # a sole that stands keeps both
            self._position, self._rotation = position, rotation
            self._anchor = PlanarPose.of(position, rotation)
            self._from_anchor = self._anchor.inverse()
        return reference.stance_foot, position, rotation

    def _switch(self, time: float, reference: WalkingReference, feet: Mapping[Side, tuple[NDArray, NDArray]]) -> None:
        stance = reference.stance_foot
        planned = reference.foot(stance)
        if self._stance is None:
            self._switch_time = -np.inf
            self._sole_by_odometry = PlanarPose.of(planned.position, planned.rotation)
        else:
            position, rotation = feet[stance]
            self._sole_by_odometry = self.plan_origin @ PlanarPose.of(position, rotation)
            self._position_offset = position - planned.position
            self._rotation_offset = so3.log(rotation @ planned.rotation.T)
            self._switch_time = time
        self._stance = stance


class AttitudeFilter:
    r"""Complementary filter of gyroscope and measured attitude: its state; its equations run within the state function.

    The gyroscope turns the last attitude :math:`\hat R_{k-1}` to the present, the measured one R pulls it with time
    constant T:

    .. math::
        \hat R^- &= \hat R_{k-1} \, Exp(\tfrac{\Delta}{2} (\omega_{k-1} + \omega_k)), &
        e &= \tfrac12 (R \hat R^{-\top} - \hat R^- R^\top)^\vee, \\
        \hat R_k &= Exp(-(1 - \alpha) \, e) \, R, & \alpha &= 1 - e^{-\Delta / T}.

    e is the sine of the angle about its axis, so what is measured is believed the sooner the farther it is off. Written
    from R, no rounding error accumulates.
    """

    def __init__(self, time_constant: float) -> None:
        """Take T, [s]; 0 believes the measured attitude."""
        self._time_constant = time_constant
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next measured attitude is taken as it is."""
        self._time: float | None = None

    def inputs(self, imu: ImuMeasurement, time: float) -> dict[str, npt.ArrayLike]:
        """Return the inputs of ``filtered_attitude``.

        Args:
            imu: As measured.
            time: Of the measurement, [s].
        """
        if self._time is None:
            self._time, self._attitude, self._rate = time, imu.rotation, imu.angular_velocity
        period = time - self._time
        values: dict[str, npt.ArrayLike] = {
            "imu_rotation": imu.rotation,
            "imu_rate": imu.angular_velocity,
            "imu_period": period,
            "last_attitude": self._attitude,
            "last_imu_rate": self._rate,
            "attitude_gain": low_pass_gain(self._time_constant, period),
        }
        self._time, self._rate = time, imu.angular_velocity
        return values

    def learn(self, attitude: NDArray) -> None:
        """Remember the result of ``filtered_attitude``."""
        self._attitude = attitude.copy()
