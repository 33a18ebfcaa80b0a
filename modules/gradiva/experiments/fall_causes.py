"""Infers why a robot fell from what it measured, cause by cause.

Nothing here knows what was done to a simulated robot, nor the simulator's truth. Beside the measurements, the model
(mass, soles) and the plan, only the top speed of ``robots/<name>/robot.toml`` is taken from the configuration. The
advice alone looks at more of it, so as not to repeat what is set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, NDArray, Side, so3
from gradiva.experiments.measured_walk import MeasuredWalk
from gradiva.robot_model import RobotDescription, ServoLaw
from gradiva.simplified_model import SteppingMode
from gradiva.telemetry import SignalLog, adapted_steps
from gradiva.walking import SafetyEvent, SafetyKind

_FIRST_STAND = 0.1  # [s] in which a robot that is put on its feet has not begun to fall, whatever is wrong
_REST = 1.5  # [s] in which the robot only stands
_SHORT_REST = 0.4  # [s] the same, where it falls at once
_FEW = 10  # [rows] fewer are no evidence

_FLAT = math.tan(math.radians(3.0))  # [-] a sole that is steeper is on no level ground; IMU, floor, encoders: 2.1°
_DISAGREEMENT = math.tan(math.radians(3.0))  # [-] between two soles on one plane; encoders off by up to 0.5°: 2.4°
_UNBALANCED = 0.17  # [-] horizontal over vertical force at rest; gains and cross-talk of calibrated sensors: 0.13
_ZMP_OFF = 0.05  # [-] of the CoM's height: ZMP of a robot at rest from below its CoM; likewise: 0.035
_IN_THE_AIR = 0.08  # [-] of the weight that a swinging foot feels; its own inertia: 0.03
_TURNED = -2.8, -1.2  # [-] unexplained force over that of a foot which is turned round: -2
_TURNED_BEFORE = -0.6  # [-] the same before a push could begin: -1.3 of a foot that is turned, else above -0.1
_ALIKE = 0.5  # [-] of their variance that is common
_MASS = 0.2  # [-] of the weight that the feet carry too much or too little; noisy sensors and covers: 0.04

_EDGE = 0.008  # [m] with the pressure nearer to the edge of a sole, it may tip
_ROLLED = math.tan(math.radians(2.5))  # [-] of a loaded sole; on rigid ground 0.2°, by an IMU of 0.5° RMS 2.0°
_GRIP = 0.75  # [-] of the horizontal force that the plan needs; 0.2 to 0.5 where feet slide, above 0.9 where not
_LEAST_GRIP = 0.05  # [-] of the weight: plans that need less tell nothing of the floor
_AT_LIMIT = 0.97  # [-] of a joint's velocity limit
_FAST = 0.8  # [-] of the speed that is known to be walked: joints at their limits are too slow for it
_FAST_FOR_LATE_JOINTS = 0.6  # [-] the same where such joints gave way as well; pushed walks of 0.1 to 0.3 m/s: below
_SPEED_WINDOW = 1.2  # [s] two steps
_MOVED = 2.5  # [s] from the beginning of a swing that step adaptation changes until the plan is as fast as before
_GAVE_WAY = 0.05  # [s] beyond what its servo yields: a joint that gave way; at touch-downs 0.03
_PUSHED = 0.12  # [-] of the weight: unexplained force of a push; noisy sensors make 0.1
_LOUDER = 1.3  # [-] than the largest unexplained force before
_SUSTAINED = 0.2  # [s] over which the force of a long push is averaged
_LEANED_ON = 0.05  # [-] of the weight: average of a long push; 0.08 of 40 N on iCub v3, walks before they fall: 0.02
_STEADY = 0.7  # [-] of this average, below which the force never falls; that of a foot that tips grows
_LOUDER_ON_AVERAGE = 2.0  # [-] than the largest average before
_GOOD_DCM_GAIN = 2.0  # [-] of the instantaneous law, against pushes
_MAPS = "gradiva experiment push_recovery maps the largest pushes"
_RECENT = 2.5  # [s] before the first sign, in which its cause is looked for
_JUST_BEFORE = 1.2  # [s] before the first sign, where a push is looked for first: an early step that lands hard is none
_LONGEST_PUSH = 0.4  # [s]
_FADED = 0.5  # [-] of its largest force, below which a push is over: a foot that lands or tips after it adds its own
_AFTER = 0.1  # [s] after the first sign that still belongs to its cause

_SENSOR_KINDS = (
    SafetyKind.SENSOR_NOT_FINITE,
    SafetyKind.SENSOR_FROZEN,
    SafetyKind.ENCODER_JUMP,
    SafetyKind.STALE_MEASUREMENT,
)
_DIRECTIONS = (
    "forward",
    "forward and to the left",
    "to the left",
    "backward and to the left",
    "backward",
    "backward and to the right",
    "to the right",
    "forward and to the right",
)


class CauseKind(StrEnum):
    """Causes of falls."""

    PUSH = "push"
    SLOPE = "slope"
    SPEED = "speed"
    FRICTION = "friction"
    MASS = "mass"
    SENSOR = "sensor"
    SOFT_GROUND = "soft ground"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a robot fell, as far as its measurements say.

    Attributes:
        kind: Of the cause; None: none was found.
        text: With the figures that it was inferred from.
        advice: What to do next, with the key of the configuration.
    """

    kind: CauseKind | None
    text: str
    advice: str


