"""Joint positions, velocities and accelerations as the board measures them."""

from __future__ import annotations

from typing import Any

from gradiva.middleware.control_board.feature import Feature
from pureyarp.devices.api_arguments import fill
from pureyarp.devices.control_board_view import ControlBoardView


class IEncoders(ControlBoardView):
    """Measured joint positions [deg], velocities [deg/s] and accelerations [deg/s^2]."""

    def getAxes(self) -> int:
        """Ask how many joints there are; 0 without an answer."""
        return self._count(Feature.AXES)

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
        return self._board.tell(Feature.ENCODER_RESET, int(j))

    def resetEncoders(self) -> bool:
        """Call the present positions of all joints zero."""
        return self._board.tell(Feature.ENCODER_RESET)

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
