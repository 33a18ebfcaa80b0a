"""Joint data as the bytes of its message, written and read many times a second."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gradiva.middleware.control_board.joint_data import ELEMENT_TYPES, FAIL, FIELDS, OK, JointData
from pureyarp.errors import MalformedMessage
from pureyarp.wire.binary import encode_list
from pureyarp.wire.elements import Element, Float32, WireFamily
from pureyarp.wire.text import to_text

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
    nobody, one = (_template(family, joints).layout.size for joints in (0, 1))
    joints, rest = divmod(size - nobody, one - nobody)
    return None if rest or not 0 <= joints <= _MOST_JOINTS else _template(family, joints)
