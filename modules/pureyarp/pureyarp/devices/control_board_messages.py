"""Encode and decode what control boards stream: set-points (command:i) and measured joints (stateExt:o)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, Float32, TypedList, Vocab32, WireFamily, decode_vocab, encode_vocab
from pureyarp.wire.recurring_messages import RecurringMessage, RecurringMessages
from pureyarp.wire.text import to_text

NDArray = npt.NDArray[np.float64]
OK, FAIL = encode_vocab("ok"), encode_vocab("fail")


class CommandKind(Enum):
    """Which set-points a command carries."""

    POSITION_DIRECT = "position direct"  # [deg], followed at once
    POSITION = "position"  # [deg], reached along a trajectory
    VELOCITY = "velocity"  # [deg/s]
    VELOCITY_DIRECT = "velocity direct"  # [deg/s], followed at once; 4.x only
    TORQUE = "torque"  # [N m]
    PWM = "pwm"  # duty cycle, [%]
    CURRENT = "current"  # [A]


class Scope(Enum):
    """Whose set-points: of one joint, of all, of a group that is listed."""

    ONE = "one"
    ALL = "all"
    GROUP = "group"


Header = tuple[str, ...]

_HEADERS: dict[tuple[CommandKind, Scope], Header] = {
    (CommandKind.POSITION_DIRECT, Scope.ONE): ("dpo",),
    (CommandKind.POSITION_DIRECT, Scope.ALL): ("dpos",),
    (CommandKind.POSITION_DIRECT, Scope.GROUP): ("dpog",),
    (CommandKind.POSITION, Scope.ALL): ("poss",),
    (CommandKind.VELOCITY, Scope.ONE): ("vmo",),
    (CommandKind.VELOCITY, Scope.ALL): ("vmos",),
    (CommandKind.VELOCITY, Scope.GROUP): ("vmog",),
    (CommandKind.TORQUE, Scope.ONE): ("dtq",),
    (CommandKind.TORQUE, Scope.ALL): ("dtqs",),
    (CommandKind.TORQUE, Scope.GROUP): ("dtqg",),
    (CommandKind.PWM, Scope.ONE): ("ipwm", "ref"),
    (CommandKind.PWM, Scope.ALL): ("ipwm", "refs"),
    (CommandKind.CURRENT, Scope.ONE): ("icur", "ref"),
    (CommandKind.CURRENT, Scope.ALL): ("icur", "refs"),
    (CommandKind.CURRENT, Scope.GROUP): ("icur", "refg"),
}
# The 4.x family names the interface first, everywhere.
_INTERFACES = {CommandKind.POSITION_DIRECT: "ipod", CommandKind.VELOCITY: "ivel", CommandKind.TORQUE: "itrq"}
_HEADERS_4 = {
    (kind, scope): ((_INTERFACES[kind], *words) if kind in _INTERFACES else words)
    for (kind, scope), words in _HEADERS.items()
} | {
    (CommandKind.VELOCITY_DIRECT, Scope.ONE): ("ived", "vdso"),
    (CommandKind.VELOCITY_DIRECT, Scope.ALL): ("ived", "vdsa"),
    (CommandKind.VELOCITY_DIRECT, Scope.GROUP): ("ived", "vdsg"),
}
_MEANINGS = {words: meaning for table in (_HEADERS, _HEADERS_4) for meaning, words in table.items()}


@dataclass(frozen=True, slots=True)
class StreamedCommand:
    """Set-points of one kind.

    Attributes:
        kind: Which.
        joints: Whose, in the order of ``values``; None: of all joints.
        values: Degrees, degrees per second, newton metres, percent or amperes, as ``kind`` says.
    """

    kind: CommandKind
    joints: tuple[int, ...] | None
    values: tuple[float, ...]

    def to_items(self, family: WireFamily = WireFamily.YARP_3) -> list[Element]:
        """Return the elements of the message: the header and the numbers, each a list.

        Raises:
            MalformedMessage: Control boards of that family have no such command.
        """
        scope = self._scope(family)
        words = _headers(family).get((self.kind, scope))
        if words is None:
            raise MalformedMessage(
                f"control boards have no streamed {self.kind.value} command of {scope.value} joint(s)"
            )
        header: list[Element] = [encode_vocab(word) for word in words]
        return [header + self._whose(scope), TypedList(float, self.values)]

    def message(self, family: WireFamily = WireFamily.YARP_3) -> RecurringMessage:
        """Return the message, ready to be sent.

        Raises:
            MalformedMessage: Control boards of that family have no such command.
        """
        return _messages(self.kind, self.joints, len(self.values), family).message(self.values)

    @classmethod
    def from_items(cls, items: Sequence[Element]) -> StreamedCommand:
        """Return the command of a message of either family.

        Raises:
            MalformedMessage: It is no command that control boards know, or it contradicts itself.
        """
        if len(items) != 2 or not isinstance(items[0], list) or not isinstance(items[1], list):
            raise MalformedMessage(f"a streamed command is (header) (numbers), not {items!r:.80}")
        (kind, scope), rest = _meaning(items[0])
        values = _numbers(items[1])
        joints = _joints(scope, rest)
        if joints is not None and len(joints) != len(values):
            raise MalformedMessage(f"{kind.value} command with {len(values)} numbers for joints {joints}")
        return cls(kind, joints, values)

    def _scope(self, family: WireFamily) -> Scope:
        if self.joints is None:
            return Scope.ALL
        has_single = (self.kind, Scope.ONE) in _headers(family)
        return Scope.ONE if len(self.joints) == 1 and has_single else Scope.GROUP

    def _whose(self, scope: Scope) -> list[Element]:
        if self.joints is None:
            return []
        return [self.joints[0]] if scope is Scope.ONE else [len(self.joints), list(self.joints)]


@lru_cache(maxsize=256)
def _messages(kind: CommandKind, joints: tuple[int, ...] | None, count: int, family: WireFamily) -> RecurringMessages:
    """Return the messages of ``count`` set-points."""

    def layout(numbers: Sequence[float]) -> list[Element]:
        return StreamedCommand(kind, joints, tuple(numbers)).to_items(family)

    layout([0.0] * count)  # refuses what has no words
    return RecurringMessages(layout, count)


def _headers(family: WireFamily) -> dict[tuple[CommandKind, Scope], Header]:
    return _HEADERS_4 if family is WireFamily.YARP_4 else _HEADERS


def _meaning(header: Sequence[Element]) -> tuple[tuple[CommandKind, Scope], Sequence[Element]]:
    """Return what the header commands, and what stands after the words that say so."""
    words = tuple(map(_word, header[:2]))
    for length in (2, 1):
        if words[:length] in _MEANINGS:
            return _MEANINGS[words[:length]], header[length:]
    raise MalformedMessage(f"control boards have no streamed command {' '.join(words)!r}")


def _word(element: Element) -> str:
    if isinstance(element, str):  # typed by hand
        return element[:4]
    return decode_vocab(element) if isinstance(element, int) else ""


def _numbers(elements: Sequence[Element]) -> tuple[float, ...]:
    numbers = tuple(float(element) for element in elements if isinstance(element, int | float))
    if len(numbers) != len(elements) or not all(map(math.isfinite, numbers)):
        raise MalformedMessage(f"a streamed command carries finite numbers, not {elements!r:.80}")
    return numbers


def _joints(scope: Scope, rest: Sequence[Element]) -> tuple[int, ...] | None:
    match scope, rest:
        case Scope.ALL, _:
            return None
        case Scope.ONE, [int(joint), *_] if joint >= 0:
            return (joint,)
        case Scope.GROUP, [int(count), list(joints), *_] if count == len(joints):
            if all(isinstance(joint, int) and joint >= 0 for joint in joints):
                return tuple(int(joint) for joint in joints)  # type: ignore[arg-type]
    raise MalformedMessage(f"a streamed command for {scope.value} joint(s) does not say whose: {rest!r:.60}")


INTEGER_FIELDS = ("control_modes", "interaction_modes")


def _zeros() -> NDArray:
    return np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class JointData:
    """One sample of all joints of a part; every field has one value for each joint.

    The fields stand in the order of the message. A field that the device does not measure is named in ``invalid``;
    it then travels as zeros with the mark that it means nothing.

    Attributes:
        joint_position: [deg].
        joint_velocity: [deg/s].
        joint_acceleration: [deg/s^2].
        motor_position: [deg].
        motor_velocity: [deg/s].
        motor_acceleration: [deg/s^2].
        torque: [N m].
        pwm: Duty cycle, [%].
        current: [A].
        control_modes: Values of ``ControlMode``.
        interaction_modes: Values of ``InteractionMode``.
        temperature: Of the motors, [deg C]; travels in the 4.x family only.
        invalid: The names of the fields that mean nothing.
    """

    joint_position: NDArray
    joint_velocity: NDArray
    joint_acceleration: NDArray
    motor_position: NDArray
    motor_velocity: NDArray
    motor_acceleration: NDArray
    torque: NDArray
    pwm: NDArray
    current: NDArray
    control_modes: npt.NDArray[np.int32]
    interaction_modes: npt.NDArray[np.int32]
    temperature: NDArray = field(default_factory=_zeros)
    invalid: frozenset[str] = frozenset()

    @classmethod
    def of(cls, joint_position: npt.ArrayLike, **measured: npt.ArrayLike) -> JointData:
        """Return a sample of what is measured; all other fields are zeros and invalid."""
        position = np.asarray(joint_position, dtype=np.float64)
        values: dict[str, Any] = {name: _array(name, np.zeros(len(position))) for name in FIELDS}
        values["joint_position"] = position
        for name, value in measured.items():
            if name not in values:
                raise TypeError(f"joint data has no {name!r}; it has {', '.join(FIELDS)}")
            values[name] = _array(name, value)
            if len(values[name]) != len(position):
                raise ValueError(f"{name} of {len(values[name])} joints beside joint_position of {len(position)}")
        return cls(**values, invalid=frozenset(FIELDS) - {"joint_position", *measured})

    @property
    def number_of_joints(self) -> int:
        """Return how many joints the part has."""
        return len(self.joint_position)

    def is_valid(self, name: str) -> bool:
        """Return whether the field of that name was measured."""
        return name not in self.invalid

    def to_items(self, family: WireFamily = WireFamily.YARP_3) -> list[Element]:
        """Return the elements of the message: 11 (3.x) or 12 (4.x) vectors, each followed by its validity."""
        items: list[Element] = []
        for name, element_type in ELEMENT_TYPES[family]:
            numbers: list[Element] = getattr(self, name).tolist()
            if element_type is Float32:
                numbers = list(map(Float32, numbers))  # type: ignore[arg-type]
            items.append(numbers or TypedList(element_type))
            items.append(FAIL if name in self.invalid else OK)
        return items

    @classmethod
    def from_items(cls, items: Sequence[Element]) -> JointData:
        """Return the sample of a message of either family.

        Raises:
            MalformedMessage: The fields are not those of joint data, or not all of one length.
        """
        family = _family_of(items)
        names = fields_of(family)
        values: dict[str, Any] = {name: _vector(name, items[2 * i]) for i, name in enumerate(names)}
        invalid = {name for i, name in enumerate(names) if not _is_true(items[2 * i + 1])}
        lengths = {len(value) for value in values.values()}
        if len(lengths) != 1:
            raise MalformedMessage(f"joint data with vectors of different lengths: {sorted(lengths)}")
        if family is WireFamily.YARP_3:
            values["temperature"] = np.zeros(lengths.pop())
            invalid.add("temperature")
        return cls(**values, invalid=frozenset(invalid))


FIELDS: tuple[str, ...] = tuple(one.name for one in fields(JointData) if one.name != "invalid")


def fields_of(family: WireFamily) -> tuple[str, ...]:
    """Return the names of the fields that travel, in order."""
    return FIELDS if family is WireFamily.YARP_4 else FIELDS[:-1]


def _element_type(name: str, family: WireFamily) -> type[float] | type[int]:
    if name in INTEGER_FIELDS:
        return int
    return Float32 if family is WireFamily.YARP_4 and name in ("pwm", "temperature") else float


ELEMENT_TYPES = {
    family: tuple((name, _element_type(name, family)) for name in fields_of(family)) for family in WireFamily
}


def _array(name: str, value: npt.ArrayLike) -> npt.NDArray[Any]:
    return np.asarray(value, dtype=np.int32 if name in INTEGER_FIELDS else np.float64)


def _family_of(items: Sequence[Element]) -> WireFamily:
    if len(items) == 2 * len(fields_of(WireFamily.YARP_3)):
        return WireFamily.YARP_3
    if len(items) == 2 * len(fields_of(WireFamily.YARP_4)):
        return WireFamily.YARP_4
    raise MalformedMessage(f"joint data has 22 (3.x) or 24 (4.x) fields, not {len(items)}")


def _vector(name: str, element: Element) -> npt.NDArray[Any]:
    """Return the numbers of a field; numpy finds the type of the elements."""
    try:
        numbers = np.array(element if isinstance(element, list) else None)
    except (ValueError, OverflowError):  # lists of different lengths, or numbers that are none
        numbers = np.array(None)
    kinds = "i" if name in INTEGER_FIELDS else "if"
    if numbers.ndim != 1 or (numbers.size and (numbers.dtype.kind not in kinds or not _fits(name, numbers))):
        raise MalformedMessage(f"{name} is not a vector of numbers: {element!r:.60}")
    return _array(name, numbers)


def _fits(name: str, numbers: npt.NDArray[Any]) -> bool:
    return name not in INTEGER_FIELDS or bool(numbers.min() >= -(2**31) and numbers.max() < 2**31)


def _is_true(element: Element) -> bool:
    return isinstance(element, int) and element != 0 and Vocab32(element) != FAIL


_NUMBER_TYPES: dict[type, np.dtype[Any]] = {int: np.dtype("<i4"), float: np.dtype("<f8"), Float32: np.dtype("<f4")}
_MOST_JOINTS = 256  # [-] of a part whose messages are read by their places: templates of any size would fill the memory
_LIST_HEAD, _TAG, _VOCAB = 8, 4, 4  # [bytes]
_CONSTANTS = (slice(0, 1), slice(1, None, 4), slice(3, None, 4))  # among the parts of a template
_NUMBERS, _VALIDITIES = slice(2, None, 4), slice(4, None, 4)
_OK, _FAIL = (int(word).to_bytes(_VOCAB, "little") for word in (OK, FAIL))
_FALSE = (_FAIL, bytes(_VOCAB))


class JointDataMessage:
    """A message of ``stateExt:o``, ready to be sent on any connection.

    Only numbers differ between the messages of one part, so they are put at their places in a template instead of
    being encoded one by one: a few microseconds instead of tens.

    Args:
        data: What was measured.
        family: Whose fields it has.
    """

    def __init__(self, data: JointData, family: WireFamily) -> None:
        self._data = data
        self._family = family

    def to_items(self) -> list[Element]:
        """Return the elements."""
        return self._data.to_items(self._family)

    def to_wire(self, family: WireFamily) -> bytes:
        """Return the bytes for a peer of a family."""
        if family is not self._family:  # the fields of one family with the tags of the other
            return encode_list(self.to_items(), family)
        data = self._data
        template = _template(family, data.number_of_joints)
        parts = list(template.at_rest)
        parts[_NUMBERS] = [np.asarray(getattr(data, name), travels).tobytes() for name, travels, _ in template.fields]
        parts[_VALIDITIES] = [_FAIL if name in data.invalid else _OK for name, _, _ in template.fields]
        if list(map(len, parts)) != template.sizes:
            raise MalformedMessage(f"joint data of {data.number_of_joints} joints has fields of other lengths")
        return b"".join(parts)

    def to_wire_text(self) -> str:
        """Return the line for a text connection."""
        return to_text(self.to_items())


def joint_data_in(message: bytes, family: WireFamily) -> JointData | None:
    """Return what the bytes of a message say, without taking its elements apart; None where they are not as usual."""
    template = _template_of_size(family, len(message))
    if template is None:
        return None
    parts = template.layout.unpack(message)
    if any(parts[constant] != template.at_rest[constant] for constant in _CONSTANTS):
        return None
    values: dict[str, Any] = {
        name: np.asarray(np.frombuffer(numbers, travels), own)
        for (name, travels, own), numbers in zip(template.fields, parts[_NUMBERS], strict=True)
    }
    invalid = {name for (name, _, _), word in zip(template.fields, parts[_VALIDITIES], strict=True) if word in _FALSE}
    for name in template.untold:
        values[name] = np.zeros(template.joints)
    return JointData(**values, invalid=frozenset(invalid | template.untold))


@dataclass(frozen=True, slots=True)
class _Template:
    """The message of a part at rest, cut at its numbers.

    Attributes:
        joints: Of the part.
        at_rest: The head of the list; then for each field the head of its list, its numbers, a tag, its validity.
            Every field is zeros and valid.
        layout: Cuts a message so.
        sizes: Of the parts, [bytes].
        fields: Name of each, the type of its numbers on the way, and in memory.
        untold: Fields that do not travel.
    """

    joints: int
    at_rest: tuple[bytes, ...]
    layout: struct.Struct
    sizes: list[int]
    fields: tuple[tuple[str, np.dtype[Any], np.dtype[Any]], ...]
    untold: frozenset[str]


@lru_cache(maxsize=64)
def _template(family: WireFamily, joints: int) -> _Template:
    zeros = np.zeros(joints)
    at_rest = JointData.of(zeros, **dict.fromkeys(FIELDS[1:], zeros))
    travels = [(name, _NUMBER_TYPES[element_type]) for name, element_type in ELEMENT_TYPES[family]]
    sizes = [_LIST_HEAD]
    for _, number_type in travels:
        sizes += [_LIST_HEAD, joints * number_type.itemsize, _TAG, _VOCAB]
    layout = struct.Struct("<" + "".join(f"{size}s" for size in sizes))
    message = layout.unpack(encode_list(at_rest.to_items(family), family))
    fields = tuple((name, number_type, getattr(at_rest, name).dtype) for name, number_type in travels)
    return _Template(joints, message, layout, sizes, fields, frozenset(FIELDS) - {name for name, _ in travels})


@lru_cache(maxsize=64)
def _template_of_size(family: WireFamily, size: int) -> _Template | None:
    """Return the template of the messages of so many bytes; None where a part has none."""
    none, one = (_template(family, joints).layout.size for joints in (0, 1))
    joints, rest = divmod(size - none, one - none)
    return None if rest or not 0 <= joints <= _MOST_JOINTS else _template(family, joints)
