"""Dry runs: a robot that is read but never commanded; its commands are kept in a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradiva.common import ControlMode, JointCommand, Measurement, NDArray, RobotInterface, RobotInterfaceError

_UNITS = {ControlMode.POSITION: "deg", ControlMode.VELOCITY: "deg/s", ControlMode.TORQUE: "N·m"}


@dataclass(slots=True, eq=False)
class _Range:
    """Holds the range of the commands of one mode, in the units of the command.

    Attributes:
        lowest: Of each joint, shape (n,).
        highest: Of each joint, shape (n,).
        step: Largest change from one command to the next, shape (n,).
        distance: Largest distance of the commands from what was measured then, shape (n,).
        count: Number of commands.
    """

    lowest: NDArray
    highest: NDArray
    step: NDArray
    distance: NDArray
    count: int = 0

    def take(self, values: NDArray, before: NDArray | None, measured: NDArray) -> None:
        """Widen the range by a command."""
        np.minimum(self.lowest, values, out=self.lowest)
        np.maximum(self.highest, values, out=self.highest)
        if before is not None:
            np.maximum(self.step, np.abs(values - before), out=self.step)
        np.fmax(self.distance, np.abs(values - measured), out=self.distance)
        self.count += 1


class CommandReport:
    """Collects ranges and steps of each joint's commands, and the changes of mode."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = tuple(joints)
        self._ranges: dict[ControlMode, _Range] = {}
        self._switches: list[tuple[float, ControlMode]] = []
        self._last: JointCommand | None = None
        self._first_jump: NDArray | None = None

    @property
    def count(self) -> int:
        """Number of commands."""
        return sum(one.count for one in self._ranges.values())

    def note(self, command: JointCommand, measurement: Measurement) -> None:
        """Take a command, and what was measured when it was made.

        Raises:
            RobotInterfaceError: It has the wrong size or is not finite.
        """
        values = command.values
        if values.shape != (len(self._joints),) or not np.isfinite(values).all():
            raise RobotInterfaceError(f"a command must be {len(self._joints)} finite numbers: {values}")
        before = self._last.values if self._last is not None and self._last.mode is command.mode else None
        if before is None:
            self._switches.append((measurement.time, command.mode))
        measured = _measured(command.mode, measurement)
        if self._first_jump is None and command.mode is ControlMode.POSITION:
            self._first_jump = np.abs(values - measured)
        self._range(command.mode).take(values, before, measured)
        self._last = command

    def lines(self) -> list[str]:
        """Return the report in lines of text."""
        if not self._ranges:
            return ["nothing would have been sent to the motors"]
        lines = [f"{self.count} commands would have been sent to the motors"]
        begin = self._switches[0][0]
        lines += [f"{time - begin:8.3f} s  all joints to mode {mode}" for time, mode in self._switches]
        if self._first_jump is not None:
            joint = int(np.argmax(self._first_jump))
            jump = np.rad2deg(self._first_jump[joint])
            lines.append(f"the first positions are up to {jump:.2f} deg from those measured ({self._joints[joint]})")
        for mode, found in self._ranges.items():
            lines += ["", *self._table(mode, found)]
        return lines

    def _table(self, mode: ControlMode, found: _Range) -> list[str]:
        scale = 1.0 if mode is ControlMode.TORQUE else float(np.rad2deg(1.0))
        unit = _UNITS[mode]
        columns = scale * np.column_stack([found.lowest, found.highest, found.step, found.distance])
        head = f"{mode} [{unit}]"
        rows = [f"{head:24s} {'lowest':>10s} {'highest':>10s} {'step':>10s} {'off':>10s}"]
        for joint, row in zip(self._joints, columns, strict=True):
            rows.append(f"{joint:24s} " + " ".join(f"{value:10.3f}" for value in row))
        return rows

    def _range(self, mode: ControlMode) -> _Range:
        if mode not in self._ranges:
            size = len(self._joints)
            nothing = (np.full(size, np.inf), np.full(size, -np.inf), np.zeros(size), np.zeros(size))
            self._ranges[mode] = _Range(*nothing)
        return self._ranges[mode]


def _measured(mode: ControlMode, measurement: Measurement) -> NDArray:
    if mode is ControlMode.POSITION:
        return measurement.joint_positions
    return measurement.joint_velocities if mode is ControlMode.VELOCITY else measurement.joint_torques


class DryRunRobot:
    """Reads a robot and keeps the commands that it would have been sent in a report.

    The joints do not follow, so the planned walk and the robot drift apart: expect tracking errors and safety events
    in a dry run once the robot is prepared.

    Attributes:
        report: Of the commands.
    """

    def __init__(self, robot: RobotInterface, joints: Sequence[str]) -> None:
        """Wrap a robot with these joints."""
        self._robot = robot
        self._measurement: Measurement | None = None
        self.report = CommandReport(joints)

    def read(self) -> Measurement:
        """Return the newest sample of all sensors."""
        self._measurement = self._robot.read()
        return self._measurement

    def write(self, command: JointCommand) -> None:
        """Note a command.

        Raises:
            RobotInterfaceError: The robot would have refused it.
        """
        if self._measurement is None:
            raise RobotInterfaceError("a command before the first sample")
        self.report.note(command, self._measurement)
