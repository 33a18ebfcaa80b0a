"""Infers why a robot fell from what it measured, cause by cause.

Nothing here knows what was done to a simulated robot, nor the simulator's truth. Beside the measurements, the model
(mass, soles), the command and the plan, only the top speed of ``robots/<name>/robot.toml`` is taken from the
configuration. The advice alone looks at more of it, so as not to repeat what is set.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, NDArray, Side, so3
from gradiva.push_recovery import SteppingMode
from gradiva.simulated_walk.fall_evidence import (
    AFTER,
    FEW,
    FIRST_STAND,
    FLAT,
    LONGEST_PUSH,
    RECENT,
    Cause,
    CauseKind,
    FallEvidence,
    degrees,
    direction,
    leg_joints,
    needed_friction,
    overloaded_joints,
    size_of,
    slope_of,
)
from gradiva.simulated_walk.measured_walk import MeasuredWalk
from gradiva.simulated_walk.sensor_causes import (
    dead_wrench,
    encoders,
    jumped_imu,
    reported_sensor,
    reversed_wrench,
    tilted_imu,
    turned_wrench,
    wrench_at_rest,
    wrench_in_the_air,
)
from gradiva.telemetry import SignalLog, adapted_steps

_MASS = 0.2  # [-] of the weight that the feet carry too much or too little; noisy sensors and covers: 0.04
_EDGE = 0.008  # [m] with the pressure nearer to the edge of a sole, it may tip
_FLAT_BEFORE = 0.4  # [-] of the next: soles on a hard, level floor
_ROLLED = math.tan(math.radians(2.5))  # [-] of a loaded sole; on rigid ground 0.2°, by an IMU of 0.5° RMS 2.0°
_GRIP = 0.75  # [-] of the horizontal force that the plan needs; 0.2 to 0.5 where feet slide, above 0.9 where not
_LEAST_GRIP = 0.05  # [-] of the weight: plans that need less tell nothing of the floor
_AT_LIMIT = 0.97  # [-] of a joint's velocity limit
_FAST = 0.8  # [-] of the speed that is known to be walked: joints at their limits are too slow for it
_FAST_FOR_LATE_JOINTS = 0.6  # [-] the same where such joints gave way as well; pushed walks of 0.1 to 0.3 m/s: below
_SPEED_WINDOW = 1.2  # [s] two steps
_MOVED = 2.5  # [s] from the beginning of a swing that step adaptation changes until the plan is as fast as before
_PUSHED = 0.12  # [-] of the weight: unexplained force of a push; noisy sensors make 0.1
_LOUDER = 1.3  # [-] than the largest unexplained force before
_SUSTAINED = 0.2  # [s] over which the force of a long push is averaged
_LEANED_ON = 0.05  # [-] of the weight: average of a long push; 0.08 of 40 N on iCub v3, walks before they fall: 0.02
_STEADY = 0.7  # [-] of this average, below which the force never falls; that of a foot that tips grows
_LOUDER_ON_AVERAGE = 2.0  # [-] than the largest average before
_DCM_GAIN = "dcm_controller.proportional_gain"
_GOOD_DCM_GAIN = 2.0  # [-] of the instantaneous law, against pushes
_JUST_BEFORE = 1.2  # [s] before the first sign, where a push is looked for first: an early step that lands hard is none
_FADED = 0.5  # [-] of its largest force, below which a push is over: a foot that lands or tips after it adds its own


def find_cause(evidence: FallEvidence) -> Cause | None:
    """Return the cause that the measurements name; None where they name none.

    What is seen while the robot stands comes first, as it spoils all that follows; a push comes last, because a foot
    that slides or sinks looks like one.
    """
    found = (infer(evidence) for kind, infer in _INFERENCES if kind not in evidence.impossible)
    return next((cause for cause in found if cause is not None), None)


def cause_not_found(evidence: FallEvidence) -> Cause:
    """Return what to try next where `find_cause` names none; joints that gave way are named as a hint."""
    joints = ", ".join(overloaded_joints(evidence))
    hint = f"; {joints} gave way before the first sign" if joints else ""
    trials: dict[str, dict[str, Any]] = {"a lower --speed": {}}
    if not evidence.plant_is_ideal:
        trials["--plant ideal, which tells whether the plant matters"] = {}
    looked_for = dict.fromkeys(kind for kind, _ in _INFERENCES if kind not in evidence.impossible)
    text = f"not found among {', '.join(looked_for)}{hint}"
    return Cause(None, text, "gradiva view RUN shows the fall slowly", is_tried=True, trials=trials)


def _slope(evidence: FallEvidence) -> Cause | None:
    """Return a ground on which both soles stand aslant; an IMU that is tilted was looked for before."""
    slope = slope_of(evidence.standing)
    if size_of(slope) < FLAT:
        return None
    text = f"the ground slopes by {degrees(size_of(slope))}, it rises {direction(slope)}"
    return Cause(
        CauseKind.SLOPE, text, "walk where it is flatter; gradiva walk --slope says how steep this robot walks"
    )


def _mass(evidence: FallEvidence) -> Cause | None:
    """Return a weight that the model does not have."""
    before = evidence.before
    carried = float(np.median(before.force[:, 2])) / GRAVITY
    if abs(carried / before.robot.mass - 1.0) < _MASS:
        return None
    more = "more" if carried > before.robot.mass else "less"
    text = (
        f"the robot weighs {more} than its model: the feet carry {carried:.0f} kg, the model {before.robot.mass:.0f} kg"
    )
    return Cause(CauseKind.MASS, text, "add what the robot carries to its URDF and to mass in robots/<name>/robot.toml")


def _bump(evidence: FallEvidence) -> Cause | None:
    """Return something below a sole that rolls, where no sole had rolled in the steps before."""
    before, walk = evidence.walk.until(evidence.onset - RECENT), evidence.walk.until(evidence.onset + AFTER)
    if len(before) <= FEW or not any(np.count_nonzero(before.carries[side]) > FEW for side in Side):
        return None
    rolled = {side: _rolled(walk, side, evidence.onset - RECENT) for side in Side}
    side = max(Side, key=rolled.__getitem__)
    if rolled[side] < _ROLLED or max(_rolled(before, each) for each in Side) > _FLAT_BEFORE * _ROLLED:
        return None
    text = f"a bump: the {side} sole, flat in the steps before, rolled by {degrees(rolled[side])} where it trod"
    return Cause(CauseKind.BUMP, text, "clear the floor; a higher planner.swing_height steps over what is low")


def _soft_ground(evidence: FallEvidence) -> Cause | None:
    """Return a ground on which soles roll though the pressure is well inside of them."""
    walk = evidence.walk.until(evidence.onset + AFTER)
    rolled = {side: _rolled(walk, side) for side in Side}
    side = Side.LEFT if rolled[Side.LEFT] > rolled[Side.RIGHT] else Side.RIGHT
    if rolled[side] < _ROLLED:
        return None
    text = (
        f"the ground is too soft: the {side} sole rolled by {degrees(rolled[side])} with the pressure well inside its"
        " edges"
    )
    return Cause(CauseKind.SOFT_GROUND, text, _soft_ground_advice(evidence))


def _soft_ground_advice(evidence: FallEvidence) -> str:
    if not evidence.models_soft_ground:
        return 'walk with --control torque and torque_control.ground="compliant"; a larger sole rolls less'
    return "walk on stiffer ground, or slower; a larger sole rolls less"


def _rolled(walk: MeasuredWalk, side: Side, since: float = -math.inf) -> float:
    """Return how far, as a slope [-], a sole rolled from a time [s] on that did not tip about an edge."""
    slopes, sole = _slopes_since_first(walk, side), walk.robot.sole
    inside = np.abs(walk.pressure_off_middle(side)) < np.array([0.5 * sole.length, 0.5 * sole.width]) - _EDGE
    flat = walk.is_loaded(side) & inside.all(axis=1) & (walk.times >= since)
    if np.count_nonzero(flat) < FEW:
        return 0.0
    return float(np.percentile(slopes[flat], 95))


def _slopes_since_first(walk: MeasuredWalk, side: Side) -> NDArray:
    """Return how far a sole is rolled from where it stood at first, as a slope [-], shape (T,)."""
    slopes = walk.sole_slopes(side)
    at_first = slopes[walk.times <= walk.times[0] + FIRST_STAND].mean(axis=0)
    rolled: NDArray = np.linalg.norm(slopes - at_first, axis=1)
    return rolled


def _tipped_at(walk: MeasuredWalk, side: Side) -> float:
    """Return when a loaded sole first rolled for some rows, [s]; infinite where it did not."""
    rolled = walk.is_loaded(side) & (_slopes_since_first(walk, side) > _ROLLED)
    if len(rolled) < FEW:
        return math.inf
    lasting = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(rolled, FEW).all(axis=1))
    return float(walk.times[lasting[0]]) if len(lasting) else math.inf


def _slip(evidence: FallEvidence) -> Cause | None:
    """Return a floor that gives less horizontal force than the plan needs.

    Constant errors of the sensors and the tilt of the IMU are taken off by the median. Ticks in which steps are adapted
    say nothing of what the plan needs, nor do those after a sole has tipped: such a robot lags behind its plan, and
    slides because it tips.
    """
    log = evidence.log
    if not len(log):
        return None
    walk = MeasuredWalk.of_log(log, evidence.walk.robot)
    end = min(evidence.onset + AFTER, *(_tipped_at(walk, side) for side in Side))
    rows = (log["walking::is_walking"][:, 0] > 0.5) & (log.times < end)
    rows &= walk.force[:, 2] > 0.5 * walk.weight
    if (active := "step_adaptation::is_active") in log:
        rows &= ~(log[active][:, 0] > 0.5)  # a changed plan restarts where the robot is
    if np.count_nonzero(rows) < FEW:
        return None
    planned = walk.smooth_rate(log["com::velocity::desired"][:, :2])
    needed = needed_friction(planned[rows])
    leans = walk.force[rows, :2] / walk.force[rows, 2:]
    felt = float(np.percentile(np.linalg.norm(leans - np.median(leans, axis=0), axis=1), 90))
    if needed < _LEAST_GRIP or felt > _GRIP * needed:
        return None
    planned_friction = max(needed, evidence.planned_friction)  # it may have slipped before it was at full speed
    text = f"the feet slipped: friction of about {felt:.2f} held them, the plan needs {planned_friction:.2f}"
    advice = f"walk on a floor of more friction than the {planned_friction:.2f} that the plan needs"
    return Cause(CauseKind.FRICTION, text, advice)


def _weak_motor(evidence: FallEvidence) -> Cause | None:
    """Return the leg joints that gave way before the first sign, as motors do that are weaker than known."""
    joints = ", ".join(overloaded_joints(evidence))
    if not joints:
        return None
    text = f"{joints} gave way before the first sign: a motor is weaker, or its load larger, than known"
    return Cause(CauseKind.MOTOR, text, "check motor and torque_limit of the joint; a lower --speed loads it less")


def _speed(evidence: FallEvidence) -> Cause | None:
    """Return a speed beyond that which the robot is known to walk, or as fast as its joints turn.

    It is that of the plan, and the commanded one where that is known and step adaptation has changed the plan.
    A plant with weaker motors is slower: joints that are commanded their velocity limit and give way show it.
    """
    log = evidence.log
    if not len(log):
        return None
    speed, moved = evidence.asked_speed, moves(log)
    is_planned = speed is None or not moved
    if speed is None or is_planned:
        speed = max(evidence.speed_ahead, greatest_speed(log.times, log["com::position::desired"], moved))
    rows = (log.times > evidence.onset - RECENT) & (log.times <= evidence.onset)
    for time in moved:
        rows &= (log.times <= time) | (log.times >= time + _MOVED)
    robot = evidence.walk.robot
    legs = leg_joints(robot)
    joints = np.abs(log["joints_state::velocities::desired"][rows][:, legs]) / evidence.velocity_limits[legs]
    fastest, joint = float(joints.max(initial=0.0)), int(joints.max(axis=0, initial=0.0).argmax())
    name = robot.joints[legs[joint]]
    late = fastest > _AT_LIMIT and name in overloaded_joints(evidence)
    bound = _FAST_FOR_LATE_JOINTS if late else _FAST if fastest > _AT_LIMIT else 1.0
    if speed < bound * evidence.max_speed:
        return None
    which = "were planned" if is_planned else "were asked for"
    text = f"too fast: {speed:.2f} m/s {which}, {evidence.max_speed:.2f} m/s are known to be walked"
    if fastest > _AT_LIMIT:
        text += f", and {name} was commanded {100 * fastest:.0f} % of its velocity limit"
        text += " and gave way" if late else ""
    return Cause(
        CauseKind.SPEED,
        text,
        "a lower --speed, at most max_speed (by torque max_torque_speed) of robots/<name>/robot.toml;"
        " [planner] min_step_duration",
    )


def moves(log: SignalLog) -> list[float]:
    """Return when the swings began whose steps were adapted, [s]."""
    return [step.nominal.time for step in adapted_steps(log)]


def greatest_speed(times: NDArray, path: NDArray, moved: Sequence[float] = ()) -> float:
    """Return the greatest speed over two steps, [m/s]; a step that was adapted is faster than what was commanded.

    Args:
        times: [s], shape (T,).
        path: Planned positions of the CoM, [m], shape (T, 2) or (T, 3).
        moved: Times of adapted steps, [s]; for `_MOVED` from each of them on the path is not looked at.
    """
    later = np.searchsorted(times, times + _SPEED_WINDOW)
    rows = np.flatnonzero(later < len(times))
    later = later[rows]
    for time in moved:
        as_commanded = (times[later] <= time) | (times[rows] >= time + _MOVED)
        rows, later = rows[as_commanded], later[as_commanded]
    if not len(rows):
        return 0.0
    speeds = np.linalg.norm((path[later] - path[rows])[:, :2], axis=1) / (times[later] - times[rows])
    return float(speeds.max())


def push(evidence: FallEvidence) -> Cause | None:
    """Return a force on the robot that its feet do not feel, shortly before the first sign.

    Where a leg gave way before, the foot below it tips, which looks the same: then nothing is said.
    """
    if overloaded_joints(evidence):
        return None
    walk = evidence.walk.until(evidence.onset + AFTER)
    force = walk.unexplained_force
    size = np.linalg.norm(force, axis=1)
    pushed = _unusual(evidence, walk, size, _JUST_BEFORE)
    pushed = pushed if len(pushed) else _unusual(evidence, walk, size, RECENT)
    if not len(pushed):
        return _sustained_push(evidence)
    begin = float(walk.times[pushed[0]])
    end = min(begin + LONGEST_PUSH, max(begin, evidence.onset))  # later the foot tips, which looks like more
    during = size[pushed[0] : int(np.searchsorted(walk.times, end, side="right"))]
    faded = np.flatnonzero(during < _FADED * np.maximum.accumulate(during))
    row = int(pushed[0]) + int(during[: faded[0] if len(faded) else None].argmax())
    return _push_of(evidence, force[row], begin)


def _sustained_push(evidence: FallEvidence) -> Cause | None:
    """Return a weak but long push: a force that the feet do not feel and that stays, averaged as noise does not.

    Only what is measured until the first sign counts, for a foot that tips looks like a long push.
    """
    walk = evidence.walk.until(evidence.onset)
    rows = int(np.searchsorted(walk.times, walk.times[0] + _SUSTAINED))
    if len(walk) <= rows:
        return None
    force = walk.unexplained_force
    windows = np.lib.stride_tricks.sliding_window_view(force, rows, axis=0)  # shape (T - rows + 1, 2, rows)
    average, begins = windows.mean(axis=2), walk.times[: len(walk) - rows + 1]
    size = np.linalg.norm(average, axis=1)
    along = np.einsum("tar,ta->tr", windows, average) / np.maximum(size, 1e-9)[:, None]
    steady = along.min(axis=1) > _STEADY * size
    recent = begins > evidence.onset - RECENT
    usual = float(size[~recent].max(initial=0.0))
    row = int((size * (recent & steady)).argmax())
    if recent.all() or not steady[row] or size[row] < max(_LEANED_ON * walk.weight, _LOUDER_ON_AVERAGE * usual):
        return None
    halfway = np.linalg.norm(force, axis=1) > 0.5 * size[row]
    before = np.flatnonzero(~halfway[: row + 1])
    return _push_of(evidence, average[row], float(walk.times[before[-1] + 1 if len(before) else 0]))


def _push_of(evidence: FallEvidence, force: NDArray, begin: float) -> Cause:
    """Return a push as a cause: its horizontal force, [N], shape (2,), and when it began, [s]."""
    text = f"a push of about {size_of(force):.0f} N {direction(force)} at {begin:.2f} s"
    stance = _foot_pushed_over(evidence.log, force, begin)
    steps_aside = evidence.stepping is SteppingMode.PLACE_AND_TIME
    why = _limit_of_steps(evidence.log, begin) if steps_aside else ""
    if stance is not None:
        why = f"the {stance} foot carried the robot, and legs do not cross to step to this side"
    trials: dict[str, dict[str, Any]] = {}
    if not steps_aside:
        trials["--step-adaptation place_and_time"] = {"step_adaptation.mode": str(SteppingMode.PLACE_AND_TIME)}
    if evidence.dcm_gain < _GOOD_DCM_GAIN:
        trials[f"--set {_DCM_GAIN}={_GOOD_DCM_GAIN:g}"] = {_DCM_GAIN: _GOOD_DCM_GAIN}
    maps = maps_of_pushes(evidence.robot or evidence.walk.robot.name)
    return Cause(CauseKind.PUSH, text, maps, True, why, trials, begin=begin)


def maps_of_pushes(*options: str) -> str:
    """Return the command that maps the largest pushes, with the robot's name or folder and further options."""
    return f"gradiva experiment push_recovery --robot {shlex.join(options)} maps the largest pushes"


