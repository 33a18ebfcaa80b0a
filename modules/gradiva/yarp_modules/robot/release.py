"""Letting go of a robot: its boards hold the joints where they are."""

from __future__ import annotations

import logging

import numpy as np

from gradiva.common import ControlMode, JointCommand, NDArray
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.joint_modes import JointModes
from gradiva.yarp_modules.robot.remote_joints import required

_LOGGER = logging.getLogger("gradiva.robot")


def hold_in_position_mode(
    driver: yarp.PolyDriver, modes: JointModes, last: JointCommand, positions: NDArray | None, speed: float
) -> None:
    """Switch all joints to the boards' own position mode, told to stay.

    Where positions were commanded the joints stay as told: a servo that bears weight yields, and told to stay where it
    has yielded to it would yield again.

    Args:
        driver: The boards.
        modes: Of the joints.
        last: Command.
        positions: Measured last, [rad], shape (n,), or None.
        speed: At which a board may still move a joint, [deg/s].
    """
    hold = last.values if last.mode is ControlMode.POSITION else positions
    is_agreed = modes.order(yarp.VOCAB_CM_POSITION)
    mover = required(driver.viewIPositionControl(), "position control")
    is_agreed &= bool(mover.setRefSpeeds(yarp.DVector(len(last.values), speed)))
    if hold is not None and np.isfinite(hold).all():
        is_agreed &= bool(mover.positionMove(yarp.DVector(np.rad2deg(hold).tolist())))
    _LOGGER.info("let go of the robot: %s", "it holds in position mode" if is_agreed else "not all boards agreed")
