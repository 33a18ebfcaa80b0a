"""Arranges the evidence of a fall: its measurements, their figures and words, the cause that is inferred from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any

import numpy as np

from gradiva.common import GRAVITY, NDArray, Side
from gradiva.push_recovery import SteppingMode
from gradiva.robot_model import RobotDescription, ServoLaw
from gradiva.simulated_walk.measured_walk import MeasuredWalk
from gradiva.telemetry import SignalLog
from gradiva.walking import SafetyEvent

FIRST_STAND = 0.1  # [s] in which a robot that is put on its feet has not begun to fall, whatever is wrong
_REST = 1.5  # [s] in which the robot only stands
_SHORT_REST = 0.4  # [s] the same, where it falls at once
FEW = 10  # [rows] fewer are no evidence
_GAVE_WAY = 0.05  # [s] beyond what its servo yields: a joint that gave way; at touch-downs 0.03
RECENT = 2.5  # [s] before the first sign, in which its cause is looked for
AFTER = 0.1  # [s] after the first sign that still belongs to its cause
LONGEST_PUSH = 0.4  # [s]
FLAT = math.tan(math.radians(3.0))  # [-] a sole that is steeper is on no level ground; IMU, floor, encoders: 2.1°
_AT_LIMIT = math.radians(0.5)  # iCub v2.7's ankles keep 2.4° as shipped; the inverse kinematics stops at 0.06°
# A joint at its limit lets feet and CoM yield; ankles of healthy walks that trail touch it for 0.08, bent knees 0.2 s.
_HELD_AT_LIMIT = 0.1  # [s]
_SPARES: Mapping[str, str] = {
    "pitch": "a lower planner.swing_height, a higher planner.com_height or shorter steps (--speed) bend legs less",
    "roll": "a planner.step_width nearer to the distance of the hips rolls hips and ankles less",
    "yaw": "a slower --turn or a lower planner.max_step_turn turns hips less",
}
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
    MOTOR = "motor"
    BUMP = "bump"
    SETTING = "setting"
    PLANT = "plant"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a robot fell, as far as its measurements say.

    Attributes:
        kind: Of the cause; None: none was found.
        text: With the figures that it was inferred from.
        advice: What to do next, with the key of the configuration.
        is_tried: Whether the advice was followed in a walk of its own, or is nothing to be followed in one.
        why: It fell nevertheless, where something should have prevented it; empty where nothing should.
        trials: Further advice, in words, to the settings with which a walk follows it; none was followed.
        is_shown: Whether a walk without it went better, with the same noise of the sensors.
        begin: When it began, [s]; None where it is not known.
    """

    kind: CauseKind | None
    text: str
    advice: str
    is_tried: bool = False
    why: str = ""
    trials: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    is_shown: bool = False
    begin: float | None = None

    @property
    def next_step(self) -> str:
        """Return what to do next: why it fell nevertheless, then advice, marked where no walk has followed it."""
        untried = [*self.trials, *([] if self.is_tried else [self.advice])]
        parts = [self.why, *(f"untried: {advice}" for advice in untried), self.advice if self.is_tried else ""]
        return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True, eq=False)
class FallEvidence:
    """All that the search for a cause looks at.

    Attributes:
        walk: What was measured, standing before the walk included; at least one row.
        log: Of the ticks in which the robot balanced.
        onset: When the first quantity but a slip left its healthy range, [s]; the end of the walk where none did.
        velocity_limits: Of the joints, [rad/s], shape (n,).
        max_speed: That the robot is known to walk, [m/s].
        events: Of the safety supervisor.
        speed_ahead: Greatest speed over two steps in what was still planned at the end, [m/s].
        asked_speed: Commanded speed, which no step that catches a push changes, [m/s]; None where it is not known.
        planned_friction: That the plan from the start needs, [-]; zero where it is not known.
        servo_lag: Of joints behind references of constant speed, one tick for the measurement left out, as far as no
            feed-forward undoes it, [s], shape (n,).
        stepping: What step adaptation may change; of the advice alone, like the next.
        models_soft_ground: Whether torque control has its model of soft ground.
        dcm_gain: Of the instantaneous law, [-]; infinite where another one balances.
        impossible: Causes that did not act, as a simulation knows; none on a robot.
        plant_is_ideal: Whether there is no simpler plant to try; of the advice alone, like the next.
        robot: Name or folder by which ``--robot`` finds the robot.
    """

    walk: MeasuredWalk
    log: SignalLog
    onset: float
    velocity_limits: NDArray
    max_speed: float
    events: Sequence[SafetyEvent] = ()
    speed_ahead: float = 0.0
    asked_speed: float | None = None
    planned_friction: float = 0.0
    servo_lag: NDArray | float = 0.0
    stepping: SteppingMode = SteppingMode.OFF
    models_soft_ground: bool = False
    dcm_gain: float = math.inf
    impossible: frozenset[CauseKind] = frozenset()
    plant_is_ideal: bool = False
    robot: str = ""

    @property
    def standing(self) -> MeasuredWalk:
        """The first moment on the ground, in which nothing has moved yet."""
        return self.walk.until(float(self.walk.times[0]) + FIRST_STAND)

    @property
    def rest(self) -> MeasuredWalk:
        """A longer one, of half the time to the onset at most, in which a robot that falls has not gone far."""
        start = float(self.walk.times[0])
        return self.walk.until(start + min(max(0.5 * (self.onset - start), _SHORT_REST), _REST))

    @property
    def before(self) -> MeasuredWalk:
        """Up to the onset; the first moment where it began to fall at once."""
        walk = self.walk.until(self.onset)
        return walk if len(walk) > FEW else self.standing


