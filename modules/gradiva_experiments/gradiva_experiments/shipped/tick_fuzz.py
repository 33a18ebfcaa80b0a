"""Faults within the tick, drawn at random: errors, readings and clocks that no tick may fail of."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields
from enum import StrEnum
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any

import numpy as np

from gradiva.common import (
    ControlClock,
    ControlMode,
    EstimationError,
    JointCommand,
    Measurement,
    NDArray,
    NoSolutionFound,
    PlanningError,
    StateError,
)
from gradiva.middleware import NAMED_ERRORS
from gradiva.planner import VelocityCommand
from gradiva.setup import GccCompiler, Setup, cache_folder, load_setup
from gradiva.simulation import MujocoRobot
from gradiva.walking import Response, SafetyKind, WalkingController, WalkingLayers, WalkingLog, WalkingState
from gradiva_experiments.experiment import Experiment, ExperimentRun, Row

_LAST_RESORT = WalkingController.freeze_without_safety.__name__  # nothing is under it that could still decide
_OWN = "gradiva_experiments"
_CALLS = 400  # [calls] of the package in a tick: an error comes at one of the first so many


# -- faults ------------------------------------------------------------------------------------------------------------


class TickFaultKind(StrEnum):
    """Kinds of faults within a tick."""

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
    ("push_recovery", "pendulum"),
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
        if event == "call" and frame.f_code.co_flags & CO_GENERATOR:
            return  # it may be the close of one that was left early, in which Python ignores errors
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
    if not name.startswith("gradiva.") or name.startswith(_OWN) or frame.f_code.co_name in ("step", "_guarded"):
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
    for each in fields(value):
        object.__setattr__(copy, each.name, changed if each.name == name else getattr(value, each.name))
    return copy


def _spoiled(value: Any, number: float, portion: float, seed: int) -> Any:
    if not isinstance(value, (float, np.ndarray)):
        return number
    spoiled = np.array(value, dtype=float)
    where = np.random.default_rng(seed).random(spoiled.shape) <= portion
    spoiled[where] = number
    return float(spoiled) if isinstance(value, float) else spoiled


_CASES, _QUICK_CASES = 10_000, 600
_FAILED = (SafetyKind.FAILED_TICK, SafetyKind.FAILED_TICKS, SafetyKind.NO_SOLUTION)
_ROUNDING = 1e-9
_SHORT_MOVE = "walking.prepare_duration=0.3"


# -- cases -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class CaseResult:
    """Events, errors and complaints of one case.

    Attributes:
        kind: Of its first fault.
        faults: All of them, as text.
        ticks: How many it took.
        froze: Whether the joints were frozen in it.
        complaints: What should not have been.
    """

    kind: TickFaultKind
    faults: str
    ticks: int = 0
    froze: bool = False
    complaints: list[str] = field(default_factory=list)


class FuzzedWalk:
    """Walks in simulation, meets one case of faults after the other, and is prepared anew where it froze or fell.

    Attributes:
        largest_step: Of a desired joint position in one tick, of what the joint's velocity limit allows, [-].
        largest_offset: Of a set-point from it, of what the servo yields at its torque limit, [-].
    """

    def __init__(self, setup: Setup, seed: int = 0) -> None:
        """Put the robot on the ground; ``seed`` begins all draws."""
        self._setup = setup
        self._tick = setup.walking.walking
        self._layers = WalkingLayers(setup.robot, setup.walking, GccCompiler(cache_folder()))
        self._controller = WalkingController(self._layers)
        self._draw = np.random.default_rng(seed)
        self._now = 0.0  # [s] what a clock without faults says
        self._clock = ControlClock(self._tick.period)
        self._events_before = 0
        self._last: JointCommand | None = None
        self._last_time = -np.inf
        self._desired: NDArray | None = None
        self._errors: list[Exception] = []  # of the case, and how often the clock jumped
        self._jumps = self._raised = 0  # an error within the clock itself keeps it from seeing a jump
        self.largest_step = self.largest_offset = 0.0
        self._begin_again()

    def case(self) -> CaseResult:
        """Walk on a little, meet the faults of one case, then tick without any; return what came of it."""
        draw = self._draw
        self._get_walking()
        for _ in range(int(draw.integers(0, 12))):
            self._ticked(())
        kinds = draw.choice(list(TickFaultKind), size=1 + (draw.random() < 0.2))
        lasting = int(draw.choice([1, 2, 4, 60], p=[0.6, 0.2, 0.15, 0.05]))
        faults = [drawn_fault(TickFaultKind(kind), draw) for kind in kinds]
        result = CaseResult(faults[0].kind, " and ".join(fault.text for fault in faults) + f", {lasting} ticks")
        for _ in range(lasting):
            self._look_at(result, *self._ticked(faults))
        for _ in range(int(draw.integers(1, 6))):
            self._look_at(result, *self._ticked(()))
        result.complaints += self._complaints_of_case()
        return result

    # -- one tick ----------------------------------------------------------------------------------------------

    def _ticked(self, faults: Sequence[TickFault]) -> tuple[WalkingLog | None, list[str]]:
        """Sense, control and let a period pass; return the log and what is wrong with the tick."""
        measurement, source = self._robot.read(), self._now
        object.__setattr__(measurement, "time", self._now)
        was_balancing = self._controller.is_balancing
        with ExitStack() as stack:
            for fault in faults:
                with suppress(Exception):  # the second fault may not find what the first one has left
                    measurement = fault.read(measurement)
                source = None if source is None else fault.clock(source)
            self._clock.update(source)
            raised = [stack.enter_context(raising(fault, self._layers)) for fault in faults]
            try:
                command, log = self._controller.step(measurement, source)
            except Exception as error:
                stack.close()
                self._advance(None)
                return None, [f"{type(error).__name__} left the tick: {error!s:.80}"]
        errors = [error for errors in raised for error in errors]
        complaints = [
            *self._complaints_of_command(command, log),
            *self._complaints_of_events(log, errors, was_balancing),
        ]
        self._advance(command)
        return log, complaints

    def _look_at(self, result: CaseResult, log: WalkingLog | None, complaints: list[str]) -> None:
        result.ticks += 1
        result.froze |= log is not None and log.state is WalkingState.FAULT
        result.complaints += complaints

    def _advance(self, command: JointCommand | None) -> None:
        self._now += self._tick.period
        if command is not None:
            with suppress(*NAMED_ERRORS):
                self._robot.write(command)
        self._robot.advance(self._tick.period)

    # -- what has to hold --------------------------------------------------------------------------------------

    def _complaints_of_command(self, command: JointCommand, log: WalkingLog) -> list[str]:
        """Return why a command cannot be sent, or may not follow the last one."""
        bounds, found = self._layers.joint_bounds, []
        lower, upper = {
            ControlMode.POSITION: (bounds.lower, bounds.upper),
            ControlMode.VELOCITY: (-bounds.velocities, bounds.velocities),
            ControlMode.TORQUE: (-bounds.torques, bounds.torques),
        }[command.mode]
        values = command.values
        if values.shape != lower.shape or not np.isfinite(values).all():
            return ["a command that is none"]
        if ((values < lower - _ROUNDING) | (values > upper + _ROUNDING)).any():
            found.append(f"a command of {command.mode} beyond the limits of a joint")
        if command.mode not in (ControlMode.POSITION, self._tick.control) and values.any():
            found.append(f"a command of {command.mode} in {self._tick.control} control")
        found += self._complaints_of_step(command, log)
        if not log.time - self._last_time > 0.0:
            found.append(f"control time went from {self._last_time} to {log.time}")
        if log.command is not command or not isinstance(log.state, WalkingState):
            found.append("a log of another command or state")
        self._last_time = log.time
        return found

    def _complaints_of_step(self, command: JointCommand, log: WalkingLog) -> list[str]:
        """Return which torques, or set-points without their feed-forward, jumped from tick to tick."""
        last, self._last = self._last, command
        desired, self._desired = self._desired, log.desired_joint_positions
        period, bounds = self._tick.period, self._layers.joint_bounds
        if last is not None and command.mode is last.mode is ControlMode.TORQUE:
            jump = float(np.abs(command.values - last.values).max())
            highest = self._setup.walking.torque_control.torque_rate * period
            return [f"torques jumped by {jump:.1f} N·m"] if jump > highest + _ROUNDING else []
        if self._tick.control is not ControlMode.POSITION or desired is None or self._desired is None:
            return []
        speed = float(np.max(np.abs(self._desired - desired) / (bounds.velocities * period)))
        offsets = np.maximum(np.abs(command.values - self._desired) - bounds.leads, 0.0)
        offset = float(np.max(offsets * bounds.stiffness / bounds.torques))
        self.largest_step, self.largest_offset = max(self.largest_step, speed), max(self.largest_offset, offset)
        return [f"set-points jumped by {speed:.2f} of what velocity limits allow"] if speed > 1.0 + 1e-6 else []

    def _complaints_of_events(self, log: WalkingLog, errors: Sequence[Exception], was_balancing: bool) -> list[str]:
        """Return which tick failed or froze without an event; note what has to be one when the case is over."""
        events, found = self._controller.safety_events[self._events_before :], []
        kinds = {event.kind for event in events}
        is_held = was_balancing and self._controller.is_balancing and log.desired is None
        if is_held and not kinds.intersection(_FAILED):
            found.append("a tick that failed without an event")
        is_named = any(event.response is Response.FREEZE or event.text == log.reason for event in events)
        if log.state is WalkingState.FAULT and not is_named:
            found.append(f"frozen without an event: {log.reason}")
        self._jumps += self._clock.jump is not None
        self._raised += len(errors)
        self._errors += [error for error in errors if is_held or not isinstance(error, NAMED_ERRORS)]
        return found

    def _complaints_of_case(self) -> list[str]:
        """Return which fault of a case is no event when the case is over."""
        events, found = self._controller.safety_events[self._events_before :], []
        said = " ".join(f"{event.subject} {event.text}" for event in events)
        for error in self._errors:
            names = (type(error).__name__, *(("RuntimeError",) if isinstance(error, StopIteration) else ()))
            if not any(name in said for name in names):
                found.append(f"{type(error).__name__} without an event")
        if self._jumps and not self._raised and SafetyKind.CLOCK_JUMP not in {event.kind for event in events}:
            found.append("a clock that jumped without an event")
        self._errors, self._jumps, self._raised = [], 0, 0
        return found

    # -- between the cases -------------------------------------------------------------------------------------

    def _get_walking(self) -> None:
        """Bring the robot to where the next case meets it: mostly walking, at times on the way there or standing."""
        controller, draw = self._controller, self._draw
        if self._robot.fall is not None or controller.state in (WalkingState.FAULT, WalkingState.STOPPED):
            self._begin_again()
        if controller.state is WalkingState.PREPARING and draw.random() < 0.8:
            for _ in range(round(0.4 / self._tick.period)):
                self._ticked(())
        with suppress(StateError, PlanningError):
            if draw.random() < 0.03:
                (controller.pause, controller.stop, controller.emergency_stop)[int(draw.integers(3))]()
            elif controller.state in (WalkingState.PREPARED, WalkingState.PAUSED):
                controller.start()
            elif draw.random() < 0.1 or controller.plan is None or controller.plan.end_time < self._last_time:
                controller.walk(VelocityCommand(*draw.uniform((-0.1, -0.05, -0.2), (0.3, 0.05, 0.2))))

    def _begin_again(self) -> None:
        """Stand a new robot on the ground and prepare it, as it stands or with the slow move."""
        posture = self._layers.start_posture
        self._robot = MujocoRobot(self._setup.robot, self._setup.simulation, posture)
        if self._controller.state not in (WalkingState.CONFIGURED, WalkingState.FAULT):
            self._controller.emergency_stop()
        self._events_before = len(self._controller.safety_events)
        self._controller.prepare(posture.joint_positions if self._draw.random() < 0.8 else None)
        self._last = self._desired = None


def run_tick_fuzz(run: ExperimentRun) -> None:
    """Fuzz each control mode with a third of the cases; the value is how many of them were not as they should be."""
    cases = run.options.either(_CASES, _QUICK_CASES)
    total = 0
    for number, mode in enumerate(ControlMode):
        setup = load_setup(run.options.robot, [f"walking.control={mode}", _SHORT_MOVE])
        walk = FuzzedWalk(setup, seed=number)
        results: list[CaseResult] = []
        for _ in range(cases // 3 + (number < cases % 3)):
            results.append(walk.case())
            total += 1
            run.report(total, cases, f"{mode}: {results[-1].faults}")
        for kind in TickFaultKind:
            run.add_row(row_of(setup.robot.name, mode, kind, [each for each in results if each.kind is kind]))


def row_of(robot: str, mode: ControlMode, kind: TickFaultKind, results: Sequence[CaseResult]) -> Row:
    """Return what came of the cases of one kind in one control mode."""
    complaints = [f"{result.faults}: {text}" for result in results for text in result.complaints]
    return {
        "robot": robot,
        "control": str(mode),
        "fault": str(kind),
        "cases": len(results),
        "ticks": sum(result.ticks for result in results),
        "froze": sum(result.froze for result in results),
        "paper": 0,
        "value": sum(bool(result.complaints) for result in results),
        "outcome": "failed" if complaints else "met",
        "reason": "; ".join(complaints[:3]),
    }


EXPERIMENTS = (
    Experiment(
        "tick_fuzz",
        "Gradiva's own experiment",
        "10 000 seeded faults within the tick: errors, readings, clocks. Events, and commands that can be sent?",
        run_tick_fuzz,
        "cases that are not as they should be",
    ),
)
