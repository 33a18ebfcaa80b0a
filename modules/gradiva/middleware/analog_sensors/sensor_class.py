"""The kinds of analog sensors that travel together."""

from __future__ import annotations

from enum import IntEnum


class SensorClass(IntEnum):
    """The kinds of analog sensors, numbered as they stand in every message; each has its units.

    ============================ =================== ===========================================
    Kind                         Numbers             Unit
    ============================ =================== ===========================================
    gyroscope                    3                   deg/s
    linear accelerometer         3                   m/s^2
    magnetometer                 3                   T
    orientation                  3                   deg (roll, pitch, yaw)
    temperature                  1                   deg C
    force torque                 6                   N, then N m
    contact load cells, encoder  any                 of the device
    arrays, skin patches
    position                     3                   m
    linear velocity              3                   m/s
    angular accelerometer        3                   deg/s^2
    ============================ =================== ===========================================
    """

    GYROSCOPE = 0
    LINEAR_ACCELEROMETER = 1
    MAGNETOMETER = 2
    ORIENTATION = 3
    TEMPERATURE = 4
    FORCE_TORQUE = 5
    CONTACT_LOAD_CELLS = 6
    ENCODER_ARRAY = 7
    SKIN_PATCH = 8
    POSITION = 9
    LINEAR_VELOCITY = 10
    ANGULAR_ACCELEROMETER = 11

    @property
    def size(self) -> int | None:
        """Return how many numbers a sensor of this kind measures; None when each has its own."""
        if self is SensorClass.TEMPERATURE:
            return 1
        if self is SensorClass.FORCE_TORQUE:
            return 6
        return None if self in _OF_ANY_SIZE else 3


_OF_ANY_SIZE = (SensorClass.CONTACT_LOAD_CELLS, SensorClass.ENCODER_ARRAY, SensorClass.SKIN_PATCH)
