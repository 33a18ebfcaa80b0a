"""Safety events: the kind of a violation, where it was found, and the response to it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Protocol

from gradiva.common import (
    ClockJump,
    ConfigError,
    LateSource,
    Measurement,
    RobotState,
    WalkingError,
    WalkingReference,
)
from gradiva.robot_model import RobotDescription

_LOGGER = logging.getLogger("gradiva.module")
_PACKAGE = __name__.partition(".")[0]
_PLUGINS = "common.plugins"  # which stands between any room and the code of others
_LONGEST_MESSAGE = 200  # [characters] some solvers answer with pages
_SILENCE = 0.5  # [s] of a source while the robot does not balance: longer than any stall of a machine or a network


class SafetyKind(StrEnum):
    """Kinds of violations; ``config/safety.toml`` gives each its response under the same name."""

    JOINT_POSITION = "joint_position"
    JOINT_VELOCITY = "joint_velocity"
    JOINT_TORQUE = "joint_torque"
    JOINT_TRACKING = "joint_tracking"
    ARM_TRACKING = "arm_tracking"
    MOTOR_WARM = "motor_warm"
    MOTOR_HOT = "motor_hot"
    CENTRE_OF_PRESSURE = "centre_of_pressure"
    FOOT_FORCE = "foot_force"
    TILT = "tilt"
    BASE_HEIGHT = "base_height"
    DCM_ERROR = "dcm_error"
    SENSOR_NOT_FINITE = "sensor_not_finite"
    BRIDGED_READING = "bridged_reading"
    ENCODER_JUMP = "encoder_jump"
    SENSOR_FROZEN = "sensor_frozen"
    IMU_JUMP = "imu_jump"
    STALE_MEASUREMENT = "stale_measurement"
    STALE_REFERENCE = "stale_reference"
    CLOCK_JUMP = "clock_jump"
    CONTROL_MODE = "control_mode"
    RELAXED = "relaxed"
    FAILED_TICK = "failed_tick"
    NO_SOLUTION = "no_solution"
    FAILED_TICKS = "failed_ticks"
    EMERGENCY_STOP = "emergency_stop"
    OWN_CHECK = "own_check"


class Response(StrEnum):
    """The response to a violation."""

    WARN = "warn"
    FINISH_STEP = "finish the step"
    FREEZE = "freeze"

    @property
    def severity(self) -> _Severity:
        """The responses in order of severity."""
        return _Severity[self.name]


class _Severity(IntEnum):
    WARN = 0
    FINISH_STEP = 1
    FREEZE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation that a check found.

    Attributes:
        kind: Kind of the violation.
        subject: Name of the joint, foot or sensor; empty where it is the whole robot.
        text: A line for the log, with value and limit.
    """

    kind: SafetyKind
    subject: str
    text: str


def clock_finding(jump: ClockJump) -> Finding:
    """Return the finding that the clock jumped, which control time did not follow."""
    return Finding(SafetyKind.CLOCK_JUMP, jump.direction, f"{jump}; control time goes on by one period")


@dataclass(frozen=True, slots=True)
class SafetyEvent:
    """A finding and the response to it.

    Attributes:
        time: Of the control clock, [s].
        finding: The violation.
        response: The reaction of the controller.
    """

    time: float
    finding: Finding
    response: Response

    @property
    def kind(self) -> SafetyKind:
        """Kind of the violation."""
        return self.finding.kind

    @property
    def subject(self) -> str:
        """Name of the joint, foot or sensor."""
        return self.finding.subject

    @property
    def text(self) -> str:
        """A line for the log."""
        return self.finding.text

    def as_table(self) -> dict[str, Any]:
        """Return the event as it stands in ``result.json``."""
        return {
            "time_s": round(self.time, 6),
            "kind": str(self.kind),
            "subject": self.subject,
            "response": str(self.response),
            "text": self.text,
        }


class SafetyCheck(Protocol):
    """A check of one's own, named by a table ``[safety.checks.NAME]``; it runs in each tick of a balancing robot.

    Attributes:
        Config: Dataclass of its table; None where it has no settings.
    """

    Config: ClassVar[type | None]

    def __init__(self, config: Any, robot: RobotDescription) -> None:
        """Take its configuration, an instance of ``Config``, and the description of the robot."""

    def reset(self) -> None:
        """Forget the past: the robot was prepared again."""
        ...

    # Optional: ``signals()`` returns numbers and vectors to be logged in each tick, by name, the same in all ticks.

    def findings(
        self, measurement: Measurement, state: RobotState, reference: WalkingReference, time: float
    ) -> Sequence[Finding]:
        """Return the violations; the kind of a finding decides the response. An error is a failed tick.

        Args:
            measurement: Of this tick, repaired where a sensor fails.
            state: Estimated from it.
            reference: Of the plan at this time.
            time: Of the control clock, [s].
        """
        ...