@dataclass(frozen=True, slots=True, eq=False)
class FallEvidence:
    """All that the search for a cause looks at.

    Attributes:
        walk: What was measured, standing before the walk included; at least one row.
        log: Of the ticks in which the robot balanced.
        onset: When the first quantity left its healthy range, [s]; the end of the walk where none did.
        velocity_limits: Of the joints, [rad/s], shape (n,).
        max_speed: That the robot is known to walk, [m/s].
        events: Of the safety supervisor.
        speed_ahead: Greatest speed over two steps in what was still planned at the end, [m/s].
        servo_lag: Of joints behind references of constant speed, one tick for the measurement left out, as far as no
            feed-forward undoes it, [s], shape (n,).
        stepping: What step adaptation may change; of the advice alone, like the next.
        models_soft_ground: Whether torque control has its model of soft ground.
        dcm_gain: Of the instantaneous law, [-]; infinite where another one balances.
    """

    walk: MeasuredWalk
    log: SignalLog
    onset: float
    velocity_limits: NDArray
    max_speed: float
    events: Sequence[SafetyEvent] = ()
    speed_ahead: float = 0.0
    servo_lag: NDArray | float = 0.0
    stepping: SteppingMode = SteppingMode.OFF
    models_soft_ground: bool = False
    dcm_gain: float = math.inf

    @property
    def standing(self) -> MeasuredWalk:
        """The first moment on the ground, in which nothing has moved yet."""
        return self.walk.until(float(self.walk.times[0]) + _FIRST_STAND)

    @property
    def rest(self) -> MeasuredWalk:
        """A longer one, of half the time to the onset at most, in which a robot that falls has not gone far."""
        start = float(self.walk.times[0])
        return self.walk.until(start + min(max(0.5 * (self.onset - start), _SHORT_REST), _REST))

    @property
    def before(self) -> MeasuredWalk:
        """Up to the onset; the first moment where it began to fall at once."""
        walk = self.walk.until(self.onset)
        return walk if len(walk) > _FEW else self.standing


def find_cause(evidence: FallEvidence) -> Cause | None:
    """Return the cause that the measurements name; None where they name none.

    What is seen while the robot stands comes first, as it spoils all that follows; a push comes last, because a foot
    that slides or sinks looks like one.
    """
    return next((cause for infer in _INFERENCES if (cause := infer(evidence)) is not None), None)


def cause_not_found(evidence: FallEvidence) -> Cause:
    """Return what to try next where `find_cause` names none; joints that gave way are named as a hint."""
    joints = ", ".join(_overloaded_joints(evidence))
    hint = f"; {joints} gave way before the first sign" if joints else ""
    advice = "a lower --speed; --plant ideal tells whether the plant matters; gradiva view RUN shows the fall slowly"
    return Cause(None, f"not found among {', '.join(CauseKind)}{hint}", advice)


# -- sensors ---------------------------------------------------------------------------------------------------


