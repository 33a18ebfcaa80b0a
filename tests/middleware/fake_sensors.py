"""Analog sensors behind servers in tests."""

from __future__ import annotations

from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata

NAME = "/robot/sensors"
SENSORS = {
    SensorClass.GYROSCOPE: [SensorMetadata("imu", "imu_frame")],
    SensorClass.ORIENTATION: [SensorMetadata("imu", "imu_frame")],
    SensorClass.TEMPERATURE: [SensorMetadata("thermometer", "skin")],
    SensorClass.FORCE_TORQUE: [SensorMetadata("left", "l_sole"), SensorMetadata("right", "r_sole")],
}


class Reading:
    """Return measurements; raise while the sensors are broken."""

    def __init__(self) -> None:
        self.is_broken = False
        self.time = 5.0

    def __call__(self) -> dict[SensorClass, list[SensorMeasurement]]:
        if self.is_broken:
            raise OSError("no cable")
        sizes = {SensorClass.TEMPERATURE: 1, SensorClass.FORCE_TORQUE: 6}
        return {
            kind: [SensorMeasurement(tuple(float(k) for k in range(sizes.get(kind, 3))), self.time) for _ in sensors]
            for kind, sensors in SENSORS.items()
        }
