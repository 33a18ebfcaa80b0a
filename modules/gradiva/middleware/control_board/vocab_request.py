"""A request of the 3.x dialect taken apart: what its words mean, whose joints, which values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradiva.middleware.control_board.board_access import MODES, TRIGGERS
from gradiva.middleware.control_board.control_board_device import Joints
from gradiva.middleware.control_board.feature import Feature
from gradiva.middleware.control_board.streamed_command import Scope
from gradiva.middleware.control_board.typed_values import (
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
from gradiva.middleware.control_board.vocab_words import INTERFACE_WORDS, NAMED, Named
from gradiva.middleware.control_board.vocabulary import PidType
from pureyarp.wire.elements import Element


@dataclass(frozen=True, slots=True)
class VocabRequest:
    """A request taken apart.

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
        return cls(what, *_joints(what.scope, rest, all_joints), pid)

    @property
    def is_for_one_joint(self) -> bool:
        """Tell whether the words mean a single joint."""
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


def _joints(scope: Scope, rest: Sequence[Element], all_joints: Joints) -> tuple[Joints, Sequence[Element]]:
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