def _reported_sensor(evidence: FallEvidence) -> Cause | None:
    """Return a sensor that the safety supervisor named before anything else went wrong."""
    for event in evidence.events:
        if event.kind in _SENSOR_KINDS and event.time <= evidence.onset:
            return Cause(
                CauseKind.SENSOR, event.text, "mend the sensor; [safety.sensors] says when one counts as wrong"
            )
    return None


def _reversed_wrench(evidence: FallEvidence) -> Cause | None:
    """Return a foot that pulls at the ground, by its sensor."""
    standing = evidence.standing
    for side in Side:
        load = float(standing.foot_wrenches[side][:, 2].mean())
        if load < -0.02 * standing.weight:
            text = f"the {side} foot's wrench disagrees: {load:.0f} N while the robot stands on it"
            return Cause(CauseKind.SENSOR, text, "check its sign: the force is that of the ground on the foot")
    return None


def _encoders(evidence: FallEvidence) -> Cause | None:
    """Return encoders by which two soles on one plane are not parallel."""
    standing = evidence.standing
    slopes = {side: standing.sole_slopes(side).mean(axis=0) for side in Side}
    difference = _size(slopes[Side.LEFT] - slopes[Side.RIGHT])
    if difference < _DISAGREEMENT:
        return None
    side = Side.LEFT if _size(slopes[Side.LEFT]) > _size(slopes[Side.RIGHT]) else Side.RIGHT
    text = (
        f"the encoders disagree: both soles stand on the ground, and by the encoders they are {_degrees(difference)}"
        f" from parallel, the {side} one farther from level"
    )
    return Cause(
        CauseKind.SENSOR, text, f"calibrate the encoders of the {side} leg, of the other one if that does not do"
    )


def _imu(evidence: FallEvidence) -> Cause | None:
    """Return an IMU by which soles and body lean alike while the robot is in balance, which on a slope it is not.

    By an attitude that errs by δ the CoM seems to stand δ times its height beside the ZMP.
    """
    slope, gap = _slope_of(evidence.standing), _gap_of(evidence.rest)
    steepness = _size(slope)
    if steepness < _FLAT or float(slope @ gap) < 0.5 * steepness**2:
        return None
    text = (
        f"the IMU disagrees: by its attitude the soles stand {_degrees(steepness)} from level, and the body leans as"
        " far, but it is in balance"
    )
    return Cause(CauseKind.SENSOR, text, "check how the IMU is mounted: imu_frame in robots/<name>/robot.toml")


def _wrench_at_rest(evidence: FallEvidence) -> Cause | None:
    """Return wrenches by which a robot at rest would not be."""
    rest = evidence.rest
    sideways = _size(_lean_of(rest))
    if sideways > _UNBALANCED:
        text = f"a foot's wrench disagrees: at rest, {100 * sideways:.0f} % of the load pushes the robot aside"
        return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    gap = _size(_gap_of(rest))
    if gap > _ZMP_OFF:
        distance = 100 * gap * rest.robot.com_height
        text = f"a foot's wrench disagrees: at rest, the ZMP is {distance:.0f} cm from below the centre of mass"
        return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    return None


def _wrench_in_the_air(evidence: FallEvidence) -> Cause | None:
    """Return a foot that feels a force while it swings."""
    before = evidence.before
    for side in Side:
        swings = before.carries[side.other]
        if np.count_nonzero(swings) < _FEW:
            continue
        force = _size(np.median(before.foot_wrenches[side][swings, :3], axis=0))
        if force > _IN_THE_AIR * before.weight:
            text = f"the {side} foot's wrench disagrees: {force:.0f} N while the foot swings"
            return Cause(CauseKind.SENSOR, text, _ZERO_SENSORS)
    return None


def _turned_wrench(evidence: FallEvidence) -> Cause | None:
    """Return a foot without whose horizontal force, turned round, the robot's acceleration is not explained.

    A foot that withstands a push is alike, but not before the push.
    """
    walk, earlier = (evidence.walk.until(evidence.onset + time) for time in (_AFTER, -_LONGEST_PUSH))
    for side in Side:
        gain, alike = _contrariness(walk, side)
        if not (_TURNED[0] < gain < _TURNED[1] and alike > _ALIKE):
            continue
        if np.count_nonzero(earlier.is_loaded(side)) < _FEW or _contrariness(earlier, side)[0] < _TURNED_BEFORE:
            text = f"the {side} foot's wrench disagrees: its horizontal force is contrary to how the robot accelerates"
            return Cause(CauseKind.SENSOR, text, "check its axes: [[force_torque_sensors]] in robots/<name>/robot.toml")
    return None


