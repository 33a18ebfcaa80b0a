"""Exercises a robot that hangs or stands: small motions, by which its joints, force sensors and IMU are judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    GRAVITY,
    ControlMode,
    JointCommand,
    Measurement,
    NDArray,
    RobotInterface,
    Side,
    StateError,
    so3,
)
from gradiva.common.errors import FAIL, OK, WARN
from gradiva.robot_model import IdynTreeModel, RobotDescription, ServoLaw, as_pose, fixed_rotation

Pose = tuple[NDArray, NDArray]
"""Position, [m], shape (3,), and rotation, shape (3, 3)."""
Integers = npt.NDArray[np.signedinteger[Any]]
HANGING_LOAD = 0.05  # [-] of the weight on the feet: below it the robot hangs
_STANDING_LOAD = 0.5  # [-] above it it stands
_PERIOD = 4.0  # [s] of a motion
_JOINT_AMPLITUDE = math.radians(3.0)  # of joints that carry nothing
_SHIFT, _TURN = 0.012, math.radians(2.0)  # [m, rad] of the base above soles that stay where they are
_POINTS = 9  # of the path of a motion of the base, between which joints are interpolated
_STEP = 1e-5  # [rad] of differences
_ITERATIONS = 4
_UNREACHED = 1e-4  # [m, rad] beyond which a motion of the base is no motion of these legs
_MOVES = 0.3  # [-] of a joint's largest motion: smaller ones tell little of it
_SLOWEST = 0.1  # [-] of the largest speed: below it friction may have either sign
_LARGEST_ERROR = 0.15  # [rad] of a joint off its set-point
_LARGEST_TILT = 0.1  # [rad] of the base beside that of the motion
_FEW = 20  # [samples]
_SETTLING = 1.0  # [s] in the present posture before the first motion
_FREE, _LOADED = (
    0.2,
    0.4,
)  # [-] of its set-points that a joint may leave out; those of loaded legs, whose soles hold them


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A small motion there and back, through the posture of the start.

    Attributes:
        name: In the announcement.
        path: Joint positions at evenly spaced places from one end to the other, [rad], shape (points, n).
        of_base: Whether the base moves above soles that stay where they are.
    """

    name: str
    path: NDArray
    of_base: bool = False

    def at(self, time: float, period: float) -> NDArray:
        """Return the joint positions at ``time`` [s] of a motion that takes ``period`` [s]."""
        fade = min(1.0, 4.0 * time / period, 4.0 * (period - time) / period)
        place = 0.5 * (1.0 + fade * math.sin(2.0 * math.pi * time / period)) * (len(self.path) - 1)
        below = min(int(place), len(self.path) - 2)
        return self.path[below] + (place - below) * (self.path[below + 1] - self.path[below])


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a robot's health.

    Attributes:
        subject: Joint, foot or IMU.
        name: Of the figure.
        value: In ``unit``.
        unit: Of value and bounds; empty for a ratio.
        least: Lowest healthy value.
        most: Highest healthy value.
        drift: By which it may differ from those of former exercises.
        is_vital: Whether the robot should not walk with another value.
    """

    subject: str
    name: str
    value: float
    unit: str
    least: float
    most: float
    drift: float
    is_vital: bool = True

    @property
    def key(self) -> str:
        """Name in the record of former exercises."""
        return f"{self.subject} {self.name}"

    @property
    def verdict(self) -> str:
        """Whether it is healthy: ``ok``, ``warn``, ``fail``."""
        if self.least <= self.value <= self.most:
            return OK
        return FAIL if self.is_vital else WARN


@dataclass(slots=True)
class Samples:
    """Holds what was commanded and measured, motion by motion."""

    motion: list[int] = field(default_factory=list)
    command: list[NDArray] = field(default_factory=list)
    measurement: list[Measurement] = field(default_factory=list)
    motors: list[NDArray] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.motion)


class Exercise:
    """Moves a robot in its present posture, and judges it by how it moved.

    Attributes:
        stands: Whether the robot stands on its feet; else it hangs.
        motions: What will be moved, in this order.
        duration: Of all motions, [s].
    """

    def __init__(
        self,
        robot: RobotInterface,
        model: IdynTreeModel,
        wait: Callable[[], None],
        tick: float,
        motors: Callable[[], NDArray | None] = lambda: None,
        period: float = _PERIOD,
    ) -> None:
        """Look at the robot; nothing moves yet.

        Args:
            robot: That is read and commanded.
            model: Of it.
            wait: Lets a tick pass.
            tick: Its duration, [s].
            motors: Returns motor positions, [rad], shape (n,); None where nothing measures them.
            period: Of a motion, [s].

        Raises:
            StateError: It neither hangs nor stands.
        """
        self._robot, self._model, self._wait, self._tick, self._motors = robot, model, wait, tick, motors
        self._description = model.description
        self._period = period
        self._start = robot.read()
        loads = _loads(model, self._start)
        load = sum(loads.values()) / (self._description.mass * GRAVITY)
        if HANGING_LOAD < load < _STANDING_LOAD or not math.isfinite(load):
            raise StateError(f"the feet carry {load:.0%} of the weight: let the robot hang, or stand on both feet")
        self.stands = load >= _STANDING_LOAD
        self.motions = motions_of(model, self._start.joint_positions, self.stands)
        self.duration = len(self.motions) * period

    def run(self, report: Callable[[str], None] = lambda name: None) -> list[Figure]:
        """Move the robot; return its figures.

        Raises:
            StateError: A joint or the base does not follow: the motion has been ended, the joints are held.
        """
        samples = Samples()
        for _ in range(round(_SETTLING / self._tick)):
            self._follow(Motion("the present posture", np.array([self._start.joint_positions] * 2)), 0.0)
        for number, motion in enumerate(self.motions):
            report(motion.name)
            for tick in range(round(self._period / self._tick)):
                command, measured = self._follow(motion, tick * self._tick)
                motors = self._motors()
                samples.motion.append(number)
                samples.command.append(command)
                samples.measurement.append(measured)
                samples.motors.append(np.full_like(command, np.nan) if motors is None else motors)
        return [
            *joint_figures(self._description, samples, self._legs if self.stands else ()),
            *(foot_figures(self._model, samples) if self.stands else ()),
            *(imu_figures(self._model, self.motions, samples, self._tick) if self.stands else ()),
        ]

    @property
    def _legs(self) -> list[str]:
        return [joint for side in Side for joint in self._description.joint_groups[f"{side}_leg"].joints]

    def _follow(self, motion: Motion, time: float) -> tuple[NDArray, Measurement]:
        """Command a moment of a motion, [s]; return the command, and what was measured a tick later."""
        command = motion.at(time, self._period)
        self._robot.write(JointCommand(ControlMode.POSITION, command))
        self._wait()
        measured = self._robot.read()
        self._check(motion, command, measured)
        return command, measured

    def _check(self, motion: Motion, command: NDArray, measured: Measurement) -> None:
        """Pass while the robot follows; else hold its joints and raise StateError."""
        errors = np.abs(command - measured.joint_positions)
        joint = int(np.argmax(errors))
        why = ""
        if not errors[joint] <= _LARGEST_ERROR:
            name = self._description.joints[joint]
            why = f"{name} is {math.degrees(errors[joint]):.1f}° off its set-point"
        elif self._start.imu is not None and measured.imu is not None:
            tilt = so3.tilt(self._start.imu.rotation.T @ measured.imu.rotation)
            why = f"the base tilts by {math.degrees(tilt):.1f}°" if tilt > _LARGEST_TILT else ""
        if why:
            self._robot.write(JointCommand(ControlMode.POSITION, measured.joint_positions))
            raise StateError(f"ended at '{motion.name}': {why}")


class FramePoses:
    """Returns poses of frames seen from others, posture after posture."""

    def __init__(self, model: IdynTreeModel) -> None:
        """Take the model."""
        self._computations = model.kinematics_and_dynamics()

    def pose(self, reference: str, frame: str, joint_positions: NDArray) -> Pose:
        """Return the pose of a frame seen from another one, in a posture, [rad], shape (n,)."""
        self._computations.setJointPos(joint_positions)
        return as_pose(self._computations.getRelativeTransform(reference, frame))


# -- motions -----------------------------------------------------------------------------------------------------------


def motions_of(model: IdynTreeModel, posture: NDArray, stands: bool) -> list[Motion]:
    """Return the motions of a robot in a posture, [rad], shape (n,).

    One that stands moves its base above its soles, so that all joints of the legs move without a foot that slides; all
    other joints, and on one that hangs all, move pair by pair.
    """
    robot, motions = model.description, list[Motion]()
    legs = set(robot.leg_joints)
    if stands:
        names = ("ahead", "to the sides", "up and down", "roll", "pitch", "yaw")
        for axis, name in enumerate(names):
            path = base_path(model, posture, axis, _SHIFT if axis < 3 else _TURN)
            motions += [] if path is None else [Motion(f"base {name}", path, of_base=True)]
    for pair in _pairs([joint for joint in robot.joints if not (stands and joint in legs)]):
        amplitude = np.isin(robot.joints, pair) * _JOINT_AMPLITUDE
        path = _within_limits(model, posture + np.linspace(-1.0, 1.0, 3)[:, None] * amplitude)
        motions.append(Motion(" and ".join(pair), path))
    return motions


def base_path(model: IdynTreeModel, posture: NDArray, axis: int, amplitude: float) -> NDArray | None:
    """Return joint positions that move the base along or about an axis above its soles, [rad], shape (points, n).

    Args:
        model: Of the robot.
        posture: In the middle, [rad], shape (n,).
        axis: Of the base: 0 to 2 along, 3 to 5 about x, y, z.
        amplitude: [m], or [rad].

    Returns:
        None where the legs cannot.
    """
    soles = [model.description.left_foot_frame, model.description.right_foot_frame]
    seen = FramePoses(model)
    there = [seen.pose(model.description.base_link, sole, posture) for sole in soles]
    path = []
    for place in np.linspace(-amplitude, amplitude, _POINTS):
        shift, turn = (place * np.eye(3)[axis % 3] * (axis // 3 == part) for part in (0, 1))
        back = so3.exp(turn).T
        wanted = [(back @ (position - shift), back @ rotation) for position, rotation in there]
        positions = posture.copy()
        for side, frame, pose in zip(Side, soles, wanted, strict=True):
            joints = [
                model.description.joints.index(name) for name in model.description.joint_groups[f"{side}_leg"].joints
            ]
            if not _reach(partial(seen.pose, model.description.base_link, frame), pose, positions, joints):
                return None
        path.append(positions)
    return _within_limits(model, np.array(path))


def _reach(seen: Callable[[NDArray], Pose], pose: Pose, positions: NDArray, joints: Sequence[int]) -> bool:
    """Move some joints, in place, until a frame is ``seen`` in a pose; return whether it gets there."""

    def error() -> NDArray:
        """Return the way to the pose: [m] in the axes of the first frame, then a rotation vector, [rad], shape (6,)."""
        position, rotation = seen(positions)
        return np.concatenate([pose[0] - position, rotation @ so3.log(rotation.T @ pose[1])])

    for _ in range(_ITERATIONS):
        off, columns = error(), []
        for joint in joints:
            positions[joint] += _STEP
            columns.append((off - error()) / _STEP)
            positions[joint] -= _STEP
        positions[joints] += np.linalg.lstsq(np.array(columns).T, off, rcond=1e-6)[0]
    return bool(np.abs(error()).max() < _UNREACHED)


def _within_limits(model: IdynTreeModel, path: NDArray) -> NDArray:
    """Return a path whose ends are shortened where a joint would leave its limits."""
    lower, upper = model.joint_limits()
    middle = path[len(path) // 2]
    away = path - middle
    room = np.where(away > 0.0, upper - middle, middle - lower)
    most = float(np.min(np.where(np.abs(away) > 1e-9, np.maximum(room, 0.0) / np.maximum(np.abs(away), 1e-9), np.inf)))
    return middle + min(1.0, most) * away


def _pairs(joints: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the joints, left and right ones together."""
    left, found = {twin: joint for joint in joints if (twin := twin_of(joint)) in joints}, list[tuple[str, ...]]()
    for joint in joints:
        if joint not in left:
            twin = twin_of(joint)
            found.append((joint, twin) if twin in joints else (joint,))
    return found


