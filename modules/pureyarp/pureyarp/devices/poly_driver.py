"""Open clients of devices by the name in their configuration, and hand out their views (`PolyDriver`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from pureyarp.data.values import Property, Searchable
from pureyarp.devices.analog_sensors_client import (
    AnalogSensorsClient,
    AnalogSensorsClientOptions,
    AnalogSensorView,
    IOrientationSensors,
    ISixAxisForceTorqueSensors,
    ITemperatureSensors,
    IThreeAxisGyroscopes,
    IThreeAxisLinearAccelerometers,
)
from pureyarp.devices.control_board_remapper import ControlBoardRemapper, ControlBoardRemapperOptions
from pureyarp.devices.motion_views import (
    ControlBoardView,
    ICurrentControl,
    IEncoders,
    IEncodersTimed,
    IMotorEncoders,
    IPositionControl,
    IPositionDirect,
    IPWMControl,
    ITorqueControl,
    IVelocityControl,
)
from pureyarp.devices.remote_control_board import ControlBoard, RemoteControlBoard, RemoteControlBoardOptions
from pureyarp.devices.settings_views import (
    IAxisInfo,
    IControlLimits,
    IControlMode,
    IInteractionMode,
    IMotor,
    IPidControl,
)
from pureyarp.errors import YarpError

_log = logging.getLogger("pureyarp")

Device = RemoteControlBoard | ControlBoardRemapper | AnalogSensorsClient
_BoardView = TypeVar("_BoardView", bound=ControlBoardView)
_SensorView = TypeVar("_SensorView", bound=AnalogSensorView)


def _board(config: Searchable) -> Device:
    return RemoteControlBoard(RemoteControlBoardOptions.read(config))


def _remapper(config: Searchable) -> Device:
    return ControlBoardRemapper(ControlBoardRemapperOptions.read(config))


def _sensors(config: Searchable) -> Device:
    return AnalogSensorsClient(AnalogSensorsClientOptions.read(config))


_DEVICES: dict[str, Callable[[Searchable], Device]] = {
    "remote_controlboard": _board,
    "controlBoard_nwc_yarp": _board,
    "remotecontrolboardremapper": _remapper,
    "multipleanalogsensorsclient": _sensors,
}


class PolyDriver:
    """A device by the name that its configuration gives it; the views are its interfaces, None where it has none."""

    def __init__(self, config: Searchable | str | None = None) -> None:
        """Hold nothing, or open the device of a configuration or of its text."""
        self._device: Device | None = None
        self._was_tried = False
        if isinstance(config, str):
            self.open_str(config)
        elif config is not None:
            self.open(config)

    def open(self, config: Searchable) -> bool:
        """Open the device that ``device`` names; False, and a line, if that fails."""
        if not isinstance(config, Searchable):
            raise TypeError(f"a Searchable is expected, not {config!r}")
        self.close()
        self._was_tried = True
        name = config.find("device").asString() if config.check("device") else ""
        if name not in _DEVICES:
            _log.error("there is no device %r (valid: %s)", name, ", ".join(_DEVICES))
            return False
        try:
            device = _DEVICES[name](config)
            device.open()
        except YarpError as error:
            _log.error("%s was not opened: %s", name, error)
            return False
        self._device = device
        return True

    def open_str(self, txt: str) -> bool:
        """Open the device of a configuration written as text."""
        config = Property()
        config.fromString(txt)
        return self.open(config)

    def isValid(self) -> bool:
        """Return whether a device is open."""
        return self._device is not None

    def close(self) -> bool:
        """Close the device; False if none was to be opened since the last time."""
        was_tried, self._was_tried = self._was_tried, False
        device, self._device = self._device, None
        if device is not None:
            device.close()
        return was_tried

    def viewIEncoders(self) -> IEncoders | None:
        """Return measured joint positions."""
        return self._of_board(IEncoders)

    def viewIEncodersTimed(self) -> IEncodersTimed | None:
        """Return measured joint positions with their times."""
        return self._of_board(IEncodersTimed)

    def viewIPositionControl(self) -> IPositionControl | None:
        """Return motion along trajectories."""
        return self._of_board(IPositionControl)

    def viewIPositionDirect(self) -> IPositionDirect | None:
        """Return positions that are followed at once."""
        return self._of_board(IPositionDirect)

    def viewIVelocityControl(self) -> IVelocityControl | None:
        """Return velocities."""
        return self._of_board(IVelocityControl)

    def viewITorqueControl(self) -> ITorqueControl | None:
        """Return torques."""
        return self._of_board(ITorqueControl)

    def viewIControlMode(self) -> IControlMode | None:
        """Return control modes."""
        return self._of_board(IControlMode)

    def viewIInteractionMode(self) -> IInteractionMode | None:
        """Return interaction modes."""
        return self._of_board(IInteractionMode)

    def viewIControlLimits(self) -> IControlLimits | None:
        """Return limits of positions and velocities."""
        return self._of_board(IControlLimits)

    def viewIAxisInfo(self) -> IAxisInfo | None:
        """Return names and types of joints."""
        return self._of_board(IAxisInfo)

    def viewIPidControl(self) -> IPidControl | None:
        """Return control loops."""
        return self._of_board(IPidControl)

    def viewIMotor(self) -> IMotor | None:
        """Return temperatures and gears of motors."""
        return self._of_board(IMotor)

    def viewIMotorEncoders(self) -> IMotorEncoders | None:
        """Return measured positions of motors."""
        return self._of_board(IMotorEncoders)

    def viewIPWMControl(self) -> IPWMControl | None:
        """Return measured duty cycles."""
        return self._of_board(IPWMControl)

    def viewICurrentControl(self) -> ICurrentControl | None:
        """Return measured currents."""
        return self._of_board(ICurrentControl)

    def viewISixAxisForceTorqueSensors(self) -> ISixAxisForceTorqueSensors | None:
        """Return force torque sensors."""
        return self._of_sensors(ISixAxisForceTorqueSensors)

    def viewIThreeAxisGyroscopes(self) -> IThreeAxisGyroscopes | None:
        """Return gyroscopes."""
        return self._of_sensors(IThreeAxisGyroscopes)

    def viewIThreeAxisLinearAccelerometers(self) -> IThreeAxisLinearAccelerometers | None:
        """Return accelerometers."""
        return self._of_sensors(IThreeAxisLinearAccelerometers)

    def viewIOrientationSensors(self) -> IOrientationSensors | None:
        """Return orientation sensors."""
        return self._of_sensors(IOrientationSensors)

    def viewITemperatureSensors(self) -> ITemperatureSensors | None:
        """Return thermometers."""
        return self._of_sensors(ITemperatureSensors)

    def _of_board(self, view: type[_BoardView]) -> _BoardView | None:
        return view(self._device) if isinstance(self._device, ControlBoard) else None

    def _of_sensors(self, view: type[_SensorView]) -> _SensorView | None:
        return view(self._device) if isinstance(self._device, AnalogSensorsClient) else None
