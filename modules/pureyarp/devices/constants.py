"""The numbers that control boards and sensors take and give, under the names of the real bindings."""

from __future__ import annotations

from gradiva.middleware.control_board.vocabulary import ControlMode, InteractionMode, JointType
from pureyarp.wire.elements import encode_vocab

VOCAB_CM_CALIBRATING = int(ControlMode.CALIBRATING)
VOCAB_CM_CALIB_DONE = int(ControlMode.CALIBRATION_DONE)
VOCAB_CM_CONFIGURED = int(ControlMode.CONFIGURED)
VOCAB_CM_CURRENT = int(ControlMode.CURRENT)
VOCAB_CM_FORCE_IDLE = int(ControlMode.FORCE_IDLE)
VOCAB_CM_HW_FAULT = int(ControlMode.HARDWARE_FAULT)
VOCAB_CM_IDLE = int(ControlMode.IDLE)
VOCAB_CM_IMPEDANCE_POS = int(encode_vocab("impo"))
VOCAB_CM_MIXED = int(ControlMode.MIXED)
VOCAB_CM_NOT_CONFIGURED = int(ControlMode.NOT_CONFIGURED)
VOCAB_CM_POSITION = int(ControlMode.POSITION)
VOCAB_CM_POSITION_DIRECT = int(ControlMode.POSITION_DIRECT)
VOCAB_CM_PWM = int(ControlMode.PWM)
VOCAB_CM_TORQUE = int(ControlMode.TORQUE)
VOCAB_CM_UNKNOWN = int(ControlMode.UNKNOWN)
VOCAB_CM_VELOCITY = int(ControlMode.VELOCITY)

VOCAB_IM_COMPLIANT = int(InteractionMode.COMPLIANT)
VOCAB_IM_STIFF = int(InteractionMode.STIFF)
VOCAB_IM_UNKNOWN = int(InteractionMode.UNKNOWN)

VOCAB_JOINTTYPE_PRISMATIC = int(JointType.PRISMATIC)
VOCAB_JOINTTYPE_REVOLUTE = int(JointType.REVOLUTE)
VOCAB_JOINTTYPE_UNKNOWN = int(JointType.UNKNOWN)
