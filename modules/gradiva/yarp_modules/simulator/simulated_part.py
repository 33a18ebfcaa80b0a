"""A part of a simulated robot as its control board shows it: degrees, and joints in the order of the board."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray
from gradiva.middleware import (
    INTERFACES,
    CommandKind,
    ControlBoardDevice,
    ControlMode,
    Feature,
    InteractionMode,
    JointData,
    Joints,
    Key,
    MalformedMessage,
    NotOffered,
    ParameterTable,
    PidType,
    RateLimitedLog,
    StreamedCommand,
)
from gradiva.simulation import JointRanges
from gradiva.yarp_modules.simulator.simulated_joints import FOLLOWS_MOVES, FOLLOWS_VELOCITY, SimulatedJoints

TRAJECTORY_SPEED = 10.0  # [deg/s] until another is set, as on the robots
TRAJECTORY_ACCELERATION = 10.0  # [deg/s^2] reported and kept; minimum-jerk moves have their own
_PER_DEGREE = math.pi / 180.0  # turns gains per radian into gains per degree
_LARGEST_STIFFNESS, _LARGEST_DAMPING = 1000.0, 100.0  # [N·m/deg, N·m·s/deg] that compliance may be given
_ZERO = (
    *(Feature.MOTOR_ENCODER_COUNTS, Feature.TEMPERATURE_LIMIT, Feature.MAXIMUM_CURRENT, Feature.NOMINAL_CURRENT),
    *(Feature.PEAK_CURRENT, Feature.PWM_LIMIT, Feature.SUPPLY_VOLTAGE),
)
_ONE = (Feature.GEARBOX_RATIO, Feature.AMPLIFIER_STATUS)
STREAMED_MODES = frozenset(
    {ControlMode.POSITION_DIRECT, ControlMode.TORQUE, ControlMode.VELOCITY, ControlMode.VELOCITY_DIRECT}
)
_FOLLOWED_IN = {  # tuples: looked through for each joint of each message, where the hash of an enumeration is slow
    CommandKind.POSITION_DIRECT: (ControlMode.POSITION_DIRECT,),
    CommandKind.POSITION: tuple(FOLLOWS_MOVES),
    CommandKind.VELOCITY: tuple(FOLLOWS_VELOCITY),
    CommandKind.VELOCITY_DIRECT: (ControlMode.VELOCITY_DIRECT,),
    CommandKind.TORQUE: (ControlMode.TORQUE,),
}
_LACKING = frozenset(
    {"iCurrentControl", "iPWMControl", "iAmplifierControl", "iControlCalibration", "iJointBrake", "iJointFault"}
    | {"iPreciselyTimed", "iRemoteCalibrator", "iRemoteVariables"}
)
_UNMEASURED = frozenset({"pwm", "current"})
_COLD = _UNMEASURED | {"temperature"}
_DEGREE = math.degrees(1.0)
_WARNING_PERIOD = 2.0  # [s]
_LOGGER = logging.getLogger("gradiva.simulator")


def joint_settings(joints: Sequence[int], ranges: JointRanges, stiffness: NDArray, damping: NDArray) -> ParameterTable:
    """Return the settings of a board: degrees, N·m per degree.

    Args:
        joints: Of the board, indices into the other arguments.
        ranges: Limits of all joints.
        stiffness: Of the position servos of all joints, [N·m/rad].
        damping: Of the position servos of all joints, [N·m·s/rad].
    """
    some = list(joints)
    lower, upper = np.degrees(ranges.lower[some]), np.degrees(ranges.upper[some])
    speed, torque = np.degrees(ranges.velocity[some]), ranges.torque[some]
    gains = np.stack([stiffness[some], damping[some]], axis=1) * _PER_DEGREE
    rows, column = np.ones((len(some), 1)), np.ones(len(some))
    settings: dict[Key, NDArray] = {(feature, None): 0.0 * column for feature in _ZERO}
    settings |= {(feature, None): column for feature in _ONE}
    settings |= {
        (Feature.TRAJECTORY_SPEED, None): TRAJECTORY_SPEED * column,
        (Feature.TRAJECTORY_ACCELERATION, None): TRAJECTORY_ACCELERATION * column,
        (Feature.POSITION_LIMITS, None): np.stack([lower, upper], axis=1),
        (Feature.VELOCITY_LIMITS, None): np.stack([0.0 * speed, speed], axis=1),
        (Feature.TORQUE_RANGE, None): np.stack([-torque, torque], axis=1),
        (Feature.IMPEDANCE, None): gains,
        (Feature.IMPEDANCE_OFFSET, None): 0.0 * rows,
        (Feature.IMPEDANCE_LIMITS, None): rows * [0.0, _LARGEST_STIFFNESS, 0.0, _LARGEST_DAMPING],
    }
    return ParameterTable(settings | _pids(gains, torque))


def _pids(gains: NDArray, torque: NDArray) -> dict[Key, NDArray]:
    """Return the loops: those of position with the servos' gains, the others without."""
    rows = np.zeros((len(gains), 10))
    position = rows.copy()
    position[:, :2] = gains  # kp, kd
    position[:, 4] = torque  # max_output
    position[:, 6] = 1.0  # scale
    of_pid: dict[Key, NDArray] = {}
    for pid in PidType:
        of_pid[Feature.PID, pid] = position if pid is PidType.POSITION else rows
        of_pid[Feature.PID_ENABLE, pid] = np.ones(len(gains))
        of_pid[Feature.PID_ERROR_LIMIT, pid] = of_pid[Feature.PID_OFFSET, pid] = np.zeros(len(gains))
    return of_pid


