"""The inertial unit behind a sensor server."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import ImuMeasurement, NDArray
from gradiva.robot_model import AngleUnit, Environment, IdynTreeModel, fixed_rotation
from gradiva.yarp_modules.robot.sensor_client import SensorClient
from gradiva.yarp_modules.robot.source_clock import SourceClock

NO_ATTITUDE = ImuMeasurement(np.full((3, 3), math.nan), np.full(3, math.nan))


class RemoteImu:
    """Attitude and angular rate, from the frame of the sensor to that of ``RobotDescription.imu_frame``.

    Attributes:
        name: Sensor and server, for messages.
        ports: Which ports of the robot have to be there.
    """

    def __init__(self, model: IdynTreeModel, environment: Environment) -> None:
        """Find the server.

        Raises:
            ModelError: A joint lies between the sensor and the frame of the description.
        """
        ports = model.description.ports
        assert ports is not None, "checked by YarpRobot"
        server, self._port = ports.imu()
        self._client = SensorClient(ports.full_name(environment, server.name))
        self.name = f"{self._port.name} of {self._client.remote}"
        self.ports = self._client.ports
        self._scale = math.radians(1.0) if server.angle_unit is AngleUnit.DEGREES else 1.0
        self._frame_in_sensor = fixed_rotation(model, self._port.frame, model.description.imu_frame)

    def open(self, local: str, carrier: str, max_age: float) -> None:
        """Reach the server.

        Raises:
            RobotInterfaceError: It is not there, or lacks the sensor.
        """
        self._client.open(local, carrier, max_age)
        self._orientation = self._client.orientation(self._port.name)
        self._gyroscope = self._client.gyroscope(self._port.name)

    def close(self) -> None:
        """Leave the server."""
        self._client.close()

    def read(self, clock: SourceClock, now: float) -> ImuMeasurement:
        """Return the last sample and tell its clock; NaN where there is none."""
        attitude, rate = self._orientation.read(), self._gyroscope.read()
        if attitude is None or rate is None:
            return NO_ATTITUDE
        clock.update(attitude[1], now)
        rotation = rotation_of(self._scale * attitude[0]) @ self._frame_in_sensor
        return ImuMeasurement(rotation, self._frame_in_sensor.T @ (self._scale * rate[0]))


def rotation_of(roll_pitch_yaw: NDArray) -> NDArray:
    """Return R_z(yaw) R_y(pitch) R_x(roll) of three angles [rad], shape (3, 3)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(roll_pitch_yaw), np.cos(roll_pitch_yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
