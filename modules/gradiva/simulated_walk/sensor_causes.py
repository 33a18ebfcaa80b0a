"""Infers from what a robot measured whether a sensor was wrong before it fell."""

from __future__ import annotations

import math

import numpy as np

from gradiva.common import GRAVITY, NDArray, Side
from gradiva.simulated_walk.fall_evidence import (
    AFTER,
    FEW,
    FLAT,
    LONGEST_PUSH,
    RECENT,
    Cause,
    CauseKind,
    FallEvidence,
    degrees,
    gap_of,
    lean_of,
    size_of,
    slope_of,
)
from gradiva.simulated_walk.measured_walk import MeasuredWalk
from gradiva.walking import SafetyKind

_DISAGREEMENT = math.tan(math.radians(3.0))  # [-] between two soles on one plane; encoders off by up to 0.5°: 2.4°
_UNBALANCED = 0.17  # [-] horizontal over vertical force at rest; gains and cross-talk of calibrated sensors: 0.13
_ZMP_OFF = 0.05  # [-] of the CoM's height: ZMP of a robot at rest from below its CoM; likewise: 0.035
_IN_THE_AIR = 0.08  # [-] of the weight that a swinging foot feels; its own inertia: 0.03
_TURNED = -2.8, -1.2  # [-] unexplained force over that of a foot which is turned round: -2
_TURNED_BEFORE = -0.6  # [-] the same before a push could begin: -1.3 of a foot that is turned, else above -0.1
_LACKING = 0.4  # [-] of the weight, without which a robot would fall by 2 cm in 0.1 s
_SILENT = 1e-3  # [-] of the weight, also of moments in [N·m]: less than any noise of a sensor that lives
_FEW_TICKS = 3
_JUMP_TICKS = 2
_JUMP = math.tan(math.radians(2.5))  # [-] in two ticks: faster than 2 rad/s, which no robot that stands turns
_ALIKE = 0.5  # [-] of their variance that is common
_SENSOR_KINDS = (
    SafetyKind.SENSOR_NOT_FINITE,
    SafetyKind.SENSOR_FROZEN,
    SafetyKind.ENCODER_JUMP,
    SafetyKind.STALE_MEASUREMENT,
)
_ZERO_SENSORS = "zero the force-torque sensors with the feet in the air; [[force_torque_sensors]] in robot.toml"


def reported_sensor(evidence: FallEvidence) -> Cause | None:
    """Return a sensor that the safety supervisor named before anything else went wrong."""
    for event in evidence.events:
        if event.kind in _SENSOR_KINDS and event.time <= evidence.onset:
            return Cause(
                CauseKind.SENSOR, event.text, "mend the sensor; [safety.sensors] says when one counts as wrong"
            )
    return None


def reversed_wrench(evidence: FallEvidence) -> Cause | None:
    """Return a foot that pulls at the ground, by its sensor."""
    standing = evidence.standing
    for side in Side:
        load = float(standing.foot_wrenches[side][:, 2].mean())
        if load < -0.02 * standing.weight:
            text = f"the {side} foot's wrench disagrees: {load:.0f} N while the robot stands on it"
            return Cause(CauseKind.SENSOR, text, "check its sign: the force is that of the ground on the foot")
    return None


def encoders(evidence: FallEvidence) -> Cause | None:
    """Return encoders by which two soles on one plane are not parallel."""
    standing = evidence.standing
    slopes = {side: standing.sole_slopes(side).mean(axis=0) for side in Side}
    difference = size_of(slopes[Side.LEFT] - slopes[Side.RIGHT])
    if difference < _DISAGREEMENT:
        return None
    side = Side.LEFT if size_of(slopes[Side.LEFT]) > size_of(slopes[Side.RIGHT]) else Side.RIGHT
    text = (
        f"the encoders disagree: both soles stand on the ground, and by the encoders they are {degrees(difference)}"
        f" from parallel, the {side} one farther from level"
    )
    return Cause(
        CauseKind.SENSOR, text, f"calibrate the encoders of the {side} leg, of the other one if that does not do"
    )


def tilted_imu(evidence: FallEvidence) -> Cause | None:
    """Return an IMU by which soles and body lean alike while the robot is in balance, which on a slope it is not.

    By an attitude that errs by δ the CoM seems to stand δ times its height beside the ZMP.
    """
    slope, gap = slope_of(evidence.standing), gap_of(evidence.rest)
    steepness = size_of(slope)
    if steepness < FLAT or float(slope @ gap) < 0.5 * steepness**2:
        return None
    text = (
        f"the IMU disagrees: by its attitude the soles stand {degrees(steepness)} from level, and the body leans as"
        " far, but it is in balance"
    )
    return Cause(CauseKind.SENSOR, text, "check how the IMU is mounted: imu_frame in robots/<name>/robot.toml")


