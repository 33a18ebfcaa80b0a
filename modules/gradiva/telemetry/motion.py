"""Reads the motion of a robot from a log, picture by picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, Side, nearest_name
from gradiva.robot_model import RobotDescription
from gradiva.telemetry.signal_log import SignalLog
from gradiva.telemetry.walk_record import WalkRecord

_TRUTH = ("simulation::root_link::position", "simulation::root_link::orientation", "simulation::joint_positions")
_ESTIMATE = (
    "root_link::position::measured",
    "root_link::orientation::measured",
    "joints_state::positions::measured",
)
_POINTS = {  # signal and its size
    "com": ("com::position::measured", 3),
    "dcm": ("dcm::position::measured", 2),
    "zmp": ("zmp::measured", 2),
}
_SOLES = {side: f"{side}_foot::position::measured" for side in Side}
_FORCES = {side: f"{side}_foot::linear_force::measured" for side in Side}


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Configurations of a robot at equal intervals, and the points that it balances with.

    Attributes:
        times: On the clock of the log, [s], shape (T,).
        base_positions: World, [m], shape (T, 3).
        base_rotations: Shape (T, 3, 3).
        joint_positions: [rad], shape (T, n), in the order of the robot's description.
        points: Any of ``com`` (T, 3), ``dcm`` and ``zmp`` (T, 2): world, [m].
        soles: Origins of the sole frames, where they are logged, world, [m], shape (T, 3) each.
        forces: Of the ground on each foot, where they are logged, world, [N], shape (T, 3) each.
    """

    times: NDArray
    base_positions: NDArray
    base_rotations: NDArray
    joint_positions: NDArray
    points: dict[str, NDArray]
    soles: dict[Side, NDArray]
    forces: dict[Side, NDArray]

    @classmethod
    def read(cls, record: WalkRecord, description: RobotDescription, rate: float = 30.0) -> Motion:
        """Return the motion of the simulated robot if it was logged, else that of the estimated one.

        Args:
            record: Of the run.
            description: Of the robot that walked.
            rate: Pictures a second, [Hz].

        Raises:
            ConfigError: The log is empty, or does not tell base and joints of this robot.
        """
        log = record.log
        if not len(log):
            raise ConfigError("the log of this run is empty: nothing to replay")
        names = _TRUTH if all(name in log for name in _TRUTH) else _ESTIMATE
        for name in names:
            if name not in log:
                raise ConfigError(f"the log has no {name}: nothing to replay")
        times = np.arange(log.times[0], log.times[-1] + 1e-9, 1.0 / rate)
        rows = np.searchsorted(0.5 * (log.times[1:] + log.times[:-1]), times)
        position, orientation, joints = (log[name][rows] for name in names)
        order = _order_of_joints(record.joints, description.joints, joints.shape[1])
        drift = _drift(log, rows, position)
        return cls(
            times=times,
            base_positions=position,
            base_rotations=rotations_from_rpy(orientation),
            joint_positions=joints[:, order],
            points={key: log[name][rows] + drift[:, :size] for key, (name, size) in _POINTS.items() if name in log},
            soles={side: log[name][rows] + drift for side, name in _SOLES.items() if name in log},
            forces={side: log[name][rows] for side, name in _FORCES.items() if name in log},
        )


def rotations_from_rpy(rpy: NDArray) -> NDArray:
    """Return the rotations Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: [rad], shape (T, 3).

    Returns:
        Shape (T, 3, 3).
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy).T, np.sin(rpy).T
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _drift(log: SignalLog, rows: npt.NDArray[np.intp], base: NDArray) -> NDArray:
    """Return what moves estimated points along with the shown base, horizontal, [m], shape (T, 3)."""
    drift = np.zeros_like(base)
    if _ESTIMATE[0] in log:
        drift[:, :2] = (base - log[_ESTIMATE[0]][rows])[:, :2]
    return drift


def _order_of_joints(logged: tuple[str, ...], wanted: tuple[str, ...], columns: int) -> list[int]:
    if len(logged) != columns:
        raise ConfigError(f"the log names {len(logged)} joints for {columns} joint positions")
    for joint in wanted:
        if joint not in logged:
            raise ConfigError(f"the run is of another robot, it has no joint '{joint}'{nearest_name(joint, logged)}")
    return [logged.index(joint) for joint in wanted]
