"""What a board of a simulated robot can be asked for, before anybody changes it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import Feature, Key, ParameterTable, PidType
from gradiva.simulation import JointRanges

TRAJECTORY_SPEED = 10.0  # [deg/s] until another is set, as on the robots
TRAJECTORY_ACCELERATION = 10.0  # [deg/s^2] told and kept; minimum-jerk moves have their own
_PER_DEGREE = math.pi / 180.0  # turns gains per radian into gains per degree
_LARGEST_STIFFNESS, _LARGEST_DAMPING = 1000.0, 100.0  # [N·m/deg, N·m·s/deg] that compliance may be given
_ZERO = (
    *(Feature.MOTOR_ENCODER_COUNTS, Feature.TEMPERATURE_LIMIT, Feature.MAXIMUM_CURRENT, Feature.NOMINAL_CURRENT),
    *(Feature.PEAK_CURRENT, Feature.PWM_LIMIT, Feature.SUPPLY_VOLTAGE),
)
_ONE = (Feature.GEARBOX_RATIO, Feature.AMPLIFIER_STATUS)


def joint_settings(joints: Sequence[int], ranges: JointRanges, stiffness: NDArray, damping: NDArray) -> ParameterTable:
    """Return the settings of a board: degrees, N·m per degree.

    Args:
        joints: Of the board, indices into the other arguments.
        ranges: Limits of all joints.
        stiffness: Of the position servos of all joints, [N·m/rad].
        damping: Of the position servos of all joints, [N·m·s/rad].
    """
    some = list(joints)
    lower, upper = np.degrees(ranges.lower[some]), np.degrees(ranges.upper[some])
    speed, torque = np.degrees(ranges.velocity[some]), ranges.torque[some]
    gains = np.stack([stiffness[some], damping[some]], axis=1) * _PER_DEGREE
    rows, column = np.ones((len(some), 1)), np.ones(len(some))
    settings: dict[Key, NDArray] = {(feature, None): 0.0 * column for feature in _ZERO}
    settings |= {(feature, None): column for feature in _ONE}
    settings |= {
        (Feature.TRAJECTORY_SPEED, None): TRAJECTORY_SPEED * column,
        (Feature.TRAJECTORY_ACCELERATION, None): TRAJECTORY_ACCELERATION * column,
        (Feature.POSITION_LIMITS, None): np.stack([lower, upper], axis=1),
        (Feature.VELOCITY_LIMITS, None): np.stack([0.0 * speed, speed], axis=1),
        (Feature.TORQUE_RANGE, None): np.stack([-torque, torque], axis=1),
        (Feature.IMPEDANCE, None): gains,
        (Feature.IMPEDANCE_OFFSET, None): 0.0 * rows,
        (Feature.IMPEDANCE_LIMITS, None): rows * [0.0, _LARGEST_STIFFNESS, 0.0, _LARGEST_DAMPING],
    }
    return ParameterTable(settings | _pids(gains, torque))


def _pids(gains: NDArray, torque: NDArray) -> dict[Key, NDArray]:
    """Return the loops: those of position with the servos' gains, the others without."""
    rows = np.zeros((len(gains), 10))
    position = rows.copy()
    position[:, :2] = gains  # kp, kd
    position[:, 4] = torque  # max_output
    position[:, 6] = 1.0  # scale
    of_pid: dict[Key, NDArray] = {}
    for pid in PidType:
        of_pid[Feature.PID, pid] = position if pid is PidType.POSITION else rows
        of_pid[Feature.PID_ENABLE, pid] = np.ones(len(gains))
        of_pid[Feature.PID_ERROR_LIMIT, pid] = of_pid[Feature.PID_OFFSET, pid] = np.zeros(len(gains))
    return of_pid