class BridgedReadings:
    """Counts the readings of each sensor that could not be used and were bridged.

    Attributes:
        counts: By name of the sensor; those of a sensor that lasted without good ones as well.
        running: Sensors that were bridged last.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.counts: dict[str, int] = {}
        self.running: set[str] = set()
        self._named: set[str] = set()

    def note(self, unusable: Sequence[str], lasting: Sequence[str] = ()) -> list[Finding]:
        """Count the unusable readings of a tick; return a finding for each sensor that has good ones again.

        Args:
            unusable: Names of the sensors.
            lasting: Those of which a finding says already that they are unusable.
        """
        for name in unusable:
            self.counts[name] = self.counts.get(name, 0) + 1
        self._named.update(lasting)
        back = self.running.difference(unusable, self._named)
        self.running = set(unusable)
        text = "{} readings of {} were no numbers: bridged"
        return [
            Finding(SafetyKind.BRIDGED_READING, name, text.format(self.counts[name], name)) for name in sorted(back)
        ]


def silent_sources(measurement: Measurement, time: float) -> list[LateSource]:
    """Return the sources of a measurement that have been silent at ``time`` [s] for longer than any stall."""
    parts = measurement.late or (
        LateSource("the encoders", time - measurement.time),
        LateSource("the force-torque sensors", time - measurement.wrenches_time),
        LateSource("the IMU", time - measurement.imu_time),
    )
    return [source for source in parts if not source.age <= _SILENCE]  # so is an age that is not finite


# -- responses ---------------------------------------------------------------------------------------------------------

_KINDS = {  # of each choice
    "joints": (
        SafetyKind.JOINT_POSITION,
        SafetyKind.JOINT_VELOCITY,
        SafetyKind.JOINT_TORQUE,
        SafetyKind.JOINT_TRACKING,
    ),
    "motor_warm": (SafetyKind.MOTOR_WARM,),
    "motor_hot": (SafetyKind.MOTOR_HOT,),
    "feet": (SafetyKind.CENTRE_OF_PRESSURE, SafetyKind.FOOT_FORCE),
    "fall": (SafetyKind.TILT, SafetyKind.BASE_HEIGHT, SafetyKind.DCM_ERROR),
    "sensors": (
        SafetyKind.SENSOR_NOT_FINITE,
        SafetyKind.ENCODER_JUMP,
        SafetyKind.SENSOR_FROZEN,
        SafetyKind.STALE_MEASUREMENT,
    ),
    "references": (SafetyKind.STALE_REFERENCE,),
    "control_mode": (SafetyKind.CONTROL_MODE,),
    "own_check": (SafetyKind.OWN_CHECK,),
}
_CHOICES = {kind: name for name, kinds in _KINDS.items() for kind in kinds}
_WARNINGS = (  # without a choice: the robot walks on well, or it is a failure once it lasts
    SafetyKind.ARM_TRACKING,
    SafetyKind.BRIDGED_READING,
    SafetyKind.CLOCK_JUMP,
    SafetyKind.IMU_JUMP,
    SafetyKind.RELAXED,
    SafetyKind.FAILED_TICK,
)


@dataclass(frozen=True, slots=True)
class ResponsesConfig:
    """Responses by what is violated, each for the kinds of `_KINDS`.

    Lasting failures and the emergency stop have no choice: no command is left to finish a step with.

    Attributes:
        joints: Limits of positions, velocities and torques, and tracking.
        motor_warm: The lower limit of the temperatures.
        motor_hot: The upper one.
        feet: Load and centre of pressure; the sensors of that foot are not used any more.
        fall: Tilt, height of the base, DCM.
        sensors: Readings that are not finite, jump, freeze or are too old; the robot walks on without them.
        references: Too old ones of the planner.
        control_mode: A joint that does not obey: a motor board in fault, or another program has it.
        own_check: Checks of one's own.
    """

    joints: Response
    motor_warm: Response
    motor_hot: Response
    feet: Response
    fall: Response
    sensors: Response
    references: Response
    control_mode: Response
    own_check: Response

    def __post_init__(self) -> None:
        if self.fall is Response.FINISH_STEP:
            raise ConfigError(f"fall='{Response.FINISH_STEP}': a robot that falls cannot")

    def of(self, kind: SafetyKind) -> Response:
        """Return the response to ``kind``."""
        return getattr(self, _CHOICES[kind]) if kind in _CHOICES else _response_without_choice(kind)


def _response_without_choice(kind: SafetyKind) -> Response:
    return Response.WARN if kind in _WARNINGS else Response.FREEZE


# -- errors of a tick --------------------------------------------------------------------------------------------------


def failed_tick(error: Exception) -> Finding:
    """Return an error by its type, message, room and line, such as ``KeyError 'x' in safety (supervisor.py:90)``.

    Where our rooms had called other code, as a law of one's own, its line comes first:
    ``LinAlgError Singular matrix in simplified_model (my_law.py:12, _linalg.py:144)``. The subject is the same for the
    same error at the same place.
    """
    name = type(error).__name__
    room, called, line = _place(error.__traceback__)
    lines = ", ".join(each for each in dict.fromkeys((called, line)) if each)
    where = f" ({lines})" if lines else ""
    return Finding(SafetyKind.FAILED_TICK, f"{name}{room}", f"{name} {_message(error)}{room}{where}")


def log_traceback(error: Exception, finding: Finding) -> None:
    """Log the traceback of an error that passed code of others, as a law, a task or a check."""
    if not isinstance(error, WalkingError) and _place(error.__traceback__)[1]:
        _LOGGER.warning("%s", finding.text, exc_info=error)


def _place(traceback: TracebackType | None) -> tuple[str, str, str]:
    """Return the innermost room of this package that an error passed, and the lines that tell where it arose.

    These are the first line of code that is neither ours nor Python's and was called by ours, empty where there is
    none, and the innermost line.
    """
    room, called, line = "", "", ""
    while traceback is not None:
        package, _, path = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")
        line = f"{Path(traceback.tb_frame.f_code.co_filename).name}:{traceback.tb_lineno}"
        if package == _PACKAGE:
            room = room if path == _PLUGINS else f" in {path.partition('.')[0]}"
        elif room and package not in sys.stdlib_module_names:
            called = called or line
        traceback = traceback.tb_next
    return room, called, line


def _message(error: Exception) -> str:
    """Return the first line of an error's message."""
    try:
        text = str(error).strip().partition("\n")[0]
    except Exception:  # an error of a library may not be able to say what it is
        text = ""
    return text[:_LONGEST_MESSAGE] or "without a message"
