"""The commands of ``command:i``: a header that says whose and which set-points, then the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from gradiva.middleware.recurring_messages import RecurringMessage, RecurringMessages
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, TypedList, WireFamily, decode_vocab, encode_vocab


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
