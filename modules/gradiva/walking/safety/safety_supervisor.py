"""All checks of a tick, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradiva.common import GRAVITY, Measurement, NDArray, RobotPosture, RobotState, Side, WalkingReference
from gradiva.robot_model import RobotDescription
from gradiva.walking.safety.failure_policy import FailurePolicy
from gradiva.walking.safety.fall_watch import FallWatch
from gradiva.walking.safety.foot_watch import FootWatch
from gradiva.walking.safety.joint_watch import JointBounds, JointWatch
from gradiva.walking.safety.motor_watch import MotorWatch
from gradiva.walking.safety.reference_watch import ReferenceWatch
from gradiva.walking.safety.safety_config import SafetyConfig
from gradiva.walking.safety.safety_event import Finding, SafetyEvent, SafetyKind
from gradiva.walking.safety.sensor_bridge import SensorBridge


@dataclass(frozen=True, slots=True, eq=False)
class ToldMotion:
    """What the joints were told in the last tick, feed-forward left out.

    Attributes:
        positions: To be at now, [rad], shape (n,).
        velocities: To move with until now, [rad/s], shape (n,).
    """

    positions: NDArray
    velocities: NDArray


class SafetySupervisor:
    """Watches sensors, joints, motors, feet, balance, references and the layers themselves.

    Attributes:
        events: All so far, in order.
    """

    def __init__(
        self, config: SafetyConfig, robot: RobotDescription, bounds: JointBounds, start_posture: RobotPosture
    ) -> None:
        """Build the checks.

        Args:
            config: What is borne, and what is done beyond it.
            robot: Joints, soles, sensors, weight.
            bounds: Of its joints.
            start_posture: In which it stands upright.
        """
        self._responses = config.responses
        self._sensors = SensorBridge(config.sensors, robot, bounds.velocities)
        self._joints = JointWatch(config.joints, robot.joints, bounds)
        self._motors = MotorWatch(config.motors, robot.joints)
        self._feet = FootWatch(config.feet, robot.sole, robot.mass * GRAVITY)
        self._fall = FallWatch(config.fall, start_posture)
        self._reference = ReferenceWatch(config.reference)
        self._failures = FailurePolicy(config.failures)
        self._pending: list[Finding] = []
        self._told: set[tuple[SafetyKind, str]] = set()
        self.events: list[SafetyEvent] = []

    def reset(self) -> None:
        """Forget what was wrong, trust all sensors; the events stay."""
        for check in (self._sensors, self._joints, self._motors, self._feet, self._reference, self._failures):
            check.reset()
        self._pending = []
        self._told.clear()

    @property
    def joint_positions(self) -> NDArray | None:
        """Where the joints were last, [rad], shape (n,)."""
        return self._sensors.joint_positions

    @property
    def untrusted_feet(self) -> frozenset[Side]:
        """Feet of which the force-torque sensors are not believed."""
        return self._sensors.untrusted_feet

    def believable(self, measurement: Measurement, told: ToldMotion, time: float) -> Measurement:
        """Return the measurement, mended where a sensor fails; what is found counts in the next ``check``."""
        measurement, found = self._sensors.update(measurement, told.velocities, time)
        self._pending += found
        return measurement

    def check(
        self, measurement: Measurement, told: ToldMotion, state: RobotState, reference: WalkingReference, time: float
    ) -> SafetyEvent | None:
        """Return the gravest of what is newly wrong with the balancing robot, or None."""
        found = [
            *self._pending,
            *self._joints.findings(measurement, told.positions, time),
            *self._motors.findings(measurement.motor_temperatures, time),
            *self._feet.findings(state, reference, self.untrusted_feet, time),
            *self._fall.findings(state, reference),
            *self._reference.findings(reference, time),
        ]
        self._pending = []
        return self.note(found, time) if found else None

    def check_at_rest(self, measurement: Measurement, time: float) -> SafetyEvent | None:
        """Return the gravest of what is newly wrong with a robot that is moved without balancing, or None."""
        measurement, found = self._sensors.usable(measurement)
        return self.note([*found, *self._motors.findings(measurement.motor_temperatures, time)], time)

    def succeeded(self) -> None:
        """Note a tick that brought a command."""
        self._failures.succeeded()

    def failed(self, error: Exception, time: float) -> SafetyEvent | None:
        """Note a tick that did not, by its error; return the event that something follows from, or None."""
        return self.note(self._failures.failed(error, time), time)

    def note(self, findings: Iterable[Finding], time: float) -> SafetyEvent | None:
        """Record what was not found before; return the gravest event among it, the first of equals, or None."""
        new = []
        for finding in findings:
            if (finding.kind, finding.subject) not in self._told:
                self._told.add((finding.kind, finding.subject))
                new.append(SafetyEvent(time, finding, self._responses.of(finding.kind)))
        self.events += new
        for event in new:
            if event.kind is SafetyKind.FOOT_FORCE:
                self._sensors.condemn_foot(Side(event.subject))
        return _gravest(new) if new else None


def _gravest(events: Sequence[SafetyEvent]) -> SafetyEvent:
    return max(events, key=lambda event: event.response.severity)
