"""View the motion of a control board's joints: encoders, trajectories, positions, velocities and torques."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from typing import Any

from pureyarp.data.vectors import StandardVector
from pureyarp.devices.control_board_messages import CommandKind
from pureyarp.devices.control_board_protocol import Feature, JointSelection
from pureyarp.devices.remote_control_board import ControlBoard
from pureyarp.wire.elements import Element

_log = logging.getLogger("pureyarp")


def joints_of(arguments: tuple[Any, ...]) -> JointSelection:
    """Return whom ``()``, ``(joint)`` or ``(number, joints)`` means."""
    if len(arguments) == 0:
        return None
    if len(arguments) == 1:
        return int(arguments[0])
    if len(arguments) == 2:
        return group(arguments[0], arguments[1])
    raise TypeError(f"expected (), (joint) or (number, joints), not {len(arguments)} arguments")


def joints_and_data(arguments: tuple[Any, ...]) -> tuple[JointSelection, Any]:
    """Return whom and what ``(data)``, ``(joint, data)`` or ``(number, joints, data)`` means."""
    if not 1 <= len(arguments) <= 3:
        raise TypeError(f"expected (data), (joint, data) or (number, joints, data), not {len(arguments)} arguments")
    return joints_of(arguments[:-1]), arguments[-1]


def checked_vector(data: Any) -> StandardVector[Any]:
    """Return one of the bindings' vectors, or raise TypeError for anything else."""
    if not isinstance(data, StandardVector):
        raise TypeError(f"a DVector, IVector or BVector is expected, not {data!r}")
    return data


def group(number: int, joints: Sequence[int]) -> tuple[int, ...]:
    """Return the first ``number`` of ``joints``."""
    return tuple(int(joints[k]) for k in range(int(number)))


def fill(destination: Any, values: Sequence[Any] | None) -> bool:
    """Write values into a vector of the caller; False without values or when the vector is too short for them.

    Raises:
        TypeError: The caller gave anything but one of the bindings' own vectors.
    """
    checked_vector(destination)
    if values is None:
        return False
    if len(destination) < len(values):
        _log.error("a vector of %d elements cannot take the %d that were asked for", len(destination), len(values))
        return False
    destination[: len(values)] = values
    return True


class ControlBoardView:
    """One interface of a control board; angles are degrees, as everywhere in YARP."""

    def __init__(self, board: ControlBoard) -> None:
        """Look at a board through this interface."""
        self._board = board

    def _read(self, feature: Feature, *arguments: Any, controller: int | None = None) -> bool:
        """Ask for ``(data)``, ``(joint, data)`` or ``(number, joints, data)`` and fill ``data``."""
        of, destination = joints_and_data(arguments)
        answer = self._board.ask(feature, of, controller)
        return fill(destination, _numbers(feature, answer, 0))

    def _read_pair(self, feature: Feature, of: JointSelection, first: Any, second: Any) -> bool:
        """Ask for two numbers, or two lists of them, and fill both vectors."""
        answer = self._board.ask(feature, of)
        return fill(first, _numbers(feature, answer, 0)) and fill(second, _numbers(feature, answer, 1))

    def _read_measured(self, field: str, *arguments: Any) -> bool:
        """Fill the vector of ``(data)`` or ``(joint, data)`` with what was measured last."""
        of, destination = joints_and_data(arguments)
        measured = self._board.measured(field, of)
        return measured is not None and fill(destination, measured.values)

    def _order(self, feature: Feature, *arguments: Any, controller: int | None = None) -> bool:
        """Order the numbers of ``(data)``, ``(joint, number)`` or ``(number, joints, data)``."""
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.order(feature, of, values, controller)

    def _stream(self, kind: CommandKind, *arguments: Any) -> bool:
        """Stream the numbers of ``(data)``, ``(joint, number)`` or ``(number, joints, data)``."""
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.stream(kind, of, values)

    def _count(self, feature: Feature) -> int:
        """Ask how many there are; 0 without an answer."""
        answer = self._board.ask(feature)
        return answer[0] if answer and isinstance(answer[0], int) else 0

    def _values(self, of: JointSelection, data: Any) -> list[float] | None:
        """Return as many numbers as joints are meant; None, and a line, when there are fewer."""
        if isinstance(of, int):
            return [float(data)]
        wanted = self._board.axes if of is None else len(of or ())
        if len(checked_vector(data)) < wanted:
            _log.error("%d joints were given %d values", wanted, len(data))
            return None
        return [float(number) for number in islice(data, wanted)]


def _numbers(feature: Feature, answer: Sequence[Element] | None, place: int) -> list[Any] | None:
    """Return the numbers at a place of an answer: one for a joint, the whole list for several."""
    if answer is None:
        return None
    values = answer[place] if place < len(answer) else None
    numbers = values if isinstance(values, list) else [values]
    if not all(isinstance(number, int | float) for number in numbers):
        _log.error("the board answers %s with %r, which are no numbers", feature.name.lower(), values)
        return None
    return list(numbers)


