"""The devices before which the recorded programs run; ``python -m tests.middleware.behaviour.devices KIND NAME``.

``board`` is a control board with three joints, ``sensors`` an inertial measurement unit: they answer as the fake
devices before which the programs were recorded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from gradiva.middleware import yarp
from pureyarp.devices.analog_sensors_client import SensorClass, SensorMeasurement, SensorMetadata
from pureyarp.devices.control_board_device import Joints
from pureyarp.devices.control_board_messages import CommandKind
from pureyarp.devices.control_board_protocol import Feature, PidType
from pureyarp.devices.device_servers import AnalogSensorsServer, ControlBoardServer
from tests.middleware.fake_board import RecordedBoard

_KINDS = (
    SensorClass.GYROSCOPE,
    SensorClass.LINEAR_ACCELEROMETER,
    SensorClass.MAGNETOMETER,
    SensorClass.ORIENTATION,
)
_MAXIMUM_CURRENT = 33000.0


class FakeBoard(RecordedBoard):
    """The fake control board as it is when it has just been started: no gains, and it never moves."""

    def __init__(self) -> None:
        super().__init__()
        for pid in PidType:
            self.table.set(Feature.PID, range(3), [(0.0,) * 10] * 3, pid)

    def parameter(self, feature: Feature, joints: Joints, pid: PidType | None) -> Sequence[Any]:
        """Return one value for each joint."""
        if feature is Feature.MAXIMUM_CURRENT:
            return [_MAXIMUM_CURRENT] * len(joints)
        return super().parameter(feature, joints, pid)

    def is_motion_done(self, joints: Joints) -> bool:
        """Return False: the fake board does not look."""
        return False

    def _follow(self, joint: int, kind: CommandKind, value: float) -> None:
        """Stay where it is."""


def measurements() -> dict[SensorClass, list[SensorMeasurement]]:
    """Return what the inertial measurement unit measures now."""
    return {kind: [SensorMeasurement((1.0, 2.0, 3.0), yarp.now())] for kind in _KINDS}


def server(kind: str, name: str) -> ControlBoardServer | AnalogSensorsServer:
    """Return a closed server of this kind."""
    if kind == "board":
        return ControlBoardServer(name, FakeBoard())
    sensors = {sensor: [SensorMetadata("imu0", "frame0")] for sensor in _KINDS}
    return AnalogSensorsServer(name, sensors, measurements)


def main() -> None:
    """Serve until the process is ended."""
    yarp.Network.init()
    with server(sys.argv[1], sys.argv[2]):
        print("ready", flush=True)
        while True:
            time.sleep(1.0)


if __name__ == "__main__":
    main()
