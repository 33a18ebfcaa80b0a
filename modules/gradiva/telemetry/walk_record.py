"""Read a finished run for its plots: log, joints, sole, joint limits and footprints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side, SoleRectangle, WalkingError, freeze_arrays
from gradiva.telemetry.run_folder import RunFolder
from gradiva.telemetry.signal_log import SignalLog

_REST_SPEED = {"desired": 2e-3, "measured": 2e-2}  # m/s, a slower foot stands; the measured one trembles
_REST_TIME = 0.08  # s, a shorter rest is the apex of a swing or noise
_SAME_PLACE = 5e-3  # m, two rests closer than this are one footprint
_SAME_TIME = 0.01  # s, a touch-down that step adaptation moves by less is that of the plan
BoolArray = npt.NDArray[np.bool_]
_LOADED_FORCE = 20.0  # N, a foot that carries more is on the ground; contact noise stays below
_UNKNOWN_SOLE = SoleRectangle(x=(-0.08, 0.12), y=(-0.045, 0.045), z=0.0)  # m, a small humanoid's


@dataclass(frozen=True, slots=True, eq=False)
class WalkRecord:
    """The log of a run and what its result says of the robot.

    Attributes:
        log: All signals.
        joints: Names, in the order of the joint signals.
        result: Outcome and key figures.
        sole: Of the left foot; a typical one if the result has none.
        joint_limits: Lower and upper, [rad], shape (n,) each, or None if the result has none.
    """

    log: SignalLog
    joints: tuple[str, ...]
    result: dict[str, Any] = field(default_factory=dict)
    sole: SoleRectangle = _UNKNOWN_SOLE
    joint_limits: tuple[NDArray, NDArray] | None = None

    @classmethod
    def read(cls, run: RunFolder) -> WalkRecord:
        """Return the record of a run folder.

        Raises:
            ConfigError: The run has no log, or one that cannot be read.
        """
        mat, result = run.read_log(), run.read_result()
        return cls.of(mat.log, tuple(result.get("joints") or mat.joints), result)

    @classmethod
    def of(cls, log: SignalLog, joints: tuple[str, ...], result: dict[str, Any]) -> WalkRecord:
        """Return the record of a log and a result as ``result.json`` has it."""
        return cls(log, joints, result, _sole(result), _joint_limits(result, len(joints)))

    def pushes(self) -> list[tuple[float, float]]:
        """Return begin and end of the pushes that the walk has seen, [s]."""
        last = float(self.log.times[-1])
        times = [(float(begin), float(end)) for begin, end in self.result.get("push_times_s") or []]
        return [(begin, min(end, last)) for begin, end in times if begin < last]

    def first_sign(self) -> float | None:
        """Return when the first sign of a fall was, [s]; None where the result has none."""
        return (self.result.get("diagnosis") or {}).get("first_sign_s")

    def in_double_support(self) -> BoolArray | None:
        """Return at which samples both feet are to carry load, shape (T,), or None if it is not in the log."""
        if "walking::is_double_support" not in self.log:
            return None
        return self.log["walking::is_double_support"][:, 0] > 0.5

    def in_contact(self, side: Side) -> BoolArray | None:
        """Return at which samples one foot carries load, shape (T,), or None if it is not in the log.

        Read from the logged contact flags of the plan; without them from the measured force.
        """
        double_support = self.in_double_support()
        if double_support is not None and "stance_foot::is_left" in self.log:
            is_left = self.log["stance_foot::is_left"][:, 0] > 0.5
            return double_support | (is_left if side is Side.LEFT else ~is_left)
        force = f"{side}_foot::linear_force::measured"
        return self.log[force][:, 2] > _LOADED_FORCE if force in self.log else None


def _sole(result: dict[str, Any]) -> SoleRectangle:
    try:
        sole = result["sole"]
        return SoleRectangle(x=tuple(sole["x"]), y=tuple(sole["y"]), z=float(sole.get("z", 0.0)))
    except (KeyError, TypeError, IndexError, AttributeError, WalkingError):
        return _UNKNOWN_SOLE


def _joint_limits(result: dict[str, Any], joints: int) -> tuple[NDArray, NDArray] | None:
    try:
        limits = result["joint_limits"]
        lower, upper = (np.array(limits[end], dtype=np.float64) for end in ("lower", "upper"))
    except (KeyError, TypeError, ValueError):
        return None
    return (lower, upper) if lower.shape == upper.shape == (joints,) else None


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """A foot that rested.

    Attributes:
        side: Which foot.
        position: Of the sole frame, world, [m], shape (3,).
        yaw: Heading, [rad].
        time: When the rest began, [s].
    """

    side: Side
    position: NDArray
    yaw: float
    time: float

    def __post_init__(self) -> None:
        freeze_arrays(self, position=(3,))

    def corners(self, sole: SoleRectangle) -> NDArray:
        """Return the corners of the sole, world, counter-clockwise from above, [m], shape (4, 2)."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return self.position[:2] + sole.corners(self.side) @ np.array([[c, s], [-s, c]])