def dead_wrench(evidence: FallEvidence) -> Cause | None:
    """Return a foot that reads nothing while the robot, by its motion, is carried: its sensor is dead.

    Feet carry :math:`m (g + \\ddot z)`; what lacks of that is what a dead sensor does not feel.
    """
    walk = evidence.walk.until(evidence.onset + AFTER)
    lacking = walk.robot.mass * (GRAVITY + walk.com_acceleration[:, 2]) - walk.force[:, 2]
    recent = (walk.times > evidence.onset - RECENT) & (lacking > _LACKING * walk.weight)
    for side in Side:
        silent = recent & (np.abs(walk.foot_wrenches[side]).max(axis=1, initial=0.0) < _SILENT * walk.weight)
        if np.count_nonzero(silent) >= _FEW_TICKS and np.any(walk.is_loaded(side)):
            text = f"the {side} foot's wrench disagrees: it reads 0 N at {walk.times[silent][0]:.2f} s while it carries"
            return Cause(CauseKind.SENSOR, text, "mend the sensor: it gives no signal")
    return None


def jumped_imu(evidence: FallEvidence) -> Cause | None:
    """Return an IMU by which both soles, and so the whole robot, turn at once by more than a body can."""
    walk = evidence.walk.until(evidence.onset + AFTER)
    if len(walk) <= _JUMP_TICKS:
        return None
    left, right = (walk.sole_slopes(side) for side in Side)
    changes = [slopes[_JUMP_TICKS:] - slopes[:-_JUMP_TICKS] for slopes in (left, right)]
    common, apart = 0.5 * (changes[0] + changes[1]), changes[0] - changes[1]
    size = np.linalg.norm(common, axis=1)
    jumps = np.flatnonzero((size > _JUMP) & (np.linalg.norm(apart, axis=1) < _ALIKE * size))
    if not len(jumps):
        return None
    text = f"the IMU disagrees: by its attitude the whole robot turned at once at {walk.times[jumps[0]]:.2f} s"
    return Cause(CauseKind.SENSOR, text, "check how the IMU is mounted, and what it reads while nothing moves")


def wrench_at_rest(evidence: FallEvidence) -> Cause | None:
    """Return wrenches by which a robot at rest would not be."""
    rest = evidence.rest
    sideways = size_of(lean_of(rest))
    if sideways > _UNBALANCED:
        text = f"a foot's wrench disagrees: at rest, {100 * sideways:.0f} % of the load pushes the robot aside"
        return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    gap = size_of(gap_of(rest))
    if gap > _ZMP_OFF:
        distance = 100 * gap * rest.robot.com_height
        text = f"a foot's wrench disagrees: at rest, the ZMP is {distance:.0f} cm from below the centre of mass"
        return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    return None


def wrench_in_the_air(evidence: FallEvidence) -> Cause | None:
    """Return a foot that feels a force while it swings."""
    before = evidence.before
    for side in Side:
        swings = before.carries[side.other]
        if np.count_nonzero(swings) < FEW:
            continue
        force = size_of(np.median(before.foot_wrenches[side][swings, :3], axis=0))
        if force > _IN_THE_AIR * before.weight:
            text = f"the {side} foot's wrench disagrees: {force:.0f} N while the foot swings"
            return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    return None


def turned_wrench(evidence: FallEvidence) -> Cause | None:
    """Return a foot without whose horizontal force, turned round, the robot's acceleration is not explained.

    A foot that withstands a push is alike, but not before the push.
    """
    walk, earlier = (evidence.walk.until(evidence.onset + time) for time in (AFTER, -LONGEST_PUSH))
    for side in Side:
        gain, alike = _contrariness(walk, side)
        if not (_TURNED[0] < gain < _TURNED[1] and alike > _ALIKE):
            continue
        if np.count_nonzero(earlier.is_loaded(side)) < FEW or _contrariness(earlier, side)[0] < _TURNED_BEFORE:
            text = f"the {side} foot's wrench disagrees: its horizontal force is contrary to how the robot accelerates"
            return Cause(CauseKind.SENSOR, text, "check its axes: [[force_torque_sensors]] in robots/<name>/robot.toml")
    return None


def _contrariness(walk: MeasuredWalk, side: Side) -> tuple[float, float]:
    """Return the unexplained force over that of a loaded foot, and the fraction of their variance in common, [-]."""
    loaded = walk.is_loaded(side)
    missing, felt = walk.unexplained_force[loaded], walk.foot_wrenches[side][loaded, :2]
    gain = _ratio(missing, felt)
    return gain, gain * _ratio(felt, missing)


def _ratio(of: NDArray, over: NDArray) -> float:
    """Return the factor that turns one series into the other in the sense of least squares."""
    return float(np.vdot(of, over)) / max(float(np.vdot(over, over)), 1e-9)
