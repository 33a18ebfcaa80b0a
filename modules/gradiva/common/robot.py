"""The border between controller and robot: measurement in, estimated state, joint command out, and the control time.

Control time is continuous, whatever the clock does that it is read from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np

from gradiva.common.arrays import NDArray, altered, freeze_arrays, readonly
from gradiva.common.references import FootContact, Side, TwoFeet
from gradiva.common.so3 import PlanarPose

NO_JOINTS = readonly(np.zeros(0))
"""Positions or velocities of the flexible joints of a rigid robot."""

_NO_OFFSET = readonly(np.zeros(2))
GRAVITY = 9.81  # [m/s²] of controllers; planner and simulated ground have theirs in their configuration


def lowest_base(start_height: float, part: float, com_height: float) -> float:
    """Return the height to which the base of a robot that stands may drop, [m].

    Args:
        start_height: Of the frame of the base, [m].
        part: That is left of it, [-]; where the frame is below the CoM, of the CoM's height.
        com_height: [m].
    """
    return start_height - (1.0 - part) * max(start_height, com_height)


@dataclass(frozen=True, slots=True, eq=False)
class ImuMeasurement:
    """Attitude and angular rate of one inertial unit.

    Attributes:
        rotation: Of the IMU frame in world, shape (3, 3); its tilt is against gravity, its heading counts from an
            arbitrary direction that does not drift.
        angular_velocity: Of the IMU, in the axes of the IMU frame, [rad/s], shape (3,).
        time: When it was taken, [s]; None: with the joints of its measurement.
    """

    rotation: NDArray
    angular_velocity: NDArray
    time: float | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, rotation=(3, 3), angular_velocity=(3,))


@dataclass(frozen=True, slots=True, eq=False)
class BaseMeasurement:
    """Pose and twist of the base link, as a simulator or a motion capture sees them; world, mixed representation.

    Attributes:
        position: [m], shape (3,).
        rotation: Shape (3, 3).
        twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
    """

    position: NDArray
    rotation: NDArray
    twist: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,), rotation=(3, 3), twist=(6,))


@dataclass(frozen=True, slots=True)
class LateSource:
    """A source of readings that has not sent a new one for too long.

    Attributes:
        name: Such as ``encoders of /icub/left_leg``.
        age: Of its newest reading, [s].
    """

    name: str
    age: float

    def __str__(self) -> str:
        """Return name and age."""
        return f"{self.name} ({self.age:.2f} s)"


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One sample of all sensors; joints in the order of the robot's description.

    Attributes:
        time: When the joints were sampled, [s].
        joint_positions: Encoders, [rad], shape (n,).
        joint_velocities: Encoders, [rad/s], shape (n,).
        joint_torques: Exerted by the motors, [N·m], shape (n,), NaN where nothing measures them.
        contact_wrenches: One row a force-torque sensor, in the order of the description: force then torque that
            the ground exerts on the foot, in the axes and about the origin of the sensor's frame, [N, N·m],
            shape (sensors, 6), averaged over the time since the last sample where the sensor runs faster; NaN where
            nothing measures it, or safety does not trust it: the estimator knows another.
        imu: The inertial unit, or None where the robot has none.
        base: The base link, or None where nothing measures it.
        motor_temperatures: [°C], shape (n,), NaN for a motor without sensor; None where the robot gives none.
        contact_wrenches_time: When the wrenches were sampled, [s]; None: with the joints.
        deflections: Positions and velocities of flexible joints, [rad, rad/s], shape (2, f), or None where nothing
            measures them.
        late: Sources of these readings that are late, where the robot knows them apart.
    """

    time: float
    joint_positions: NDArray
    joint_velocities: NDArray
    joint_torques: NDArray
    contact_wrenches: NDArray
    imu: ImuMeasurement | None = None
    base: BaseMeasurement | None = None
    motor_temperatures: NDArray | None = None
    contact_wrenches_time: float | None = None
    deflections: NDArray | None = None
    late: tuple[LateSource, ...] = ()

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            joint_positions=(None,),
            joint_velocities=(None,),
            joint_torques=(None,),
            contact_wrenches=(None, 6),
        )
        if self.motor_temperatures is not None:
            freeze_arrays(self, motor_temperatures=(None,))
        if self.deflections is not None:
            freeze_arrays(self, deflections=(2, None))

    @property
    def wrenches_time(self) -> float:
        """When the contact wrenches were sampled, [s]."""
        return self.time if self.contact_wrenches_time is None else self.contact_wrenches_time

    @property
    def imu_time(self) -> float:
        """When the inertial unit was sampled, [s]; the joints' time where there is none."""
        return self.time if self.imu is None or self.imu.time is None else self.imu.time

    def shifted(self, shift: float) -> Measurement:
        """Return the same measurement on a clock that is ahead by ``shift`` [s]."""
        wrenches, imu = self.contact_wrenches_time, self.imu
        return altered(
            self,
            time=self.time + shift,
            contact_wrenches_time=None if wrenches is None else wrenches + shift,
            imu=imu if imu is None or imu.time is None else altered(imu, time=imu.time + shift),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RobotState(TwoFeet):
    """The estimated state; world, mixed representation.

    Attributes:
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        base_twist: Linear then angular velocity, [m/s, rad/s], shape (6,).
        joint_positions: [rad], shape (n,).
        joint_velocities: [rad/s], shape (n,).
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        dcm_position: On the ground plane, [m], shape (2,).
        zmp_position: On the ground plane, from the foot wrenches, [m], shape (2,).
        left_foot_position: Left sole frame, [m], shape (3,).
        left_foot_rotation: x forward and z up, shape (3, 3).
        right_foot_position: Right sole frame, [m], shape (3,).
        right_foot_rotation: x forward and z up, shape (3, 3).
        left_foot_twist: Linear then angular velocity of the left sole frame, [m/s, rad/s], shape (6,).
        right_foot_twist: The same of the right foot.
        left_foot_wrench: Ground on foot, about the sole origin, world axes, [N, N·m], shape (6,).
        right_foot_wrench: The same of the right foot.
        plan_origin: Where the origin of the plan's world lies by the robot's own odometry. The plan takes the feet to
            be where it put them; the error of each landing accumulates here.
        left_contact: Of the left sole with the ground; None without a contact estimator: the plan's
            ``FootReference.in_contact`` counts.
        right_contact: The same of the right foot.
        zmp_is_measured: Whether a trusted sensor measures ``zmp_position``.
        velocity_lag: By how much the velocities of joints, base and feet are older than the rest, [s].
        zmp_lag: Time constant of the low pass that made ``zmp_position``, [s].
        zmp_completion: Part of the commanded ZMP that was added to the measured one before it, [m], shape (2,).
        zmp_lead: Part of the commanded ZMP that was added behind it, [m], shape (2,).
        external_wrench: That neither ground nor gravity exerts: force, then moment about the CoM, world axes, [N, N·m],
            shape (6,); None where it is not estimated.
        flexible_positions: Deflections of the flexible joints, observed, [rad], shape (f,); empty for a rigid robot.
        flexible_velocities: Their velocities, [rad/s], shape (f,).
        flexible_torques: Torques of their springs and dampers, observed, [N·m], shape (f,).
        flexible_stiffness: Of their springs, as configured or learned, [N·m/rad], shape (f,).
    """

    base_position: NDArray
    base_rotation: NDArray
    base_twist: NDArray
    joint_positions: NDArray
    joint_velocities: NDArray
    com_position: NDArray
    com_velocity: NDArray
    dcm_position: NDArray
    zmp_position: NDArray
    left_foot_position: NDArray
    left_foot_rotation: NDArray
    right_foot_position: NDArray
    right_foot_rotation: NDArray
    left_foot_twist: NDArray
    right_foot_twist: NDArray
    left_foot_wrench: NDArray
    right_foot_wrench: NDArray
    plan_origin: PlanarPose = PlanarPose()
    left_contact: FootContact | None = None
    right_contact: FootContact | None = None
    zmp_is_measured: bool = True
    velocity_lag: float = 0.0
    zmp_lag: float = 0.0
    zmp_completion: NDArray = field(default_factory=lambda: _NO_OFFSET)
    zmp_lead: NDArray = field(default_factory=lambda: _NO_OFFSET)
    external_wrench: NDArray | None = None
    flexible_positions: NDArray = field(default_factory=lambda: NO_JOINTS)
    flexible_velocities: NDArray = field(default_factory=lambda: NO_JOINTS)
    flexible_torques: NDArray = field(default_factory=lambda: NO_JOINTS)
    flexible_stiffness: NDArray = field(default_factory=lambda: NO_JOINTS)

    def __post_init__(self) -> None:
        if self.external_wrench is not None:
            freeze_arrays(self, external_wrench=(6,))
        freeze_arrays(
            self,
            base_position=(3,),
            base_rotation=(3, 3),
            base_twist=(6,),
            joint_positions=(None,),
            joint_velocities=(None,),
            com_position=(3,),
            com_velocity=(3,),
            dcm_position=(2,),
            zmp_position=(2,),
            zmp_completion=(2,),
            zmp_lead=(2,),
            left_foot_position=(3,),
            left_foot_rotation=(3, 3),
            right_foot_position=(3,),
            right_foot_rotation=(3, 3),
            left_foot_twist=(6,),
            right_foot_twist=(6,),
            left_foot_wrench=(6,),
            right_foot_wrench=(6,),
            flexible_positions=(None,),
            flexible_velocities=(None,),
            flexible_torques=(None,),
            flexible_stiffness=(None,),
        )

    def foot_twist(self, side: Side) -> NDArray:
        """Twist of one sole (world, mixed, shape (6,))."""
        return self.left_foot_twist if side is Side.LEFT else self.right_foot_twist

    def with_contacts(self, left: FootContact | None, right: FootContact | None) -> RobotState:
        """Return the same state with these contacts; its arrays are read-only and therefore shared."""
        return altered(self, left_contact=left, right_contact=right)

    def foot_contact(self, side: Side) -> FootContact | None:
        """Contact of one sole with the ground; None without a contact estimator."""
        return self.left_contact if side is Side.LEFT else self.right_contact


@dataclass(frozen=True, slots=True, eq=False)
class RobotPosture:
    """Pose of the base and positions of the joints; world.

    Attributes:
        base_position: [m], shape (3,).
        base_rotation: Shape (3, 3).
        joint_positions: In the order of the robot's description, [rad], shape (n,).
    """

    base_position: NDArray
    base_rotation: NDArray
    joint_positions: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, base_position=(3,), base_rotation=(3, 3), joint_positions=(None,))


