r"""Prediction of samples over their known ages: joints and inertial unit brought to common instants.

Joints are sampled at :math:`t_J`, the inertial unit at :math:`t_M`, and the state is wanted at :math:`t`. Velocities
are those of the older sample, because joint velocities and gyroscope have to be of the same instant: a foot at rest
moves by their difference times its lever. Positions and attitude are of the present:

.. math::
    \dot s(t_0), \omega(t_0), \quad t_0 = \min(t_J, t_M), \qquad
    s(t) = s(t_J) + (t - t_J) \, \dot s(t_J), \qquad R(t) = R(t_M) \, Exp((t - t_M) \, \omega(t_M)).

How far velocities then lag behind, :math:`t - t_0`, is left to the pendulum for the CoM's:
:math:`\dot x(t) = \dot x(t_0) + (t - t_0) \, \omega_0^2 (x - z)` with the commanded ZMP z.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from gradiva.common import BaseMeasurement, Measurement, NDArray, altered, so3

_SAME = 1e-6  # [s] samples this close are of one instant
_REMEMBERED = 8  # samples of each kind, more than a stream may be ahead of the other one
_LONGEST = 0.05  # [s] no prediction reaches farther: velocities have changed by then


class SamplePredictor:
    """Predicts measurements to the present, with a short memory of velocities."""

    def __init__(self) -> None:
        """Begin without memory."""
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._joint_velocities: deque[tuple[float, NDArray]] = deque(maxlen=_REMEMBERED)
        self._rates: deque[tuple[float, NDArray]] = deque(maxlen=_REMEMBERED)

    def at(self, measurement: Measurement, time: float, use_imu: bool) -> tuple[Measurement, float]:
        """Return the measurement at ``time`` [s], and by how much its velocities are older, [s].

        A measurement of that instant is returned as it is; one from the future counts as of that instant.

        Args:
            measurement: The newest samples of all sensors.
            time: [s].
            use_imu: Whether the state is made of the inertial unit as well.
        """
        imu = measurement.imu if use_imu else None
        taken, imu_taken = measurement.time, measurement.time if imu is None else measurement.imu_time
        if abs(time - taken) < _SAME and abs(time - imu_taken) < _SAME:
            return measurement, 0.0
        age, imu_age = known_age(taken, time), known_age(imu_taken, time)
        velocities, oldest = measurement.joint_velocities, min(taken, imu_taken)
        changes: dict[str, Any] = {
            "time": time,
            "joint_positions": measurement.joint_positions + age * velocities,
            "joint_velocities": _remembered(self._joint_velocities, taken, velocities, oldest),
        }
        if imu is not None:
            rate = _remembered(self._rates, imu_taken, imu.angular_velocity, oldest)
            rotation = imu.rotation @ so3.exp(imu_age * imu.angular_velocity)
            changes["imu"] = altered(imu, rotation=rotation, angular_velocity=rate, time=time)
        if measurement.base is not None:
            changes["base"] = _moved(measurement.base, age)
        return altered(measurement, **changes), max(age, imu_age)


def _remembered(samples: deque[tuple[float, NDArray]], taken: float, newest: NDArray, time: float) -> NDArray:
    """Remember a sample and return what was sampled at ``time`` [s], interpolated between the samples around it."""
    if not samples or taken > samples[-1][0]:
        samples.append((taken, newest))
    later_time, later = taken, newest
    for earlier_time, earlier in reversed(samples):
        if earlier_time <= time + _SAME:
            ratio = 0.0 if later_time <= earlier_time else (time - earlier_time) / (later_time - earlier_time)
            return earlier if ratio < 1e-9 else earlier + ratio * (later - earlier)
        later_time, later = earlier_time, earlier
    return later


def known_age(taken: float, time: float) -> float:
    """Return over how much is predicted from a sample of ``taken`` to ``time`` [s]; of the present exactly 0."""
    age = time - taken
    return 0.0 if age < _SAME else min(age, _LONGEST)


def _moved(base: BaseMeasurement, age: float) -> BaseMeasurement:
    """Return a base that has gone on with its twist for ``age`` [s]."""
    position = base.position + age * base.twist[:3]
    return altered(base, position=position, rotation=so3.exp(age * base.twist[3:]) @ base.rotation)