class SimulatedPart(ControlBoardDevice):
    """Shows some joints of a simulated robot as a control board.

    Set-points for joints whose mode does not follow them are ignored, with a warning once in a while, as Gazebo does.

    Attributes:
        name: Of the part.
        commands: How many streamed commands it has taken.
        command_taken: Called after each of them.
        gains_changed: Called when gains or interaction modes are new.
    """

    interfaces = frozenset(INTERFACES) - _LACKING

    def __init__(self, name: str, all_joints: SimulatedJoints, joints: Sequence[int], settings: ParameterTable) -> None:
        """Show ``joints``, indices into ``all_joints``, in this order."""
        self.name = name
        self.commands = 0
        self.command_taken: Callable[[], None] = _nothing
        self.gains_changed: Callable[[], None] = _nothing
        self._joints = all_joints
        self._indices = list(joints)
        self._rows = np.array(self._indices, dtype=int)
        self._mode_numbers, self._interaction_numbers = _Numbers(self._indices), _Numbers(self._indices)
        self._names = tuple(all_joints.names[joint] for joint in joints)
        self._settings = settings
        self._zeros = np.zeros(len(joints))
        self._ignored = RateLimitedLog(_LOGGER, _WARNING_PERIOD)

    @property
    def axis_names(self) -> Sequence[str]:
        """Return the names of the joints."""
        return self._names

    @property
    def is_streamed_to(self) -> bool:
        """Return whether a joint is in a mode whose set-points are streamed."""
        return any(self._joints.modes[joint] in STREAMED_MODES for joint in self._indices)

    def read(self) -> JointData:
        """Return the newest sample."""
        joints, some = self._joints, self._rows
        with joints.lock:
            position, velocity = _DEGREE * joints.positions[some], _DEGREE * joints.velocities[some]
            torque, temperature = joints.torques[some], joints.temperatures[some]
            modes, interaction = self._mode_numbers.of(joints.modes), self._interaction_numbers.of(joints.interaction)
        has_temperatures = bool(np.isfinite(temperature).all())
        return JointData(
            joint_position=position,
            joint_velocity=velocity,
            joint_acceleration=self._zeros,
            motor_position=position,
            motor_velocity=velocity,
            motor_acceleration=self._zeros,
            torque=torque,
            pwm=self._zeros,
            current=self._zeros,
            control_modes=modes,
            interaction_modes=interaction,
            temperature=temperature if has_temperatures else self._zeros,
            invalid=_UNMEASURED if has_temperatures else _COLD,
        )

    def stream(self, command: StreamedCommand) -> None:
        """Take set-points."""
        if command.kind not in _FOLLOWED_IN:
            raise NotOffered(f"{command.kind.value} set-points")
        if command.kind is CommandKind.POSITION:
            return self.move_to(self._of(command), command.values)
        with self._joints.lock:
            self.commands += 1
            self._follow(command)
        return self.command_taken()

    def set_control_modes(self, joints: Joints, modes: Sequence[ControlMode]) -> None:
        """Switch the control modes of joints."""
        for joint, mode in zip(joints, modes, strict=True):
            self._joints.set_mode(self._index(joint), mode)

    def set_interaction_modes(self, joints: Joints, modes: Sequence[InteractionMode]) -> None:
        """Make each of the joints stiff, or as compliant as its impedance."""
        for joint, mode in zip(joints, modes, strict=True):
            if mode is InteractionMode.UNKNOWN:
                raise NotOffered("an unknown interaction mode")
            self._joints.interaction[self._index(joint)] = mode
        self.gains_changed()

    def move_to(self, joints: Joints, positions: Sequence[float]) -> None:
        """Start minimum-jerk moves."""
        speeds = self._settings.get(Feature.TRAJECTORY_SPEED, joints)
        for joint, position, speed in zip(joints, positions, speeds, strict=True):
            if self._follows_command(self._index(joint), CommandKind.POSITION):
                self._joints.move_to(self._index(joint), math.radians(position), math.radians(speed))

    def move_by(self, joints: Joints, displacements: Sequence[float]) -> None:
        """Start moves by displacements from the joints' goals."""
        present = [math.degrees(self._joints.goal_of(self._index(joint))) for joint in joints]
        self.move_to(joints, [begin + by for begin, by in zip(present, displacements, strict=True)])

    def stop(self, joints: Joints) -> None:
        """End moves and velocities."""
        for joint in joints:
            self._joints.stop(self._index(joint))

    def is_motion_done(self, joints: Joints) -> bool:
        """Return whether no joint makes a move."""
        return not self._joints.is_moving(self._index(joint) for joint in joints)

    def parameter(self, feature: Feature, joints: Joints, pid: PidType | None) -> Sequence[Any]:
        """Return settings, references, and values that follow from them."""
        some = [self._index(joint) for joint in joints]
        all_joints = self._joints
        match feature:
            case Feature.TARGET_POSITION:
                return [math.degrees(all_joints.goal_of(joint)) for joint in some]
            case Feature.POSITION_REFERENCE:
                return _listed(np.degrees(all_joints.position_targets[some]))
            case Feature.VELOCITY_REFERENCE:
                return _listed(np.degrees(all_joints.velocity_targets[some]))
            case Feature.TORQUE_REFERENCE:
                return _listed(all_joints.torque_targets[some])
            case Feature.TEMPERATURE:
                return _listed(np.nan_to_num(all_joints.temperatures[some]))
            case Feature.PID_REFERENCE | Feature.PID_ERROR | Feature.PID_OUTPUT:
                return self._loop(feature, joints, pid)
        return self._settings.get(feature, joints, pid)

    def set_parameter(self, feature: Feature, joints: Joints, values: Sequence[Any], pid: PidType | None) -> None:
        """Remember settings; gains of position and impedance act at once."""
        if feature in (Feature.ENCODER, Feature.MOTOR_ENCODER):
            raise NotOffered("encoders that are set")
        if feature in (Feature.PID, Feature.IMPEDANCE) and min(min(row[:2]) for row in values) < 0.0:
            raise MalformedMessage(f"{feature.name}: gains must not be negative, {values}")
        self._settings.set(feature, joints, values, pid)
        if feature in (Feature.PID, Feature.IMPEDANCE):
            self.gains_changed()

    def trigger(self, feature: Feature, joints: Joints, pid: PidType | None) -> None:
        """Switch loops on and off, which is only remembered; resetting one without an integral does nothing."""
        if feature in (Feature.PID_ENABLE, Feature.PID_DISABLE):
            state = float(feature is Feature.PID_ENABLE)
            self._settings.set(Feature.PID_ENABLE, joints, [state] * len(joints), pid)
        elif feature is not Feature.PID_RESET:
            raise NotOffered(feature.name.lower().replace("_", " "))

    def gains(self) -> tuple[NDArray, NDArray]:
        """Return stiffness [N·m/rad] and damping [N·m·s/rad] of the position servos, one a joint of the part."""
        joints = tuple(range(len(self._names)))
        stiff = np.array(self._settings.get(Feature.PID, joints, PidType.POSITION))[:, :2]
        compliant = np.array(self._settings.get(Feature.IMPEDANCE, joints))
        modes = [self._joints.interaction[joint] for joint in self._indices]
        is_compliant = np.array([mode is InteractionMode.COMPLIANT for mode in modes])
        gains = np.where(is_compliant[:, None], compliant, stiff) * math.degrees(1.0)
        return gains[:, 0], gains[:, 1]

    # ----------------------------------------------------------------------------------------------------------

    def _of(self, command: StreamedCommand) -> Joints:
        return tuple(range(len(self._names))) if command.joints is None else command.joints

    def _index(self, joint: int) -> int:
        if not 0 <= joint < len(self._indices):
            raise IndexError(f"joint {joint} of {len(self._indices)}")
        return self._indices[joint]

    def _follows_command(self, joint: int, kind: CommandKind) -> bool:
        if self._joints.modes[joint] in _FOLLOWED_IN[kind]:
            return True
        name, mode = self._joints.names[joint], self._joints.modes[joint].name
        self._ignored.warning("%s: %s set-points of %s are ignored in mode %s", self.name, kind.value, name, mode)
        return False

    def _follow(self, command: StreamedCommand) -> None:
        """Hand on the set-points that the modes of their joints follow."""
        whose = self._indices if command.joints is None else [self._index(joint) for joint in command.joints]
        pairs = zip(whose, command.values, strict=True)
        followed = [(joint, value) for joint, value in pairs if self._follows_command(joint, command.kind)]
        if not followed:
            return
        joints, values = zip(*followed, strict=True)
        if command.kind is CommandKind.TORQUE:
            self._joints.set_torques(joints, values)
        elif command.kind is CommandKind.POSITION_DIRECT:
            self._joints.set_positions(joints, tuple(map(math.radians, values)))
        else:
            self._joints.set_velocities(joints, tuple(map(math.radians, values)))

    def _loop(self, feature: Feature, joints: Joints, pid: PidType | None) -> list[float]:
        some = [self._index(joint) for joint in joints]
        if pid is not PidType.POSITION:
            raise NotOffered(f"the {feature.name} of other loops than that of position")
        reference, measured = self._joints.position_targets[some], self._joints.positions[some]
        if feature is Feature.PID_OUTPUT:
            return _listed(self._joints.torques[some])
        return _listed(np.degrees(reference if feature is Feature.PID_REFERENCE else reference - measured))


class _Numbers:
    """Caches the modes of a part's joints as numbers on the wire: they rarely change."""

    def __init__(self, indices: Sequence[int]) -> None:
        self._indices = tuple(indices)
        self._modes: list[IntEnum] = []
        self._numbers = np.zeros(0, dtype=np.int32)

    def of(self, all_modes: Sequence[IntEnum]) -> npt.NDArray[np.int32]:
        """Return the numbers, given the modes of all joints."""
        modes = [all_modes[index] for index in self._indices]
        if modes != self._modes:
            self._modes, self._numbers = modes, np.array(modes, dtype=np.int32)
        return self._numbers


def _nothing() -> None:
    """Is called with commands while there is no listener."""


def _listed(values: NDArray) -> list[float]:
    return [float(value) for value in values]
