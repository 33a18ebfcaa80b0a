"""Checks sensor readings of a robot that stands or hangs still."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import idyntree.bindings as idyn
import numpy as np

from gradiva.common import GRAVITY, Measurement, NDArray, Side, so3
from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.robot_model import Environment, IdynTreeModel, as_pose, fixed_rotation
from gradiva.yarp_modules.bring_up.board_checks import BringUpConfig
from gradiva.yarp_modules.robot.yarp_robot import YarpRobot

_PERIOD = 0.01  # [s]
_STILL = 0.1  # [rad/s]
_MANY = 0.5  # [-] of the samples: a busy computer misses fewer, which the rates show
_ZEROING = "zero the force-torque sensors while the robot hangs; is it pushed or held?"


def sampled(robot: YarpRobot, duration: float) -> tuple[list[Measurement], tuple[str, ...]]:
    """Read for ``duration`` [s]; return the samples, and the sources that were late in many of them.

    Raises:
        RobotInterfaceError: A source has never sent a sample.
    """
    samples: list[Measurement] = []
    late: list[str] = []
    for _ in range(max(1, round(duration / _PERIOD))):
        samples.append(robot.read())
        late += robot.late
        time.sleep(_PERIOD)
    return samples, tuple(name for name in dict.fromkeys(late) if late.count(name) > _MANY * len(samples))


def check_freshness(late: Sequence[str]) -> list[Finding]:
    """Report the sources that are late."""
    remedy = "a busy computer, a full network, or clocks of two computers that drift apart"
    return [Finding(FAIL, f"{name} is late", remedy) for name in late] or [Finding(OK, "all samples are fresh")]


class SensorChecks:
    """Checks a second of samples of a robot that does not move."""

    def __init__(self, model: IdynTreeModel, environment: Environment, config: BringUpConfig) -> None:
        self._model = model
        self._robot = model.description
        self._environment = environment
        self._config = config

    def findings(self, samples: Sequence[Measurement]) -> list[Finding]:
        """Return the findings of all sensors."""
        return [*self._encoders(samples), *self._feet(samples), *self._imu(samples), *self._temperatures(samples[-1])]

    def _encoders(self, samples: Sequence[Measurement]) -> list[Finding]:
        positions = np.array([sample.joint_positions for sample in samples])
        is_wrong = np.isnan(positions).any(axis=0)
        wrong = [joint for joint, is_so in zip(self._robot.joints, is_wrong, strict=True) if is_so]
        if wrong:
            return [Finding(FAIL, f"encoders that say nothing finite: {', '.join(wrong)}", "see the log of the boards")]
        moved = np.ptp(positions, axis=0)
        joint = int(np.argmax(moved))
        measures = (
            "torques are measured" if np.isfinite(samples[-1].joint_torques).any() else "torques are not measured"
        )
        text = f"encoders: {self._robot.joints[joint]} moved most, by {math.degrees(moved[joint]):.2f}°; {measures}"
        return [Finding(OK, text)]

    def _feet(self, samples: Sequence[Measurement]) -> list[Finding]:
        wrenches = np.array([sample.contact_wrenches for sample in samples])
        findings = []
        for row, sensor in enumerate(self._robot.force_torque_sensors):
            readings = wrenches[:, row]
            if np.isnan(readings).any(axis=1).mean() > _MANY:
                findings.append(Finding(FAIL, f"{sensor.name} says nothing finite", "see the log of its server"))
            elif self._environment is Environment.HARDWARE and not np.ptp(readings, axis=0).any():
                findings.append(Finding(FAIL, f"{sensor.name} repeats the same reading", "a living sensor is noisy"))
        return findings or [self._load(np.nanmean(wrenches, axis=0))]

    def _load(self, wrenches: NDArray) -> Finding:
        loads = {side: sum(self._upward(row, wrenches) for row in self._robot.sensors_of(side)) for side in Side}
        weight, load = self._robot.mass * GRAVITY, sum(loads.values())
        feet = ", ".join(f"{side} {force:.0f} N" for side, force in loads.items())
        if all(abs(force) <= self._config.hanging_weight * weight for force in loads.values()):
            return Finding(OK, f"feet: {feet}: the robot hangs")
        if abs(load - weight) <= self._config.weight_tolerance * weight:
            return Finding(OK, f"feet: {feet}: the robot stands, weight {weight:.0f} N")
        return Finding(WARN, f"feet: {feet}, together {load:.0f} N of the weight of {weight:.0f} N", _ZEROING)

    def _upward(self, row: int, wrenches: NDArray) -> float:
        sensor = self._robot.force_torque_sensors[row]
        turn = fixed_rotation(self._model, self._robot.foot_frame(sensor.foot), sensor.frame)
        return float((turn @ wrenches[row, :3])[2])

    def _imu(self, samples: Sequence[Measurement]) -> list[Finding]:
        readings = [(sample, sample.imu) for sample in samples if sample.imu and np.isfinite(sample.imu.rotation).all()]
        if len(readings) < (1.0 - _MANY) * len(samples):
            return [Finding(FAIL, "the IMU says nothing finite", "see the log of its server")]
        last, imu = readings[-1]
        tilts = self._tilts(last, imu.rotation)
        rate = float(np.linalg.norm(imu.angular_velocity))
        text = "tilt by IMU and encoders: "
        text += ", ".join(f"{frame} {math.degrees(tilt):.1f}°" for frame, tilt in tilts.items())
        findings = [Finding(OK, text)]
        if min(tilts.values()) > self._config.max_tilt:
            remedy = "a leaning robot, IMU mounted or configured otherwise (walking_imu, imu_frame), or a turned neck"
            findings = [Finding(FAIL, text, remedy)]
        if rate > _STILL:
            findings.append(
                Finding(WARN, f"the gyroscope measures {rate:.2f} rad/s of a robot that should be still", "wait")
            )
        return findings

    def _tilts(self, sample: Measurement, imu_rotation: NDArray) -> dict[str, float]:
        """Return the angle between the vertical and the z axis of the base and the soles, [rad]."""
        computations = self._model.kinematics_and_dynamics()
        rest = np.zeros(len(sample.joint_positions))
        gravity = np.array([0.0, 0.0, -GRAVITY])
        computations.setRobotState(idyn.Transform.Identity(), sample.joint_positions, idyn.Twist.Zero(), rest, gravity)
        robot = self._robot
        frames = (robot.base_link, robot.left_foot_frame, robot.right_foot_frame)
        turns = {frame: as_pose(computations.getRelativeTransform(robot.imu_frame, frame))[1] for frame in frames}
        return {frame: so3.tilt(imu_rotation @ turn) for frame, turn in turns.items()}

    def _temperatures(self, sample: Measurement) -> list[Finding]:
        temperatures = sample.motor_temperatures
        if temperatures is None:
            return [Finding(OK, "motor temperatures are not published")]
        hottest = int(np.nanargmax(temperatures))
        return [Finding(OK, f"hottest motor: {self._robot.joints[hottest]}, {temperatures[hottest]:.0f} °C")]
