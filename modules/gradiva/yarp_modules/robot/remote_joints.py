"""The joints of the walk behind a robot's control boards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray, RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.source_clock import SourceClock

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class JointSample:
    """What the boards measured last, in the order of the description.

    Attributes:
        time: When the oldest part was measured, [s].
        positions: [rad], shape (n,).
        velocities: [rad/s], shape (n,).
        torques: [N·m], shape (n,); NaN where the boards measure none.
    """

    time: float
    positions: NDArray
    velocities: NDArray
    torques: NDArray


class RemoteJoints:
    """One part made of the joints of several boards; degrees end here.

    Attributes:
        joints: In the order of the description.
        board_names: Full names of the boards, each once.
        driver: The device, for those who ask for more than set-points and samples.
    """

    def __init__(self, joints: Sequence[str], boards: Sequence[str], clocks: Sequence[SourceClock]) -> None:
        """Prepare; `open` reaches the boards.

        Args:
            joints: In the order of the description.
            boards: Full name of the board of each joint.
            clocks: One for each board, in the order of ``board_names``.
        """
        self.joints = tuple(joints)
        self.board_names = tuple(dict.fromkeys(boards))
        self.driver = yarp.PolyDriver()
        self._first_joints = [boards.index(name) for name in self.board_names]
        self._clocks = dict(zip(self.board_names, clocks, strict=True))
        count = len(self.joints)
        self._positions, self._stamps = yarp.DVector(count), yarp.DVector(count)
        self._velocities, self._torques = yarp.DVector(count), yarp.DVector(count)

    @property
    def ports(self) -> list[str]:
        """The ports of the boards."""
        return [f"{name}{end}" for name in self.board_names for end in ("/rpc:i", "/command:i", "/stateExt:o")]

    def open(self, local: str, carrier: str) -> None:
        """Reach all boards.

        Raises:
            RobotInterfaceError: A board is not there, or lacks a joint.
        """
        config = yarp.Property()
        config.fromString(
            f"(device remotecontrolboardremapper) (axesNames ({' '.join(self.joints)})) "
            f"(remoteControlBoards ({' '.join(self.board_names)})) (localPortPrefix {local}) "
            f"(REMOTE_CONTROLBOARD_OPTIONS (carrier {carrier}))"
        )
        if not self.driver.open(config):
            raise RobotInterfaceError(f"the boards {', '.join(self.board_names)} were not opened: the log says why")
        self._encoders = required(self.driver.viewIEncodersTimed(), "encoders")
        self._torque_control = required(self.driver.viewITorqueControl(), "torque control")
        self._position_direct = required(self.driver.viewIPositionDirect(), "position direct")
        self._velocity_control = required(self.driver.viewIVelocityControl(), "velocity control")

    def close(self) -> None:
        """Leave the boards."""
        self.driver.close()

    def read(self, now: float) -> JointSample | None:
        """Return what was measured last; None where a board has said nothing for long."""
        if not self._encoders.getEncodersTimed(self._positions, self._stamps):
            self._look_at_each_board(now)
            return None
        for name, joint in zip(self.board_names, self._first_joints, strict=True):
            self._clocks[name].update(self._stamps[joint], now)
        if not self._encoders.getEncoderSpeeds(self._velocities):
            return None
        measures_torques = self._torque_control.getTorques(self._torques)
        return JointSample(
            min(clock.time for clock in self._clocks.values()),
            np.deg2rad(list(self._positions)),
            np.deg2rad(list(self._velocities)),
            np.array(list(self._torques)) if measures_torques else np.full(len(self.joints), math.nan),
        )

    def stream(self, command: JointCommand) -> None:
        """Send set-points to all boards.

        Raises:
            RobotInterfaceError: They could not be sent.
        """
        if command.mode is ControlMode.POSITION:
            is_sent = self._position_direct.setPositions(_degrees(command.values))
        elif command.mode is ControlMode.VELOCITY:
            is_sent = self._velocity_control.velocityMove(_degrees(command.values))
        else:
            is_sent = self._torque_control.setRefTorques(yarp.DVector(command.values.tolist()))
        if not is_sent:
            raise RobotInterfaceError(f"the command ({command.mode}) could not be sent to the boards")

    def _look_at_each_board(self, now: float) -> None:
        position, stamp = yarp.DVector(1), yarp.DVector(1)
        for name, joint in zip(self.board_names, self._first_joints, strict=True):
            if self._encoders.getEncoderTimed(joint, position, stamp):
                self._clocks[name].update(stamp[0], now)


def required(view: T | None, what: str) -> T:
    """Return an interface of a device.

    Raises:
        RobotInterfaceError: The device has none.
    """
    if view is None:
        raise RobotInterfaceError(f"the boards offer no {what}")
    return view


def _degrees(radians: NDArray) -> yarp.DVector:
    return yarp.DVector(np.rad2deg(radians).tolist())
