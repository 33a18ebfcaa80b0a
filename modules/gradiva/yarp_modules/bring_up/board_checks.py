"""Checks boards: names of their axes, control modes, limits, gains, and the way to the start posture."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from gradiva.common import ConfigError, NDArray, RobotInterfaceError
from gradiva.common.errors import FAIL, OK, WARN, Finding, summed_up
from gradiva.middleware import yarp
from gradiva.robot_model import Environment, RobotPorts
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


@dataclass(frozen=True, slots=True)
class BringUpConfig:
    """Configures expected rates, tolerances and gains: table ``[bring_up]``.

    Attributes:
        rate_duration: Over which messages are counted, [s].
        min_rate: Fraction of the expected rate, [-].
        max_gap: Longest time between two messages, in periods.
        sensor_rate: Expected of boards and sensors, [Hz].
        weight_tolerance: By which the load of the feet may differ from the weight, [-] of it.
        hanging_weight: Below it the robot hangs, [-] of the weight.
        max_tilt: Of the soles of a standing robot, of the base of a hanging one, by the IMU, [rad].
        locked_tolerance: Of joints that the model holds at zero, [deg].
        limit_tolerance: By which limits of robot and model may differ, [deg].
        near_posture: A joint farther from the start posture has a long way, [deg].
        pid_tolerance: By which gains may differ, [-].
        expected_pids: Gains of the position loops by joint, in the units of the boards; those left out may be any.
    """

    rate_duration: float
    min_rate: float
    max_gap: float
    sensor_rate: float
    weight_tolerance: float
    hanging_weight: float
    max_tilt: float
    locked_tolerance: float
    limit_tolerance: float
    near_posture: float
    pid_tolerance: float
    expected_pids: dict[str, PidGains] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self) if one.name != "expected_pids"):
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive")


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
        findings += _locked(probe, joints, config.locked_tolerance)
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
    tolerance = math.radians(config.limit_tolerance)
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
    lines = gain_differences(pids, config.expected_pids, config.pid_tolerance)
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
    if degrees > config.near_posture:
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
