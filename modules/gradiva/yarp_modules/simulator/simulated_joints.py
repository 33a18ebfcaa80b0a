"""All joints behind the control boards of a simulated robot: their modes, set-points and measured state."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common import ControlMode as ServoMode
from gradiva.common import Measurement, NDArray, minimum_jerk
from gradiva.middleware import ControlMode, InteractionMode, NotOffered
from gradiva.simulation import JointRanges, MixedCommand

AT_POSITION = frozenset({ControlMode.POSITION, ControlMode.POSITION_DIRECT, ControlMode.MIXED})
AT_VELOCITY = frozenset({ControlMode.VELOCITY, ControlMode.VELOCITY_DIRECT})
AT_TORQUE = frozenset({ControlMode.TORQUE})
Rows = npt.NDArray[np.int_]
Joints = Sequence[int]
FOLLOWS_MOVES = frozenset({ControlMode.POSITION, ControlMode.MIXED})
FOLLOWS_VELOCITY = AT_VELOCITY | {ControlMode.MIXED}
_OFFERED = AT_POSITION | AT_VELOCITY | AT_TORQUE | {ControlMode.IDLE, ControlMode.FORCE_IDLE}
_SLOWEST = 1e-3  # [rad/s] a move at speed zero would never end


@dataclass(frozen=True, slots=True)
class JointMove:
    """Moves one joint from rest to rest, by minimum jerk.

    Attributes:
        start: [rad].
        goal: [rad].
        begin: When it begins, [s].
        duration: [s].
    """

    start: float
    goal: float
    begin: float
    duration: float

    @classmethod
    def at_speed(cls, start: float, goal: float, begin: float, speed: float) -> JointMove:
        """Return a move whose mean speed is ``speed`` [rad/s], as that of the robot's boards."""
        return cls(start, goal, begin, abs(goal - start) / speed)

    def position(self, time: float) -> float:
        """Return where the joint should be, [rad]."""
        return self.start + (self.goal - self.start) * minimum_jerk(self._ratio(time))[0]

    def is_over(self, time: float) -> bool:
        """Return whether the goal is reached."""
        return time >= self.begin + self.duration

    def _ratio(self, time: float) -> float:
        return 1.0 if self.is_over(time) else max(0.0, time - self.begin) / self.duration


@dataclass(frozen=True, slots=True, eq=False)
class ModeRows:
    """Sorts joints by the set-points that their modes follow; idle ones follow none.

    Attributes:
        position: Indices of those that follow positions.
        velocity: Of those that follow velocities.
        torque: Of those that follow torques.
        placed: Of those that follow positions or velocities.
    """

    position: Rows
    velocity: Rows
    torque: Rows
    placed: Rows

    @classmethod
    def of(cls, joints: Iterable[int], modes: Sequence[ControlMode]) -> ModeRows:
        """Sort ``joints``, indices into ``modes``."""
        some = [int(joint) for joint in joints]
        kinds = (AT_POSITION, AT_VELOCITY, AT_TORQUE, AT_POSITION | AT_VELOCITY)
        return cls(*(np.array([joint for joint in some if modes[joint] in kind], dtype=int) for kind in kinds))

    def chosen(self, position: NDArray, velocity: NDArray, torque: NDArray) -> NDArray:
        """Return the set-point that each joint follows; 0 for joints that are not among these or are idle."""
        values = np.zeros(len(position))
        for rows, targets in ((self.position, position), (self.velocity, velocity), (self.torque, torque)):
            values[rows] = targets[rows]
        return values


