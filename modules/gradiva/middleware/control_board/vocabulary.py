"""The words of control boards: modes and kinds of PID as they travel, four characters packed into an int32."""

from __future__ import annotations

from enum import IntEnum

from pureyarp.wire.elements import encode_vocab


class ControlMode(IntEnum):
    """What a joint follows; as an int, the vocab of the wire."""

    POSITION = encode_vocab("pos")
    POSITION_DIRECT = encode_vocab("posd")
    VELOCITY = encode_vocab("vel")
    VELOCITY_DIRECT = encode_vocab("veld")  # 4.x only
    MIXED = encode_vocab("mix")
    TORQUE = encode_vocab("torq")
    PWM = encode_vocab("ipwm")
    CURRENT = encode_vocab("icur")
    IDLE = encode_vocab("idl")
    FORCE_IDLE = encode_vocab("fidl")  # only commanded: how to leave HARDWARE_FAULT
    HARDWARE_FAULT = encode_vocab("hwfa")
    CALIBRATING = encode_vocab("cal")
    CALIBRATION_DONE = encode_vocab("cald")
    NOT_CONFIGURED = encode_vocab("cfgn")
    CONFIGURED = encode_vocab("cfgy")
    UNKNOWN = encode_vocab("unkw")
    IMPEDANCE_POSITION = encode_vocab("impo")  # obsolete
    IMPEDANCE_VELOCITY = encode_vocab("imve")  # obsolete


class InteractionMode(IntEnum):
    """How a joint gives way to contact; as an int, the vocab of the wire."""

    STIFF = encode_vocab("stif")
    COMPLIANT = encode_vocab("comp")
    UNKNOWN = encode_vocab("unkn")


class JointType(IntEnum):
    """How a joint moves; as an int, the vocab of the wire."""

    REVOLUTE = encode_vocab("atrv")
    PRISMATIC = encode_vocab("atpr")
    UNKNOWN = encode_vocab("unkn")


class PidType(IntEnum):
    """What a PID controls; as an int, the vocab of the wire."""

    POSITION = encode_vocab("pos")
    VELOCITY = encode_vocab("vel")
    TORQUE = encode_vocab("trq")
    CURRENT = encode_vocab("cur")