class AxesView(ControlBoardView):
    """The joints of a control board, which can be counted."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)


class MovingView(AxesView):
    """Joints that reach their speed with an acceleration [deg/s^2] and can be stopped.

    ``data`` holds one value for each joint; ``(joint, …)`` means one joint, ``(number, joints, data)`` a group.
    """

    def setRefAcceleration(self, j: int, acc: float) -> bool:
        """Set with which acceleration a joint reaches its speed [deg/s^2]."""
        return self._order(Feature.TRAJECTORY_ACCELERATION, j, acc)

    def setRefAccelerations(self, *arguments: Any) -> bool:
        """Set ``(accelerations)`` or ``(number, joints, accelerations)`` [deg/s^2]."""
        return self._order(Feature.TRAJECTORY_ACCELERATION, *arguments)

    def getRefAcceleration(self, j: int, data: Any) -> bool:
        """Fill with the acceleration of a joint [deg/s^2]."""
        return self._read(Feature.TRAJECTORY_ACCELERATION, j, data)

    def getRefAccelerations(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with accelerations [deg/s^2]."""
        return self._read(Feature.TRAJECTORY_ACCELERATION, *arguments)

    def stop(self, *arguments: Any) -> bool:
        """Stop all joints, ``(joint)`` or ``(number, joints)``."""
        return self._board.order(Feature.STOP, joints_of(arguments))


class IEncoders(AxesView):
    """Measured joint positions [deg], velocities [deg/s] and accelerations [deg/s^2]."""

    def getEncoder(self, j: int) -> float:
        """Return the position of a joint [deg]; 0 when none arrived in time."""
        return self._one("joint_position", j)

    def getEncoders(self, data: Any) -> bool:
        """Fill with the positions of all joints [deg]."""
        return self._read_measured("joint_position", data)

    def getEncoderSpeed(self, j: int) -> float:
        """Return the velocity of a joint [deg/s]; 0 when none arrived in time."""
        return self._one("joint_velocity", j)

    def getEncoderSpeeds(self, data: Any) -> bool:
        """Fill with the velocities of all joints [deg/s]."""
        return self._read_measured("joint_velocity", data)

    def getEncoderAcceleration(self, j: int) -> float:
        """Return the acceleration of a joint [deg/s^2]; 0 when none arrived in time."""
        return self._one("joint_acceleration", j)

    def getEncoderAccelerations(self, data: Any) -> bool:
        """Fill with the accelerations of all joints [deg/s^2]."""
        return self._read_measured("joint_acceleration", data)

    def resetEncoder(self, j: int) -> bool:
        """Call the present position of a joint zero."""
        return self._board.order(Feature.ENCODER_RESET, int(j))

    def resetEncoders(self) -> bool:
        """Call the present positions of all joints zero."""
        return self._board.order(Feature.ENCODER_RESET)

    def setEncoder(self, j: int, val: float) -> bool:
        """Say what the present position of a joint is [deg]."""
        return self._order(Feature.ENCODER, j, val)

    def setEncoders(self, data: Any) -> bool:
        """Say what the present positions of all joints are [deg]."""
        return self._order(Feature.ENCODER, data)

    def _one(self, field: str, j: int) -> float:
        measured = self._board.measured(field, int(j))
        return measured.values[0] if measured else 0.0


class IEncodersTimed(IEncoders):
    """Measured joint positions with the time at which they were measured."""

    def getEncoderTimed(self, j: int, data: Any, time: Any) -> bool:
        """Fill with the position of a joint [deg] and its time [s]."""
        return self._timed(int(j), data, time)

    def getEncodersTimed(self, data: Any, time: Any) -> bool:
        """Fill with the positions of all joints [deg] and their times [s]."""
        return self._timed(None, data, time)

    def _timed(self, of: int | None, data: Any, time: Any) -> bool:
        measured = self._board.measured("joint_position", of)
        return measured is not None and fill(data, measured.values) and fill(time, measured.times)