def _contrariness(walk: MeasuredWalk, side: Side) -> tuple[float, float]:
    """Return the unexplained force over that of a loaded foot, and the fraction of their variance in common, [-]."""
    loaded = walk.is_loaded(side)
    missing, felt = walk.unexplained_force[loaded], walk.foot_wrenches[side][loaded, :2]
    gain = _ratio(missing, felt)
    return gain, gain * _ratio(felt, missing)


# -- robot and ground ------------------------------------------------------------------------------------------


def _slope(evidence: FallEvidence) -> Cause | None:
    """Return a ground on which both soles stand aslant; an IMU that is tilted was looked for before."""
    slope = _slope_of(evidence.standing)
    if _size(slope) < _FLAT:
        return None
    text = f"the ground slopes by {_degrees(_size(slope))}, it rises {_direction(slope)}"
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


def _soft_ground(evidence: FallEvidence) -> Cause | None:
    """Return a ground on which soles roll though the pressure is well inside of them."""
    walk = evidence.walk.until(evidence.onset + _AFTER)
    rolled = {side: _rolled(walk, side) for side in Side}
    side = Side.LEFT if rolled[Side.LEFT] > rolled[Side.RIGHT] else Side.RIGHT
    if rolled[side] < _ROLLED:
        return None
    text = (
        f"the ground is too soft: the {side} sole rolled by {_degrees(rolled[side])} with the pressure well inside its"
        " edges"
    )
    return Cause(CauseKind.SOFT_GROUND, text, _soft_ground_advice(evidence))


def _soft_ground_advice(evidence: FallEvidence) -> str:
    if not evidence.models_soft_ground:
        return 'walk with --control torque and torque_control.ground="compliant"; a larger sole rolls less'
    return "walk on stiffer ground, or slower; a larger sole rolls less"


def _rolled(walk: MeasuredWalk, side: Side) -> float:
    """Return how far a sole rolled on the ground that did not tip about an edge, as a slope, [-]."""
    slopes, sole = walk.sole_slopes(side), walk.robot.sole
    at_first = slopes[walk.times <= walk.times[0] + _FIRST_STAND].mean(axis=0)
    inside = np.abs(walk.pressure_off_middle(side)) < np.array([0.5 * sole.length, 0.5 * sole.width]) - _EDGE
    flat = walk.is_loaded(side) & inside.all(axis=1)
    if np.count_nonzero(flat) < _FEW:
        return 0.0
    return float(np.percentile(np.linalg.norm(slopes[flat] - at_first, axis=1), 95))


def _slip(evidence: FallEvidence) -> Cause | None:
    """Return a floor that gives less horizontal force than the plan needs.

    Constant errors of the sensors and the tilt of the IMU are taken off by the median.
    """
    log = evidence.log
    if not len(log):
        return None
    walk = MeasuredWalk.of_log(log, evidence.walk.robot)
    rows = (log["walking::is_walking"][:, 0] > 0.5) & (log.times < evidence.onset + _AFTER)
    rows &= walk.force[:, 2] > 0.5 * walk.weight
    if np.count_nonzero(rows) < _FEW:
        return None
    planned = walk.smooth_rate(log["com::velocity::desired"][:, :2])
    needed = float(np.percentile(np.linalg.norm(planned[rows], axis=1) / GRAVITY, 90))
    leans = walk.force[rows, :2] / walk.force[rows, 2:]
    felt = float(np.percentile(np.linalg.norm(leans - np.median(leans, axis=0), axis=1), 90))
    if needed < _LEAST_GRIP or felt > _GRIP * needed:
        return None
    text = f"the feet slipped: friction of about {felt:.2f} held them, the plan needs {needed:.2f}"
    return Cause(
        CauseKind.FRICTION,
        text,
        "walk on another floor, or slower and with less turning; a larger planner.time_weight makes slower steps",
    )


# -- motion ----------------------------------------------------------------------------------------------------


