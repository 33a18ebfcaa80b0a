"""Typed configuration: tables (from TOML) become frozen dataclasses, or a ConfigError that names the key to correct."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from gradiva.common.errors import ConfigError, nearest_name

T = TypeVar("T")


class Limits(NamedTuple):
    """Range of a number, and why; a bound that is None is none."""

    above: float | None
    least: float | None
    below: float | None
    most: float | None
    why: str

    def complaint(self, value: float) -> str:
        """Return the condition that a value violates, as ``must be positive``; empty where it violates none."""
        if not math.isfinite(value):
            return "must be finite"
        low = self.least is None or value >= self.least, self.above is None or value > self.above
        high = self.most is None or value <= self.most, self.below is None or value < self.below
        if all((*low, *high)):
            return ""
        condition = "not be negative" if self.text == "not negative" else f"be {self.text}"
        return f"must {condition}" + (f": {self.why}" if self.why else "")

    @property
    def text(self) -> str:
        """Return the range as ``positive`` or ``in [0, 1]``; empty where there is no bound."""
        lower = next((bound for bound in (self.least, self.above) if bound is not None), None)
        upper = next((bound for bound in (self.most, self.below) if bound is not None), None)
        if lower is not None and upper is not None:
            return f"in {'(['[self.above is None]}{lower:g}, {upper:g}{')]'[self.below is None]}"
        if upper is not None:
            return f"{'below' if self.most is None else 'at most'} {upper:g}"
        if lower is None:
            return ""
        if lower == 0.0:
            return "positive" if self.least is None else "not negative"
        return f"{'above' if self.least is None else 'at least'} {lower:g}"


def setting(
    unit: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    why: str = "",
    live: tuple[float, float] | None = None,
) -> Any:
    """Return a field of a `configuration`: a number, or some in a tuple or dict, with its unit and its range.

    Args:
        unit: ``m``, ``rad/s``; ``-`` of pure numbers.
        above: Bound that it must exceed.
        least: Smallest value.
        below: Bound that it must not reach.
        most: Largest value.
        why: Reason of the range, for messages.
        live: Lowest and highest value of a slider, where the number may change while the robot walks; None: it may not.
    """
    return dataclasses.field(metadata={"unit": unit, "limits": Limits(above, least, below, most, why), "live": live})


class LiveSetting(NamedTuple):
    """A number that may change while the robot walks.

    Attributes:
        key: Its tables and its name, as in ``table.key``.
        value: Of the configuration.
        unit: ``m``, ``rad/s``; ``-`` of pure numbers.
        low: Lowest value of a slider.
        high: Highest.
    """

    key: str
    value: float
    unit: str
    low: float
    high: float


def live_settings(config: Any, table: str = "") -> Iterator[LiveSetting]:
    """Yield the numbers of a configuration, and of those within it, that may change while the robot walks."""
    for field in dataclasses.fields(config):
        key, value = f"{table}.{field.name}".lstrip("."), getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from live_settings(value, key)
        elif live := field.metadata.get("live"):
            yield LiveSetting(key, value, field.metadata["unit"], *live)


@typing.dataclass_transform(frozen_default=True, field_specifiers=(setting, dataclasses.field))
def configuration(kind: type[T]) -> type[T]:
    """Make a frozen dataclass of which each `setting` is checked, before a ``__post_init__`` of its own."""
    own = kind.__dict__.get("__post_init__")

    def checked(self: Any) -> None:
        """Check each setting, then what the class itself relates."""
        for field in dataclasses.fields(self):
            if "limits" in field.metadata:
                _check(field.name, getattr(self, field.name), field.metadata["limits"])
        if own is not None:
            own(self)

    kind.__post_init__ = checked  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True, slots=True)(kind)


def _check(name: str, value: Any, limits: Limits) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check(f"{name}.{key}", item, limits)
        return
    for number in value if isinstance(value, (tuple, list)) else (value,):
        if complaint := limits.complaint(number):
            raise ConfigError(f"{name}={value}, {complaint}", [name])


def from_table(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """Build the configuration dataclass ``kind`` from a table.

    Args:
        kind: A dataclass; nested dataclasses, tuples, enums and optional fields are understood.
        table: Key to value, as read from TOML.
        where: File and table, put in front of each message; ends with a comma where the names of its tables follow.

    Raises:
        ConfigError: A key is unknown or missing, a value has the wrong type or is refused by ``kind``; its ``keys`` are
            those concerned, from ``table`` on.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: expected a table, got {table!r}")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            raise ConfigError(f"{where.rstrip(',')}: unknown key '{key}'{nearest_name(key, fields)}", [key])
    hints = _type_hints(kind)
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in table:
            values[name] = _convert_field(hints[name], table[name], where, name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{where.rstrip(',')}: missing key '{name}'")
    try:
        return kind(**values)
    except ConfigError as error:
        keys = dict.fromkeys((*error.keys, *_named_in(str(error), fields)))
        raise ConfigError(f"{where.rstrip(',')}: {error}", [*keys]) from None


_type_hints: Callable[[Any], dict[str, Any]] = functools.cache(typing.get_type_hints)


def merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the entries of ``override`` laid over it, table by table."""
    merged = dict(base)
    for key, value in override.items():
        both_tables = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both_tables else value
    return merged


def _named_in(message: str, fields: Iterable[str]) -> list[str]:
    """Return the fields that a message shows with their values, as ``name=value``."""
    return [name for name in fields if re.search(rf"(?<![\w.]){name}=", message)]


_AS_THEY_ARE = (str, bool, int)  # types of TOML that nothing is asked of


def _convert_field(hint: Any, value: Any, where: str, name: str) -> Any:
    try:
        return _convert(hint, value, f"{where} {name}")
    except ConfigError as error:
        raise ConfigError(str(error), [f"{name}.{key}" for key in error.keys] or [name]) from None


def _convert(hint: Any, value: Any, where: str) -> Any:
    if type(value) is hint and hint in _AS_THEY_ARE:  # nine of ten
        return value
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        members = typing.get_args(hint)
        if value is None and type(None) in members:
            return None
        hint = _member(tuple(member for member in members if member is not type(None)), value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return value if isinstance(value, hint) else from_table(hint, value, where)
    origin = typing.get_origin(hint)
    if origin in (tuple, list):
        return _convert_sequence(hint, value, where)
    if origin in (dict, Mapping) or hint is dict:
        return _convert_mapping(hint, value, where)
    return _convert_scalar(hint, value, where)


def _member(members: tuple[Any, ...], value: Any) -> Any:
    """Return the member of a union that a value is meant for: the sequence for a list, else the first."""
    is_list = isinstance(value, (list, tuple))
    return next((member for member in members if (typing.get_origin(member) in (tuple, list)) is is_list), members[0])


def _convert_sequence(hint: Any, value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"{where}: expected a list, got {value!r}")
    members = [member for member in typing.get_args(hint) if member is not Ellipsis]
    if Ellipsis in typing.get_args(hint) or typing.get_origin(hint) is list:
        members = members * len(value)
    if len(members) != len(value):
        raise ConfigError(f"{where}: expected {len(members)} values, got {len(value)}")
    return tuple(
        _convert(member, item, f"{where}[{index}]")
        for index, (member, item) in enumerate(zip(members, value, strict=True))
    )


def _convert_mapping(hint: Any, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: expected a table, got {value!r}")
    arguments = typing.get_args(hint)
    member = arguments[1] if len(arguments) == 2 else Any
    return {key: _convert(member, item, f"{where}.{key}") for key, item in value.items()}


def _convert_scalar(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(value)
        except ValueError:
            names = [str(member.value) for member in hint]
            raise ConfigError(f"{where}: unknown value '{value}'{nearest_name(str(value), names)}") from None
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ConfigError(f"{where}: expected a finite number, got {value}")
        return float(value)
    if isinstance(hint, type) and isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    expected = hint.__name__ if isinstance(hint, type) else str(hint)
    raise ConfigError(f"{where}: expected {expected}, got {value!r}")
