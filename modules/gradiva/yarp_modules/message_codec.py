"""Dataclasses as the contents of a Bottle, and back: every message between modules is one of them."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import MalformedMessage
from gradiva.yarp_modules.message_forms import (
    ArrayForm,
    ChoiceForm,
    DataclassForm,
    EnumForm,
    FlagsForm,
    Form,
    Misfit,
    OptionalForm,
    ScalarForm,
    TupleForm,
)
from pureyarp.wire.elements import Element


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
