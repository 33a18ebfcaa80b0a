"""The interfaces of devices, with the names that YARP gives them."""

from pureyarp.devices.interfaces.analog_sensor_view import AnalogSensorView
from pureyarp.devices.interfaces.axis_info import IAxisInfo
from pureyarp.devices.interfaces.control_limits import IControlLimits
from pureyarp.devices.interfaces.control_mode import IControlMode
from pureyarp.devices.interfaces.encoders import IEncoders, IEncodersTimed
from pureyarp.devices.interfaces.interaction_mode import IInteractionMode
from pureyarp.devices.interfaces.motor import IMotor
from pureyarp.devices.interfaces.orientation_sensors import IOrientationSensors
from pureyarp.devices.interfaces.pid_control import IPidControl
from pureyarp.devices.interfaces.position_control import IPositionControl
from pureyarp.devices.interfaces.position_direct import IPositionDirect
from pureyarp.devices.interfaces.six_axis_force_torque_sensors import ISixAxisForceTorqueSensors
from pureyarp.devices.interfaces.temperature_sensors import ITemperatureSensors
from pureyarp.devices.interfaces.three_axis_gyroscopes import IThreeAxisGyroscopes
from pureyarp.devices.interfaces.three_axis_linear_accelerometers import (
    IThreeAxisLinearAccelerometers,
)
from pureyarp.devices.interfaces.torque_control import ITorqueControl
from pureyarp.devices.interfaces.velocity_control import IVelocityControl

__all__ = [
    "AnalogSensorView",
    "IAxisInfo",
    "IControlLimits",
    "IControlMode",
    "IEncoders",
    "IEncodersTimed",
    "IInteractionMode",
    "IMotor",
    "IOrientationSensors",
    "IPidControl",
    "IPositionControl",
    "IPositionDirect",
    "ISixAxisForceTorqueSensors",
    "ITemperatureSensors",
    "IThreeAxisGyroscopes",
    "IThreeAxisLinearAccelerometers",
    "ITorqueControl",
    "IVelocityControl",
]