class SimulatedJoints:
    """Holds set-points of all joints, by mode, and their measured state.

    Joints that the physics moves (*driven*) get their set-points as servo commands. The others, such as necks and
    wrists, are ideal: they are where their set-point is. Entering a mode keeps position, torque, and the set-point
    where it stays one of positions. All methods may be called from any thread.

    Attributes:
        names: Of all joints.
        lock: Held while several of them are read or changed.
        modes: Of all joints.
        interaction: Of all joints.
        positions: Measured, [rad], shape (N,).
        velocities: Measured, [rad/s], shape (N,).
        torques: Measured, [N·m], shape (N,).
        temperatures: Of the motors, [°C], shape (N,); NaN where unknown.
        time: Of the simulation, [s].
        position_targets: [rad], shape (N,).
        velocity_targets: [rad/s], shape (N,).
        torque_targets: [N·m], shape (N,).
        ranges: Limits.
    """

    def __init__(self, names: Sequence[str], driven: Sequence[int], ranges: JointRanges, positions: NDArray) -> None:
        """Hold the joints at ``positions`` [rad], shape (N,); ``driven`` are the physics' joints, in its order."""
        number = len(names)
        self.names = tuple(names)
        self.ranges = ranges
        self._lower: list[float] = ranges.lower.tolist()
        self._upper: list[float] = ranges.upper.tolist()
        self.lock = threading.RLock()
        self.modes = [ControlMode.POSITION] * number
        self.interaction = [InteractionMode.STIFF] * number
        self.positions, self.velocities, self.torques = positions.copy(), np.zeros(number), np.zeros(number)
        self.temperatures = np.full(number, np.nan)
        self.position_targets = positions.copy()
        self.velocity_targets, self.torque_targets = np.zeros(number), np.zeros(number)
        self.time = 0.0
        self._driven = np.array(driven, dtype=int)
        self._ideal = np.setdiff1d(np.arange(number), self._driven)
        self._stiffness = np.full(number, np.inf)
        self._moves: dict[int, JointMove] = {}
        self._servo_modes: tuple[ServoMode, ...] = ()  # these three follow from the modes
        self._driven_rows: ModeRows | None = None
        self._ideal_rows: ModeRows | None = None
        self._is_new = False
        self._is_resting = True

    # -- what boards do ----------------------------------------------------------------------------------------

    def set_mode(self, joint: int, mode: ControlMode) -> None:
        """Switch the control mode of a joint.

        Raises:
            NotOffered: These joints have no such mode.
        """
        if mode not in _OFFERED:
            raise NotOffered(f"control mode {mode.name}")
        with self.lock:
            before = self.modes[joint]
            self._moves.pop(joint, None)
            self.velocity_targets[joint] = 0.0
            self.torque_targets[joint] = self.torques[joint]
            if before not in AT_POSITION:
                self.position_targets[joint] = self.positions[joint] + self.torques[joint] / self._stiffness[joint]
            self.modes[joint] = ControlMode.IDLE if mode is ControlMode.FORCE_IDLE else mode
            self._forget_modes()
            self._is_new = True

    def move_to(self, joint: int, position: float, speed: float) -> None:
        """Start a minimum-jerk move to ``position`` [rad] at a mean speed of ``speed`` [rad/s]."""
        with self.lock:
            goal = self._within(joint, position)
            start = float(self.position_targets[joint])
            self._moves[joint] = JointMove.at_speed(start, goal, self.time, max(abs(speed), _SLOWEST))

    def goal_of(self, joint: int) -> float:
        """Return where the joint's move ends, or its set-point where it makes none, [rad]."""
        move = self._moves.get(joint)
        return float(self.position_targets[joint]) if move is None else move.goal

    def is_moving(self, joints: Iterable[int]) -> bool:
        """Return whether any of the joints makes a move."""
        return any(joint in self._moves for joint in joints)

    def stop(self, joint: int) -> None:
        """End the joint's move and its velocity."""
        with self.lock:
            self._moves.pop(joint, None)
            self.velocity_targets[joint] = 0.0
            self._is_new = True

    def set_positions(self, joints: Sequence[int], positions: Sequence[float]) -> None:
        """Follow positions [rad] at once; beyond the joints' limits, to the limits."""
        with self.lock:
            self._end_moves(joints)
            for joint, position in zip(joints, positions, strict=True):
                self.position_targets[joint] = self._within(joint, position)
            self._is_new = True

    def set_velocities(self, joints: Sequence[int], velocities: Sequence[float]) -> None:
        """Follow velocities [rad/s], up to the joints' limits."""
        with self.lock:
            self._end_moves(joints)
            for joint, velocity in zip(joints, velocities, strict=True):
                limit = self.ranges.velocity[joint]
                self.velocity_targets[joint] = min(max(velocity, -limit), limit)
            self._is_new = True

    def set_torques(self, joints: Sequence[int], torques: Sequence[float]) -> None:
        """Follow torques [N·m]."""
        with self.lock:
            self.torque_targets[list(joints)] = torques
            self._is_new = True

    # -- what the simulation does ------------------------------------------------------------------------------

    def observe(self, measurement: Measurement, position_stiffness: NDArray) -> None:
        """Take the readings of the driven joints' sensors; ``position_stiffness`` of their servos, [N·m/rad]."""
        with self.lock:
            self.positions[self._driven] = measurement.joint_positions
            self.velocities[self._driven] = measurement.joint_velocities
            self.torques[self._driven] = measurement.joint_torques
            if measurement.motor_temperatures is not None:
                self.temperatures[self._driven] = measurement.motor_temperatures
            self._stiffness[self._driven] = position_stiffness

    def reset(self, positions: NDArray, driven_targets: NDArray) -> None:
        """Put all joints to rest at ``positions`` [rad], in position mode, the driven ones held by their set-points."""
        with self.lock:
            self._moves.clear()
            self.modes[:] = [ControlMode.POSITION] * len(self.names)
            self.positions[:], self.position_targets[:] = positions, positions
            for rest in (self.velocities, self.torques, self.velocity_targets, self.torque_targets):
                rest[:] = 0.0
            self.hold(driven_targets)
            self._forget_modes()
            self._is_new = True

    def hold(self, driven_targets: NDArray) -> None:
        """Set the position set-points with which the driven joints stand still, [rad], without a command."""
        with self.lock:
            self.position_targets[self._driven] = driven_targets

    def next_command(self, time: float, duration: float) -> MixedCommand | None:
        """Let ``duration`` [s] from ``time`` [s] pass; return the driven joints' command, None where nothing is new."""
        with self.lock:
            self.time = time + duration
            if self._is_resting and not self._is_new and not self._moves:
                return None
            self._make_moves(self.time, duration)
            self._place_ideal(duration)
            self._is_resting = not self.velocity_targets.any() and not self.velocities[self._ideal].any()
            if not self._is_new:
                return None
            self._is_new = False
            return self._command()

    # ----------------------------------------------------------------------------------------------------------

    def _end_moves(self, joints: Iterable[int]) -> None:
        if self._moves:
            for joint in joints:
                self._moves.pop(joint, None)

    def _within(self, joint: int, position: float) -> float:
        return min(max(position, self._lower[joint]), self._upper[joint])

    def _make_moves(self, time: float, duration: float) -> None:
        for joint, move in list(self._moves.items()):
            if self.modes[joint] in FOLLOWS_MOVES:
                self.position_targets[joint] = move.position(time)
                self._is_new = True
            if move.is_over(time):
                del self._moves[joint]
        for joint in map(int, np.flatnonzero(self.velocity_targets)):
            if self.modes[joint] is ControlMode.MIXED:
                position = float(self.position_targets[joint] + duration * self.velocity_targets[joint])
                self.position_targets[joint] = self._within(joint, position)
                self._is_new = True

    def _place_ideal(self, duration: float) -> None:
        """Put the joints that no physics moves where their set-points are."""
        ideal = self._ideal_rows = self._ideal_rows or ModeRows.of(self._ideal, self.modes)
        placed = ideal.placed
        before = self.positions[placed]
        for joint in ideal.velocity.tolist():
            wanted = float(self.positions[joint] + duration * self.velocity_targets[joint])
            self.position_targets[joint] = self._within(joint, wanted)
        self.positions[placed] = self.position_targets[placed]
        self.velocities[placed] = (self.positions[placed] - before) / duration
        self.torques[ideal.torque] = self.torque_targets[ideal.torque]

    def _command(self) -> MixedCommand:
        driven = self._driven_rows = self._driven_rows or ModeRows.of(self._driven, self.modes)
        self._servo_modes = self._servo_modes or tuple(_servo_mode(self.modes[joint]) for joint in self._driven)
        values = driven.chosen(self.position_targets, self.velocity_targets, self.torque_targets)
        return MixedCommand(self._servo_modes, values[self._driven])

    def _forget_modes(self) -> None:
        self._servo_modes, self._driven_rows, self._ideal_rows = (), None, None


def _servo_mode(mode: ControlMode) -> ServoMode:
    if mode in AT_POSITION:
        return ServoMode.POSITION
    return ServoMode.VELOCITY if mode in AT_VELOCITY else ServoMode.TORQUE
