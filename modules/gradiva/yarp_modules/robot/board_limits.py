"""The joint limits of a robot's boards, beside those of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradiva.common import ConfigError, NDArray, RobotInterfaceError
from gradiva.middleware import yarp
from gradiva.yarp_modules.robot.remote_joints import required

Limits = dict[str, tuple[float, float]]


def read_limits(driver: yarp.PolyDriver, joints: Sequence[str]) -> Limits:
    """Return lower and upper position of each joint, [rad], as the boards tell them.

    Raises:
        RobotInterfaceError: A board does not tell them.
    """
    limits = required(driver.viewIControlLimits(), "joint limits")
    told: Limits = {}
    lower, upper = yarp.DVector(1), yarp.DVector(1)
    for index, joint in enumerate(joints):
        if not limits.getLimits(index, lower, upper):
            raise RobotInterfaceError(f"the board of {joint} does not report its limits")
        if lower[0] < upper[0]:  # equal ones mean that there are none
            told[joint] = (math.radians(lower[0]), math.radians(upper[0]))
    return told


def differences(told: Limits, joints: Sequence[str], lower: NDArray, upper: NDArray, tolerance: float) -> list[str]:
    """Return a line for each joint whose limits on the robot are not those of the model.

    Args:
        told: By the boards, [rad].
        joints: In the order of the description.
        lower: Of the model, [rad], shape (n,).
        upper: Of the model, [rad], shape (n,).
        tolerance: [rad].
    """
    lines = []
    for index, joint in enumerate(joints):
        ours = (float(lower[index]), float(upper[index]))
        theirs = told.get(joint, ours)
        if any(abs(mine - other) > tolerance for mine, other in zip(ours, theirs, strict=True)):
            lines.append(f"{joint}: robot {_degrees(theirs)}, model {_degrees(ours)}")
    return lines


def check_start_posture(told: Limits, joints: Sequence[str], positions: NDArray) -> None:
    """Pass when the start posture lies within the limits of the boards.

    Raises:
        ConfigError: It does not; carries each joint.
    """
    outside = [
        f"{joint} at {math.degrees(position):.1f}° is outside {_degrees(told[joint])}"
        for joint, position in zip(joints, positions, strict=True)
        if joint in told and not told[joint][0] <= position <= told[joint][1]
    ]
    if outside:
        raise ConfigError(f"the start posture lies outside the robot's limits: {'; '.join(outside)}")


def _degrees(limits: tuple[float, float]) -> str:
    return f"{math.degrees(limits[0]):.1f}° to {math.degrees(limits[1]):.1f}°"
