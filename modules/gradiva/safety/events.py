"""Safety events: the kind of a violation, where it was found, and the response to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, ClassVar, Protocol

from gradiva.common import ClockJump, LateSource, Measurement, RobotState, WalkingReference
from gradiva.robot_model import RobotDescription

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
