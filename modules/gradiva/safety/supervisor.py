"""Runs all checks of a tick, those of the whole measurement first, and decides on the response."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradiva.common import (
    GRAVITY,
    TIME_ROUNDING,
    BaseMeasurement,
    ClockJump,
    Debounce,
    EstimationError,
    LateSource,
    Measurement,
    NDArray,
    NoSolutionFound,
    Registry,
    RobotPosture,
    RobotState,
    Side,
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
    ResponsesConfig,
    SafetyCheck,
    SafetyEvent,
    SafetyKind,
    clock_finding,
    failed_tick,
    log_traceback,
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
from gradiva.safety.sensor_checks import ImuCheck, JointSensorCheck, WrenchCheck

_LONGEST_GAP = 1.0  # [s] of the clock in which joints may have moved unseen; in more it was set
_LARGEST_LANDING = 10.0  # [-] of the robot's weight: no landing loads a foot's sensor more
_OF_JOINTS = ("time", "joint_positions", "joint_velocities", "joint_torques", "motor_temperatures", "base")
_NEEDED = ("joint_positions", "joint_velocities", "contact_wrenches")  # without which no robot can be balanced
_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
CHECKS = Registry(
    "gradiva.safety_checks",
    "safety check",
    interface=SafetyCheck,
    tables="safety.checks",
    returns={"findings": (Sequence,)},
    build=lambda kind, config, _name, robot: kind(config, robot),
)


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


_FREE = ("left_arm", "right_arm", "left_wrist", "right_wrist", "head", "neck")  # joint groups that carry nothing
_LIFTED = {  # by whether left and right are in contact
    (True, True): frozenset[Side](),
    (True, False): frozenset((Side.RIGHT,)),
    (False, True): frozenset((Side.LEFT,)),
    (False, False): frozenset(Side),
}


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


class SensorCheck:
    """Passes on a measurement as it is, or repaired where a sensor fails.

    A joint whose encoder fails is assumed to follow its command, a foot's force sensor is not used
    (``untrusted_feet``), the IMU is left out. Where the whole measurement is too old, all of it at once.
    """

    def __init__(self, config: SensorCheckConfig, robot: RobotDescription, velocity_limits: NDArray) -> None:
        """Take the tolerated limits, the robot, and its joints' velocity limits, [rad/s], shape (n,)."""
        duration = config.bridge_duration
        self._config = config
        self._no_motion = np.zeros_like(velocity_limits)
        self._joint_shape, self._wrench_shape = (len(robot.joints),), (len(robot.force_torque_sensors), 6)
        self._unmeasured = sealed(np.full(self._joint_shape, np.nan))
        self._joints = JointSensorCheck(config, robot.joints, velocity_limits, _carrying(robot))
        self._wrenches = WrenchCheck(
            robot.force_torque_sensors, config.frozen_duration, duration, _LARGEST_LANDING * robot.mass * GRAVITY
        )
        self._imu = ImuCheck(config.frozen_duration, duration)
        self.reset()

    def reset(self) -> None:
        """Forget the past and trust all sensors."""
        for part in (self._joints, self._wrenches, self._imu):
            part.reset()
        self._last: Measurement | None = None
        self._last_reading = self._last_time = self._lag = self._gap = 0.0
        self._last_stamp = -math.inf
        self._unread_motion = self._no_motion
        self._is_blind = self._stale_is_reported = False

    @property
    def joint_positions(self) -> NDArray | None:
        """Last accepted positions of the joints, [rad], shape (n,); None before the first measurement."""
        return self._joints.positions

    @property
    def untrusted_feet(self) -> frozenset[Side]:
        """Feet of which the force-torque sensors are not used."""
        return frozenset(Side) if self._is_blind else self._wrenches.untrusted

    @property
    def bridged_readings(self) -> dict[str, int]:
        """Number of readings that could not be used and were bridged, by sensor."""
        return self._joints.bridged_counts | self._wrenches.bridged.counts | self._imu.bridged.counts

    def distrust_foot(self, side: Side) -> None:
        """Do not use the sensors of a foot any more."""
        self._wrenches.distrust(side)

    def note_lifted(self, feet: frozenset[Side]) -> None:
        """Note which feet are planned to be in the air."""
        self._wrenches.lifted = feet

    def note_gap(self, duration: float) -> None:
        """Note that the robot has moved on for ``duration`` [s] which control time did not follow."""
        self._gap += min(max(0.0, duration), _LONGEST_GAP)
        self._imu.mounting.reset()  # it turned unseen

    def update(
        self, measurement: Measurement, commanded_velocities: NDArray, time: float
    ) -> tuple[Measurement, list[Finding]]:
        """Return the repaired measurement and new violations.

        Args:
            measurement: The newest one.
            commanded_velocities: Commanded since the last tick, [rad/s], shape (n,).
            time: Of the control clock, [s].
        """
        measurement, found = self.usable(measurement)
        taken = self._taken(measurement.time, time, found)
        age, since_tick, self._last_time = time - taken, time - self._last_time, time
        is_stale = not age <= self._config.max_age  # so is a time that is not finite
        if is_stale:
            found += self._stale_findings(age, measurement.late)
        self._is_blind = is_stale and self._last is not None
        if self._last is not None and (is_stale or taken <= self._last_reading):
            self._unread_motion = self._unread_motion + since_tick * commanded_velocities
            if is_stale:
                return self._blind(self._last, commanded_velocities, time), found
            measurement, new = self._same_joints(measurement, self._last, time)
            return measurement, [*found, *new]
        interval, self._last_reading, self._lag = taken - self._last_reading + self._gap, taken, age
        self._gap = 0.0
        if taken != measurement.time:
            measurement = altered(measurement, time=taken)
        if not self._joints.accepts(measurement, interval):
            motion = since_tick * commanded_velocities + self._unread_motion
            measurement, new = self._joints.repaired(measurement, motion, commanded_velocities, interval, time)
            found += new
        self._unread_motion = self._no_motion
        self._last, new = self._feet_and_imu(measurement, time)
        return self._last, found + new

    def usable(self, measurement: Measurement) -> tuple[Measurement, list[Finding]]:
        """Return a measurement without the readings of a wrong type or shape, and a finding for each of these.

        Raises:
            EstimationError: One of those without which no robot can be balanced: positions, velocities, wrenches.
        """
        wrong = {
            name: why
            for name, value, shape in self._readings(measurement)
            if (type(value) is not _ARRAY or value.dtype is not _FLOAT or value.shape != shape)
            and (why := _mismatch(value, shape))
        }
        if measurement.base is not None and not isinstance(measurement.base, BaseMeasurement):
            wrong["base"] = f"is a {type(measurement.base).__name__}"
        if not wrong:
            return measurement, []
        for name in _NEEDED:
            if name in wrong:
                raise EstimationError(f"{name} {wrong[name]}")
        kind, without = SafetyKind.SENSOR_NOT_FINITE, dict[str, NDArray | None].fromkeys(wrong)
        if "joint_torques" in wrong:
            without["joint_torques"] = self._unmeasured
        found = [Finding(kind, name, f"{name} {why}: not used") for name, why in wrong.items()]
        return altered(measurement, **without), found

    def _readings(self, read: Measurement) -> list[tuple[str, object, tuple[int, ...]]]:
        """Return each array of a measurement with its name and its shape."""
        joints, imu = self._joint_shape, read.imu
        readings: list[tuple[str, object, tuple[int, ...]]] = [
            ("joint_positions", read.joint_positions, joints),
            ("joint_velocities", read.joint_velocities, joints),
            ("contact_wrenches", read.contact_wrenches, self._wrench_shape),
            ("joint_torques", read.joint_torques, joints),
        ]
        if read.motor_temperatures is not None:
            readings.append(("motor_temperatures", read.motor_temperatures, joints))
        if imu is not None:
            readings.append(("imu", getattr(imu, "angular_velocity", None), (3,)))
            readings.append(("imu", getattr(imu, "rotation", None), (3, 3)))
        return readings

    def _taken(self, stamp: float, time: float, found: list[Finding]) -> float:
        """Return when a measurement was taken, [s]: where its stamp lies in the future, as long ago as the last one."""
        if stamp - time <= self._config.max_age:
            self._last_stamp = stamp
            return stamp
        if not math.isfinite(stamp):
            if self._last is None:
                raise EstimationError(f"the measurement's time is {stamp} s")
            return math.nan
        if stamp == self._last_stamp:
            return self._last_reading
        self._last_stamp = stamp
        text = f"the measurement is stamped {stamp - time:.2f} s ahead: taken as if it were new"
        found.append(Finding(SafetyKind.CLOCK_JUMP, "measurement", text))
        return time - self._lag

    def _stale_findings(self, age: float, late: Sequence[LateSource] = ()) -> list[Finding]:
        is_reported, self._stale_is_reported = self._stale_is_reported, True
        limit, names = self._config.max_age, f": {', '.join(map(str, late))}" if late else ""
        text = f"the sensors are silent: the newest measurement is {age:.3f} s old, the limit is {limit:g} s{names}"
        return [] if is_reported else [Finding(SafetyKind.STALE_MEASUREMENT, "", text)]

    def _same_joints(self, read: Measurement, last: Measurement, time: float) -> tuple[Measurement, list[Finding]]:
        """Return the last measurement with what other sensors have read since: they have times of their own."""
        is_same = read.wrenches_time == last.wrenches_time and read.imu_time == last.imu_time
        if is_same or (read.contact_wrenches_time is None and (read.imu is None or read.imu.time is None)):
            return last, []
        joints = {name: getattr(last, name) for name in _OF_JOINTS}
        self._last, found = self._feet_and_imu(altered(read, **joints), time)
        return self._last, found

    def _feet_and_imu(self, read: Measurement, time: float) -> tuple[Measurement, list[Finding]]:
        """Return a measurement with the wrenches and the IMU that can be used; what is too old cannot."""
        oldest = time - self._config.max_age - TIME_ROUNDING
        wrenches, imu, wrenches_time, imu_time = read.contact_wrenches, read.imu, read.wrenches_time, read.imu_time
        is_missing = wrenches_time < oldest
        if is_missing:
            wrenches = np.full_like(wrenches, np.nan)
        if imu_time < oldest:
            imu = None
        wrenches, found = self._wrenches.update(wrenches, time, wrenches_time, is_missing)
        imu, new = self._imu.update(imu, time, imu_time)
        if wrenches is not read.contact_wrenches or imu is not read.imu:
            read = altered(read, contact_wrenches=sealed(wrenches), imu=imu)
        return read, found + new

    def _blind(self, last: Measurement, commanded_velocities: NDArray, time: float) -> Measurement:
        """Return a measurement in which all joints follow their commands and the rest is unknown."""
        positions = self._joints.predict(self._unread_motion)
        self._unread_motion = self._no_motion
        if positions is None:
            return last
        self._last = altered(
            last,
            time=time - self._lag,
            joint_positions=sealed(positions),
            joint_velocities=sealed(commanded_velocities.copy()),
            joint_torques=self._unmeasured,
            imu=None,
            base=None,
        )
        return self._last


def _carrying(robot: RobotDescription) -> list[str]:
    """Return the names of the joints that carry the weight."""
    return [joint for name, group in robot.joint_groups.items() if name not in _FREE for joint in group.joints]


def _mismatch(value: object, shape: tuple[int, ...]) -> str:
    """Return how a reading differs from an array of numbers of its shape; empty where it does not."""
    if type(value) is _ARRAY and value.dtype == _FLOAT and value.shape == shape:
        return ""
    if isinstance(value, np.ndarray):
        return f"has shape {value.shape} of {value.dtype}, the robot has {shape} of float64"
    return f"is a {type(value).__name__}, not an array"


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
        self._joints = JointCheck(config.joints, robot.joints, bounds, _carrying(robot))
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
