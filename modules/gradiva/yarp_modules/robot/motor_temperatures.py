"""The temperatures of the motors, asked for beside the control."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import yarp

_JOIN_PATIENCE = 1.0  # [s] for a question to end


class MotorTemperatures:
    """Asks the boards now and then, in a thread of its own: a board that hangs does not hold up the control.

    Boards that are silent are not asked, and those that have come back are asked again.

    Attributes:
        latest: [°C], shape (n,), NaN for a motor without sensor; None while the boards tell none.
    """

    def __init__(self, motors: int, period: float, are_silent: Callable[[], bool]) -> None:
        """Prepare for so many motors, asked every ``period`` [s]; 0 asks for nothing."""
        self.latest: NDArray | None = None
        self._motors = motors
        self._period = period
        self._are_silent = are_silent
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, driver: yarp.PolyDriver) -> None:
        """Begin to ask these boards, if they have motors."""
        motors = driver.viewIMotor()
        if motors is not None and self._period > 0.0:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(motors,), name="motor temperatures", daemon=True)
            self._thread.start()

    def close(self) -> bool:
        """Ask no more; False where a board has not answered the last question yet."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return True
        thread.join(_JOIN_PATIENCE)
        return not thread.is_alive()

    def _run(self, motors: yarp.IMotor) -> None:
        told = yarp.DVector(self._motors)
        is_first = True
        while not self._stop.wait(0.0 if is_first else self._period):
            is_told = not self._are_silent() and motors.getTemperatures(told)
            if is_first and not is_told:
                return  # these boards have none
            self.latest = plausible(np.array(list(told))) if is_told else None
            is_first = False


def plausible(temperatures: NDArray) -> NDArray | None:
    """Return temperatures with NaN for those that boards tell of motors without sensor: zero and below.

    None where no motor has one.
    """
    with_sensor = np.where(temperatures > 0.0, temperatures, np.nan)
    return None if np.isnan(with_sensor).all() else with_sensor