def footprints(log: SignalLog) -> list[Footprint]:
    """Return all footprints of a walk, the first ones first.

    They come from the desired foot positions, or from the measured ones where no desired are logged; empty
    without either.
    """
    found = [footprint for side in Side for footprint in _of_one_foot(log, side)]
    return sorted(found, key=lambda footprint: footprint.time)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedStep:
    """A step that step adaptation changed while it ran.

    Attributes:
        nominal: Foothold of the plan.
        move: From there to where the foot was to land in the end, or landed early, world, [m], shape (2,).
        delay: Of its touch-down, [s].
        end: Last time of the log at which the foot was in the air, or that of its early landing, [s].
        changed: When it was changed first, [s].
    """

    nominal: Footprint
    move: NDArray
    delay: float
    end: float
    changed: float

    @property
    def distance(self) -> float:
        """Length of the move, [m]."""
        return math.hypot(*self.move)


def adapted_steps(log: SignalLog) -> list[AdaptedStep]:
    """Return the steps that step adaptation changed, the first ones first; empty where it is off."""
    signals = [f"step_adaptation::{name}" for name in ("nominal_foothold", "adapted_foothold", "delay")]
    if not all(name in log for name in (*signals, "stance_foot::is_left")):
        return []
    nominal, adapted, delays = (log[name] for name in signals)
    swings = np.isfinite(nominal).all(axis=1) & np.isfinite(adapted).all(axis=1)
    steps = []
    for first, last in runs_of(swings):
        stance = Side.LEFT if log["stance_foot::is_left"][first, 0] > 0.5 else Side.RIGHT
        height = f"{stance}_foot::position::desired"
        position = np.append(nominal[last, :2], log[height][last, 2] if height in log else 0.0)
        foothold = Footprint(stance.other, position, float(nominal[last, 2]), float(log.times[first]))
        move = _landing(log, stance.other, adapted, last) - nominal[last, :2]
        moves = np.linalg.norm((adapted - nominal)[first : last + 1, :2], axis=1)
        is_changed = (moves > _SAME_PLACE) | (np.abs(delays[first : last + 1, 0]) > _SAME_TIME)
        changed = log.times[first + is_changed.argmax() if is_changed.any() else last]
        step = AdaptedStep(foothold, move, float(delays[last, 0]), float(log.times[last]), float(changed))
        if step.distance > _SAME_PLACE or abs(step.delay) > _SAME_TIME:
            steps.append(step)
    return steps


def _landing(log: SignalLog, side: Side, adapted: NDArray, row: int) -> NDArray:
    """Return where a foot was to land in its last row, [m], shape (2,); one that lands there early stands as it is."""
    desired = f"{side}_foot::position::desired"
    has_landed = (
        desired in log and "walking::is_double_support" in log and log["walking::is_double_support"][row, 0] > 0.5
    )
    return np.asarray((log[desired] if has_landed else adapted)[row, :2])


def nominal_footprints(log: SignalLog) -> list[Footprint]:
    """Return where the plan had those steps that step adaptation moved, the first ones first; empty where it is off."""
    return [step.nominal for step in adapted_steps(log) if step.distance > _SAME_PLACE]


def _of_one_foot(log: SignalLog, side: Side) -> list[Footprint]:
    kind = next((kind for kind in _REST_SPEED if f"{side}_foot::position::{kind}" in log), None)
    if kind is None or len(log) < 2:
        return []
    positions = log[f"{side}_foot::position::{kind}"]
    orientation = f"{side}_foot::orientation::{kind}"
    yaws = log[orientation][:, 2] if orientation in log else np.zeros(len(log))
    prints: list[Footprint] = []
    for first, last in _rests(log.times, positions, _REST_SPEED[kind]):
        middle = (first + last) // 2
        position = np.median(positions[first : last + 1], axis=0)
        if not prints or np.linalg.norm(position - prints[-1].position) > _SAME_PLACE:
            prints.append(Footprint(side, position, float(yaws[middle]), float(log.times[first])))
    return prints


def _rests(times: NDArray, positions: NDArray, speed_limit: float) -> list[tuple[int, int]]:
    steps = np.maximum(np.diff(times), 1e-9)
    speeds: NDArray = np.linalg.norm(np.diff(positions, axis=0), axis=1) / steps
    rests = [(first, last + 1) for first, last in runs_of(speeds < speed_limit)]
    return [(first, last) for first, last in rests if times[last] - times[first] >= _REST_TIME]


def runs_of(flags: npt.ArrayLike) -> list[tuple[int, int]]:
    """Return the first and last index of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(flags), [False]]).astype(np.int8)))
    return [(int(first), int(last) - 1) for first, last in edges.reshape(-1, 2)]
