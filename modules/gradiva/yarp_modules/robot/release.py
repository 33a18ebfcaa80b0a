"""Letting go of a robot: its boards hold the joints where they are."""

from __future__ import annotations

import logging

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.board_orders import BoardOrders
from gradiva.yarp_modules.robot.remote_joints import required

_LOGGER = logging.getLogger("gradiva.robot")
_TIMEOUT = 2.0  # [s] for all boards to agree


def hold_in_position_mode(
    driver: yarp.PolyDriver, orders: BoardOrders, last: JointCommand, positions: NDArray | None, speed: float
) -> None:
    """Let all joints hold in the boards' own position mode; a board that hangs delays no other one.

    Where positions were commanded, these are held: a servo that bears weight yields, and if it were to hold the
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
        is_agreed = bool(modes.setControlMode(joint, yarp.VOCAB_CM_POSITION))
        is_agreed &= bool(mover.setRefSpeed(joint, speed))
        return is_agreed and (goals is None or bool(mover.positionMove(joint, goals[joint])))

    orders.give(order)
    is_agreed = orders.wait(_TIMEOUT)
    silent = orders.pending()
    how = f"no answer from {', '.join(silent)}" if silent else "not all boards agreed"
    _LOGGER.info("let go of the robot: %s", "it holds in position mode" if is_agreed else how)
