"""Which force-torque sensors can be believed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradiva.common import NDArray, Side
from gradiva.robot_model import ForceTorqueSensor
from gradiva.walking.safety.frozen_reading import FrozenReading
from gradiva.walking.safety.persistence import Persistence
from gradiva.walking.safety.safety_event import Finding, SafetyKind


class WrenchTrust:
    """Looks for sensors that freeze, or read what is not finite or more than any landing.

    What such a sensor says of its foot is not used: the ZMP is then taken to be where it should be. A sensor once found
    wrong stays so until ``reset``.

    Attributes:
        untrusted: Feet of which the sensors are not believed at this tick.
    """

    def __init__(
        self, sensors: Sequence[ForceTorqueSensor], frozen_duration: float, bridge_duration: float, largest: float
    ) -> None:
        """Begin.

        Args:
            sensors: In the order of the readings.
            frozen_duration: A living sensor repeats itself for less, [s].
            bridge_duration: For so long readings that are none are tolerated in silence, [s].
            largest: That a sensor can read, [N, N·m].
        """
        self._sensors = sensors
        self._largest = largest
        self._frozen = [FrozenReading(frozen_duration) for _ in sensors]
        self._persistence = Persistence(np.full(len(sensors), bridge_duration))
        self.reset()

    def reset(self) -> None:
        """Trust all sensors."""
        for reading in self._frozen:
            reading.reset()
        self._persistence.reset()
        self._condemned: set[Side] = set()
        self._last: NDArray | None = None
        self.untrusted: frozenset[Side] = frozenset()

    def condemn(self, side: Side) -> None:
        """Do not believe the sensors of a foot any more."""
        self._condemned.add(side)
        self.untrusted = frozenset(self._condemned)

    def update(self, wrenches: NDArray, time: float) -> tuple[NDArray, list[Finding]]:
        """Return finite wrenches, shape (sensors, 6), and what is newly wrong at ``time`` [s]."""
        found = self._frozen_ones(wrenches, time)
        if np.vdot(wrenches, wrenches) <= self._largest * self._largest:  # which NaN is not
            self._persistence.all_well()
            self._last = wrenches
            self.untrusted = frozenset(self._condemned) if self._condemned else frozenset()
            return wrenches, found
        return self._bridged(wrenches, time, found), found

    def _frozen_ones(self, wrenches: NDArray, time: float) -> list[Finding]:
        found = []
        for sensor, reading, values in zip(self._sensors, self._frozen, wrenches.tolist(), strict=True):
            if reading.is_frozen(values, time):
                self._condemned.add(sensor.foot)
                text = f"the force-torque sensor {sensor.name} repeats the same reading, {values[2]:.1f} N along z"
                found.append(Finding(SafetyKind.SENSOR_FROZEN, sensor.name, text))
        return found

    def _bridged(self, wrenches: NDArray, time: float, found: list[Finding]) -> NDArray:
        is_wrong = ~(np.abs(wrenches).max(axis=1) <= self._largest)
        for row in self._persistence.update(is_wrong, time):
            name = self._sensors[row].name
            self._condemned.add(self._sensors[row].foot)
            text = f"the force-torque sensor {name} gives no usable reading any more, {wrenches[row, 2]:.3g} N along z"
            found.append(Finding(SafetyKind.SENSOR_NOT_FINITE, name, text))
        last = np.zeros_like(wrenches) if self._last is None else self._last
        self._last = np.where(is_wrong[:, None], last, wrenches)
        silent = {self._sensors[row].foot for row in np.flatnonzero(is_wrong).tolist()}
        self.untrusted = frozenset(self._condemned | silent)
        return self._last
