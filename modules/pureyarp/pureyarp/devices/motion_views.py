"""View the motion of a control board's joints: encoders, trajectories, positions, velocities and torques."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
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


Method = Callable[..., bool]


def forms(call: Method, what: object, has_groups: bool = True) -> tuple[Method, Method]:
    """Return two methods of a view, of one joint ``(j, data)`` and of several.

    Args:
        call: Of the view: takes ``what``, then what the two methods take.
        what: Feature, field of the state or kind of set-point that they are about.
        has_groups: Whether the second one takes a joint or a group ``(number, joints, data)`` too, or ``(data)`` alone.
    """

    def one(view: ControlBoardView, j: int, data: Any) -> bool:
        return call(view, what, j, data)

    def every(view: ControlBoardView, data: Any) -> bool:
        return call(view, what, data)

    def several(view: ControlBoardView, *arguments: Any) -> bool:
        return call(view, what, *arguments)

    return one, several if has_groups else every


class AxesView(ControlBoardView):
    """The joints of a control board, which can be counted."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)


class MovingView(AxesView):
    """Joints that reach their speed with an acceleration [deg/s^2] and can be stopped.

    ``data`` holds one value for each joint; ``(joint, …)`` means one joint, ``(number, joints, data)`` a group.
    """

    setRefAcceleration, setRefAccelerations = forms(ControlBoardView._order, Feature.TRAJECTORY_ACCELERATION)
    getRefAcceleration, getRefAccelerations = forms(ControlBoardView._read, Feature.TRAJECTORY_ACCELERATION)

    def stop(self, *arguments: Any) -> bool:
        """Stop all joints, ``(joint)`` or ``(number, joints)``."""
        return self._board.order(Feature.STOP, joints_of(arguments))


def _measured_joint(field: str) -> Callable[[ControlBoardView, int], float]:
    """Return a method that returns what was measured of a joint; 0 when nothing arrived in time."""

    def one(view: ControlBoardView, j: int) -> float:
        measured = view._board.measured(field, int(j))
        return measured.values[0] if measured else 0.0

    return one


class IEncoders(AxesView):
    """Measured joint positions [deg], velocities [deg/s] and accelerations [deg/s^2].

    Encoders are set and reset to what the present position is from now on [deg].
    """

    getEncoder = _measured_joint("joint_position")
    getEncoderSpeed = _measured_joint("joint_velocity")
    getEncoderAcceleration = _measured_joint("joint_acceleration")
    getEncoders = forms(ControlBoardView._read_measured, "joint_position", has_groups=False)[1]
    getEncoderSpeeds = forms(ControlBoardView._read_measured, "joint_velocity", has_groups=False)[1]
    getEncoderAccelerations = forms(ControlBoardView._read_measured, "joint_acceleration", has_groups=False)[1]
    setEncoder, setEncoders = forms(ControlBoardView._order, Feature.ENCODER, has_groups=False)

    def resetEncoder(self, j: int) -> bool:
        """Call the present position of a joint zero."""
        return self._board.order(Feature.ENCODER_RESET, int(j))

    def resetEncoders(self) -> bool:
        """Call the present positions of all joints zero."""
        return self._board.order(Feature.ENCODER_RESET)


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

    positionMove = forms(ControlBoardView._order, Feature.TARGET_POSITION)[1]
    relativeMove = forms(ControlBoardView._order, Feature.RELATIVE_POSITION)[1]
    setRefSpeed, setRefSpeeds = forms(ControlBoardView._order, Feature.TRAJECTORY_SPEED)
    getRefSpeed, getRefSpeeds = forms(ControlBoardView._read, Feature.TRAJECTORY_SPEED)
    getTargetPosition, getTargetPositions = forms(ControlBoardView._read, Feature.TARGET_POSITION)

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

    def _done(self, of: int | tuple[int, ...] | None) -> bool | None:
        answer = self._board.ask(Feature.MOTION_DONE, of)
        return bool(answer[0]) if answer else None

    @staticmethod
    def _fill_flag(done: bool | None, flag: Any) -> bool:
        return done is not None and fill(flag, [done])


class IPositionDirect(AxesView):
    """Positions [deg] that the joints follow at once; they are streamed, so that success only means that they left."""

    setPosition, setPositions = forms(ControlBoardView._stream, CommandKind.POSITION_DIRECT)
    getRefPosition, getRefPositions = forms(ControlBoardView._read, Feature.POSITION_REFERENCE)


class IVelocityControl(MovingView):
    """Velocities [deg/s] that the joints follow; they are streamed, so that success only means that they left."""

    velocityMove = forms(ControlBoardView._stream, CommandKind.VELOCITY)[1]
    getRefVelocity, getRefVelocities = forms(ControlBoardView._read, Feature.VELOCITY_REFERENCE)


class ITorqueControl(AxesView):
    """Torques [N m]; commanded ones are streamed, so that success only means that they left."""

    setRefTorque, setRefTorques = forms(ControlBoardView._stream, CommandKind.TORQUE)
    getRefTorque, getRefTorques = forms(ControlBoardView._read, Feature.TORQUE_REFERENCE, has_groups=False)
    getTorque, getTorques = forms(ControlBoardView._read_measured, "torque", has_groups=False)

    def getTorqueRange(self, j: int, min: Any, max: Any) -> bool:
        """Fill with the smallest and largest torque of a joint [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, int(j), min, max)

    def getTorqueRanges(self, mins: Any, maxs: Any) -> bool:
        """Fill with the smallest and largest torques of all joints [N m]."""
        return self._read_pair(Feature.TORQUE_RANGE, None, mins, maxs)


class MotorsView(ControlBoardView):
    """The motors of a control board, which can be counted."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)


class IMotorEncoders(ControlBoardView):
    """Measured positions of the motors, behind their gears [deg]."""

    getMotorEncoder, getMotorEncoders = forms(ControlBoardView._read_measured, "motor_position", has_groups=False)


class IPWMControl(MotorsView):
    """Measured duty cycles of the motors [%]."""

    getDutyCycle, getDutyCycles = forms(ControlBoardView._read_measured, "pwm", has_groups=False)


class ICurrentControl(MotorsView):
    """Measured currents of the motors [A]."""

    getCurrent, getCurrents = forms(ControlBoardView._read_measured, "current", has_groups=False)
