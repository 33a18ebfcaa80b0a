"""View the settings of a control board: control modes, limits, gains, names of the joints, motors."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from pureyarp.data.conversions import checked_integer
from pureyarp.data.vectors import StandardVector
from pureyarp.devices.control_board_protocol import Feature, InteractionMode, JointType
from pureyarp.devices.motion_views import ControlBoardView, Method, fill, forms, joints_and_data
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
    """Modes of joints, each a vocabulary, of one joint, of all or of ``(number, joints, …)``.

    ``_field`` of the state is what is read, ``_feature`` what is set; ``_unknown`` when none arrived in time.
    """

    _feature: ClassVar[Feature]
    _field: ClassVar[str]
    _unknown: ClassVar[int]

    def _mode(self, j: int) -> int:
        measured = self._board.measured(self._field, int(j))
        return int(measured.values[0]) if measured else self._unknown

    def _read_modes(self, *arguments: Any) -> bool:
        of, destination = joints_and_data(arguments)
        measured = self._board.measured(self._field, of)
        return measured is not None and fill(destination, [int(mode) for mode in measured.values])

    def _set_mode(self, j: int, mode: int) -> bool:
        return self._board.order(self._feature, int(j), [Vocab32(checked_integer(mode, 32))])

    def _set_modes(self, *arguments: Any) -> bool:
        of, data = joints_and_data(arguments)
        values = self._values(of, data)
        return values is not None and self._board.order(self._feature, of, [Vocab32(value) for value in values])


class IControlMode(ModeView):
    """Which quantity each joint follows, as a vocabulary: position, position direct, velocity, torque..."""

    _feature = Feature.CONTROL_MODE
    _field = "control_modes"
    _unknown = -1
    getControlMode, getControlModes = ModeView._mode, ModeView._read_modes
    setControlMode, setControlModes = ModeView._set_mode, ModeView._set_modes


class IInteractionMode(ModeView):
    """Interaction modes of the joints, vocabularies: stiff or compliant."""

    _feature = Feature.INTERACTION_MODE
    _field = "interaction_modes"
    _unknown = int(InteractionMode.UNKNOWN)
    getInteractionMode, getInteractionModes = ModeView._mode, ModeView._read_modes
    setInteractionMode, setInteractionModes = ModeView._set_mode, ModeView._set_modes


def _limits(feature: Feature) -> tuple[Method, Method]:
    """Return two methods, which fill two vectors with the lowest and highest value of a joint, and which set both."""

    def get(view: ControlBoardView, axis: int, min: Any, max: Any) -> bool:
        return view._read_pair(feature, int(axis), min, max)

    def put(view: ControlBoardView, axis: int, min: float, max: float) -> bool:
        return view._board.order(feature, int(axis), [float(min), float(max)])

    return get, put


class IControlLimits(ControlBoardView):
    """Between which positions [deg] and velocities [deg/s] the joints may move."""

    getLimits, setLimits = _limits(Feature.POSITION_LIMITS)
    getVelLimits, setVelLimits = _limits(Feature.VELOCITY_LIMITS)


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
    """Temperatures and their highest allowed values [deg C], and gear ratios, of the motors."""

    def getNumberOfMotors(self) -> int:
        """Ask how many motors there are; 0 without an answer."""
        return self._count(Feature.MOTORS)

    getTemperature, getTemperatures = forms(ControlBoardView._read, Feature.TEMPERATURE, has_groups=False)
    getTemperatureLimit = forms(ControlBoardView._read, Feature.TEMPERATURE_LIMIT)[0]
    setTemperatureLimit = forms(ControlBoardView._order, Feature.TEMPERATURE_LIMIT)[0]
    getGearboxRatio = forms(ControlBoardView._read, Feature.GEARBOX_RATIO)[0]
    setGearboxRatio = forms(ControlBoardView._order, Feature.GEARBOX_RATIO)[0]


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


def _of_loops(call: Method, feature: Feature) -> tuple[Method, Method]:
    """Return two methods, of the loop of one joint ``(pidtype, j, data)`` and of those of all ``(pidtype, data)``."""

    def one(view: ControlBoardView, pidtype: int, j: int, data: Any) -> bool:
        return call(view, feature, j, data, controller=pidtype)

    def every(view: ControlBoardView, pidtype: int, data: Any) -> bool:
        return call(view, feature, data, controller=pidtype)

    return one, every


def _of_loop(feature: Feature) -> Method:
    """Return a method that orders something without a value of the loop of one joint."""

    def order(view: ControlBoardView, pidtype: int, j: int) -> bool:
        return view._board.order(feature, int(j), controller=pidtype)

    return order


class IPidControl(ControlBoardView):
    """The control loops of the board; ``pidtype`` is the vocabulary of position, velocity, torque or current.

    A loop follows its reference until the error is beyond its limit; its output is what drives the joint, with the
    offset added. Resetting sets its integral to zero.
    """

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

    setPidReference, setPidReferences = _of_loops(ControlBoardView._order, Feature.PID_REFERENCE)
    getPidReference, getPidReferences = _of_loops(ControlBoardView._read, Feature.PID_REFERENCE)
    setPidErrorLimit, setPidErrorLimits = _of_loops(ControlBoardView._order, Feature.PID_ERROR_LIMIT)
    getPidErrorLimit, getPidErrorLimits = _of_loops(ControlBoardView._read, Feature.PID_ERROR_LIMIT)
    getPidError, getPidErrors = _of_loops(ControlBoardView._read, Feature.PID_ERROR)
    getPidOutput, getPidOutputs = _of_loops(ControlBoardView._read, Feature.PID_OUTPUT)
    setPidOffset = _of_loops(ControlBoardView._order, Feature.PID_OFFSET)[0]
    resetPid = _of_loop(Feature.PID_RESET)
    enablePid = _of_loop(Feature.PID_ENABLE)
    disablePid = _of_loop(Feature.PID_DISABLE)

    def isPidEnabled(self, pidtype: int, j: int, flag: Any) -> bool:
        """Fill with whether the loop of a joint is on."""
        answer = self._board.ask(Feature.PID_ENABLE, int(j), pidtype)
        return fill(flag, [bool(answer[0])] if answer else None)
