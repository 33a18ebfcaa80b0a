"""Who the sensors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradiva.middleware.analog_sensors.sensor_class import SensorClass
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, PlainList


@dataclass(frozen=True, slots=True)
class SensorMetadata:
    """Who a sensor is.

    Attributes:
        name: Of the sensor.
        frame: In which it measures; empty for sensors without one.
        additional: Whatever the device adds.
    """

    name: str
    frame: str = ""
    additional: str = ""


Metadata = Mapping[SensorClass, Sequence[SensorMetadata]]


def metadata_to_items(metadata: Metadata) -> list[Element]:
    """Return the reply to ``getMetadata``: one list for each kind, of (name, frame, additional) each."""
    return PlainList([_described(metadata.get(kind, ())) for kind in SensorClass])


def metadata_from_items(items: Sequence[Element]) -> dict[SensorClass, tuple[SensorMetadata, ...]]:
    """Return what a reply to ``getMetadata`` says; the kinds without sensors are left out.

    Raises:
        MalformedMessage: The reply is none.
    """
    if len(items) != len(SensorClass):
        raise MalformedMessage(f"sensor metadata have {len(SensorClass)} kinds, not {len(items)}")
    read = {kind: _read(kind, items[kind]) for kind in SensorClass}
    return {kind: sensors for kind, sensors in read.items() if sensors}


def _described(sensors: Sequence[SensorMetadata]) -> PlainList:
    return PlainList([PlainList([one.name, one.frame, one.additional]) for one in sensors])


def _read(kind: SensorClass, element: Element) -> tuple[SensorMetadata, ...]:
    if not isinstance(element, list):
        raise MalformedMessage(f"the metadata of {kind.name} are no list: {element!r:.60}")
    return tuple(_sensor(kind, one) for one in element)


def _sensor(kind: SensorClass, element: Element) -> SensorMetadata:
    words = element if isinstance(element, list) else []
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) != 3:
        raise MalformedMessage(f"a sensor of {kind.name} is (name frame additional), not {element!r:.60}")
    return SensorMetadata(*texts)