class ControlMode(StrEnum):
    """Mode in which the servos of the joints read the command."""

    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"


@dataclass(frozen=True, slots=True, eq=False)
class JointCommand:
    """One command for all actuated joints, in the order of the robot's description.

    Attributes:
        mode: What ``values`` are.
        values: Joint positions [rad], velocities [rad/s] or torques [N·m], shape (a,).
    """

    mode: ControlMode
    values: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, values=(None,))


class RobotInterface(Protocol):
    """A robot that can be sensed and commanded."""

    def read(self) -> Measurement:
        """Return the newest sample of all sensors.

        Raises:
            RobotInterfaceError: The robot does not answer.
        """
        ...

    def write(self, command: JointCommand) -> None:
        """Hand a command to the motors; it holds until the next one.

        Raises:
            RobotInterfaceError: The robot refuses the command.
            ControlModeLost: Joints are not in its mode; the others are commanded all the same.
        """
        ...


_LARGEST_STEP = 0.05  # [s]
"""Of control time in one tick; a tick that comes later than this, or earlier than the last one, is a jump.

In a longer stall the joints stand, and the plan with them: one that goes on lifts the foot that carries the robot, and
of stalls of 0.3 s at 0.2 m/s iCub v2.7 falls at 40 of 110 moments, else at 2 of 54; iCub v3 at 5 of 13, 0.
"""


