"""What a control board measures: the message of ``stateExt:o``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray
from pureyarp.errors import MalformedMessage
from pureyarp.wire.elements import Element, Float32, TypedList, Vocab32, WireFamily, encode_vocab

OK = encode_vocab("ok")
FAIL = encode_vocab("fail")
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
        """Tell whether the field of that name was measured."""
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
    """Return the numbers of a field; the type that numpy finds tells what the elements are."""
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
