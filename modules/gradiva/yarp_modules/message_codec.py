"""Packs dataclasses into Bottles and unpacks them: every message between modules is one."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, Protocol, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import NAMED_ERRORS, Element, MalformedMessage

Pack = Callable[[Any], Element]
Unpack = Callable[[Element], Any]


class Misfit(Exception):  # noqa: N818 (it becomes a MalformedMessage)
    """An element that is no value of the type; ``path`` grows on the way out."""

    def __init__(self, complaint: str) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.path = ""


class Form(Protocol):
    """How values of one type are packed and unpacked; `unpack` raises `Misfit`."""

    def pack(self, value: Any) -> Element:
        """Return ``value`` as an element."""
        ...

    def unpack(self, element: Element) -> Any:
        """Return the value that ``element`` stands for."""
        ...


class DataclassForm:
    """A list of the fields, in order."""

    def __init__(self, kind: type, names: Sequence[str], forms: Sequence[Form]) -> None:
        self.kind = kind
        self._names = tuple(names)
        self._packers = [(name, form.pack) for name, form in zip(names, forms, strict=True)]
        self._unpackers = [form.unpack for form in forms]

    def pack(self, value: Any) -> list[Element]:
        """See `Form.pack`."""
        return [pack(getattr(value, name)) for name, pack in self._packers]

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        return self.made_of(as_list(element))

    def made_of(self, items: list[Element]) -> Any:
        """Return the value whose fields are ``items``."""
        if len(items) != len(self._names):
            raise Misfit(f"{self.kind.__name__} has {len(self._names)} fields, got {len(items)}")
        values: dict[str, Any] = {}
        try:
            for name, unpack, item in zip(self._names, self._unpackers, items, strict=True):
                values[name] = unpack(item)
        except Misfit as misfit:
            misfit.path = f".{self._names[len(values)]}{misfit.path}"
            raise
        try:
            return self.kind(**values)
        except (*NAMED_ERRORS, ValueError) as error:
            raise Misfit(str(error)) from error


class OptionalForm:
    """An empty list for None, else a list of one."""

    def __init__(self, form: Form) -> None:
        self._form = form

    def pack(self, value: Any) -> list[Element]:
        """See `Form.pack`."""
        return [] if value is None else [self._form.pack(value)]

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        items = as_list(element)
        if not items:
            return None
        if len(items) != 1:
            raise Misfit(f"expected one value or none, got {len(items)}")
        return self._form.unpack(items[0])


class ChoiceForm:
    """A list: name of the dataclass, then its fields; empty for None where that is allowed."""

    def __init__(self, forms: Sequence[DataclassForm], may_be_none: bool) -> None:
        self._forms = {form.kind: form for form in forms}
        self._named = {form.kind.__name__: form for form in forms}
        self._may_be_none = may_be_none

    def pack(self, value: Any) -> list[Element]:
        """See `Form.pack`."""
        return [] if value is None else [type(value).__name__, *self._forms[type(value)].pack(value)]

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        items = as_list(element)
        if not items and self._may_be_none:
            return None
        name = items[0] if items and isinstance(items[0], str) else ""
        if name not in self._named:
            raise Misfit(f"{name!r} is none of {', '.join(self._named)}")
        try:
            return self._named[name].made_of(items[1:])
        except Misfit as misfit:
            misfit.path = f" ({name}){misfit.path}"
            raise


class TupleForm:
    """A list; each place has its own form, or all have the same."""

    def __init__(self, make: Callable[[Any], Any], forms: Sequence[Form], is_alike: bool) -> None:
        self._make = make
        self._forms = list(forms)
        self._is_alike = is_alike

    def pack(self, value: Any) -> list[Element]:
        """See `Form.pack`."""
        return [form.pack(item) for item, form in zip(value, self._for(len(value)), strict=True)]

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        items = as_list(element)
        forms = self._for(len(items))
        if len(forms) != len(items):
            raise Misfit(f"expected {len(forms)} values, got {len(items)}")
        values: list[Any] = []
        try:
            for item, form in zip(items, forms, strict=True):
                values.append(form.unpack(item))
        except Misfit as misfit:
            misfit.path = f"[{len(values)}]{misfit.path}"
            raise
        return self._make(values)

    def _for(self, count: int) -> list[Form]:
        return self._forms * count if self._is_alike else self._forms


class ArrayForm:
    """A list of doubles; with two or more axes (lengths) (numbers, row by row)."""

    def pack(self, value: NDArray) -> list[Element]:
        """See `Form.pack`."""
        numbers = cast("list[Element]", value.ravel().tolist())
        return numbers if value.ndim == 1 else [list(value.shape), numbers]

    def unpack(self, element: Element) -> NDArray:
        """See `Form.unpack`."""
        items = as_list(element)
        if len(items) != 2 or not isinstance(items[0], list) or not isinstance(items[1], list):
            return _numbers(items)
        try:
            return _numbers(items[1]).reshape(cast("list[int]", items[0]))
        except (TypeError, ValueError) as error:
            raise Misfit(f"no array: {error}") from None


class FlagsForm:
    """A list of int32, 0 or 1."""

    def pack(self, value: Any) -> list[Element]:
        """See `Form.pack`."""
        return [int(flag) for flag in value.tolist()]

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        items = as_list(element)
        if not all(flag in (0, 1) for flag in items):
            raise Misfit(f"expected flags, got {items!r:.40}")
        return np.array(items, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class ScalarForm:
    """A number, a text or True and False as they are.

    Attributes:
        kind: ``bool``, ``int``, ``float`` or ``str``.
    """

    kind: type
    _accepted: tuple[type, ...] = field(init=False)

    def __post_init__(self) -> None:
        accepted = {bool: (int,), int: (int,), float: (float, int), str: (str,)}
        object.__setattr__(self, "_accepted", accepted[self.kind])

    def pack(self, value: Any) -> Element:
        """See `Form.pack`."""
        return int(value) if self.kind is bool else cast(Element, self.kind(value))

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        if not isinstance(element, self._accepted):
            raise Misfit(f"expected {self.kind.__name__}, got {element!r:.40}")
        if self.kind is float and not math.isfinite(cast(float, element)):
            raise Misfit("not finite")
        return self.kind(element)


class EnumForm:
    """A string: the value."""

    def __init__(self, kind: type[Enum]) -> None:
        self._members = {str(member.value): member for member in kind}

    def pack(self, value: Enum) -> Element:
        """See `Form.pack`."""
        return str(value.value)

    def unpack(self, element: Element) -> Any:
        """See `Form.unpack`."""
        if not isinstance(element, str) or element not in self._members:
            raise Misfit(f"{element!r:.40} is none of {', '.join(self._members)}")
        return self._members[element]


def as_list(element: Element) -> list[Element]:
    """Return ``element`` as the list that it has to be."""
    if not isinstance(element, list):
        raise Misfit(f"expected a list, got {element!r:.40}")
    return element


def _numbers(items: list[Element]) -> NDArray:
    """Return an array of one axis. The sum finds in one go what is no number, and nearly all that is not finite."""
    try:
        is_finite = math.isfinite(sum(cast("list[float]", items)))
    except TypeError:
        raise Misfit("no array: numbers alone are expected in it") from None
    array = np.array(items, dtype=np.float64)
    if not is_finite and not np.isfinite(array).all():
        raise Misfit("not finite")
    return array


class MessageCodec:
    """Translates values of any dataclass; both ends have the same classes.

    ==========================  ===================================================================
    Value                       In the Bottle
    ==========================  ===================================================================
    dataclass                   list of its fields, in order
    one of several dataclasses  list: name of the class, then its fields
    array of numbers            list of doubles; with two or more axes (lengths) (numbers, row by row)
    array of flags              list of int32, 0 or 1
    tuple, list                 list
    number, text                float64 or int32, string
    True, False                 int32 1, 0
    enumeration                 string: its value
    None                        empty list; anything else that may be None: list of one
    ==========================  ===================================================================

    How a type is translated is found out once, at its first use.

    Args:
        variants: For a field that is typed as a protocol: the dataclasses that it can be.
    """

    def __init__(self, variants: Mapping[type, Sequence[type]] | None = None) -> None:
        self._variants = {kind: tuple(kinds) for kind, kinds in (variants or {}).items()}
        self._forms: dict[Any, Form] = {}

    def pack(self, value: Any, kind: Any = None) -> Element:
        """Return ``value`` as an element.

        Args:
            value: A dataclass, or what its fields can be.
            kind: Its declared type; that of the value by default.
        """
        return self._form(type(value) if kind is None else kind).pack(value)

    def unpack(self, element: Element, kind: Any, where: str = "message") -> Any:
        """Return the value of type ``kind`` that ``element`` stands for.

        Args:
            element: As `pack` makes it.
            kind: The declared type.
            where: Put in front of a complaint.

        Raises:
            MalformedMessage: Wrong type, count or size, not finite, or refused by the class; says which field.
        """
        try:
            return self._form(kind).unpack(element)
        except Misfit as misfit:
            raise MalformedMessage(f"{where}{misfit.path}: {misfit.complaint}") from misfit.__cause__

    def _form(self, kind: Any) -> Form:
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = self._made_form(kind)
        return form

    def _made_form(self, kind: Any) -> Form:
        if get_origin(kind) in (Union, types.UnionType):
            return self._choice(get_args(kind))
        if kind in self._variants:
            return self._choice(self._variants[kind])
        if is_dataclass(kind):
            return self._dataclass(cast(type, kind))
        if get_origin(kind) in (tuple, list):
            return self._sequence(kind)
        if get_origin(kind) is np.ndarray:
            return ArrayForm() if get_args(kind) == get_args(NDArray) else FlagsForm()
        if isinstance(kind, type) and issubclass(kind, Enum):
            return EnumForm(kind)
        if kind in (bool, int, float, str):
            return ScalarForm(kind)
        raise TypeError(f"a {kind} is no part of a message")

    def _choice(self, kinds: Sequence[Any]) -> Form:
        others = [kind for kind in kinds if kind is not type(None)]
        may_be_none = len(others) < len(kinds)
        if len(others) == 1 and may_be_none:
            return OptionalForm(self._form(others[0]))
        return ChoiceForm([self._dataclass(kind) for kind in others], may_be_none)

    def _dataclass(self, kind: type) -> DataclassForm:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind) if field.init]
        return DataclassForm(kind, names, [self._form(hints[name]) for name in names])

    def _sequence(self, kind: Any) -> Form:
        make, arguments = get_origin(kind), get_args(kind)
        is_alike = make is list or (len(arguments) == 2 and arguments[1] is Ellipsis)
        kinds = arguments[:1] if is_alike else arguments
        return TupleForm(make, [self._form(each) for each in kinds], is_alike)