def _foot_pushed_over(log: SignalLog, force: NDArray, begin: float) -> Side | None:
    """Return the foot that carried the robot when it was pushed to that side, where no step of the other one gets."""
    if any(name not in log for name in ("stance_foot::is_left", "walking::is_double_support")):
        return None
    one_foot = np.flatnonzero((log.times >= begin) & (log["walking::is_double_support"][:, 0] < 0.5))
    if not len(one_foot):
        return None
    stance = Side.LEFT if log["stance_foot::is_left"][one_foot[0], 0] > 0.5 else Side.RIGHT
    orientation = f"{stance}_foot::orientation::desired"
    yaw = float(log[orientation][one_foot[0], 2]) if orientation in log else 0.0
    ahead, left = so3.rotation_z(yaw)[:2, :2].T @ force
    return stance if stance.sign * left > abs(ahead) else None


def _limit_of_steps(log: SignalLog, begin: float) -> str:
    """Return why adapted steps did not catch a push: the first that changed was too short; empty where none did."""
    moved = [step for step in adapted_steps(log) if step.nominal.time > begin - LONGEST_PUSH]
    if not moved:
        return ""
    step, late = moved[0], round(1e3 * moved[0].delay)
    delay = f", {abs(late)} ms {'later' if late > 0 else 'earlier'}" if late else ""
    moved_by = f"moved by {1e3 * step.distance:.0f} mm{delay},"
    return f"the step that lifted off at {step.nominal.time:.2f} s, {moved_by} did not reach the DCM"


