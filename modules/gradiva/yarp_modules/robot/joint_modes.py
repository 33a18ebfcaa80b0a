"""Switches control modes on all boards side by side, and detects joints that leave their mode."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gradiva.common import ControlMode, ControlModeLost, JointCommand, NDArray
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.joint_boards import required

_LOGGER = logging.getLogger("gradiva.robot")
_JOIN_TIMEOUT = 1.0  # [s] for an RPC to end when the robot is left
JointOrder = Callable[[int], bool]
"""An order to one joint, by its index in the part, over RPC; False where its board refuses."""
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
_TIMEOUT = 2.0  # [s] for all boards to agree


class BoardOrders:
    """Gives orders to all boards at once, each board in a thread of its own.

    An order is an RPC, which takes as long as its board takes: one that hangs must delay neither the tick nor the
    other boards. The newest order alone counts: a board that hung and answers again skips the rest of the former ones.
    Joints are ordered one by one, for a remapper keeps its buffers locked while it sends to a group of joints,
    the boards of the others among them.
    """

    def __init__(self, boards: Mapping[str, Sequence[int]]) -> None:
        """Take the joints of each board, as indices in the part."""
        self._boards = {name: tuple(joints) for name, joints in boards.items()}
        self._changed = threading.Condition()
        self._order: JointOrder | None = None
        self._number = 0
        self._answered = dict.fromkeys(boards, 0)  # number of the newest order that each board has answered
        self._refusing: set[str] = set()
        self._is_open = False
        self._threads: list[threading.Thread] = []

    def open(self) -> None:
        """Begin to carry out orders."""
        self._is_open, self._answered = True, dict.fromkeys(self._boards, self._number)
        self._threads = [
            threading.Thread(target=self._run, args=(name,), name=f"orders to {name}", daemon=True)
            for name in self._boards
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> bool:
        """Take no more orders; False where a board still has one of them in hand."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        deadline = time.monotonic() + _JOIN_TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def give(self, order: JointOrder) -> None:
        """Let all boards carry out ``order`` for each of their joints, in place of the former order; no wait."""
        with self._changed:
            self._order, self._refusing = order, set()
            self._number += 1
            self._changed.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until all boards have answered; whether all have agreed within ``timeout`` [s]."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending(), timeout)
            return not self._pending() and not self._refusing

    def pending(self) -> list[str]:
        """Return the boards that have not answered the newest order yet."""
        with self._changed:
            return self._pending()

    def joints_of(self, board: str) -> tuple[int, ...]:
        """Return the joints of a board, as indices in the part."""
        return self._boards[board]

    def _pending(self) -> list[str]:
        return [name for name, number in self._answered.items() if number != self._number]

    def _run(self, board: str) -> None:
        """Carry out the newest order again and again."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._answered[board] != self._number or not self._is_open)
                if not self._is_open:
                    return
                order, number = self._order, self._number
            assert order is not None, "there is a number of it"
            is_agreed = self._carry_out(order, number, board)
            with self._changed:
                if number == self._number and not is_agreed:
                    self._refusing.add(board)
                self._answered[board] = number
                self._changed.notify_all()

    def _carry_out(self, order: JointOrder, number: int, board: str) -> bool:
        """Order each joint unless there is a newer order; a joint that refuses does not keep the others from it."""
        is_agreed = True
        for joint in self._boards[board]:
            if number != self._number or not self._is_open:
                return False
            try:
                is_agreed &= bool(order(joint))
            except Exception:
                _LOGGER.exception("an order to %s failed", board)
                is_agreed = False
        if not is_agreed:
            _LOGGER.warning("not all joints of %s carried out the order", board)
        return is_agreed


class JointModes:
    """Switches all joints to the mode of the commands and verifies it by the boards' reports.

    No tick waits for a switch: the boards are ordered side by side in threads of their own, and every tick looks at
    their reports. A board that hangs keeps no other one from switching. Until all boards have answered, and report
    the mode (a report alone may be older than the order), `admitted` lets only commands pass that hold the joints. A
    joint that leaves the mode later is lost until `rearm`.
    """

    def __init__(
        self, joints: Sequence[str], orders: BoardOrders, timeout: float, velocity_acceleration: float, waits: bool
    ) -> None:
        """Prepare; no board is reached yet.

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
        """Return whether all joints have reported the mode of the commands."""
        return self._mode is not None and not self._is_waiting

    def engage(self, mode: ControlMode, now: float) -> None:
        """Order the mode of the commands that come, unless that has been done."""
        if mode is self._mode:
            return
        self.rearm()
        self._mode, self._requested_at, self._is_waiting = mode, now, True
        compliant = self._compliant()

        def order(joint: int) -> bool:
            """Ask the board of a joint for the mode; return whether it agrees."""
            is_agreed = joint not in compliant or self._make_stiff(joint)
            if mode is ControlMode.VELOCITY:
                is_agreed &= bool(self._velocity.setRefAcceleration(joint, self._velocity_acceleration))
            return bool(self._modes.setControlMode(joint, _VOCABS[mode])) and is_agreed

        self._orders.give(order)
        if self._waits:
            self._orders.wait(self._timeout)

    def admitted(self, command: JointCommand) -> JointCommand:
        """Return the command, or one that holds the joints while not all of them are in its mode."""
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
        if not self._lost and self._is_waiting and now - self._requested_at <= self._timeout:
            return
        astray = self._astray() or {}
        if self._is_waiting:
            astray = self._without_answer() | astray
        if self._lost:
            self._lost = astray or self._lost  # joints that came late are lost no more, yet none goes on by itself
            raise self._error("are not")
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
        lost = ", ".join(f"{joint}: {mode}" for joint, mode in self._lost.items())
        text = f"joints {how} in mode {MODE_NAMES[_VOCABS[self._mode]]} ({lost}); repair that, then prepareRobot"
        return ControlModeLost(text, self._lost)

    def _without_answer(self) -> dict[str, str]:
        """Return the joints of boards that have not answered the order, even if they report its mode."""
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
    """Return the name of a control mode."""
    return MODE_NAMES.get(vocab, f"unknown mode '{yarp.decode(vocab)}'")


