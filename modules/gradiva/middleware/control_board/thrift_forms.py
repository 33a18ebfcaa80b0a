"""How the control boards of YARP 4.x name each feature: by the methods of a generated (thrift) service."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.control_board.feature import Feature


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods for one joint, all joints and a group; empty where the service has none."""

    one: str = ""
    all: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class ThriftForm:
    """The methods for one feature.

    Attributes:
        get: That ask.
        set: That order.
        narrow_joint: Whether the joint is an integer of two bytes.
    """

    get: Methods = Methods()
    set: Methods = Methods()
    narrow_joint: bool = False


def _three(stem: str) -> Methods:
    return Methods(f"{stem}OneRPC", f"{stem}AllRPC", f"{stem}GroupRPC")


def _two(stem: str) -> Methods:
    return Methods(f"{stem}OneRPC", f"{stem}AllRPC")


def _one(stem: str) -> Methods:
    return Methods(one=f"{stem}RPC")


def _all(stem: str) -> Methods:
    return Methods(all=f"{stem}RPC")


def _of_motor(stem: str) -> ThriftForm:
    return ThriftForm(_one(f"get{stem}"), _one(f"set{stem}"))


def _of_pid(stem: str) -> ThriftForm:
    return ThriftForm(
        Methods(f"getPid{stem}RPC", f"getPid{stem}sRPC"), Methods(f"setPid{stem}RPC", f"setPid{stem}sRPC"), True
    )


THRIFT_FORMS = {
    Feature.AXES: ThriftForm(_all("getAxes")),
    Feature.MOTORS: ThriftForm(_all("getNumberOfMotors")),
    Feature.AXIS_NAME: ThriftForm(_one("getAxisName")),
    Feature.JOINT_TYPE: ThriftForm(_one("getJointType")),
    Feature.TARGET_POSITION: ThriftForm(_three("getTargetPosition"), _three("positionMove")),
    Feature.RELATIVE_POSITION: ThriftForm(set=_three("relativeMove")),
    Feature.MOTION_DONE: ThriftForm(_three("checkMotionDone")),
    Feature.TRAJECTORY_SPEED: ThriftForm(
        Methods("getTrajSpeedOneRPC", "getTrajSpeedsAllRPC", "getTrajSpeedsGroupRPC"), _three("setTrajSpeed")
    ),
    Feature.TRAJECTORY_ACCELERATION: ThriftForm(
        _three("getTrajAcceleration"),
        Methods("setTrajAccelerationOneRPC", "setTrajAccelerationsAllRPC", "setTrajAccelerationsGroupRPC"),
    ),
    Feature.STOP: ThriftForm(set=_three("stop")),
    Feature.POSITION_REFERENCE: ThriftForm(_three("getRefPosition"), _three("setRefPosition")),
    Feature.VELOCITY_REFERENCE: ThriftForm(_three("getTargetVelocity"), _three("velocityMove")),
    Feature.TORQUE_REFERENCE: ThriftForm(_three("getRefTorque"), _three("setRefTorque")),
    Feature.TORQUE_RANGE: ThriftForm(_two("getTorqueRange")),
    Feature.MOTOR_TORQUE_PARAMETERS: _of_motor("MotorTorqueParams"),
    Feature.DUTY_CYCLE_REFERENCE: ThriftForm(_two("getRefDutyCycle"), _three("setRefDutyCycle")),
    Feature.CURRENT_REFERENCE: ThriftForm(_two("getRefCurrent"), _three("setRefCurrent")),
    Feature.CURRENT_RANGE: ThriftForm(_two("getCurrentRange")),
    Feature.CONTROL_MODE: ThriftForm(set=_three("setControlMode")),
    Feature.INTERACTION_MODE: ThriftForm(
        Methods("getInteractionModeOneRPC", "getInteractionModesAllRPC", "getInteractionModesGroupRPC"),
        Methods("setInteractionModeOneRPC", "setInteractionModesAllRPC", "setInteractionModesGroupRPC"),
    ),
    Feature.IMPEDANCE: _of_motor("Impedance"),
    Feature.IMPEDANCE_OFFSET: _of_motor("ImpedanceOffset"),
    Feature.IMPEDANCE_LIMITS: ThriftForm(_one("getCurrentImpedanceLimit")),
    Feature.ENCODER: ThriftForm(_two("getEncoder"), _two("setEncoder")),
    Feature.ENCODER_RESET: ThriftForm(set=_two("resetEncoder")),
    Feature.MOTOR_ENCODERS: ThriftForm(_all("getNumberOfMotorEncoders")),
    Feature.MOTOR_ENCODER: ThriftForm(_two("getMotorEncoder"), Methods("setMotorEncoderRPC", "setMotorEncodersAllRPC")),
    Feature.MOTOR_ENCODER_RESET: ThriftForm(set=Methods("resetMotorEncoderRPC", "resetMotorEncodersRPC")),
    Feature.MOTOR_ENCODER_COUNTS: _of_motor("MotorEncoderCountsPerRevolution"),
    Feature.POSITION_LIMITS: ThriftForm(_one("getPosLimits"), _one("setPosLimits"), True),
    Feature.VELOCITY_LIMITS: ThriftForm(_one("getVelLimits"), _one("setVelLimits"), True),
    Feature.AMPLIFIER_ENABLE: ThriftForm(set=_one("enableAmp")),
    Feature.AMPLIFIER_DISABLE: ThriftForm(set=_one("disableAmp")),
    Feature.AMPLIFIER_STATUS: ThriftForm(_two("getAmpStatus")),
    Feature.MAXIMUM_CURRENT: _of_motor("MaxCurrent"),
    Feature.NOMINAL_CURRENT: _of_motor("NominalCurrent"),
    Feature.PEAK_CURRENT: _of_motor("PeakCurrent"),
    Feature.PWM_LIMIT: _of_motor("PWMLimit"),
    Feature.SUPPLY_VOLTAGE: ThriftForm(_one("getPowerSupplyVoltage")),
    Feature.TEMPERATURE: ThriftForm(_two("getTemperature")),
    Feature.TEMPERATURE_LIMIT: _of_motor("TemperatureLimit"),
    Feature.GEARBOX_RATIO: _of_motor("GearboxRatio"),
    Feature.JOINT_FAULT: ThriftForm(_one("getLastJointFault")),
    Feature.PID_REFERENCE: _of_pid("Reference"),
    Feature.PID_ERROR: ThriftForm(_of_pid("Error").get, narrow_joint=True),
    Feature.PID_ERROR_LIMIT: _of_pid("ErrorLimit"),
    Feature.PID_OUTPUT: ThriftForm(_of_pid("Output").get, narrow_joint=True),
    Feature.PID_OFFSET: ThriftForm(_one("getPidOffset"), _one("setPidOffsetOne"), True),
    Feature.PID_RESET: ThriftForm(set=_one("resetPid"), narrow_joint=True),
    Feature.PID_ENABLE: ThriftForm(_one("isPidEnabled"), _one("enablePid"), True),
    Feature.PID_DISABLE: ThriftForm(set=_one("disablePid"), narrow_joint=True),
    Feature.REMOTE_VARIABLE: _of_motor("RemoteVariable"),
}