def leg_joints(robot: RobotDescription) -> list[int]:
    """Return the indices of the joints of both legs."""
    return [robot.joints.index(joint) for joint in robot.leg_joints]


def overloaded_joints(evidence: FallEvidence) -> list[str]:
    r"""Return the leg joints that were, before the first sign, farther off than their servos yield at full torque.

    A servo that lags by :math:`t` is behind a reference of the speed :math:`\dot s^*` by :math:`t |\dot s^*|` beside
    its torque's :math:`\tau / k_p`.
    """
    log, robot = evidence.log, evidence.walk.robot
    rows = (log.times > evidence.onset - RECENT) & (log.times < evidence.onset)
    if np.count_nonzero(rows) < 2:
        return []
    error = log["joints_state::positions::measured"][rows] - log["joints_state::positions::desired"][rows]
    speeds = np.abs(log["joints_state::velocities::desired"][rows])
    tick = float(np.median(np.diff(log.times[rows])))  # [s] desired is the end of a tick, measured its beginning
    yielding = np.array(robot.per_joint("torque_limit")) / ServoLaw.of(robot).stiffness
    gave_way = np.abs(error) > yielding + speeds * (tick + evidence.servo_lag)
    seconds = tick * np.count_nonzero(gave_way, axis=0)
    return [robot.joints[joint] for joint in leg_joints(robot) if seconds[joint] > _GAVE_WAY]


@dataclass(frozen=True, slots=True)
class JointAtLimit:
    """A joint that came to a limit of its position.

    Attributes:
        joint: Name.
        limit: Of the position, [rad].
        margin: Least distance to it, measured or desired; negative beyond it, [rad].
        time: Of that, [s].
    """

    joint: str
    limit: float
    margin: float
    time: float

    def __str__(self) -> str:
        """Return name, limit, distance and time."""
        limit, margin = math.degrees(self.limit), math.degrees(abs(self.margin))
        side = "from" if self.margin >= 0.0 else "beyond"
        return f"{self.joint} {margin:.1f}° {side} {limit:.1f}° at {self.time:.2f} s"


def joints_at_limits(
    log: SignalLog, joints: Sequence[str], limits: tuple[NDArray, NDArray], until: float = math.inf
) -> list[JointAtLimit]:
    """Return the joints that were held at a limit of their positions while the robot walked, the nearest first.

    Args:
        log: With positions as measured and as desired, which the inverse kinematics keeps off the limits.
        joints: Names.
        limits: Lower and upper, [rad], shape (n,) each.
        until: Time of the first sign, after which the log is not looked at, [s]; a joint that is at a limit then counts
            however shortly it has been there.
    """
    rows = (log["walking::is_walking"][:, 0] > 0.5) & (log.times <= until) if len(log) else np.zeros(0, dtype=bool)
    if not rows.any():
        return []
    positions = np.stack([log[f"joints_state::positions::{which}"][rows] for which in ("measured", "desired")])
    gaps = np.nan_to_num(np.stack([positions - limits[0], limits[1] - positions]), nan=math.inf).min(axis=1)
    at_limit, times, found = gaps < _AT_LIMIT, log.times[rows], []
    walks_at_sign = math.isfinite(until) and bool(rows[log.times <= until][-1])
    for side, joint in np.argwhere(at_limit.any(axis=1)).tolist():
        if _is_held(at_limit[side, :, joint], times, walks_at_sign):
            row = int(gaps[side, :, joint].argmin())
            margin = float(gaps[side, row, joint])
            found.append(JointAtLimit(joints[joint], float(limits[side][joint]), margin, float(times[row])))
    return sorted(found, key=lambda each: each.margin)


