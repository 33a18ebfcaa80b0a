"""Checks boards (axes, modes, limits, gains, way to the start posture), and sensors of a robot that stands still."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradiva.common import (
    GRAVITY,
    ConfigError,
    Measurement,
    NDArray,
    RobotInterfaceError,
    Side,
    configuration,
    setting,
    so3,
)
from gradiva.common.errors import FAIL, OK, WARN, Finding, summed_up
from gradiva.middleware import yarp
from gradiva.robot_model import Environment, IdynTreeModel, RobotPorts, fixed_rotation
from gradiva.yarp_modules.robot.joint_boards import (
    Limits,
    PidGains,
    check_start_posture,
    differences,
    gain_differences,
    required,
)
from gradiva.yarp_modules.robot.joint_modes import mode_name
from gradiva.yarp_modules.robot.yarp_robot import YarpRobot

_TIMEOUT = 1.0  # [s] for the first state to come
_LOOK = 0.01  # [s]
_UNFIT = {
    yarp.VOCAB_CM_HW_FAULT: "release the emergency button, clear the fault of the board, then switch the motor on",
    yarp.VOCAB_CM_IDLE: "switch the motor on (yarpmotorgui, or a button of the robot)",
    yarp.VOCAB_CM_NOT_CONFIGURED: "wait until the robot has started; if it stays so, see its log",
    yarp.VOCAB_CM_CONFIGURED: "calibrate the robot",
    yarp.VOCAB_CM_CALIBRATING: "wait until the calibration has ended",
    yarp.VOCAB_CM_CALIB_DONE: "wait until the calibration has ended",
}
_AT_REST = (yarp.VOCAB_CM_POSITION,)
_PERIOD = 0.01  # [s] between two samples
_STILL = 0.1  # [rad/s]
_MANY = 0.5  # [-] of the samples: a busy computer misses fewer, which the rates show
_ZEROING = "zero the force-torque sensors while the robot hangs; is it pushed or held?"


_WEIGHT_TOLERANCE = 0.15  # [-]
"""Of the weight: feet that carry more or less are badly zeroed, or a person holds the robot."""
_HANGING_WEIGHT = 0.05  # [-] of the weight: below it the robot hangs
_MAX_TILT = 0.2  # [rad] of the soles of a standing robot, of the base of a hanging one, by the IMU
_LOCKED_TOLERANCE = 3.0  # [deg] of joints that the model holds at zero (neck, wrists)
_LIMIT_TOLERANCE = 2.0  # [deg] by which limits of robot and model may differ without a warning
_NEAR_POSTURE = 30.0  # [deg] of a joint from the start posture; farther, the operator checks that the way is free
_PID_TOLERANCE = 0.01  # [-] by which gains may differ from those expected, or left from right


@configuration
class BringUpConfig:
    """Configures expected rates, tolerances and gains: table ``[bring_up]``.

    Attributes:
        rate_duration: Over which messages are counted, [s].
        min_rate: Fraction of the expected rate, [-].
        max_gap: Longest time between two messages, in periods.
        sensor_rate: Expected of boards and sensors, [Hz].
        expected_pids: Gains of the position loops by joint, in the units of the boards; those left out may be any.
    """

    rate_duration: float = setting("s", above=0.0)
    min_rate: float = setting("-", above=0.0)
    max_gap: float = setting("-", above=0.0)
    sensor_rate: float = setting("Hz", above=0.0)
    expected_pids: dict[str, PidGains] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class BoardProbe:
    """Holds the axes of a board and where they are.

    Attributes:
        axes: Names of its joints, in its order.
        positions: [rad], shape (axes,); NaN where it sends none.
    """

    axes: tuple[str, ...]
    positions: NDArray


def probe_board(remote: str, local: str, carrier: str) -> BoardProbe:
    """Ask a board for its axes.

    Raises:
        RobotInterfaceError: It is not there.
    """
    driver, config = yarp.PolyDriver(), yarp.Property()
    config.fromString(f"(device remote_controlboard) (remote {remote}) (local {local}{remote}) (carrier {carrier})")
    if not driver.open(config):
        raise RobotInterfaceError(f"the board {remote} does not answer")
    try:
        encoders, info = required(driver.viewIEncoders(), "encoders"), required(driver.viewIAxisInfo(), "axis names")
        count = encoders.getAxes()
        axes = tuple(str(info.getAxisName(axis)) for axis in range(count))
        positions = yarp.DVector(count)
        is_read = _is_read(encoders, positions)
        return BoardProbe(axes, np.deg2rad(list(positions)) if is_read else np.full(count, np.nan))
    finally:
        driver.close()


def _is_read(encoders: yarp.IEncoders, positions: yarp.DVector) -> bool:
    deadline = time.monotonic() + _TIMEOUT
    while not encoders.getEncoders(positions):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK)
    return True


def check_axes(ports: RobotPorts, environment: Environment, joints: Sequence[str], config: BringUpConfig,
               local: str, carrier: str) -> list[Finding]:  # fmt: skip
    """Compare the joints of every board, and check that those that the model locks are near zero."""
    findings = []
    for part, described in ports.boards.items():
        remote = ports.full_name(environment, part)
        try:
            probe = probe_board(remote, local, carrier)
        except RobotInterfaceError as error:
            is_needed = any(joint in joints for joint in described)
            findings.append(Finding(FAIL if is_needed else WARN, str(error), "see the log of its process"))
            continue
        findings.append(_compared(remote, probe, described))
        findings += _locked(probe, joints, _LOCKED_TOLERANCE)
    return findings


def check_modes(joints: Sequence[str], modes: Sequence[int] | None) -> list[Finding]:
    """Look for joints that cannot be commanded, or are commanded by another client."""
    if modes is None:
        return [Finding(FAIL, "control modes: a board reports none", "see the log of its process")]
    findings = [
        Finding(FAIL, f"{joint} is in mode {mode_name(mode)}", _UNFIT[mode])
        for joint, mode in zip(joints, modes, strict=True)
        if mode in _UNFIT
    ]
    taken = [
        f"{joint}: {mode_name(mode)}"
        for joint, mode in zip(joints, modes, strict=True)
        if mode not in _UNFIT and mode not in _AT_REST
    ]
    if taken:
        remedy = "another program may command them: stop it, or put them into position mode"
        findings.append(Finding(WARN, f"joints that are not in position mode: {', '.join(taken)}", remedy))
    return findings or [Finding(OK, f"all {len(joints)} joints are in position mode, without faults")]


def check_limits(robot: YarpRobot, joints: Sequence[str], posture: NDArray, config: BringUpConfig) -> list[Finding]:
    """Compare the limits of boards and model, and look whether the start posture lies within both."""
    limits = robot.limits()
    findings = []
    try:
        check_start_posture(limits, joints, posture)
    except ConfigError as error:
        findings.append(Finding(FAIL, str(error), "another posture (robot.toml), or the limits of the boards"))
    tolerance = math.radians(_LIMIT_TOLERANCE)
    narrower = differences(_within(limits, joints, *robot.model_limits), joints, *robot.model_limits, tolerance)
    wider = len(differences(limits, joints, *robot.model_limits, tolerance)) - len(narrower)
    remedy = "the narrower ones hold: is this the right robot, are the boards calibrated?"
    text = f"joint limits: {wider} of {len(joints)} joints have wider ones on the robot, the model's hold"
    return [*findings, *summed_up(text if wider else "joint limits", narrower, WARN, remedy)]


def check_gains(robot: YarpRobot, config: BringUpConfig) -> list[Finding]:
    """Check the gains of the position loops."""
    pids = robot.pids()
    kps = [gains.kp for gains in pids.values()]
    text = f"gains of the position loops: kp {min(kps):g} to {max(kps):g}, in units of the boards"
    lines = gain_differences(pids, config.expected_pids, _PID_TOLERANCE)
    return summed_up(
        text, lines, WARN, "expected ones: [bring_up.expected_pids]; the boards' own: the robot's configuration"
    )


def check_distance(
    joints: Sequence[str], positions: NDArray, posture: NDArray, prepare_speed: float, config: BringUpConfig
) -> list[Finding]:
    """Report how far the joints have to move when the robot is prepared."""
    off = np.abs(positions - posture)
    farthest = int(np.argmax(off))
    degrees, duration = math.degrees(off[farthest]), 1.875 * off[farthest] / prepare_speed  # minimum jerk
    text = f"start posture: {joints[farthest]} is {degrees:.1f}° away, prepareRobot needs {duration:.1f} s"
    if degrees > _NEAR_POSTURE:
        return [Finding(WARN, text, "look whether the way is free and the gantry holds the robot")]
    return [Finding(OK, text)]


def _compared(remote: str, probe: BoardProbe, described: Sequence[str]) -> Finding:
    if probe.axes == tuple(described):
        return Finding(OK, f"{remote}: {len(described)} joints as described")
    text = f"{remote} has {' '.join(probe.axes)}; described: {' '.join(described)}"
    if set(described) <= set(probe.axes):
        return Finding(
            WARN, text, "joints are found by name, all the same: bring [ports.boards] of robot.toml up to date"
        )
    return Finding(FAIL, text, "[ports.boards] of robot.toml is of another robot")


def _locked(probe: BoardProbe, joints: Sequence[str], tolerance: float) -> list[Finding]:
    remedy = "the model has them at zero: move them there, above all a neck that carries the IMU"
    return [
        Finding(WARN, f"{axis} is at {math.degrees(position):.1f}°, and walking does not move it", remedy)
        for axis, position in zip(probe.axes, probe.positions, strict=True)
        if axis not in joints and not abs(math.degrees(position)) <= tolerance
    ]


def _within(limits: Limits, joints: Sequence[str], lower: NDArray, upper: NDArray) -> Limits:
    """Return the limits of the boards cut to those of the model."""
    return {
        joint: (max(limits[joint][0], float(low)), min(limits[joint][1], float(high)))
        for joint, low, high in zip(joints, lower, upper, strict=True)
        if joint in limits
    }


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
        if not self._robot.real_force_torque_sensors:
            return [Finding(OK, "no force sensors in the feet: their wrenches are estimated from joint torques")]
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
        if all(abs(force) <= _HANGING_WEIGHT * weight for force in loads.values()):
            return Finding(OK, f"feet: {feet}: the robot hangs")
        if abs(load - weight) <= _WEIGHT_TOLERANCE * weight:
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
        if min(tilts.values()) > _MAX_TILT:
            remedy = "a leaning robot, IMU mounted or configured otherwise (walking_imu, imu_frame), or a turned neck"
            findings = [Finding(FAIL, text, remedy)]
        if rate > _STILL:
            findings.append(
                Finding(WARN, f"the gyroscope measures {rate:.2f} rad/s of a robot that should be still", "wait")
            )
        return findings

    def _tilts(self, sample: Measurement, imu_rotation: NDArray) -> dict[str, float]:
        """Return the angle between the vertical and the z axis of the base and the soles, [rad]."""
        robot = self._robot
        frames = (robot.base_link, robot.left_foot_frame, robot.right_foot_frame)
        poses = self._model.poses_seen_from(robot.imu_frame, frames, sample.joint_positions)
        return {frame: so3.tilt(imu_rotation @ turn) for frame, (_, turn) in zip(frames, poses, strict=True)}

    def _temperatures(self, sample: Measurement) -> list[Finding]:
        temperatures = sample.motor_temperatures
        if temperatures is None:
            return [Finding(OK, "motor temperatures are not published")]
        hottest = int(np.nanargmax(temperatures))
        return [Finding(OK, f"hottest motor: {self._robot.joints[hottest]}, {temperatures[hottest]:.0f} °C")]
