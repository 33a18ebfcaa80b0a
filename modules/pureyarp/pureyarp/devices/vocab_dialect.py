"""Speak the 3.x dialect of control boards, vocabularies of four letters, as client and as server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from pureyarp.devices.control_board_device import (
    COUNTS,
    MODES,
    TRIGGERS,
    BoardAccess,
    ControlBoardDevice,
    Joints,
    Measured,
    NotOffered,
    Quantity,
    as_many,
    integer,
    joint,
    joints_of,
    many,
    number,
    pid_type,
    vocab,
    word,
)
from pureyarp.devices.control_board_messages import Scope
from pureyarp.devices.control_board_protocol import (
    ControlMode,
    Dialect,
    Feature,
    JointSelection,
    NotInDialect,
    PidType,
    Request,
    RequestLine,
    RequestRefused,
    Verb,
)
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, Vocab32, WireFamily, encode_vocab

OK, FAIL, NAK = encode_vocab("ok"), encode_vocab("fail"), encode_vocab("nak")
IS, STAMPED = encode_vocab("is"), encode_vocab("tsta")
PROTOCOL: list[Element] = [encode_vocab("prot"), 1, 9, 0, OK]
_VERSION = (1, 9)
_LOGGER = logging.getLogger("pureyarp")


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


class VocabDialect(Dialect):
    """``[get] [pos] 1`` is answered ``[is] [pos] 20.5 [tsta] 4 1700000000.5 [ok]``."""

    family = WireFamily.YARP_3
    rpc_server = "/rpc:i"
    rpc_client = "/rpc:o"
    default_carrier = "udp"
    rpc_comes_first = True

    def encode(self, request: Request) -> list[Element]:
        """Return verb, interface, word, control loop, joints and values, in this order."""
        form = VOCAB_FORMS[request.feature]
        words: list[Element] = [encode_vocab(request.verb.value)]
        words += [encode_vocab(word) for word in (form.prefix, _word(form, request)) if word]
        if request.controller is not None:
            words.append(Vocab32(request.controller))
        return words + _joints(request.of) + _values(form, request)

    def decode(self, request: Request, reply: list[Element]) -> list[Element]:
        """Return the values at their fixed place; only ``[fail]`` is a refusal, as for real clients."""
        if not reply or reply[0] == FAIL:
            raise RequestRefused(f"the board answers {reply} to {_said(request)}")
        if request.verb is Verb.SET:
            return []
        form = VOCAB_FORMS[request.feature]
        values = reply[form.first : form.first + form.width]
        if len(values) < form.width:
            raise RequestRefused(f"the board answers {reply} to {_said(request)}, which holds no value")
        return _unpacked(form, request, values)

    def check_protocol(self, line: RequestLine) -> None:
        """Ask ``[get] [prot]``; major and minor version must be ours, the third number does not matter."""
        reply = line.ask([encode_vocab("get"), encode_vocab("prot")])
        if len(reply) != 5 or reply[0] != encode_vocab("prot") or tuple(reply[1:3]) != _VERSION:
            spoken = " ".join(map(str, _VERSION))
            raise RequestRefused(f"the board answers {reply} when asked for its protocol, which must be {spoken}")

    def introduce(self, line: RequestLine) -> None:
        """Ask nothing: all boards of this family offer every interface."""


def _word(form: VocabForm, request: Request) -> str:
    word = form.one if isinstance(request.of, int | str) else form.all if request.of is None else form.group
    if not word:
        raise NotInDialect(f"control boards of YARP 3 cannot {_said(request)}")
    return word


def _joints(of: JointSelection | str) -> list[Element]:
    if of is None:
        return []
    return [of] if isinstance(of, int | str) else [len(of), list(of)]


def _values(form: VocabForm, request: Request) -> list[Element]:
    values = list(request.values)
    if not values:
        return []
    flat = isinstance(request.of, int | str) and not form.packed
    return values if flat else [values]


def _unpacked(form: VocabForm, request: Request, values: list[Element]) -> list[Element]:
    if form.packed and isinstance(request.of, int) and isinstance(values[0], list):
        return values[0]
    return values


def _said(request: Request) -> str:
    scope = "all joints" if request.of is None else request.of
    return f"{request.verb.value} {request.feature.name.lower().replace('_', ' ')} of {scope}"


@dataclass(frozen=True, slots=True)
class Named:
    """Meaning of a word of a request.

    Attributes:
        quantity: What is asked for or set.
        scope: For one joint, all or a listed group.
        form: How its values travel.
    """

    quantity: Quantity
    scope: Scope
    form: VocabForm


_MEASURED: tuple[tuple[Measured, VocabForm], ...] = (
    (Measured.JOINT_VELOCITY, VocabForm("esp", "esps")),
    (Measured.JOINT_ACCELERATION, VocabForm("eac", "eacs")),
    (Measured.MOTOR_VELOCITY, VocabForm("msp", "msps")),
    (Measured.MOTOR_ACCELERATION, VocabForm("mac", "macs")),
    (Measured.TORQUE, VocabForm("trq", "trqs", prefix="torq")),
    (Measured.CURRENT, VocabForm("acu", "acus")),
    (Measured.PWM, VocabForm("pwm")),
    (Measured.PWM, VocabForm("pwm", "pwms", prefix="ipwm")),
)


def _named(forms: Mapping[Feature, VocabForm]) -> dict[tuple[str, str], Named]:
    named: dict[tuple[str, str], Named] = {}
    quantities: list[tuple[Quantity, VocabForm]] = [*forms.items(), *_MEASURED]
    for quantity, form in quantities:
        for scope, spelled in ((Scope.ONE, form.one), (Scope.ALL, form.all), (Scope.GROUP, form.group)):
            if spelled:
                named[form.prefix, spelled] = Named(quantity, scope, form)
    return named


NAMED = _named(VOCAB_FORMS)
INTERFACE_WORDS = frozenset(prefix for prefix, _ in NAMED if prefix)
# Answers about these carry no time stamp.
UNSTAMPED = frozenset({"ipwm", "icur", "pid", "ijfl", "ivar"})


@dataclass(frozen=True, slots=True)
class VocabRequest:
    """A parsed request.

    Attributes:
        what: What its words mean.
        joints: Whose.
        rest: What stands behind the joints.
        pid: The controller that is meant, where it is about one.
    """

    what: Named
    joints: Joints
    rest: Sequence[Element]
    pid: PidType | None

    @classmethod
    def of(cls, request: Sequence[Element], all_joints: Joints) -> VocabRequest:
        """Take a request apart.

        Raises:
            LookupError: Its words mean nothing, or something is missing.
            MalformedMessage: Something is of the wrong kind.
        """
        first = word(request[1])
        has_interface = first in INTERFACE_WORDS and len(request) > 2 and (first, word(request[2])) in NAMED
        what = NAMED[(first, word(request[2])) if has_interface else ("", first)]
        rest = request[3:] if has_interface else request[2:]
        pid = None
        if what.form.prefix == "pid":
            pid, rest = pid_type(rest[0]), rest[1:]
        return cls(what, *_joints_and_rest(what.scope, rest, all_joints), pid)

    @property
    def is_for_one_joint(self) -> bool:
        """Return whether the words mean a single joint."""
        return self.what.scope is Scope.ONE

    def values_to_set(self, feature: Feature) -> list[Any]:
        """Return a value, or a row of values, for each of the joints."""
        if feature in TRIGGERS or feature is Feature.STOP:
            return []
        if feature in MODES:
            modes = self.rest[:1] if self.is_for_one_joint else many(self.rest[0], lambda mode: mode)
            return as_many(self.joints, [MODES[feature](vocab(mode)) for mode in modes])
        if not self.is_for_one_joint:
            read: Callable[[Element], Any] = _row if self.what.form.packed else number
            return as_many(self.joints, many(self.rest[0], read))
        if self.what.form.packed:
            return [_row(self.rest[0])]
        numbers = [number(element) for element in self.rest[: self.what.form.width]]
        return [tuple(numbers)] if self.what.form.width > 1 else as_many(self.joints, numbers)


def _joints_and_rest(scope: Scope, rest: Sequence[Element], all_joints: Joints) -> tuple[Joints, Sequence[Element]]:
    """Return whose values are meant, and what stands behind."""
    match scope:
        case Scope.ONE:
            return (joint(rest[0]),), rest[1:]
        case Scope.ALL:
            return all_joints, rest
        case Scope.GROUP:
            joints = joints_of(rest[1])
            as_many(joints, range(integer(rest[0])))
            return joints, rest[2:]


def _row(element: Element) -> tuple[float, ...]:
    return tuple(many(element, number))


# By RPC only these references can be set; the others are streamed.
_SETTABLE_REFERENCES = {
    Feature.TORQUE_REFERENCE: (Scope.ONE, Scope.ALL),
    Feature.VELOCITY_REFERENCE: (Scope.ALL,),
    Feature.POSITION_REFERENCE: (),
    Feature.DUTY_CYCLE_REFERENCE: (),
    Feature.CURRENT_REFERENCE: (),
}


class VocabAnswers:
    """Answers the requests of ``rpc:i``.

    Args:
        device: What is asked and commanded.
        clock: The time of answers, [s].
    """

    def __init__(self, device: ControlBoardDevice, clock: Callable[[], float]) -> None:
        self._board = BoardAccess(device)
        self._device = device
        self._clock = clock
        self._stamps = count()
        self._calibrations: dict[str, Callable[[Sequence[Element]], object]] = {
            "calj": lambda rest: device.calibrate(joint(rest[0]), integer(rest[1]), _numbers(rest[2:])),
            "cljp": lambda rest: device.calibrate(joint(rest[0]), integer(rest[1]), _numbers(rest[2:])),
            "cald": lambda rest: _must_hold(device.is_calibration_done(joint(rest[0]))),
            "park": lambda rest: device.park(),
        }

    def answer(self, request: list[Element]) -> list[Element]:
        """Return the reply; what the device refuses or cannot do is answered ``[fail]``."""
        if len(request) < 2:
            return [NAK]
        try:
            return self._answer(word(request[0]), request)
        except (NotOffered, MalformedMessage, LookupError, ValueError) as error:
            _LOGGER.debug("control board: %r is refused: %s", request, error)
        except Exception:
            _LOGGER.exception("control board: the device failed at %r", request)
        return [FAIL]

    def _answer(self, verb: str, request: list[Element]) -> list[Element]:
        if verb == "get":
            return self._get(request)
        if verb == "set":
            self._set(request)
        else:
            self._calibrations[verb](request[1:])
        return [OK]

    def _get(self, request: list[Element]) -> list[Element]:
        interface = word(request[1])
        if interface == "prot":
            return list(PROTOCOL)
        stamp = [] if interface in UNSTAMPED else self._stamp()
        if interface == "ivar":
            return [IS, request[1], self._remote_variables(request), OK]
        asked = VocabRequest.of(request, self._board.all_joints)
        values = self._values(asked)
        return [*_echo(asked, request), *values, *stamp, OK]

    def _set(self, request: list[Element]) -> None:
        words = (word(request[1]), word(request[2]) if len(request) > 2 else "")
        if words == ("torq", "trqd"):
            joints = self._board.all_joints
            return self._device.set_control_modes(joints, [ControlMode.TORQUE] * len(joints))
        if words == ("ivar", "mvar"):
            return self._device.set_remote_variable(str(request[3]), request[4:])
        asked = VocabRequest.of(request, self._board.all_joints)
        quantity = asked.what.quantity
        if isinstance(quantity, Measured) or asked.what.scope not in _SETTABLE_REFERENCES.get(quantity, Scope):
            raise MalformedMessage(f"{quantity.name} cannot be set")
        return self._board.write(quantity, asked.joints, asked.values_to_set(quantity), asked.pid)

    def _values(self, asked: VocabRequest) -> list[Element]:
        quantity, form = asked.what.quantity, asked.what.form
        if quantity in COUNTS:
            return [self._board.number_of_axes]
        if quantity is Feature.MOTION_DONE:
            return [int(self._device.is_motion_done(asked.joints))]
        values = self._board.read(quantity, asked.joints, asked.pid)
        if not asked.is_for_one_joint:
            return [list(column) for column in zip(*values, strict=True)] if form.width > 1 else [values]
        return list(values[0]) if form.width > 1 else [values[0]]

    def _remote_variables(self, request: list[Element]) -> list[Element]:
        if word(request[2]) == "lvar":
            return list(self._device.remote_variables())
        return self._device.remote_variable(str(request[3]))

    def _stamp(self) -> list[Element]:
        return [STAMPED, next(self._stamps) & 0x7FFFFFFF, float(self._clock())]


def _echo(asked: VocabRequest, request: list[Element]) -> list[Element]:
    """Return what stands before the values: each interface has its own habit."""
    quantity = asked.what.quantity
    if quantity is Feature.INTERACTION_MODE:
        return []
    if quantity is Feature.JOINT_FAULT:
        return [IS]
    if quantity is Feature.CONTROL_MODE:
        return [IS, request[3] if asked.is_for_one_joint else request[2]]
    return [IS, request[1]]


def _numbers(elements: Sequence[Element]) -> list[float]:
    return [number(element) for element in elements]


def _must_hold(fact: bool) -> None:
    if not fact:
        raise ValueError("not yet")
