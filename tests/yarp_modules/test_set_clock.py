"""Wall clocks that are set during a walk: of this computer, of the robot's, of both."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gradiva.common import ControlMode, JointCommand
from gradiva.middleware import yarp
from gradiva.robot_model import Environment
from gradiva.session import tick_timing
from gradiva.walking import WalkingState
from gradiva.yarp_modules.module_options import ModuleOptions
from gradiva.yarp_modules.network_clock import control_time
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot
from gradiva.yarp_modules.robot.joint_boards import JointSample
from gradiva.yarp_modules.walking_module import WalkingModule
from tests.session.walking_double import OK, WalkingDouble

pytestmark = pytest.mark.walk

WALL = 1_700_000_000.0  # [s] wall clocks at the start
PERIOD = 0.01  # [s]
OURS, THEIRS = ("ours",), ("theirs",)
STEPS = (  # [s] when, by how much, whose
    (1.5, 0.5, OURS),
    (2.0, -0.5, OURS),
    (2.5, 0.5, THEIRS),
    (3.0, -0.5, THEIRS),
    (3.5, -0.5, OURS + THEIRS),
    (4.0, 0.5, OURS + THEIRS),
)


class Clocks:
    """A monotonic clock and two wall clocks, moved by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steady = 0.0
        self.set_by = {"ours": 0.0, "theirs": 0.0}
        monkeypatch.setattr(
            tick_timing,
            "time",
            SimpleNamespace(monotonic=lambda: self.steady, sleep=time.sleep, perf_counter=time.perf_counter),
        )
        monkeypatch.setattr(yarp, "now", lambda: self.wall("ours", self.steady))

    def wall(self, whose: str, steady: float) -> float:
        return WALL + steady + self.set_by[whose]


class SimulatedPorts:
    """The parts of `YarpRobot` that reach boards and sensors, with the simulated robot in their place."""

    def __init__(self, robot: YarpRobot, double: WalkingDouble, clocks: Clocks) -> None:
        self.joints = robot._joints.joints
        self._robot, self._clocks = double.robot, clocks
        self.commands: list[JointCommand] = []
        robot._joints = SimpleNamespace(joints=self.joints, read=self._read, stream=self._stream)
        robot._wrenches = SimpleNamespace(read=self._read_wrenches)
        robot._imu = SimpleNamespace(read=self._read_imu)
        robot._modes = SimpleNamespace(
            engage=lambda mode, now: None, admitted=lambda command: command, check=lambda now: None, rearm=lambda: None
        )
        self._sources = robot._clocks

    def _read(self) -> JointSample:
        self._sample = sample = self._robot.read()
        stamp, now = self._clocks.wall("theirs", sample.time), control_time()
        for source in self._sources:
            source.update(stamp, now)
        oldest = min(source.time for source in self._sources)
        return JointSample(oldest, sample.joint_positions, sample.joint_velocities, sample.joint_torques)

    def _read_wrenches(self, clocks):
        return self._sample.contact_wrenches.copy()

    def _read_imu(self, clock):
        return replace(self._sample.imu, time=clock.time)

    def _stream(self, command: JointCommand) -> None:
        self.commands.append(command)
        self._robot.write(command)


def walk(monkeypatch: pytest.MonkeyPatch, steps=()) -> tuple[WalkingDouble, list[JointCommand], list[float]]:
    """Walk for 5 s of a walking module's ticks; return robot, commands, and when a source was late [s]."""
    clocks = Clocks(monkeypatch)
    monkeypatch.setattr(tick_timing, "EPOCH", WALL)
    double = WalkingDouble()
    module = WalkingModule(ModuleOptions(robot="icub_v2_7", environment=Environment.HARDWARE))
    robot = YarpRobot(double.setup.robot, Environment.HARDWARE, double.setup.part(RobotIoConfig, "robot_io"), "/walk")
    ports = SimulatedPorts(robot, double, clocks)
    module._session, module._robot = double.session_with(robot), robot
    late, steps = [], list(steps)

    def run(duration: float) -> None:
        end = double.robot.time + duration - 1e-9
        while double.robot.time < end:
            clocks.steady = double.robot.time
            while steps and steps[0][0] <= clocks.steady:
                _, by, whose = steps.pop(0)
                for one in whose:
                    clocks.set_by[one] += by
            assert module.tick()
            late.extend([clocks.steady] if robot.late else [])
            double.robot.advance(PERIOD)

    run(0.02)
    assert double.ask("prepareRobot", "onTheFly") == OK
    run(0.3)
    assert double.ask("startWalking") == OK
    assert double.ask("setGoal", "velocity", 0.15) == OK
    run(4.7)
    assert double.controller.state is WalkingState.WALKING, double.controller.reason
    return double, ports.commands, late


def largest_change(commands: list[JointCommand]) -> float:
    assert {command.mode for command in commands} == {ControlMode.POSITION}
    return float(np.abs(np.diff([command.values for command in commands], axis=0)).max())


def test_wall_clocks_that_are_set_by_half_a_second_do_not_show_in_the_set_points(monkeypatch):
    _, undisturbed, _ = walk(monkeypatch)
    double, commands, late = walk(monkeypatch, STEPS)
    assert largest_change(commands) <= 1.01 * largest_change(undisturbed)
    np.testing.assert_allclose(commands[-1].values, undisturbed[-1].values, atol=1e-3)
    assert late == []
    assert double.robot.fall is None
    assert double.controller.safety_events == ()
