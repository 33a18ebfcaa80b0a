"""View the settings of a control board: control modes, limits, gains, names of the joints, motors."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from pureyarp.data.conversions import checked_integer
from pureyarp.data.vectors import StandardVector
from pureyarp.devices.control_board_protocol import Feature, InteractionMode, JointType
from pureyarp.devices.motion_views import ControlBoardView, fill, joints_and_data
from pureyarp.wire.elements import Element, Vocab32

# In the order in which they travel.
_FIELDS = (
    "kp",
    "kd",
    "ki",
    "max_int",
    "max_output",
    "offset",
    "scale",
    "stiction_up_val",
    "stiction_down_val",
    "kff",
)
_log = logging.getLogger("pureyarp")


class ModeView(ControlBoardView):
    """Modes of joints, each a vocabulary; ``_field`` of the state is what is read, ``_feature`` what is set."""

    _feature: ClassVar[Feature]
    _field: ClassVar[str]

    def _mode(self, joint: int, unknown: int) -> int:
        measured = self._board.measured(self._field, int(joint))
        return int(measured.values[0]) if measured else unknown

    def _read_modes(self, *arguments: Any) -> bool:
        of, destination = joints_and_data(arguments)
        measured = self._board.measured(self._field, of)
        return measured is not None and fill(destination, [int(mode) for mode in measured.values])

    def _set_mode(self, joint: int, mode: int) -> bool:
        return self._board.order(self._feature, int(joint), [Vocab32(checked_integer(mode, 32))])

    def _set_modes(self, *arguments: Any) -> bool:
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.order(self._feature, of, [Vocab32(value) for value in values])


class IControlMode(ModeView):
    """Which quantity each joint follows, as a vocabulary: position, position direct, velocity, torque..."""

    _feature = Feature.CONTROL_MODE
    _field = "control_modes"

    def getControlMode(self, j: int) -> int:
        """Return the mode of a joint; -1 when none arrived in time."""
        return self._mode(j, unknown=-1)

    def getControlModes(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with modes."""
        return self._read_modes(*arguments)

    def setControlMode(self, j: int, mode: int) -> bool:
        """Set the mode of a joint."""
        return self._set_mode(j, mode)

    def setControlModes(self, *arguments: Any) -> bool:
        """Set ``(modes)`` or ``(number, joints, modes)``."""
        return self._set_modes(*arguments)


class IInteractionMode(ModeView):
    """Interaction modes of the joints, vocabularies: stiff or compliant."""

    _feature = Feature.INTERACTION_MODE
    _field = "interaction_modes"

    def getInteractionMode(self, axis: int) -> int:
        """Return the mode of a joint; unknown when none arrived in time."""
        return self._mode(axis, unknown=int(InteractionMode.UNKNOWN))

    def getInteractionModes(self, *arguments: Any) -> bool:
        """Fill ``(data)`` or ``(number, joints, data)`` with modes."""
        return self._read_modes(*arguments)

    def setInteractionMode(self, axis: int, mode: int) -> bool:
        """Set the mode of a joint."""
        return self._set_mode(axis, mode)

    def setInteractionModes(self, *arguments: Any) -> bool:
        """Set ``(modes)`` or ``(number, joints, modes)``."""
        return self._set_modes(*arguments)


class IControlLimits(ControlBoardView):
    """Between which positions [deg] and velocities [deg/s] the joints may move."""

    def getLimits(self, axis: int, min: Any, max: Any) -> bool:
        """Fill with the lowest and highest position of a joint [deg]."""
        return self._read_pair(Feature.POSITION_LIMITS, int(axis), min, max)

    def setLimits(self, axis: int, min: float, max: float) -> bool:
        """Set the lowest and highest position of a joint [deg]."""
        return self._board.order(Feature.POSITION_LIMITS, int(axis), [float(min), float(max)])

    def getVelLimits(self, axis: int, min: Any, max: Any) -> bool:
        """Fill with the lowest and highest velocity of a joint [deg/s]."""
        return self._read_pair(Feature.VELOCITY_LIMITS, int(axis), min, max)

    def setVelLimits(self, axis: int, min: float, max: float) -> bool:
        """Set the lowest and highest velocity of a joint [deg/s]."""
        return self._board.order(Feature.VELOCITY_LIMITS, int(axis), [float(min), float(max)])


class IAxisInfo(ControlBoardView):
    """Names and types of the joints."""

    def getAxisName(self, axis: int) -> str:
        """Return the name of a joint; ``unknown`` without an answer."""
        answer = self._board.ask(Feature.AXIS_NAME, int(axis))
        return answer[0] if answer and isinstance(answer[0], str) else "unknown"

    def getJointType(self, axis: int) -> int:
        """Return the vocabulary of a joint's type, revolute or prismatic; unknown without an answer."""
        answer = self._board.ask(Feature.JOINT_TYPE, int(axis))
        return int(answer[0]) if answer and isinstance(answer[0], int) else int(JointType.UNKNOWN)


