"""What a stream of messages of sensors says."""

from __future__ import annotations

from collections.abc import Sequence

from gradiva.middleware.analog_sensors.sensor_class import SensorClass
from gradiva.middleware.analog_sensors.sensor_measurements import (
    SensorMeasurement,
    measurements_from_items,
    measurements_messages,
    measurements_of,
    sizes_of,
)
from pureyarp.wire.elements import Element, WireFamily

Told = dict[SensorClass, tuple[SensorMeasurement, ...]]


class MeasurementsReader:
    """Takes messages of ``measures:o`` apart; one of the same sensors as the last one in a tenth of the time."""

    def __init__(self) -> None:
        self._sizes = sizes_of({})
        self._messages = measurements_messages(self._sizes)

    def usual(self, message: bytes, family: WireFamily) -> Told | None:
        """Return what the bytes of a message say; None where it differs from the last one in more than numbers."""
        numbers = self._messages.numbers_in(message, family)
        return None if numbers is None else measurements_of(self._sizes, numbers)

    def from_items(self, items: Sequence[Element]) -> Told:
        """Return what the elements of a message say, and expect the next one to be alike.

        Raises:
            MalformedMessage: The message is none, or a sensor has not as many numbers as its kind.
        """
        measurements = measurements_from_items(items)
        if (sizes := sizes_of(measurements)) != self._sizes:
            self._sizes, self._messages = sizes, measurements_messages(sizes)
        return measurements