def supporting_joints_at_limits(
    log: SignalLog, robot: RobotDescription, limits: tuple[NDArray, NDArray], until: float = math.inf
) -> list[JointAtLimit]:
    """Return those of ``joints_at_limits`` that carry the robot: of legs and torso, not of arms that swing."""
    carrying = {*robot.leg_joints, *(robot.joint_groups["torso"].joints if "torso" in robot.joint_groups else ())}
    return [found for found in joints_at_limits(log, robot.joints, limits, until) if found.joint in carrying]


def _is_held(at_limit: NDArray, times: NDArray, counts_last: bool) -> bool:
    """Return whether a joint is at a limit for long, or at the last sample where that counts."""
    runs = (list(run) for is_at, run in groupby(range(len(times)), at_limit.item) if is_at)
    return (counts_last and bool(at_limit[-1])) or any(times[run[-1]] - times[run[0]] >= _HELD_AT_LIMIT for run in runs)


def at_limits_in_words(found: Sequence[JointAtLimit], axes: Mapping[str, str]) -> str:
    """Return a sentence on joints at the limits of their positions, with what spares them."""
    spares = spares_joints([each.joint for each in found], axes)
    return f"joints at the limits of their positions: {', '.join(map(str, found))}, where feet and CoM yield; {spares}"


def spares_joints(joints: Sequence[str], axes: Mapping[str, str]) -> str:
    """Return the keys and options that spare joints at the limits of their positions, in words.

    Args:
        joints: Names, at least one.
        axes: Axis of each, ``roll``, ``pitch`` or ``yaw``; one of unknown axis counts as bending.
    """
    turned = {axes.get(joint, "pitch") for joint in joints}
    return "; ".join(advice for axis, advice in _SPARES.items() if axis in turned)


def slope_of(standing: MeasuredWalk) -> NDArray:
    """Return how the soles rise towards x and y, [-], shape (2,)."""
    mean: NDArray = np.mean([standing.sole_slopes(side).mean(axis=0) for side in Side], axis=0)
    return mean


def lean_of(rest: MeasuredWalk) -> NDArray:
    """Return horizontal over vertical force, [-], shape (2,), without what accelerates a robot that begins to fall."""
    force = rest.force.mean(axis=0)
    return force[:2] / max(float(force[2]), 1.0) - _acceleration_of(rest)


def gap_of(rest: MeasuredWalk) -> NDArray:
    """Return the ZMP from below the CoM over the CoM's height, [-], shape (2,), likewise."""
    gap: NDArray = (rest.zmp_position - rest.com_position[:, :2]).mean(axis=0) / rest.robot.com_height
    return gap + _acceleration_of(rest)


def _acceleration_of(rest: MeasuredWalk) -> NDArray:
    """Return the horizontal acceleration of the CoM over gravity, [-], shape (2,)."""
    if len(rest) < 2:
        return np.zeros(2)
    acceleration: NDArray = np.polyfit(rest.times, rest.com_velocity[:, :2], 1)[0] / GRAVITY
    return acceleration


def needed_friction(accelerations: NDArray) -> float:
    r"""Return the friction that nine tenths of a planned walk need, [-]: :math:`|\ddot x| / g = |x - z| / h`.

    The pendulum's CoM x has the height h above the ground and the ZMP z. What swinging legs and balance add is not in.

    Args:
        accelerations: Of the planned CoM while it walks, [m/s²], shape (T, 2).
    """
    return float(np.percentile(np.linalg.norm(accelerations, axis=1) / GRAVITY, 90))


def size_of(vector: NDArray) -> float:
    """Return the length of a vector."""
    return float(np.linalg.norm(vector))


def degrees(slope: float) -> str:
    """Return the angle of a slope [-] in words."""
    return f"{math.degrees(math.atan(slope)):.1f}°"


def direction(vector: NDArray) -> str:
    """Return where a vector points, in words: x is where the walk began to face."""
    return _DIRECTIONS[round(math.atan2(vector[1], vector[0]) / math.radians(45.0)) % 8]
