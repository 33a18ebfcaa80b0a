"""The interfaces of devices, with the names that YARP gives them."""

from gradiva.middleware.embedded.devices.interfaces.amplifier_control import IAmplifierControl
from gradiva.middleware.embedded.devices.interfaces.analog_sensor_view import AnalogSensorView
from gradiva.middleware.embedded.devices.interfaces.axis_info import IAxisInfo
from gradiva.middleware.embedded.devices.interfaces.control_limits import IControlLimits
from gradiva.middleware.embedded.devices.interfaces.control_mode import IControlMode
from gradiva.middleware.embedded.devices.interfaces.current_control import ICurrentControl
from gradiva.middleware.embedded.devices.interfaces.encoders import IEncoders, IEncodersTimed
from gradiva.middleware.embedded.devices.interfaces.interaction_mode import IInteractionMode
from gradiva.middleware.embedded.devices.interfaces.motor import IMotor
from gradiva.middleware.embedded.devices.interfaces.orientation_sensors import IOrientationSensors
from gradiva.middleware.embedded.devices.interfaces.pid_control import IPidControl
from gradiva.middleware.embedded.devices.interfaces.position_control import IPositionControl
from gradiva.middleware.embedded.devices.interfaces.position_direct import IPositionDirect
from gradiva.middleware.embedded.devices.interfaces.pwm_control import IPWMControl
from gradiva.middleware.embedded.devices.interfaces.remote_variables import IRemoteVariables
from gradiva.middleware.embedded.devices.interfaces.six_axis_force_torque_sensors import ISixAxisForceTorqueSensors
from gradiva.middleware.embedded.devices.interfaces.temperature_sensors import ITemperatureSensors
from gradiva.middleware.embedded.devices.interfaces.three_axis_gyroscopes import IThreeAxisGyroscopes
from gradiva.middleware.embedded.devices.interfaces.three_axis_linear_accelerometers import (
    IThreeAxisLinearAccelerometers,
)
from gradiva.middleware.embedded.devices.interfaces.three_axis_magnetometers import IThreeAxisMagnetometers
from gradiva.middleware.embedded.devices.interfaces.torque_control import ITorqueControl
from gradiva.middleware.embedded.devices.interfaces.velocity_control import IVelocityControl

__all__ = [
    "AnalogSensorView",
    "IAmplifierControl",
    "IAxisInfo",
    "IControlLimits",
    "IControlMode",
    "ICurrentControl",
    "IEncoders",
    "IEncodersTimed",
    "IInteractionMode",
    "IMotor",
    "IOrientationSensors",
    "IPWMControl",
    "IPidControl",
    "IPositionControl",
    "IPositionDirect",
    "IRemoteVariables",
    "ISixAxisForceTorqueSensors",
    "ITemperatureSensors",
    "IThreeAxisGyroscopes",
    "IThreeAxisLinearAccelerometers",
    "IThreeAxisMagnetometers",
    "ITorqueControl",
    "IVelocityControl",
]
