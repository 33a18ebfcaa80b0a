"""Keeps the joints in the control mode of the commands, and notices when one leaves it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from gradiva.common import ControlMode, JointCommand, RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.board_orders import BoardOrders
from gradiva.yarp_modules.robot.remote_joints import required

_LOGGER = logging.getLogger("gradiva.robot")

_VOCABS = {
    ControlMode.POSITION: yarp.VOCAB_CM_POSITION_DIRECT,
    ControlMode.VELOCITY: yarp.VOCAB_CM_VELOCITY,
    ControlMode.TORQUE: yarp.VOCAB_CM_TORQUE,
}
MODE_NAMES = {
    yarp.VOCAB_CM_POSITION: "position",
    yarp.VOCAB_CM_POSITION_DIRECT: "position direct",
    yarp.VOCAB_CM_VELOCITY: "velocity",
    yarp.VOCAB_CM_TORQUE: "torque",
    yarp.VOCAB_CM_MIXED: "mixed",
    yarp.VOCAB_CM_PWM: "duty cycle",
    yarp.VOCAB_CM_CURRENT: "current",
    yarp.VOCAB_CM_IDLE: "idle",
    yarp.VOCAB_CM_HW_FAULT: "hardware fault",
    yarp.VOCAB_CM_CALIBRATING: "calibrating",
    yarp.VOCAB_CM_CALIB_DONE: "calibrated, not yet in a mode",
    yarp.VOCAB_CM_NOT_CONFIGURED: "not configured",
    yarp.VOCAB_CM_CONFIGURED: "configured, not calibrated",
}


@runtime_checkable
class Rearmable(Protocol):
    """A robot whose motors can be taken anew."""

    def rearm(self) -> None:
        """Switch all joints to position direct, whatever mode they are in."""
        ...


class ControlModeLost(RobotInterfaceError):  # noqa: N818 (it reads as the sentence it is)
    """Joints are not in the mode of the commands; carries which, and in which mode they are.

    Attributes:
        joints: Name to mode.
    """

    def __init__(self, text: str, joints: Mapping[str, str]) -> None:
        super().__init__(text)
        self.joints = dict(joints)


class JointModes:
    """Switches all joints to the mode of the commands and verifies it by what the boards report.

    No tick waits for a switch: the boards are ordered side by side in threads of their own, and every tick looks at
    what they report. A board that hangs keeps no other one from switching. Until all boards have answered, and report
    the mode (a report alone may be older than the order), `admitted` lets nothing pass but what holds the joints. A
    joint that leaves the mode later is lost until `rearm`.
    """

    def __init__(
        self, joints: Sequence[str], orders: BoardOrders, timeout: float, velocity_acceleration: float, waits: bool
    ) -> None:
        """Know nothing of the robot yet.

        Args:
            joints: In the order of the description.
            orders: To their boards.
            timeout: In which all of them have to report the mode, [s].
            velocity_acceleration: Of the boards' ramps in velocity mode, [deg/s²].
            waits: Whether the boards' answers are awaited, as in lockstep, where the simulator waits for this process
                and runs are alike.
        """
        self._joints = joints
        self._orders = orders
        self._waits = waits
        self._timeout = timeout
        self._velocity_acceleration = velocity_acceleration
        self._reported = yarp.IVector(len(joints))
        self.rearm()

    def open(self, driver: yarp.PolyDriver) -> None:
        """Use these boards.

        Raises:
            RobotInterfaceError: They have no control modes.
        """
        self._modes = required(driver.viewIControlMode(), "control modes")
        self._interaction = driver.viewIInteractionMode()
        self._velocity = required(driver.viewIVelocityControl(), "velocity control")

    def rearm(self) -> None:
        """Forget the mode: the next command switches all joints anew."""
        self._mode: ControlMode | None = None
        self._hold: JointCommand | None = None
        self._is_waiting = False
        self._requested_at = 0.0
        self._lost: dict[str, str] = {}

    @property
    def is_engaged(self) -> bool:
        """Whether all joints have reported the mode of the commands."""
        return self._mode is not None and not self._is_waiting

    def engage(self, mode: ControlMode, now: float) -> None:
        """Order the mode of the commands that come, unless that has been done."""
        if mode is self._mode:
            return
        self.rearm()
        self._mode, self._requested_at, self._is_waiting = mode, now, True
        compliant = self._compliant()

        def order(joint: int) -> bool:
            is_agreed = joint not in compliant or self._make_stiff(joint)
            if mode is ControlMode.VELOCITY:
                is_agreed &= bool(self._velocity.setRefAcceleration(joint, self._velocity_acceleration))
            return bool(self._modes.setControlMode(joint, _VOCABS[mode])) and is_agreed

        self._orders.give(order)
        if self._waits:
            self._orders.wait(self._timeout)

    def admitted(self, command: JointCommand) -> JointCommand:
        """Return the command, or what holds the joints while not all of them are in its mode."""
        if self._is_waiting and not self._orders.pending() and self._astray() == {}:
            _LOGGER.info("all joints are in mode %s", MODE_NAMES[_VOCABS[command.mode]])
            self._is_waiting, self._hold = False, None
        if self._is_waiting and self._hold is None:
            self._hold = _holding(command)
        return self._hold or command

    def check(self, now: float) -> None:
        """Pass while all joints are in the mode of the commands, or may still be on their way.

        Raises:
            ControlModeLost: Some are not.
        """
        if self._lost:
            raise self._error("are not")
        if self._is_waiting and now - self._requested_at <= self._timeout:
            return
        astray = self._astray() or {}
        if self._is_waiting:
            astray = self._without_answer() | astray
        if not astray:
            return
        self._lost = astray
        raise self._error("did not get" if self._is_waiting else "are no longer")

    def reported(self) -> list[int] | None:
        """Return the modes that the boards reported last; None where one is silent."""
        return list(self._reported) if self._modes.getControlModes(self._reported) else None

    def _astray(self) -> dict[str, str] | None:
        """Return joints that report another mode; None where a board is silent: its encoders are late, too."""
        if self._mode is None:
            return {}
        if (reported := self.reported()) is None:
            return None
        wanted = _VOCABS[self._mode]
        if reported.count(wanted) == len(reported):  # as in nearly every tick
            return {}
        return {joint: mode_name(mode) for joint, mode in zip(self._joints, reported, strict=True) if mode != wanted}

    def _error(self, how: str) -> ControlModeLost:
        assert self._mode is not None, "modes are lost only after one was ordered"
        told = ", ".join(f"{joint}: {mode}" for joint, mode in self._lost.items())
        text = f"joints {how} in mode {MODE_NAMES[_VOCABS[self._mode]]} ({told}); mend that, then prepareRobot"
        return ControlModeLost(text, self._lost)

    def _without_answer(self) -> dict[str, str]:
        """Return the joints of boards that have not answered the order, whatever they report."""
        pending = [joint for board in self._orders.pending() for joint in self._orders.joints_of(board)]
        return {self._joints[joint]: "its board does not answer" for joint in pending}

    def _compliant(self) -> set[int]:
        """Return the joints that do not report to be stiff."""
        reported, joints = yarp.IVector(len(self._joints)), range(len(self._joints))
        if self._interaction is None:
            return set()
        if not self._interaction.getInteractionModes(reported):
            return set(joints)
        return {joint for joint in joints if reported[joint] != yarp.VOCAB_IM_STIFF}

    def _make_stiff(self, joint: int) -> bool:
        return self._interaction is not None and bool(self._interaction.setInteractionMode(joint, yarp.VOCAB_IM_STIFF))


def mode_name(vocab: int) -> str:
    """Return what a control mode is called, for people."""
    return MODE_NAMES.get(vocab, f"unknown mode '{yarp.decode(vocab)}'")


def _holding(command: JointCommand) -> JointCommand:
    """Return what keeps the joints where they are while they enter the mode of their first command."""
    if command.mode is ControlMode.VELOCITY:
        return JointCommand(ControlMode.VELOCITY, 0.0 * command.values)
    return command