def twin_of(joint: str) -> str:
    """Return the right joint to a left one; empty for others."""
    if joint.startswith("l_"):
        return "r_" + joint[2:]
    if joint.startswith("left_"):
        return "right_" + joint[5:]
    return joint.replace("_left_", "_right_") if "_left_" in joint else ""


# -- figures -----------------------------------------------------------------------------------------------------------


def joint_figures(robot: RobotDescription, samples: Samples, loaded: Sequence[str] = ()) -> list[Figure]:
    r"""Return the figures of all joints, of which left ones also stand beside right ones.

    Positions, less their mean over a motion, are :math:`s = g\, s^* - T \dot s - h\, \mathrm{sign}\, \dot s`: how much
    of its set-points a joint follows, its lag, and half the width of what play and friction keep it behind.
    """
    commands = np.array(samples.command)
    positions = np.array([each.joint_positions for each in samples.measurement])
    velocities = np.array([each.joint_velocities for each in samples.measurement])
    torques = np.array([each.joint_torques for each in samples.measurement])
    motion, motors = np.array(samples.motion), np.array(samples.motors)
    servo = ServoLaw.of(robot)
    expected = robot.per_joint("gear_play") / 2.0 + robot.per_joint("coulomb_friction") / servo.stiffness
    found: list[Figure] = []
    for joint, name in enumerate(robot.joints):
        rows = _moving(commands[:, joint], motion)
        if len(rows) < _FEW:
            continue
        command, speed = _less_mean(commands[rows, joint], motion[rows]), velocities[rows, joint]
        sign = np.where(np.abs(speed) > _SLOWEST * np.abs(speed).max(), np.sign(speed), 0.0)
        position = _less_mean(positions[rows, joint], motion[rows])
        (gain, lag, behind), *_ = np.linalg.lstsq(np.column_stack([command, -speed, -sign]), position, rcond=None)
        most, bound = math.degrees(3.0 * expected[joint]) + 0.15, _LOADED if name in loaded else _FREE
        found += [
            Figure(name, "follows", float(gain), "", 1.0 - bound, 1.0 + bound, 0.1),
            Figure(
                name, "lag", 1e3 * float(lag), "ms", -20.0, slow := 1.5e3 * servo.lag[joint] + 60.0, 0.3 * slow, False
            ),
            Figure(name, "held back", math.degrees(float(behind)), "°", -most, most, 0.5 * most),
        ]
        torque = _less_mean(torques[rows, joint], motion[rows])
        if np.isfinite(torque).all():
            columns = np.column_stack([command, speed, sign])
            friction = float(np.linalg.lstsq(columns, torque, rcond=None)[0][2])
            known = float(robot.per_joint("coulomb_friction")[joint])
            found.append(Figure(name, "friction", friction, "N·m", -math.inf, 3.0 * known + 3.0, known + 1.0, False))
        gap = _less_mean(positions[rows, joint] - motors[rows, joint], motion[rows])
        if np.isfinite(gap).all() and np.ptp(gap) > 0.0:
            gap -= speed * (gap @ speed) / max(speed @ speed, 1e-12)  # both were not read at the same moment
            play = math.degrees(float(np.ptp(np.quantile(gap, (0.01, 0.99)))))
            most = math.degrees(2.0 * robot.per_joint("gear_play")[joint]) + 0.3
            found.append(Figure(name, "off its motor", play, "°", 0.0, most, 0.5 * most))
    return [*found, *_beside_each_other(found)]


