"""Analog sensors as they travel: inertial, force torque, temperature and others, all in one message."""

from gradiva.middleware.analog_sensors.measurements_reader import MeasurementsReader
from gradiva.middleware.analog_sensors.sensor_class import SensorClass
from gradiva.middleware.analog_sensors.sensor_measurements import (
    Measurements,
    SensorMeasurement,
    measurements_from_items,
    measurements_messages,
    measurements_to_items,
    numbers_of,
    sizes_of,
)
from gradiva.middleware.analog_sensors.sensor_metadata import (
    Metadata,
    SensorMetadata,
    metadata_from_items,
    metadata_to_items,
)

__all__ = [
    "Measurements",
    "MeasurementsReader",
    "Metadata",
    "SensorClass",
    "SensorMeasurement",
    "SensorMetadata",
    "measurements_from_items",
    "measurements_messages",
    "measurements_to_items",
    "metadata_from_items",
    "metadata_to_items",
    "numbers_of",
    "sizes_of",
]