def _speed(evidence: FallEvidence) -> Cause | None:
    """Return a walk that is planned faster than the robot is known to walk, or as fast as its joints turn.

    A plant with weaker motors is slower: joints that are commanded their velocity limit and give way show it.
    """
    log = evidence.log
    if not len(log):
        return None
    speed = max(evidence.speed_ahead, greatest_speed(log.times, log["com::position::desired"], moves(log)))
    rows = (log.times > evidence.onset - _RECENT) & (log.times <= evidence.onset)
    robot = evidence.walk.robot
    legs = _legs(robot)
    joints = np.abs(log["joints_state::velocities::desired"][rows][:, legs]) / evidence.velocity_limits[legs]
    fastest, joint = float(joints.max(initial=0.0)), int(joints.max(axis=0, initial=0.0).argmax())
    name = robot.joints[legs[joint]]
    late = fastest > _AT_LIMIT and name in _overloaded_joints(evidence)
    bound = _FAST_FOR_LATE_JOINTS if late else _FAST if fastest > _AT_LIMIT else 1.0
    if speed < bound * evidence.max_speed:
        return None
    text = (
        f"too fast: {speed:.2f} m/s were planned, {evidence.max_speed:.2f} m/s are known to be walked, and {name} was"
        f" commanded {100 * fastest:.0f} % of its velocity limit{' and gave way' if late else ''}"
    )
    return Cause(
        CauseKind.SPEED,
        text,
        "a lower --speed, at most planner.max_speed of robots/<name>/robot.toml; [planner] min_step_duration",
    )


def _legs(robot: RobotDescription) -> list[int]:
    """Return the indices of the joints of both legs."""
    return [robot.joints.index(joint) for side in Side for joint in robot.joint_groups[f"{side}_leg"].joints]


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


def _push(evidence: FallEvidence) -> Cause | None:
    """Return a force on the robot that its feet do not feel, shortly before the first sign.

    Where a leg gave way before, the foot below it tips, which looks the same: then nothing is said.
    """
    if _overloaded_joints(evidence):
        return None
    walk = evidence.walk.until(evidence.onset + _AFTER)
    force = walk.unexplained_force
    size = np.linalg.norm(force, axis=1)
    pushed = _unusual(evidence, walk, size, _JUST_BEFORE)
    pushed = pushed if len(pushed) else _unusual(evidence, walk, size, _RECENT)
    if not len(pushed):
        return _sustained_push(evidence)
    begin = float(walk.times[pushed[0]])
    end = min(begin + _LONGEST_PUSH, max(begin, evidence.onset))  # later the foot tips, which looks like more
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
    recent = begins > evidence.onset - _RECENT
    usual = float(size[~recent].max(initial=0.0))
    row = int((size * (recent & steady)).argmax())
    if recent.all() or not steady[row] or size[row] < max(_LEANED_ON * walk.weight, _LOUDER_ON_AVERAGE * usual):
        return None
    halfway = np.linalg.norm(force, axis=1) > 0.5 * size[row]
    before = np.flatnonzero(~halfway[: row + 1])
    return _push_of(evidence, average[row], float(walk.times[before[-1] + 1 if len(before) else 0]))


def _push_of(evidence: FallEvidence, force: NDArray, begin: float) -> Cause:
    """Return a push as a cause: its horizontal force, [N], shape (2,), and when it began, [s]."""
    text = f"a push of about {_size(force):.0f} N {_direction(force)} at {begin:.2f} s"
    is_set = evidence.stepping is SteppingMode.PLACE_AND_TIME
    stance = _foot_pushed_over(evidence.log, force, begin)
    if stance is not None:
        advice = [f"the {stance} foot carried the robot, and legs do not cross to step to this side: {_MAPS}"]
    else:
        advice = [_limit_of_steps(evidence.log, begin) if is_set else "--step-adaptation place_and_time steps aside"]
    if evidence.dcm_gain < _GOOD_DCM_GAIN:
        advice.append(f"dcm_controller.proportional_gain up to {_GOOD_DCM_GAIN:g} withstands more with a good IMU")
    return Cause(CauseKind.PUSH, text, "; ".join(advice))


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
    """Return why adapted steps did not catch a push: the first that changed was too short, or none did."""
    moved = [step for step in adapted_steps(log) if step.nominal.time > begin - _LONGEST_PUSH]
    if not moved:
        return _MAPS
    step, late = moved[0], round(1e3 * moved[0].delay)
    delay = f", {abs(late)} ms {'later' if late > 0 else 'earlier'}" if late else ""
    return f"the step that was moved by {1e3 * step.distance:.0f} mm{delay} did not reach the DCM: {_MAPS}"


