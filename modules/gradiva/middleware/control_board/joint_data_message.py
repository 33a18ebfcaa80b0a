"""Joint data as the bytes of its message, written many times a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gradiva.middleware.control_board.joint_data import ELEMENT_TYPES, FAIL, JointData, fields_of
from gradiva.middleware.embedded.wire.binary import encode_list
from gradiva.middleware.embedded.wire.elements import Element, Float32
from gradiva.middleware.embedded.wire.text import to_text
from gradiva.middleware.embedded.wire.wire_family import WireFamily
from gradiva.middleware.errors import MalformedMessage

_NUMBER_TYPES: dict[type, np.dtype[Any]] = {int: np.dtype("<i4"), float: np.dtype("<f8"), Float32: np.dtype("<f4")}
_MOST_JOINTS = 256  # [-] of a part whose messages are read by their places: templates of any size would fill the memory
_LIST_HEADER, _TAG, _VOCAB = 8, 4, 4  # [bytes]
_FAIL = int(FAIL).to_bytes(_VOCAB, "little")
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
        message = bytearray(template.at_rest)
        for name, numbers, number_type in template.places:
            message[numbers] = np.asarray(getattr(data, name), number_type).tobytes()
        for name in data.invalid.intersection(template.validities):
            message[template.validities[name]] = _FAIL
        if len(message) != len(template.at_rest):
            raise MalformedMessage(f"joint data of {data.number_of_joints} joints has fields of other lengths")
        return bytes(message)

    def to_wire_text(self) -> str:
        """Return the line for a text connection."""
        return to_text(self.to_items())


def joint_data_in(message: bytes, family: WireFamily) -> JointData | None:
    """Return what the bytes of a message say, without taking its elements apart; None where they are not as usual."""
    joints, rest = divmod(len(message) - _size_at_rest(family, 0), _size_at_rest(family, 1) - _size_at_rest(family, 0))
    if rest or not 0 <= joints <= _MOST_JOINTS:
        return None
    template = _template(family, joints)
    if any(message[part] != template.at_rest[part] for part in template.constants):
        return None
    said = {name: message[place] for name, place in template.validities.items()}
    invalid = {name for name, word in said.items() if word in _FALSE}
    values: dict[str, Any] = {
        name: np.frombuffer(message, number_type, joints, numbers.start).astype(_own(number_type), copy=False)
        for name, numbers, number_type in template.places
    }
    if "temperature" not in values:  # does not travel in the 3.x family
        values["temperature"] = np.zeros(joints)
        invalid.add("temperature")
    return JointData(**values, invalid=frozenset(invalid))


def _size_at_rest(family: WireFamily, joints: int) -> int:
    return len(_template(family, joints).at_rest)


def _own(number_type: np.dtype[Any]) -> type:
    return np.int32 if number_type.kind == "i" else np.float64


@dataclass(frozen=True, slots=True)
class _Template:
    """The message of a part at rest, and where in it what can change stands.

    Attributes:
        at_rest: All bytes; every field is zeros and valid.
        places: Of the numbers of each field, with their type.
        validities: Of the vocab that says whether a field means anything.
        constants: Of all other bytes.
    """

    at_rest: bytes
    places: tuple[tuple[str, slice, np.dtype[Any]], ...]
    validities: dict[str, slice]
    constants: tuple[slice, ...]


@lru_cache(maxsize=64)
def _template(family: WireFamily, number_of_joints: int) -> _Template:
    zeros = np.zeros(number_of_joints)
    at_rest = JointData.of(zeros, **dict.fromkeys(fields_of(family)[1:], zeros))
    places: list[tuple[str, slice, np.dtype[Any]]] = []
    validities: dict[str, slice] = {}
    constants = [slice(0, _LIST_HEADER)]
    end = _LIST_HEADER
    for name, element_type in ELEMENT_TYPES[family]:
        number_type = _NUMBER_TYPES[element_type]
        start = end + _LIST_HEADER
        stop = start + number_of_joints * number_type.itemsize
        end = stop + _TAG + _VOCAB
        places.append((name, slice(start, stop), number_type))
        validities[name] = slice(stop + _TAG, end)
        constants += [slice(start - _LIST_HEADER, start), slice(stop, stop + _TAG)]
    message = encode_list(at_rest.to_items(family), family)
    return _Template(message, tuple(places), validities, tuple(constants))