@dataclass(frozen=True, slots=True)
class ClockJump:
    """A step of the source that control time did not follow.

    Attributes:
        time: Of the control clock, [s].
        size: By how much the source went farther than one period, [s]; minus one period where it stands still,
            not finite where the source is not.
    """

    time: float
    size: float

    @property
    def direction(self) -> str:
        """``forward``, ``backward``, or ``not finite``."""
        if not math.isfinite(self.size):
            return "not finite"
        return "forward" if self.size > 0.0 else "backward"

    def __str__(self) -> str:
        """Return the jump as one clause."""
        if not math.isfinite(self.size):
            return "the clock gives no finite time"
        or_late = ", or the tick is late by that" if self.size > 0.0 else ""
        return f"the clock jumped by {self.size:+.3f} s{or_late}"


class ControlClock:
    r"""Turns the times that a clock gives, tick by tick, into a control time that neither jumps nor stops.

    With the source :math:`s_k`, the offset :math:`o`, the period :math:`\Delta t` and the largest step :math:`d`,

    .. math:: t_k = s_k + o \quad\text{where}\quad 0 < s_k + o - t_{k-1} \le d, \qquad
              t_k = t_{k-1} + \Delta t,\; o = t_k - s_k \quad\text{elsewhere.}

    So control time equals the source until that one jumps (a wall clock that is set, a simulation that begins anew, a
    tick that is late), and runs beside it from then on. Jitter up to ``largest_step`` passes unchanged.

    Call `update` exactly once a tick with the time of the source and use what it returns, and nothing else, as the time
    of that tick; then look at `jump`. Bring samples, whose time stamps count on the source, to control time by
    `stamped`. `WalkingController.step` does so with the time and the measurement that it is given. A shell whose other
    parts need the control time as well (coordinator, status, logs) does so itself with ``controller.clock``, reports
    its jumps by ``controller.report_jump(jump)``, and calls ``controller.tick``.

    Attributes:
        time: Of the last tick, [s].
        jump: That of the last tick, or None.
    """

    def __init__(self, period: float, largest_step: float = _LARGEST_STEP) -> None:
        """Begin; the first time of the source is that of the control clock, or zero where it is not finite.

        Args:
            period: By which control time goes on where the source jumps, [s].
            largest_step: Of control time in one tick, [s].
        """
        self._period = period
        self._largest_step = largest_step
        self.restart()

    def restart(self) -> None:
        """Begin anew: control time is that of the source again, without a jump."""
        self._offset = self._stamp_offset = self.time = 0.0
        self._is_running = False
        self.jump: ClockJump | None = None

    def update(self, source: float) -> float:
        """Return the control time of a tick at ``source`` [s]; raises nothing, whatever ``source`` is."""
        time = _number(source) + self._offset
        is_first, self._is_running = not self._is_running, True
        if 0.0 < time - self.time <= self._largest_step or (is_first and math.isfinite(time)):
            self.time, self.jump = time, None
        else:
            self._resynchronise(time)
        return self.time

    def stamp(self, source: float) -> float:
        """Return the control time of a sample that was taken at ``source`` [s]; NaN where that is no number.

        After a jump the first samples may still have been taken before it, and a sensor's own clock need not jump at
        all: of the offsets before and after, the one counts that has the sample taken nearer to the last tick.
        """
        source = _number(source)
        if self._stamp_offset == self._offset:
            return source + self._offset
        before, after = source + self._stamp_offset, source + self._offset
        if abs(before - self.time) < abs(after - self.time):
            return before
        self._stamp_offset = self._offset
        return after

    def stamped(self, measurement: Measurement) -> Measurement:
        """Return a measurement with its times on the control clock."""
        time = self.stamp(measurement.time)
        return measurement if time == measurement.time else measurement.shifted(time - measurement.time)

    def _resynchronise(self, time: float) -> None:
        size = time - self.time - self._period
        self.time += self._period
        self.jump = ClockJump(self.time, size)
        if math.isfinite(time):
            self._offset += self.time - time


def _number(value: object) -> float:
    """Return a value as a float; NaN where it is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
