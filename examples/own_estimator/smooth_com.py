"""An estimator that smooths the velocity of the centre of mass by a Kalman filter over the shipped estimate."""

from dataclasses import dataclass

import numpy as np

import gradiva


@dataclass(frozen=True, slots=True)
class SmoothComConfig:
    """Table ``[estimators.smooth_com]``.

    Attributes:
        model_noise: Of the pendulum's acceleration, [m/s²].
        sensor_noise: Of the measured velocity, [m/s].
    """

    model_noise: float
    sensor_noise: float


class SmoothCom(gradiva.Estimator):
    r"""Predicts :math:`\ddot x = \omega^2 (x - z)` by the last ZMP, and corrects by the shipped velocity."""

    Config = SmoothComConfig

    def __init__(self, shipped: gradiva.StateEstimator, config: SmoothComConfig) -> None:
        self._shipped, self._config = shipped, config
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._shipped.reset()
        self._last = self._velocity = None
        self._variance = self._gain = 0.0

    def update(self, measurement, reference, time=None, commanded_zmp=None) -> gradiva.RobotState:
        """Return the shipped state with the filtered velocity, and the DCM that goes with it."""
        state, omega = (
            self._shipped.update(measurement, reference, time, commanded_zmp),
            reference.dcm.natural_frequency,
        )
        measured, now = state.com_velocity, measurement.time
        if self._last is None:
            self._last, self._velocity, self._variance = now, measured, self._config.sensor_noise**2
        period, self._last = now - self._last, now
        pull = np.append(omega**2 * (state.com_position[:2] - state.zmp_position), 0.0)
        predicted = self._velocity + period * pull
        variance = self._variance + (period * self._config.model_noise) ** 2
        self._gain = variance / (variance + self._config.sensor_noise**2)
        self._velocity, self._variance = predicted + self._gain * (measured - predicted), (1.0 - self._gain) * variance
        dcm = state.com_position[:2] + self._velocity[:2] / omega
        return gradiva.altered(state, com_velocity=self._velocity, dcm_position=dcm)

    def signals(self) -> dict[str, float]:
        """Return the gain of the filter: ``own::estimator::gain`` of the log."""
        return {"gain": self._gain}