def _unusual(evidence: FallEvidence, walk: MeasuredWalk, size: NDArray, window: float) -> npt.NDArray[np.intp]:
    """Return the rows, at most ``window`` [s] before the first sign, whose force is larger than any before them."""
    recent = walk.times > evidence.onset - window
    return np.flatnonzero(recent & (size > max(_PUSHED * walk.weight, _LOUDER * size[~recent].max(initial=0.0))))


_INFERENCES: tuple[tuple[CauseKind, Callable[[FallEvidence], Cause | None]], ...] = (
    (CauseKind.SENSOR, reported_sensor),
    (CauseKind.SENSOR, reversed_wrench),
    (CauseKind.SENSOR, encoders),
    (CauseKind.SENSOR, tilted_imu),
    (CauseKind.SENSOR, jumped_imu),
    (CauseKind.SENSOR, dead_wrench),
    (CauseKind.SLOPE, _slope),
    (CauseKind.SENSOR, wrench_at_rest),
    (CauseKind.MASS, _mass),
    (CauseKind.FRICTION, _slip),
    (CauseKind.SENSOR, wrench_in_the_air),
    (CauseKind.SENSOR, turned_wrench),
    (CauseKind.BUMP, _bump),
    (CauseKind.SOFT_GROUND, _soft_ground),
    (CauseKind.SPEED, _speed),
    (CauseKind.MOTOR, _weak_motor),
    (CauseKind.PUSH, push),
)
