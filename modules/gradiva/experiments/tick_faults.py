"""Faults that a tick of the walking controller meets: errors, readings that are none, clocks that jump; all seeded."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from types import FrameType
from typing import Any

import numpy as np

from gradiva.common import EstimationError, Measurement, NoSolutionFound, PlanningError, StateError
from gradiva.walking import WalkingLayers

_LAST_RESORT = "_given_up"  # nothing is under it that could still decide
_OWN = "gradiva.experiments"
_CALLS = 400  # [calls] of the package in a tick: an error comes at one of the first so many


class TickFaultKind(StrEnum):
    """What goes wrong."""

    ERROR_ANYWHERE = "error at any call"
    ERROR_IN_LAYER = "layer that raises"
    NOT_FINITE = "reading not finite"
    SHAPE = "reading of a wrong shape"
    TYPE = "reading of a wrong type"
    MISSING = "reading missing"
    CLOCK = "clock"


class MuteError(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("this error has no text")


_ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: KeyError("x"),
    lambda: ZeroDivisionError("float division by zero"),
    lambda: IndexError("list index out of range"),
    lambda: AttributeError("no such attribute"),
    lambda: TypeError("unsupported operand"),
    lambda: ValueError("operands could not be broadcast"),
    lambda: RuntimeError("Error in Function::call at casadi/core/function.cpp\nmore\n" * 50),
    lambda: np.linalg.LinAlgError("Singular matrix"),
    lambda: FloatingPointError("overflow encountered"),
    lambda: OverflowError("math range error"),
    lambda: AssertionError(),
    lambda: MemoryError(),
    lambda: RecursionError("maximum recursion depth exceeded"),
    lambda: OSError(28, "No space left on device"),
    lambda: TimeoutError("timed out"),
    lambda: StopIteration(),
    lambda: NotImplementedError(),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    lambda: ExceptionGroup("several", [KeyError("y")]),
    MuteError,
    lambda: EstimationError("joint_positions are not finite"),
    lambda: NoSolutionFound("inverse kinematics", "infeasible"),
    lambda: PlanningError("no footsteps"),
    lambda: StateError("cannot"),
)
_LAYER_CALLS = (
    ("estimator", "update"),
    ("model_control", "update"),
    ("whole_body", "command"),
    ("body_references", "reference"),
    ("swing_momentum", "zmp_shift"),
    ("zmp_without_foot", "zmp"),
    ("safety", "checked"),
    ("safety", "check"),
    ("safety", "note"),
    ("safety", "failed"),
    ("safety", "succeeded"),
    ("planner", "replan"),
    ("planner", "walk"),
)
_READINGS = (*(field.name for field in fields(Measurement)), "imu.rotation", "imu.angular_velocity")
_NUMBERS = (math.nan, math.inf, -math.inf, 1e150, -1e9)
_TYPES: tuple[Callable[[Any], Any], ...] = (
    lambda value: np.asarray(value).tolist(),
    lambda value: np.asarray(value, dtype=str),
    lambda value: np.asarray(value, dtype=object),
    lambda value: np.asarray(value).astype(np.float32),
    lambda value: np.asarray(value).astype(np.int64),
    lambda value: np.asarray(value) * 1j,
    lambda value: np.full(np.shape(value), None),
    lambda value: "reading",
    lambda value: {},
    lambda value: True,
)
_SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda value: np.atleast_1d(value)[:-1],
    lambda value: np.concatenate([np.atleast_1d(value)] * 2),
    lambda value: np.asarray(value)[None],
    lambda value: np.atleast_1d(value)[..., None],
    lambda value: np.zeros(0),
    lambda value: np.float64(0.3),
    lambda value: np.zeros((3, 4, 5)),
)


@dataclass(frozen=True, slots=True, eq=False)
class TickFault:
    """One fault of one tick.

    Attributes:
        kind: Of what kind it is.
        text: For the log.
        error: What is raised, or None.
        where: The layer and the method that raise it; None: the call of this number.
        call: In the tick, where no layer raises it.
        read: From the measurement to what the controller is given.
        clock: From the time to the one that the controller is given.
    """

    kind: TickFaultKind
    text: str
    error: Exception | None = None
    where: tuple[str, str] | None = None
    call: int = 0
    read: Callable[[Measurement], Any] = lambda measurement: measurement
    clock: Callable[[float], Any] = lambda time: time


def drawn_fault(kind: TickFaultKind, draw: np.random.Generator) -> TickFault:
    """Return a fault of a kind."""
    if kind is TickFaultKind.ERROR_ANYWHERE:
        error, call = _one_of(_ERRORS, draw)(), int(draw.integers(1, _CALLS))
        return TickFault(kind, f"{type(error).__name__} at call {call}", error, call=call)
    if kind is TickFaultKind.ERROR_IN_LAYER:
        error, where = _one_of(_ERRORS, draw)(), _one_of(_LAYER_CALLS, draw)
        return TickFault(kind, f"{type(error).__name__} in {'.'.join(where)}", error, where)
    if kind is TickFaultKind.CLOCK:
        step = _one_of(
            (-3e8, -0.5, -0.02, -0.01, 0.2, 0.5, 60.0, 1e9, 1e300, math.nan, math.inf, -math.inf, None), draw
        )
        return TickFault(kind, f"clock off by {step}", clock=lambda time: None if step is None else time + step)
    return _drawn_reading(kind, draw)


def _drawn_reading(kind: TickFaultKind, draw: np.random.Generator) -> TickFault:
    name = str(draw.choice(_READINGS))
    if kind is TickFaultKind.MISSING:
        if draw.random() < 0.2:
            nothing = _one_of((None, object(), "nothing", 0.0), draw)
            return TickFault(kind, f"measurement {nothing!r:.20}", read=lambda measurement: nothing)
        return TickFault(kind, f"{name} is None", read=lambda measurement: _with(measurement, name, lambda value: None))
    if kind is TickFaultKind.NOT_FINITE:
        number, portion = _one_of(_NUMBERS, draw), _one_of((0.05, 0.3, 1.0), draw)
        seed = int(draw.integers(1 << 30))
        change: Callable[[Any], Any] = lambda value: _spoiled(value, number, portion, seed)  # noqa: E731
        return TickFault(kind, f"{portion} of {name} is {number}", read=lambda measured: _with(measured, name, change))
    changes = _SHAPES if kind is TickFaultKind.SHAPE else _TYPES
    number = int(draw.integers(len(changes)))
    return TickFault(kind, f"{name} {number}", read=lambda measured: _with(measured, name, changes[number]))


@contextmanager
def raising(fault: TickFault, layers: WalkingLayers) -> Iterator[list[Exception]]:
    """Let the error of a fault be raised within; yield the errors that were."""
    raised: list[Exception] = []
    if fault.error is None:
        yield raised
    elif fault.where is None:
        with _error_at(fault.call, fault.error, raised):
            yield raised
    else:
        with _error_in(getattr(layers, fault.where[0]), fault.where[1], fault.error, raised):
            yield raised


@contextmanager
def _error_at(call: int, error: Exception, raised: list[Exception]) -> Iterator[None]:
    """Raise an error at a call that code of the package makes or takes, be it of a function of Python or of C."""
    left = call

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if event not in ("call", "c_call") or not _is_within_tick(frame):
            return
        left -= 1
        if left == 0:
            raised.append(error)
            raise error

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def _is_within_tick(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    if not name.startswith("gradiva.") or name.startswith(_OWN) or frame.f_code.co_name == "step":
        return False
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_name != "step":
        if caller.f_code.co_name == _LAST_RESORT:
            return False
        caller = caller.f_back
    return True


@contextmanager
def _error_in(owner: object, method: str, error: Exception, raised: list[Exception]) -> Iterator[None]:
    def fail(*_: Any, **__: Any) -> Any:
        raised.append(error)
        raise error

    setattr(owner, method, fail)
    try:
        yield
    finally:
        vars(owner).pop(method, None)  # two faults may have the same place


def _one_of(choices: tuple[Any, ...], draw: np.random.Generator) -> Any:
    return choices[int(draw.integers(len(choices)))]


def _with(measurement: Measurement, name: str, change: Callable[[Any], Any]) -> Measurement:
    """Return a measurement with a changed reading, whatever its type does not allow."""
    own, _, inner = name.partition(".")
    value = getattr(measurement, own)
    if inner and value is None:
        return measurement
    changed = _copy(value, inner, change(getattr(value, inner))) if inner else change(value)
    return _copy(measurement, own, changed)


def _copy(value: Any, name: str, changed: Any) -> Any:
    copy = object.__new__(type(value))
    for field in fields(value):
        object.__setattr__(copy, field.name, changed if field.name == name else getattr(value, field.name))
    return copy


def _spoiled(value: Any, number: float, portion: float, seed: int) -> Any:
    if not isinstance(value, (float, np.ndarray)):
        return number
    spoiled = np.array(value, dtype=float)
    where = np.random.default_rng(seed).random(spoiled.shape) <= portion
    spoiled[where] = number
    return float(spoiled) if isinstance(value, float) else spoiled
