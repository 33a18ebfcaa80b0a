"""The temperatures of the motors, asked for beside the control."""

from __future__ import annotations

import threading

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import yarp

_JOIN_PATIENCE = 1.0  # [s] for a question to end


class MotorTemperatures:
    """Asks the boards now and then, in a thread of its own: a board that hangs does not hold up the control.

    Attributes:
        latest: [°C], shape (n,), NaN for a motor without sensor; None while no board tells any.
    """

    def __init__(self, motors: int, period: float) -> None:
        """Prepare for so many motors, asked every ``period`` [s]; 0 asks for nothing."""
        self.latest: NDArray | None = None
        self._motors = motors
        self._period = period
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, driver: yarp.PolyDriver) -> None:
        """Begin to ask these boards, if they have motors."""
        motors = driver.viewIMotor()
        if motors is not None and self._period > 0.0:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(motors,), name="motor temperatures", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_JOIN_PATIENCE)
            self._thread = None

    def _run(self, motors: yarp.IMotor) -> None:
        told = yarp.DVector(self._motors)
        while motors.getTemperatures(told):
            self.latest = plausible(np.array(list(told)))
            if self._stop.wait(self._period):
                return


def plausible(temperatures: NDArray) -> NDArray | None:
    """Return temperatures with NaN for those that boards tell of motors without sensor: zero and below.

    None where no motor has one.
    """
    with_sensor = np.where(temperatures > 0.0, temperatures, np.nan)
    return None if np.isnan(with_sensor).all() else with_sensor
