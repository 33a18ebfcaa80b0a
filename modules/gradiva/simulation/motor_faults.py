"""Motors that have lost their torque."""

from __future__ import annotations

import mujoco

from gradiva.simulation.fault import Fault


class MotorFaults:
    """Lowers the torque limits of the engine's actuators over the intervals of the faults."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._limits = model.actuator_forcerange.copy()
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Take a weak motor, now or later."""
        self._faults.append(fault)

    def apply(self, time: float) -> None:
        """Set the limits of the physics step at ``time`` [s]."""
        for fault in self._faults:
            actuator = self._model.actuator(fault.name).id
            share = fault.value if fault.is_active(time) else 1.0
            self._model.actuator_forcerange[actuator] = share * self._limits[actuator]