def _beside_each_other(figures: Sequence[Figure]) -> list[Figure]:
    """Return how the figures of left joints differ from those of right ones."""
    known = {figure.key: figure for figure in figures}
    found = []
    for one in figures:
        other = known.get(f"{twin_of(one.subject)} {one.name}")
        if other is not None and one.name in ("follows", "held back"):
            bound = 0.2 if one.name == "follows" else one.most
            name = f"{one.name}, left less right"
            found.append(Figure(one.subject, name, one.value - other.value, one.unit, -bound, bound, bound, False))
    return found


def _moving(commands: NDArray, motion: Integers) -> Integers:
    """Return the rows of the motions in which a joint moves."""
    ranges = {number: float(np.ptp(commands[motion == number])) for number in np.unique(motion)}
    least = max(_MOVES * max(ranges.values()), 1e-3)
    return np.isin(motion, [number for number, size in ranges.items() if size > least]).nonzero()[0]


def _less_mean(values: NDArray, motion: Integers) -> NDArray:
    """Return values less their mean over each motion."""
    result = values.copy()
    for number in np.unique(motion):
        result[motion == number] -= values[motion == number].mean()
    return result


def foot_figures(model: IdynTreeModel, samples: Samples) -> list[Figure]:
    r"""Return the slopes of the feet's force sensors, and their sum over the weight while either foot carries more.

    While the base moves to the sides the weight goes from foot to foot: :math:`a_l f_l + a_r f_r = m g`.
    """
    if not model.description.real_force_torque_sensors:
        return []
    weight = model.description.mass * GRAVITY
    loads = [_loads(model, each) for each in samples.measurement]
    forces = np.array([[load[side] for side in Side] for load in loads])
    if not np.isfinite(forces).all():
        return [Figure("feet", "readings that are numbers", float(np.isfinite(forces).mean()), "", 1.0, 1.0, 0.0)]
    factors, *_ = np.linalg.lstsq(forces, np.full(len(forces), weight), rcond=None)
    by_split = forces[np.argsort(forces[:, 0] - forces[:, 1])].sum(axis=1) / weight
    tenth = max(1, len(forces) // 10)
    return [
        Figure("right foot", "carries more: sum over weight", float(by_split[:tenth].mean()), "", 0.85, 1.15, 0.05),
        Figure("left foot", "carries more: sum over weight", float(by_split[-tenth:].mean()), "", 0.85, 1.15, 0.05),
        *(
            Figure(f"{side} foot", "slope of its force", float(1.0 / factor), "", 0.8, 1.2, 0.05)
            for side, factor in zip(Side, factors, strict=True)
        ),
    ]


def _loads(model: IdynTreeModel, measured: Measurement) -> dict[Side, float]:
    """Return the force along the normal of each sole, [N]."""
    robot = model.description
    loads = dict.fromkeys(Side, 0.0)
    for row, sensor in enumerate(robot.force_torque_sensors):
        turn = fixed_rotation(model, robot.foot_frame(sensor.foot), sensor.frame)
        loads[sensor.foot] += float((turn @ measured.contact_wrenches[row, :3])[2])
    return loads


def imu_figures(model: IdynTreeModel, motions: Sequence[Motion], samples: Samples, tick: float) -> list[Figure]:
    """Return how the attitude of the IMU and the sum of its rates follow the encoders, above soles that are flat."""
    of_base = [number for number, motion in enumerate(motions) if motion.of_base]
    rows = [row for row, number in enumerate(samples.motion) if number in of_base]
    readings = [samples.measurement[row] for row in rows if samples.measurement[row].imu is not None]
    if len(readings) < _FEW:
        return []
    robot, poses, seen, felt, rates = model.description, FramePoses(model), [], [], []
    for each in readings:
        rotation = poses.pose(robot.left_foot_frame, robot.imu_frame, each.joint_positions)[1]
        assert each.imu is not None, "left out above"
        seen.append(rotation)
        felt.append(each.imu.rotation)
        rates.append(each.imu.angular_velocity)
    by_encoders, by_imu = (np.array([so3.log(turns[0].T @ turn) for turn in turns]) for turns in (seen, felt))
    by_rates, motion = tick * np.cumsum(rates, axis=0), np.array(samples.motion)[rows]
    angles = [
        np.column_stack([_centred(each[:, axis], motion) for axis in range(3)]) for each in (by_encoders, by_rates)
    ]
    error = math.degrees(float(np.sqrt(np.mean((by_imu - by_encoders - (by_imu - by_encoders).mean(axis=0)) ** 2))))
    return [
        Figure("IMU", "slope of its attitude", _slope(by_encoders, by_imu), "", 0.8, 1.2, 0.1),
        Figure("IMU", "attitude beside encoders", error, "°", 0.0, 1.0, 0.3),
        Figure("IMU", "slope of its rates", _slope(*angles), "", 0.8, 1.2, 0.1),
    ]


def _centred(values: NDArray, motion: Integers) -> NDArray:
    """Return values less their straight line over each motion: a bias of rates is none of their slope."""
    result = values.copy()
    for number in np.unique(motion):
        rows = motion == number
        columns = np.column_stack([np.ones(rows.sum()), np.arange(rows.sum())])
        result[rows] -= columns @ np.linalg.lstsq(columns, values[rows], rcond=None)[0]
    return result


def _slope(true: NDArray, read: NDArray) -> float:
    true, read = (each - each.mean(axis=0) for each in (true, read))
    return float((true * read).sum() / (true * true).sum())