class IMotor(ControlBoardView):
    """Temperatures [deg C] and gears of the motors."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)

    def getTemperature(self, j: int, data: Any) -> bool:
        """Fill with the temperature of a motor [deg C]."""
        return self._read(Feature.TEMPERATURE, j, data)

    def getTemperatures(self, data: Any) -> bool:
        """Fill with the temperatures of all motors [deg C]."""
        return self._read(Feature.TEMPERATURE, data)

    def getTemperatureLimit(self, j: int, data: Any) -> bool:
        """Fill with the highest allowed temperature of a motor [deg C]."""
        return self._read(Feature.TEMPERATURE_LIMIT, j, data)

    def setTemperatureLimit(self, m: int, temp: float) -> bool:
        """Set the highest allowed temperature of a motor [deg C]."""
        return self._order(Feature.TEMPERATURE_LIMIT, m, temp)

    def getGearboxRatio(self, j: int, data: Any) -> bool:
        """Fill with the ratio of a motor's gear."""
        return self._read(Feature.GEARBOX_RATIO, j, data)

    def setGearboxRatio(self, m: int, val: float) -> bool:
        """Set the ratio of a motor's gear."""
        return self._order(Feature.GEARBOX_RATIO, m, val)


class Pid:
    """The gains and limits of one control loop of one joint, in the board's own units.

    Attributes:
        kp: Proportional gain.
        kd: Derivative gain.
        ki: Integral gain.
        max_int: Limit of the integral.
        max_output: Limit of the output.
        offset: Added to the output.
        scale: Divides the gains.
        stiction_up_val: Compensates stiction upwards.
        stiction_down_val: Compensates stiction downwards.
        kff: Feedforward gain.
    """

    def __init__(
        self,
        kp: float = 0.0,
        kd: float = 0.0,
        ki: float = 0.0,
        int_max: float = 0.0,
        scale: float = 0.0,
        out_max: float = 0.0,
        st_up: float = 0.0,
        st_down: float = 0.0,
        kff: float = 0.0,
    ) -> None:
        """Take the gains; those left out are zero."""
        self.kp, self.kd, self.ki = kp, kd, ki
        self.max_int, self.max_output = int_max, out_max
        self.offset = 0.0
        self.scale = scale
        self.stiction_up_val, self.stiction_down_val = st_up, st_down
        self.kff = kff

    def clear(self) -> None:
        """Set all to zero."""
        fill_pid(self, [0.0] * len(_FIELDS))

    def isEqual(self, p: Pid) -> bool:
        """Return whether all gains and limits are the same."""
        return pid_to_items(self) == pid_to_items(p)

    def setMaxInt(self, m: float) -> None:
        """Set the limit of the integral."""
        self.max_int = m

    def setMaxOut(self, m: float) -> None:
        """Set the limit of the output."""
        self.max_output = m

    def setStictionValues(self, up_value: float, down_value: float) -> None:
        """Set how stiction is compensated."""
        self.stiction_up_val, self.stiction_down_val = up_value, down_value


def pid_to_items(pid: Pid) -> list[Element]:
    """Return gains and limits in the order in which they travel."""
    return [float(getattr(pid, name)) for name in _FIELDS]


def fill_pid(pid: Pid, values: Element) -> bool:
    """Take gains and limits in the order in which they travel; False, and a line, if they are not all numbers."""
    numbers = [value for value in values if isinstance(value, int | float)] if isinstance(values, list) else []
    if len(numbers) != len(_FIELDS):
        _log.error("the board answers %r as a PID, not %d numbers", values, len(_FIELDS))
        return False
    for name, value in zip(_FIELDS, numbers, strict=True):
        setattr(pid, name, float(value))
    return True


class PidVector(StandardVector[Pid]):
    """The gains of several joints; ``PidVector(n)`` has n of them, all zero."""

    @staticmethod
    def _checked(number: object) -> Pid:
        if not isinstance(number, Pid):
            raise TypeError(f"a Pid is expected, not {number!r}")
        return number

    @staticmethod
    def _zero() -> Pid:
        return Pid()


