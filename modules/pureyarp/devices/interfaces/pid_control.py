"""The control loops of the board."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.api_arguments import fill
from pureyarp.devices.control_board_view import ControlBoardView
from pureyarp.devices.pid import Pid, PidVector, fill_pid, pid_to_items


class IPidControl(ControlBoardView):
    """The control loops of the board; ``pidtype`` is the vocabulary of position, velocity, torque or current."""

    def setPid(self, pidtype: int, j: int, pid: Pid) -> bool:
        """Set the gains of a joint."""
        return self._board.tell(Feature.PID, int(j), pid_to_items(pid), pidtype)

    def setPids(self, pidtype: int, pids: PidVector) -> bool:
        """Set the gains of all joints."""
        if len(pids) < self._board.axes:
            return False
        return self._board.tell(Feature.PID, None, [pid_to_items(pids[j]) for j in range(self._board.axes)], pidtype)

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
        return self._board.tell(Feature.PID_RESET, int(j), controller=pidtype)

    def enablePid(self, pidtype: int, j: int) -> bool:
        """Switch the loop of a joint on."""
        return self._board.tell(Feature.PID_ENABLE, int(j), controller=pidtype)

    def disablePid(self, pidtype: int, j: int) -> bool:
        """Switch the loop of a joint off."""
        return self._board.tell(Feature.PID_DISABLE, int(j), controller=pidtype)

    def isPidEnabled(self, pidtype: int, j: int, flag: Any) -> bool:
        """Fill with whether the loop of a joint is on."""
        answer = self._board.ask(Feature.PID_ENABLE, int(j), pidtype)
        return fill(flag, [bool(answer[0])] if answer else None)