class IPositionControl(MovingView):
    """Targets [deg] reached along trajectories of given velocity [deg/s] and acceleration [deg/s^2].

    ``data`` holds one value for each joint; ``(joint, …)`` means one joint, ``(number, joints, data)`` a group.
    """

    def positionMove(self, *arguments: Any) -> bool:
        """Go to ``(joint, target)``, ``(targets)`` or ``(number, joints, targets)`` [deg]."""
        return self._order(Feature.TARGET_POSITION, *arguments)

    def relativeMove(self, *arguments: Any) -> bool:
        """Go on by ``(joint, way)``, ``(ways)`` or ``(number, joints, ways)`` [deg]."""
        return self._order(Feature.RELATIVE_POSITION, *arguments)

    def checkMotionDone(self, *arguments: Any) -> bool:
        """Fill ``(flag)``, ``(joint, flag)`` or ``(number, joints, flag)`` with whether the target is reached.

        Without argument the answer itself is returned, and True when there is none.
        """
        if not arguments:
            done = self._done(None)
            return True if done is None else done
        of = None if len(arguments) == 1 else int(arguments[0])
        if len(arguments) == 3:
            return self._fill_flag(self._done(group(arguments[0], arguments[1])), arguments[2])
        return self._fill_flag(self._done(of), arguments[-1])

    def isMotionDone(self, *arguments: int) -> bool:
        """Return whether ``(joint)`` or all joints have reached their targets."""
        joints = [int(arguments[0])] if arguments else list(range(self.getAxes()))
        done = [self._done(joint) for joint in joints]  # all are asked, as the real bindings do
        return all(done)

    def setRefSpeed(self, j: int, sp: float) -> bool:
        """Set the velocity of a joint's trajectories [deg/s]."""
        return self._order(Feature.TRAJECTORY_SPEED, j, sp)

    def setRefSpeeds(self, *arguments: Any) -> bool:
        """Set ``(speeds)`` or ``(number, joints, speeds)`` of trajectories [deg/s]."""
        return self._order(Feature.TRAJECTORY_SPEED, *arguments)

    def getRefSpeed(self, j: int, data: Any) -> bool:
        """Fill with the velocity of a joint's trajectories [deg/s]."""
        return self._read(Feature.TRAJECTORY_SPEED, j, data)

    def getRefSpeeds(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with velocities of trajectories [deg/s]."""
        return self._read(Feature.TRAJECTORY_SPEED, *arguments)

    def getTargetPosition(self, j: int, data: Any) -> bool:
        """Fill with the target of a joint [deg]."""
        return self._read(Feature.TARGET_POSITION, j, data)

    def getTargetPositions(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with targets [deg]."""
        return self._read(Feature.TARGET_POSITION, *arguments)

    def _done(self, of: int | tuple[int, ...] | None) -> bool | None:
        answer = self._board.ask(Feature.MOTION_DONE, of)
        return bool(answer[0]) if answer else None

    @staticmethod
    def _fill_flag(done: bool | None, flag: Any) -> bool:
        return done is not None and fill(flag, [done])


class IPositionDirect(AxesView):
    """Positions [deg] that the joints follow at once; they are streamed, so that success only means that they left."""

    def setPosition(self, j: int, ref: float) -> bool:
        """Command the position of a joint [deg]."""
        return self._stream(CommandKind.POSITION_DIRECT, j, ref)

    def setPositions(self, *arguments: Any) -> bool:
        """Command ``(positions)`` or ``(number, joints, positions)`` [deg]."""
        return self._stream(CommandKind.POSITION_DIRECT, *arguments)

    def getRefPosition(self, j: int, data: Any) -> bool:
        """Fill with the last commanded position of a joint [deg]."""
        return self._read(Feature.POSITION_REFERENCE, j, data)

    def getRefPositions(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with the last commanded positions [deg]."""
        return self._read(Feature.POSITION_REFERENCE, *arguments)


class IVelocityControl(MovingView):
    """Velocities [deg/s] that the joints follow; they are streamed, so that success only means that they left."""

    def velocityMove(self, *arguments: Any) -> bool:
        """Command ``(joint, velocity)``, ``(velocities)`` or ``(number, joints, velocities)`` [deg/s]."""
        return self._stream(CommandKind.VELOCITY, *arguments)

    def getRefVelocity(self, j: int, data: Any) -> bool:
        """Fill with the last commanded velocity of a joint [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, j, data)

    def getRefVelocities(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with the last commanded velocities [deg/s]."""
        return self._read(Feature.VELOCITY_REFERENCE, *arguments)


class ITorqueControl(AxesView):
    """Torques [N m]; commanded ones are streamed, so that success only means that they left."""

    def setRefTorque(self, j: int, t: float) -> bool:
        """Command the torque of a joint [N m]."""
        return self._stream(CommandKind.TORQUE, j, t)

    def setRefTorques(self, *arguments: Any) -> bool:
        """Command ``(torques)`` or ``(number, joints, torques)`` [N m]."""
        return self._stream(CommandKind.TORQUE, *arguments)

    def getRefTorque(self, j: int, data: Any) -> bool:
        """Fill with the last commanded torque of a joint [N m]."""
        return self._read(Feature.TORQUE_REFERENCE, j, data)

    def getRefTorques(self, data: Any) -> bool:
        """Fill with the last commanded torques of all joints [N m]."""
        return self._read(Feature.TORQUE_REFERENCE, data)

    def getTorque(self, j: int, data: Any) -> bool:
        """Fill with the measured torque of a joint [N m]."""
        return self._read_measured("torque", j, data)

    def getTorques(self, data: Any) -> bool:
        """Fill with the measured torques of all joints [N m]."""
        return self._read_measured("torque", data)

    def getTorqueRange(self, j: int, min: Any, max: Any) -> bool:
        """Fill with the smallest and largest torque of a joint [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, int(j), min, max)

    def getTorqueRanges(self, mins: Any, maxs: Any) -> bool:
        """Fill with the smallest and largest torques of all joints [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, None, mins, maxs)