class IPidControl(ControlBoardView):
    """The control loops of the board; ``pidtype`` is the vocabulary of position, velocity, torque or current."""

    def setPid(self, pidtype: int, j: int, pid: Pid) -> bool:
        """Set the gains of a joint."""
        return self._board.order(Feature.PID, int(j), pid_to_items(pid), pidtype)

    def setPids(self, pidtype: int, pids: PidVector) -> bool:
        """Set the gains of all joints."""
        if len(pids) < self._board.axes:
            return False
        return self._board.order(Feature.PID, None, [pid_to_items(pids[j]) for j in range(self._board.axes)], pidtype)

    def getPid(self, pidtype: int, j: int, data: PidVector) -> bool:
        """Fill the first of ``data`` with the gains of a joint."""
        answer = self._board.ask(Feature.PID, int(j), pidtype)
        return answer is not None and len(data) > 0 and fill_pid(data[0], answer)

    def getPids(self, pidtype: int, data: PidVector) -> bool:
        """Fill with the gains of all joints."""
        answer = self._board.ask(Feature.PID, None, pidtype)
        lists = answer[0] if answer else None
        if not isinstance(lists, list) or len(lists) > len(data):
            return False
        return all(fill_pid(pid, values) for pid, values in zip(data, lists, strict=False))

    def setPidReference(self, pidtype: int, j: int, ref: float) -> bool:
        """Set what the loop of a joint follows."""
        return self._order(Feature.PID_REFERENCE, j, ref, controller=pidtype)

    def setPidReferences(self, pidtype: int, data: Any) -> bool:
        """Set what the loops of all joints follow."""
        return self._order(Feature.PID_REFERENCE, data, controller=pidtype)

    def getPidReference(self, pidtype: int, j: int, data: Any) -> bool:
        """Fill with what the loop of a joint follows."""
        return self._read(Feature.PID_REFERENCE, j, data, controller=pidtype)

    def getPidReferences(self, pidtype: int, data: Any) -> bool:
        """Fill with what the loops of all joints follow."""
        return self._read(Feature.PID_REFERENCE, data, controller=pidtype)

    def setPidErrorLimit(self, pidtype: int, j: int, limit: float) -> bool:
        """Set the largest error that the loop of a joint accepts."""
        return self._order(Feature.PID_ERROR_LIMIT, j, limit, controller=pidtype)

    def setPidErrorLimits(self, pidtype: int, data: Any) -> bool:
        """Set the largest errors that the loops of all joints accept."""
        return self._order(Feature.PID_ERROR_LIMIT, data, controller=pidtype)

    def getPidErrorLimit(self, pidtype: int, j: int, data: Any) -> bool:
        """Fill with the largest error that the loop of a joint accepts."""
        return self._read(Feature.PID_ERROR_LIMIT, j, data, controller=pidtype)

    def getPidErrorLimits(self, pidtype: int, data: Any) -> bool:
        """Fill with the largest errors that the loops of all joints accept."""
        return self._read(Feature.PID_ERROR_LIMIT, data, controller=pidtype)

    def getPidError(self, pidtype: int, j: int, data: Any) -> bool:
        """Fill with the error of a joint."""
        return self._read(Feature.PID_ERROR, j, data, controller=pidtype)

    def getPidErrors(self, pidtype: int, data: Any) -> bool:
        """Fill with the errors of all joints."""
        return self._read(Feature.PID_ERROR, data, controller=pidtype)

    def getPidOutput(self, pidtype: int, j: int, data: Any) -> bool:
        """Fill with the output of a joint's loop."""
        return self._read(Feature.PID_OUTPUT, j, data, controller=pidtype)

    def getPidOutputs(self, pidtype: int, data: Any) -> bool:
        """Fill with the outputs of the loops of all joints."""
        return self._read(Feature.PID_OUTPUT, data, controller=pidtype)

    def setPidOffset(self, pidtype: int, j: int, offset: float) -> bool:
        """Set what is added to the output of a joint's loop."""
        return self._order(Feature.PID_OFFSET, j, offset, controller=pidtype)

    def resetPid(self, pidtype: int, j: int) -> bool:
        """Set the integral of a joint's loop to zero."""
        return self._board.order(Feature.PID_RESET, int(j), controller=pidtype)

    def enablePid(self, pidtype: int, j: int) -> bool:
        """Switch the loop of a joint on."""
        return self._board.order(Feature.PID_ENABLE, int(j), controller=pidtype)

    def disablePid(self, pidtype: int, j: int) -> bool:
        """Switch the loop of a joint off."""
        return self._board.order(Feature.PID_DISABLE, int(j), controller=pidtype)

    def isPidEnabled(self, pidtype: int, j: int, flag: Any) -> bool:
        """Fill with whether the loop of a joint is on."""
        answer = self._board.ask(Feature.PID_ENABLE, int(j), pidtype)
        return fill(flag, [bool(answer[0])] if answer else None)