def _holding(command: JointCommand) -> JointCommand:
    """Return a command that holds the joints while they enter the mode of their first command."""
    if command.mode is ControlMode.VELOCITY:
        return JointCommand(ControlMode.VELOCITY, 0.0 * command.values)
    return command


def hold_in_position_mode(
    driver: yarp.PolyDriver, orders: BoardOrders, last: JointCommand, positions: NDArray | None, speed: float
) -> None:
    """Let all joints hold in the boards' own position mode; a board that hangs delays no other one.

    Where positions were commanded, these are held: a servo under load yields, and if it were to hold the
    measured position, to which it has yielded, it would yield again.

    Args:
        driver: The boards.
        orders: To the boards.
        last: Command.
        positions: Measured last, [rad], shape (n,), or None.
        speed: At which a board may still move a joint, [deg/s].
    """
    hold = last.values if last.mode is ControlMode.POSITION else positions
    goals = np.rad2deg(hold).tolist() if hold is not None and np.isfinite(hold).all() else None
    modes = required(driver.viewIControlMode(), "control modes")
    mover = required(driver.viewIPositionControl(), "position control")

    def order(joint: int) -> bool:
        """Ask the board of a joint to hold it; return whether it agrees."""
        is_agreed = bool(modes.setControlMode(joint, yarp.VOCAB_CM_POSITION))
        is_agreed &= bool(mover.setRefSpeed(joint, speed))
        return is_agreed and (goals is None or bool(mover.positionMove(joint, goals[joint])))

    orders.give(order)
    is_agreed = orders.wait(_TIMEOUT)
    silent = orders.pending()
    how = f"no answer from {', '.join(silent)}" if silent else "not all boards agreed"
    _LOGGER.info("let go of the robot: %s", "it holds in position mode" if is_agreed else how)
