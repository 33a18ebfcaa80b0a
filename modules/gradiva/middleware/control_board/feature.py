"""What a control board can be asked for or told over its RPC port."""

from __future__ import annotations

from enum import Enum, auto


class Feature(Enum):
    """What a control board can be asked for or told; the dialects know how each is said."""

    AXES = auto()
    MOTORS = auto()
    AXIS_NAME = auto()
    JOINT_TYPE = auto()

    TARGET_POSITION = auto()
    RELATIVE_POSITION = auto()
    MOTION_DONE = auto()
    TRAJECTORY_SPEED = auto()
    TRAJECTORY_ACCELERATION = auto()
    STOP = auto()
    POSITION_REFERENCE = auto()
    VELOCITY_REFERENCE = auto()
    TORQUE_REFERENCE = auto()
    TORQUE_RANGE = auto()
    MOTOR_TORQUE_PARAMETERS = auto()
    DUTY_CYCLE_REFERENCE = auto()
    CURRENT_REFERENCE = auto()
    CURRENT_RANGE = auto()
    CONTROL_MODE = auto()
    INTERACTION_MODE = auto()
    IMPEDANCE = auto()
    IMPEDANCE_OFFSET = auto()
    IMPEDANCE_LIMITS = auto()

    ENCODER = auto()
    ENCODER_RESET = auto()
    MOTOR_ENCODERS = auto()
    MOTOR_ENCODER = auto()
    MOTOR_ENCODER_RESET = auto()
    MOTOR_ENCODER_COUNTS = auto()
    POSITION_LIMITS = auto()
    VELOCITY_LIMITS = auto()

    AMPLIFIER_ENABLE = auto()
    AMPLIFIER_DISABLE = auto()
    AMPLIFIER_STATUS = auto()
    MAXIMUM_CURRENT = auto()
    NOMINAL_CURRENT = auto()
    PEAK_CURRENT = auto()
    PWM_LIMIT = auto()
    SUPPLY_VOLTAGE = auto()
    TEMPERATURE = auto()
    TEMPERATURE_LIMIT = auto()
    GEARBOX_RATIO = auto()
    JOINT_FAULT = auto()

    PID = auto()
    PID_REFERENCE = auto()
    PID_ERROR = auto()
    PID_ERROR_LIMIT = auto()
    PID_OUTPUT = auto()
    PID_OFFSET = auto()
    PID_RESET = auto()
    PID_ENABLE = auto()
    PID_DISABLE = auto()

    REMOTE_VARIABLE = auto()
    REMOTE_VARIABLES = auto()
