"""The attitude of an inertial unit: by its gyroscope in the short run, by its own attitude in the long run."""

from __future__ import annotations

import casadi as cs
import numpy.typing as npt

from gradiva.common import ImuMeasurement, NDArray, low_pass_share
from gradiva.robot_model.symbolic_dynamics import symbolic_exp


class AttitudeFilter:
    r"""Complementary filter: what it remembers; its equations run within the state function.

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
        """Forget the past: the next measured attitude is believed."""
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
            "attitude_share": low_pass_share(self._time_constant, period),
        }
        self._time, self._rate = time, imu.angular_velocity
        return values

    def learn(self, attitude: NDArray) -> None:
        """Take in what ``filtered_attitude`` made of it."""
        self._attitude = attitude.copy()


def attitude_inputs() -> dict[str, cs.SX]:
    """Return the symbols of what ``AttitudeFilter.inputs`` gives."""
    return {
        "imu_rotation": cs.SX.sym("imu_rotation", 3, 3),
        "imu_rate": cs.SX.sym("imu_rate", 3),
        "imu_period": cs.SX.sym("imu_period"),
        "last_attitude": cs.SX.sym("last_attitude", 3, 3),
        "last_imu_rate": cs.SX.sym("last_imu_rate", 3),
        "attitude_share": cs.SX.sym("attitude_share"),
    }


def filtered_attitude(inputs: dict[str, cs.SX]) -> cs.SX:
    """Return the attitude that ``AttitudeFilter`` describes, (3, 3)."""
    measured = inputs["imu_rotation"]
    turn = 0.5 * inputs["imu_period"] * (inputs["last_imu_rate"] + inputs["imu_rate"])
    predicted = inputs["last_attitude"] @ symbolic_exp(turn)
    surprise = cs.inv_skew(0.5 * (measured @ predicted.T - predicted @ measured.T))
    return symbolic_exp((inputs["attitude_share"] - 1.0) * surprise) @ measured
