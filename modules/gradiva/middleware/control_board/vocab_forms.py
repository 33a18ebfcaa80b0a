"""How the control boards of YARP 3.x name each feature: by vocabularies of at most four letters."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.middleware.control_board.feature import Feature


@dataclass(frozen=True, slots=True)
class VocabForm:
    """The words for one feature.

    Attributes:
        one: For one joint; empty where the feature has no such form.
        all: For all joints.
        group: For a group of joints.
        prefix: Name of the interface, said before; empty for the oldest ones.
        width: How many values an answer holds.
        first: Where in the answer they begin.
        packed: Whether the values of one joint travel in a list of their own.
    """

    one: str = ""
    all: str = ""
    group: str = ""
    prefix: str = ""
    width: int = 1
    first: int = 2
    packed: bool = False


VOCAB_FORMS = {
    Feature.AXES: VocabForm(all="axes"),
    Feature.MOTORS: VocabForm(all="mtnm"),
    Feature.AXIS_NAME: VocabForm("name"),
    Feature.JOINT_TYPE: VocabForm("type"),
    Feature.TARGET_POSITION: VocabForm("pos", "poss", "posg"),
    Feature.RELATIVE_POSITION: VocabForm("rel", "rels", "relg"),
    Feature.MOTION_DONE: VocabForm("don", "dons", "dong"),
    Feature.TRAJECTORY_SPEED: VocabForm("vel", "vels", "velg"),
    Feature.TRAJECTORY_ACCELERATION: VocabForm("acc", "accs", "accg"),
    Feature.STOP: VocabForm("sto", "stos", "stog"),
    Feature.POSITION_REFERENCE: VocabForm("dpo", "dpos", "dpog"),
    Feature.VELOCITY_REFERENCE: VocabForm("vmo", "vmos", "vmog"),
    Feature.TORQUE_REFERENCE: VocabForm("ref", "refs", prefix="torq"),
    Feature.TORQUE_RANGE: VocabForm("rng", "rngs", prefix="torq", width=2),
    Feature.MOTOR_TORQUE_PARAMETERS: VocabForm("mtps", prefix="torq", packed=True),
    Feature.DUTY_CYCLE_REFERENCE: VocabForm("ref", "refs", prefix="ipwm"),
    Feature.CURRENT_REFERENCE: VocabForm("ref", "refs", prefix="icur"),
    Feature.CURRENT_RANGE: VocabForm("rng", "rngs", prefix="icur", width=2),
    Feature.CONTROL_MODE: VocabForm("cmod", "cmds", "cmog", prefix="icmd"),
    Feature.INTERACTION_MODE: VocabForm("mode", "mods", "modg", prefix="intm", first=0),
    Feature.IMPEDANCE: VocabForm("ipr", prefix="iimp", packed=True),
    Feature.IMPEDANCE_OFFSET: VocabForm("iof", prefix="iimp", packed=True),
    Feature.IMPEDANCE_LIMITS: VocabForm("llim", prefix="iimp", packed=True),
    Feature.ENCODER: VocabForm("enc", "encs"),
    Feature.ENCODER_RESET: VocabForm("ere", "eres"),
    Feature.MOTOR_ENCODERS: VocabForm(all="mnum"),
    Feature.MOTOR_ENCODER: VocabForm("mnc", "mncs"),
    Feature.MOTOR_ENCODER_RESET: VocabForm("mre", "mres"),
    Feature.MOTOR_ENCODER_COUNTS: VocabForm("mcpr"),
    Feature.POSITION_LIMITS: VocabForm("llim", width=2),
    Feature.VELOCITY_LIMITS: VocabForm("vlim", width=2),
    Feature.AMPLIFIER_ENABLE: VocabForm("aen"),
    Feature.AMPLIFIER_DISABLE: VocabForm("adi"),
    Feature.AMPLIFIER_STATUS: VocabForm("asts", "asta"),
    Feature.MAXIMUM_CURRENT: VocabForm("maxc"),
    Feature.NOMINAL_CURRENT: VocabForm("acno"),
    Feature.PEAK_CURRENT: VocabForm("acpk"),
    Feature.PWM_LIMIT: VocabForm("pwml"),
    Feature.SUPPLY_VOLTAGE: VocabForm("avsu"),
    Feature.TEMPERATURE: VocabForm("tmp", "tmps"),
    Feature.TEMPERATURE_LIMIT: VocabForm("tmpl"),
    Feature.GEARBOX_RATIO: VocabForm("gbxr"),
    Feature.JOINT_FAULT: VocabForm("jhfl", prefix="ijfl", width=2, first=1),
    Feature.PID: VocabForm("pid", "pids", prefix="pid", packed=True),
    Feature.PID_REFERENCE: VocabForm("ref", "refs", prefix="pid"),
    Feature.PID_ERROR: VocabForm("err", "errs", prefix="pid"),
    Feature.PID_ERROR_LIMIT: VocabForm("lim", "lims", prefix="pid"),
    Feature.PID_OUTPUT: VocabForm("out", "outs", prefix="pid"),
    Feature.PID_OFFSET: VocabForm("off", prefix="pid"),
    Feature.PID_RESET: VocabForm("res", prefix="pid"),
    Feature.PID_ENABLE: VocabForm("ena", prefix="pid"),
    Feature.PID_DISABLE: VocabForm("dis", prefix="pid"),
    Feature.REMOTE_VARIABLE: VocabForm("mvar", prefix="ivar"),
    Feature.REMOTE_VARIABLES: VocabForm(all="lvar", prefix="ivar"),
}