def _unusual(evidence: FallEvidence, walk: MeasuredWalk, size: NDArray, window: float) -> npt.NDArray[np.intp]:
    """Return the rows, at most ``window`` [s] before the first sign, whose force is larger than any before them."""
    recent = walk.times > evidence.onset - window
    return np.flatnonzero(recent & (size > max(_PUSHED * walk.weight, _LOUDER * size[~recent].max(initial=0.0))))


def _overloaded_joints(evidence: FallEvidence) -> list[str]:
    r"""Return the leg joints that were, before the first sign, farther off than their servos yield at full torque.

    A servo that lags by :math:`t` is behind a reference of the speed :math:`\dot s^*` by :math:`t |\dot s^*|` beside
    its torque's :math:`\tau / k_p`.
    """
    log, robot = evidence.log, evidence.walk.robot
    rows = (log.times > evidence.onset - _RECENT) & (log.times < evidence.onset)
    if np.count_nonzero(rows) < 2:
        return []
    error = log["joints_state::positions::measured"][rows] - log["joints_state::positions::desired"][rows]
    speeds = np.abs(log["joints_state::velocities::desired"][rows])
    tick = float(np.median(np.diff(log.times[rows])))  # [s] desired is the end of a tick, measured its beginning
    yielding = np.array(robot.per_joint("torque_limit")) / ServoLaw.of(robot).stiffness
    gave_way = np.abs(error) > yielding + speeds * (tick + evidence.servo_lag)
    seconds = tick * np.count_nonzero(gave_way, axis=0)
    return [robot.joints[joint] for joint in _legs(robot) if seconds[joint] > _GAVE_WAY]


_ZERO_SENSORS = "zero the force-torque sensors with the feet in the air; [[force_torque_sensors]] in robot.toml"
_INFERENCES: tuple[Callable[[FallEvidence], Cause | None], ...] = (
    _reported_sensor,
    _reversed_wrench,
    _encoders,
    _imu,
    _slope,
    _wrench_at_rest,
    _mass,
    _slip,
    _wrench_in_the_air,
    _turned_wrench,
    _soft_ground,
    _speed,
    _push,
)


def _slope_of(standing: MeasuredWalk) -> NDArray:
    """Return how the soles rise towards x and y, [-], shape (2,)."""
    mean: NDArray = np.mean([standing.sole_slopes(side).mean(axis=0) for side in Side], axis=0)
    return mean


def _lean_of(rest: MeasuredWalk) -> NDArray:
    """Return horizontal over vertical force, [-], shape (2,), without what accelerates a robot that begins to fall."""
    force = rest.force.mean(axis=0)
    return force[:2] / max(float(force[2]), 1.0) - _acceleration_of(rest)


def _gap_of(rest: MeasuredWalk) -> NDArray:
    """Return the ZMP from below the CoM over the CoM's height, [-], shape (2,), likewise."""
    gap: NDArray = (rest.zmp_position - rest.com_position[:, :2]).mean(axis=0) / rest.robot.com_height
    return gap + _acceleration_of(rest)


def _acceleration_of(rest: MeasuredWalk) -> NDArray:
    """Return the horizontal acceleration of the CoM over gravity, [-], shape (2,)."""
    if len(rest) < 2:
        return np.zeros(2)
    acceleration: NDArray = np.polyfit(rest.times, rest.com_velocity[:, :2], 1)[0] / GRAVITY
    return acceleration


def _ratio(of: NDArray, over: NDArray) -> float:
    """Return the factor that turns one series into the other in the sense of least squares."""
    return float(np.vdot(of, over)) / max(float(np.vdot(over, over)), 1e-9)


def _size(vector: NDArray) -> float:
    return float(np.linalg.norm(vector))


def _degrees(slope: float) -> str:
    return f"{math.degrees(math.atan(slope)):.1f}°"


def _direction(vector: NDArray) -> str:
    """Return where a vector points, in words: x is where the walk began to face."""
    return _DIRECTIONS[round(math.atan2(vector[1], vector[0]) / math.radians(45.0)) % 8]
