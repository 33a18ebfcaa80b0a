"""Runs all checks of a tick and decides on the response."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from gradiva.common import (
    GRAVITY,
    ClockJump,
    ConfigError,
    Debounce,
    Measurement,
    NDArray,
    NoSolutionFound,
    Registry,
    RobotPosture,
    RobotState,
    Side,
    WalkingError,
    WalkingReference,
    altered,
    configuration,
    plugin_errors,
    sealed,
    setting,
)
from gradiva.robot_model import RobotDescription
from gradiva.safety.events import (
    Finding,
    Response,
    SafetyCheck,
    SafetyEvent,
    SafetyKind,
    clock_finding,
    silent_sources,
)
from gradiva.safety.joint_sensors import SensorCheckConfig
from gradiva.safety.robot_checks import (
    FallCheck,
    FallCheckConfig,
    FootCheck,
    FootCheckConfig,
    JointBounds,
    JointCheck,
    JointCheckConfig,
    MotorCheck,
    MotorCheckConfig,
    ReferenceAgeCheck,
    ReferenceAgeCheckConfig,
)
from gradiva.safety.sensor_checks import SensorCheck

_LOGGER = logging.getLogger("gradiva.module")
CHECKS = Registry(
    "gradiva.safety_checks",
    "safety check",
    interface=SafetyCheck,
    tables="safety.checks",
    returns={"findings": (Sequence,)},
    build=lambda kind, config, _name, robot: kind(config, robot),
)
_PACKAGE = __name__.partition(".")[0]
_PLUGINS = "common.plugins"  # which stands between any room and the code of others
_LONGEST_MESSAGE = 200  # [characters] some solvers answer with pages


@configuration
class FailurePolicyConfig:
    """Tolerated durations of failures of the layers.

    Attributes:
        failed_duration: Consecutive ticks that raise an error are tolerated for so long, [s].
        relaxed_duration: Ticks are tolerated for so long in which layer 3 cannot meet feet and CoM and
            minimises the residual, [s].
    """

    failed_duration: float = setting("s", above=0.0)
    relaxed_duration: float = setting("s", above=0.0)


class FailurePolicy:
    """Counts consecutive failed ticks and how long they have lasted."""

    def __init__(self, config: FailurePolicyConfig) -> None:
        self._debounce = Debounce(config.failed_duration)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._debounce.reset()
        self._failed_ticks = 0

    def succeeded(self) -> None:
        """Note a tick that went well."""
        if self._failed_ticks > 0:
            self.reset()

    def failed(self, error: Exception, time: float) -> list[Finding]:
        """Return a finding for a tick that failed at ``time`` [s] and, once, that failures have lasted too long."""
        self._failed_ticks += 1
        found = [failed_tick(error)]
        if self._debounce.update(True, time):
            kind = SafetyKind.NO_SOLUTION if isinstance(error, NoSolutionFound) else SafetyKind.FAILED_TICKS
            text = f"{self._failed_ticks} ticks failed in a row, the last one: {found[0].text}"
            found.append(Finding(kind, "", text))
        return found


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
_FREE = ("left_arm", "right_arm", "left_wrist", "right_wrist", "head", "neck")  # joint groups that carry nothing
_LIFTED = {  # by whether left and right are in contact
    (True, True): frozenset[Side](),
    (True, False): frozenset((Side.RIGHT,)),
    (False, True): frozenset((Side.LEFT,)),
    (False, False): frozenset(Side),
}
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


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """Table ``[safety]``; its parts are documented at their classes.

    Attributes:
        responses: The response to each kind.
        joints: Limits and tracking of the joints.
        motors: Temperatures.
        feet: Force and centre of pressure.
        fall: Limits of a robot that can be caught.
        sensors: Tolerated gaps and outliers of readings.
        reference: Age of the references.
        failures: Ticks without measurement or solution.
        checks: Tables of checks of one's own by their names; ``class`` is the entry point or ``package.module:Class``,
            by default the name.
    """

    responses: ResponsesConfig
    joints: JointCheckConfig
    motors: MotorCheckConfig
    feet: FootCheckConfig
    fall: FallCheckConfig
    sensors: SensorCheckConfig
    reference: ReferenceAgeCheckConfig
    failures: FailurePolicyConfig
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class LastCommand:
    """Last commanded motion of the joints, feed-forward left out.

    Attributes:
        positions: For now, [rad], shape (n,).
        velocities: Until now, [rad/s], shape (n,).
    """

    positions: NDArray
    velocities: NDArray


class SafetySupervisor:
    """Runs the checks of sensors, joints, motors, feet, balance, references and the layers themselves.

    Attributes:
        events: All so far, in order.
        suspected_foot: Foot that should stand and reads nothing in the checked measurement; None: there is none.
    """

    def __init__(
        self, config: SafetyConfig, robot: RobotDescription, bounds: JointBounds, start_posture: RobotPosture
    ) -> None:
        """Build the checks.

        Args:
            config: Limits and responses.
            robot: Joints, soles, sensors, weight.
            bounds: Of its joints.
            start_posture: The posture in which it stands upright.
        """
        self._responses = config.responses
        self._sensors = SensorCheck(config.sensors, robot, bounds.velocities)
        self._rows = {side: robot.sensors_of(side) for side in Side}
        self.suspected_foot: Side | None = None
        groups = [group for name, group in robot.joint_groups.items() if name not in _FREE]
        carrying = [joint for group in groups for joint in group.joints]
        self._joints = JointCheck(config.joints, robot.joints, bounds, carrying)
        self._motors = MotorCheck(config.motors, robot.joints)
        self._feet = FootCheck(config.feet, robot.sole, robot.mass * GRAVITY)
        self._fall = FallCheck(config.fall, start_posture, robot.com_height - robot.sole.z)
        self._reference = ReferenceAgeCheck(config.reference)
        self._failures = FailurePolicy(config.failures)
        self._own: list[SafetyCheck] = CHECKS.make_all(config.checks, robot)
        self._untrusted = self._sensors.untrusted_feet  # in this tick; a suspected foot apart
        self._pending: list[Finding] = []
        self._reported: set[tuple[SafetyKind, str]] = set()
        self.events: list[SafetyEvent] = []

    def add(self, check: SafetyCheck) -> None:
        """Run a further check in each tick of a balancing robot.

        Raises:
            ConfigError: It lacks a method of a `SafetyCheck`.
        """
        name = f"check {type(check).__name__}"
        CHECKS.check(type(check), name)
        self._own.append(CHECKS.guarded(check, name))

    @property
    def own_checks(self) -> tuple[SafetyCheck, ...]:
        """Checks of the user's own."""
        return tuple(self._own)

    def reset(self) -> None:
        """Forget what was wrong, trust all sensors; the events stay."""
        for check in (self._sensors, self._joints, self._motors, self._feet, self._reference, self._failures):
            check.reset()
        for own in self._own:
            with plugin_errors("[safety.checks]", own):
                own.reset()
        self._untrusted = self._sensors.untrusted_feet
        self._pending = []
        self._reported.clear()
        self.suspected_foot = None

    @property
    def joint_positions(self) -> NDArray | None:
        """Last accepted positions of the joints, [rad], shape (n,)."""
        return self._sensors.joint_positions

    @property
    def untrusted_feet(self) -> frozenset[Side]:
        """Feet of which the force-torque sensors are not used."""
        suspected = self._feet.suspected
        return self._untrusted if suspected is None or self._untrusted else frozenset((suspected,))

    @property
    def bridged_readings(self) -> dict[str, int]:
        """Number of readings that were not finite and bridged since the robot was prepared, by sensor."""
        return self._sensors.bridged_readings

    def checked(self, measurement: Measurement, command: LastCommand, time: float) -> Measurement:
        """Return the measurement, repaired where a sensor fails; its findings count in the next ``check``.

        Wrenches of feet that are not trusted are not numbers in it: the estimator knows others.
        """
        measurement, found = self._sensors.update(measurement, command.velocities, time)
        self._pending += found
        self._untrusted = self._sensors.untrusted_feet
        suspected, wrenches = self._feet.suspected, measurement.contact_wrenches
        if suspected is not None:
            self._feet.note_reading(math.hypot(*wrenches[self._rows[suspected], :3].sum(axis=0)))
        self.suspected_foot, untrusted = self._feet.suspected, self.untrusted_feet
        if not untrusted:
            return measurement
        wrenches = wrenches.copy()
        wrenches[[row for side in untrusted for row in self._rows[side]]] = np.nan
        return altered(measurement, contact_wrenches=sealed(wrenches))

    def check(
        self,
        measurement: Measurement,
        command: LastCommand,
        state: RobotState,
        reference: WalkingReference,
        time: float,
    ) -> SafetyEvent | None:
        """Return the most severe new event of the balancing robot, or None."""
        found, self._pending = self._pending, []
        self._sensors.note_lifted(_LIFTED[reference.left_foot.in_contact, reference.right_foot.in_contact])
        found += self._joints.findings(measurement, command.positions, time)
        found += self._motors.findings(measurement.motor_temperatures, time)
        found += self._feet.findings(state, reference, self._untrusted, time)
        found += self._fall.findings(state, reference)
        found += self._reference.findings(reference, time)
        for own in self._own:
            found += own.findings(measurement, state, reference, time)
        return self.note(found, time) if found else None

    def check_at_rest(self, measurement: Measurement, time: float) -> SafetyEvent | None:
        """Return the most severe new event of a robot that is moved without balancing, or None."""
        measurement, found = self._sensors.usable(measurement)
        for source in silent_sources(measurement, time):
            found.append(Finding(SafetyKind.STALE_MEASUREMENT, source.name, f"no new readings of {source}"))
        return self.note([*found, *self._motors.findings(measurement.motor_temperatures, time)], time)

    def succeeded(self) -> None:
        """Note a tick that brought a command."""
        self._failures.succeeded()

    def failed(self, error: Exception, time: float) -> SafetyEvent | None:
        """Note a tick that raised ``error``; return its most severe new event, or None.

        The log has, once, the traceback of an error that passed code of others, as a law, a task or a check.
        """
        found = self._failures.failed(error, time)
        if (found[0].kind, found[0].subject) not in self._reported:
            log_traceback(error, found[0])
        return self.note(found, time)

    def note_jump(self, jump: ClockJump, time: float) -> SafetyEvent | None:
        """Record a jump of the clock, in which joints may have moved unseen; return its event if it is new, or None."""
        if jump.direction == "forward":
            self._sensors.note_gap(jump.size)
        return self.note([clock_finding(jump)], time)

    def note(self, findings: Iterable[Finding], time: float) -> SafetyEvent | None:
        """Record new findings; return the most severe event among them, the first of equals, or None."""
        new: list[SafetyEvent] = []
        for finding in findings:
            if (finding.kind, finding.subject) not in self._reported:
                self._reported.add((finding.kind, finding.subject))
                new.append(SafetyEvent(time, finding, self._responses.of(finding.kind)))
        self.events += new
        for event in new:
            if event.kind is SafetyKind.FOOT_FORCE and event.subject in tuple(Side):
                self._sensors.distrust_foot(Side(event.subject))
                self._untrusted = self._sensors.untrusted_feet
        return _most_severe(new) if new else None


def _most_severe(events: Sequence[SafetyEvent]) -> SafetyEvent:
    return max(events, key=lambda event: event.response.severity)
