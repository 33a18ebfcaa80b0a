"""A robot's ports with fake boards and sensors behind them."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from gradiva.common import NDArray
from gradiva.middleware import (
    AnalogSensorsServer,
    ControlBoardServer,
    ControlMode,
    Feature,
    Joints,
    ParameterTable,
    SensorClass,
    SensorMeasurement,
    SensorMetadata,
    yarp,
)
from gradiva.robot_model import Environment, RobotDescription
from tests.middleware.fake_board import IntegratingBoard, parameters

WIDE = (-180.0, 180.0)  # [deg]


class NamedBoard(IntegratingBoard):
    """A board with the axes of the robot, which may refuse modes, or hang when it is ordered one."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(len(names))
        self._first_names = tuple(names)
        self.reset()

    def reset(self) -> None:
        """Stand at zero in position mode, as after the start."""
        self._names = self._first_names
        size = len(self._names)
        self.table = ParameterTable(parameters(size))
        self.table.set(Feature.TRAJECTORY_SPEED, self._all, [10.0] * size)
        self.table.set(Feature.POSITION_LIMITS, self._all, [WIDE] * size)
        self.position, self.velocity, self.target = np.zeros(size), np.zeros(size), np.zeros(size)
        self.modes = [ControlMode.POSITION] * size
        self.commands.clear()
        self.refused: set[str] = set()
        self.answers = threading.Event()  # not set: orders of control modes hang until it is
        self.answers.set()

    def call_axes(self, *names: str) -> None:
        """Give the axes other names."""
        self._names = names

    def set_control_modes(self, joints: Joints, modes: Sequence[ControlMode]) -> None:
        self.answers.wait()
        allowed = [place for place, joint in enumerate(joints) if self._names[joint] not in self.refused]
        super().set_control_modes(tuple(joints[i] for i in allowed), [modes[i] for i in allowed])


@dataclass
class FakeSensors:
    """Readings of the analog sensors of a server; raises while it is mute."""

    sensors: dict[SensorClass, list[SensorMetadata]]
    values: dict[tuple[SensorClass, str], Sequence[float]] = field(default_factory=dict)
    is_mute: bool = False

    def __call__(self) -> dict[SensorClass, list[SensorMeasurement]]:
        if self.is_mute:
            raise OSError("mute")
        return {kind: [self._one(kind, sensor.name) for sensor in sensors] for kind, sensors in self.sensors.items()}

    def _one(self, kind: SensorClass, name: str) -> SensorMeasurement:
        default = [0.0] * (kind.size or 1)
        return SensorMeasurement(tuple(self.values.get((kind, name), default)), yarp.now())


class FakeRobot:
    """All boards and sensor servers of a robot; servers can be stopped and started again one by one."""

    def __init__(self, description: RobotDescription, period: float = 0.005) -> None:
        assert description.ports is not None
        self.description, self.ports = description, description.ports
        self._period = period
        self.boards = {part: NamedBoard(joints) for part, joints in self.ports.boards.items()}
        self.sensors: dict[str, FakeSensors] = {}
        for server in self.ports.force_torque_servers:
            kinds = {SensorClass.FORCE_TORQUE: [SensorMetadata(one.name, one.frame) for one in server.sensors]}
            self.sensors[server.name] = FakeSensors(kinds)
        for inertial in self.ports.inertial_servers:
            metadata = [SensorMetadata(one.name, one.frame) for one in inertial.sensors]
            kinds = {SensorClass.GYROSCOPE: metadata, SensorClass.ORIENTATION: metadata}
            self.sensors[inertial.name] = FakeSensors(kinds)
        self._servers: dict[str, ControlBoardServer | AnalogSensorsServer] = {}

    def __enter__(self) -> FakeRobot:
        with ExitStack() as stack:
            for name in [*self.boards, *self.sensors]:
                self.start(name)
                stack.callback(self.stop, name)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, name: str) -> None:
        """Start the board or the sensor server of that name."""
        full = self.ports.full_name(Environment.SIMULATION, name)
        if name in self.boards:
            self._servers[name] = ControlBoardServer(full, self.boards[name], self._period)
        else:
            sensors = self.sensors[name]
            self._servers[name] = AnalogSensorsServer(full, sensors.sensors, sensors, self._period)
        self._servers[name].open()

    def reset(self) -> None:
        """Be as at first: all servers run, all joints at zero, all sensors read zeros."""
        for name in {*self.boards, *self.sensors} - set(self._servers):
            self.start(name)
        for board in self.boards.values():
            board.reset()
        for sensors in self.sensors.values():
            sensors.values.clear()
            sensors.is_mute = False

    def stop(self, name: str) -> None:
        """Stop it."""
        if name in self._servers:
            self._servers.pop(name).close()

    # -- in the units and the order of the description ---------------------------------------------------------

    def place_joints(self, positions: NDArray) -> None:
        """Put the joints there, [rad], shape (n,)."""
        for joint, position in zip(self.description.joints, positions, strict=True):
            board, index = self._find(joint)
            board.position[index] = math.degrees(position)

    def joint_positions(self) -> NDArray:
        """Return the positions of the joints, [rad], shape (n,)."""
        found = [self._find(joint) for joint in self.description.joints]
        return np.deg2rad([board.position[index] for board, index in found])

    def modes(self) -> list[ControlMode]:
        """In which modes the joints of the walk are."""
        found = [self._find(joint) for joint in self.description.joints]
        return [board.modes[index] for board, index in found]

    def set_mode(self, joint: str, mode: ControlMode) -> None:
        """Put a joint into a mode."""
        board, index = self._find(joint)
        board.modes[index] = mode

    def set_limits(self, joint: str, lower: float, upper: float) -> None:
        """Limit a joint, [deg]."""
        board, index = self._find(joint)
        board.table.set(Feature.POSITION_LIMITS, (index,), [(lower, upper)])

    def refuse(self, joint: str) -> None:
        """Let a joint stay in its mode against every order."""
        self._find(joint)[0].refused.add(joint)

    def _find(self, joint: str) -> tuple[NamedBoard, int]:
        part = self.ports.board_of(joint)
        return self.boards[part], self.ports.boards[part].index(joint)


def ground_at(robot: FakeRobot, contact: str, reading: Sequence[float]) -> None:
    """Let the sensor that carries a ground wrench read this, [N, N·m]."""
    server, sensor = robot.ports.sensor_of(contact)
    robot.sensors[server.name].values[SensorClass.FORCE_TORQUE, sensor.name] = reading
