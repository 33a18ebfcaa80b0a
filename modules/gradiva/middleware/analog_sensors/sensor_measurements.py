"""What the sensors measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradiva.middleware.analog_sensors.sensor_class import SensorClass
from gradiva.middleware.recurring_messages import RecurringMessages
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, PlainList, TypedList


@dataclass(frozen=True, slots=True)
class SensorMeasurement:
    """What one sensor measured.

    Attributes:
        values: In the units of its `SensorClass`.
        time: When, [s] since the epoch.
    """

    values: tuple[float, ...]
    time: float


Measurements = Mapping[SensorClass, Sequence[SensorMeasurement]]


def measurements_to_items(measurements: Measurements) -> list[Element]:
    """Return the message of ``measures:o``: one list for each kind, of (numbers) and time each."""
    return PlainList([_listed(measurements.get(kind, ())) for kind in SensorClass])


Sizes = list[tuple[SensorClass, int]]
"""Kind, and how many numbers, of each sensor of a message, in its order."""


def sizes_of(measurements: Measurements) -> Sizes:
    """Return the kind of each sensor and how many numbers it measures."""
    return [(kind, len(one.values)) for kind in SensorClass for one in measurements.get(kind, ())]


def measurements_messages(sizes: Sizes) -> RecurringMessages:
    """Return the messages of such sensors; their numbers are those of `numbers_of`."""
    count = sum(size + 1 for _, size in sizes)
    return RecurringMessages(lambda numbers: measurements_to_items(measurements_of(sizes, numbers)), count)


def measurements_of(sizes: Sizes, numbers: Sequence[float]) -> dict[SensorClass, tuple[SensorMeasurement, ...]]:
    """Return what such sensors measured, given their numbers; the inverse of `numbers_of`."""
    told: dict[SensorClass, list[SensorMeasurement]] = {}
    start = 0
    for kind, size in sizes:
        end = start + size
        told.setdefault(kind, []).append(SensorMeasurement(tuple(numbers[start:end]), numbers[end]))
        start = end + 1
    return {kind: tuple(sensors) for kind, sensors in told.items()}


def numbers_of(measurements: Measurements) -> list[float]:
    """Return values and time of each sensor, in the order in which they stand in the message."""
    sensors = [one for kind in SensorClass for one in measurements.get(kind, ())]
    return [float(number) for one in sensors for number in (*one.values, one.time)]


def measurements_from_items(items: Sequence[Element]) -> dict[SensorClass, tuple[SensorMeasurement, ...]]:
    """Return what a message of ``measures:o`` says; the kinds without sensors are left out.

    Raises:
        MalformedMessage: The message is none, or a sensor has not as many numbers as its kind.
    """
    if len(items) != len(SensorClass):
        raise MalformedMessage(f"sensor measurements have {len(SensorClass)} kinds, not {len(items)}")
    read = {kind: _read(kind, items[kind]) for kind in SensorClass}
    return {kind: sensors for kind, sensors in read.items() if sensors}


def _listed(sensors: Sequence[SensorMeasurement]) -> PlainList:
    return PlainList([PlainList([TypedList(float, map(float, one.values)), float(one.time)]) for one in sensors])


def _read(kind: SensorClass, element: Element) -> tuple[SensorMeasurement, ...]:
    if not isinstance(element, list):
        raise MalformedMessage(f"the measurements of {kind.name} are no list: {element!r:.60}")
    return tuple(_measurement(kind, one) for one in element)


def _measurement(kind: SensorClass, element: Element) -> SensorMeasurement:
    match element:
        case [list() as numbers, float() | int() as time]:
            values = tuple(float(number) for number in numbers if isinstance(number, int | float))
        case _:
            raise MalformedMessage(f"a measurement of {kind.name} is (numbers) time, not {element!r:.60}")
    if len(values) != len(numbers) or kind.size not in (None, len(values)):
        raise MalformedMessage(f"a measurement of {kind.name} has {kind.size} numbers, not {numbers!r:.60}")
    return SensorMeasurement(values, float(time))
