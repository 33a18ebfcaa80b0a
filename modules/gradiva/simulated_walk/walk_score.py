"""Scores a walk: tracking errors, distance and speeds, energy, limits of torque control."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side
from gradiva.simulated_walk.simulated_walk import PARTS
from gradiva.telemetry import AdaptedStep, BoolArray, SignalLog, adapted_steps, runs_of
from gradiva.walking import WalkingLog

_STEPPING = (
    "step_adaptation_active_s",
    "adapted_steps",
    "largest_step_change_m",
    "largest_step_change_at_s",
    "largest_step_delay_s",
    "largest_step_delay_at_s",
)
_FALLING = 0.35  # [rad] tilt of the base at which a foot that comes down makes no step; robots that walk on: below 0.2
_SAME_PLACE, _SAME_HEADING = 0.01, math.radians(1.0)  # [m], [rad] of a foot that steps on the spot
_SAME_TIME = 0.0005  # [s] of a touch-down that is neither earlier nor later, as it is read
_SATURATED = "torque_control::saturated_joints"
_VIOLATION = "torque_control::violation::"
_NEGLIGIBLE = 1e-3  # in units of the constraints, mostly N, N·m and m/s²: relaxable ones are never met exactly
IntArray = npt.NDArray[np.int_]


def score(log: SignalLog, duration_after: float = 2.0, *, adapts_steps: bool = False) -> dict[str, Any]:
    """Return the figures from the first weight shift until ``duration_after`` [s] past the last.

    ``mean_speed_mps`` counts the time from the first weight shift to the end of the last one, ``walking_speed_mps``
    that from the first lift-off to the last touch-down. ``tick_us`` counts all ticks, as the plot does.

    Args:
        log: Recorded by ``WalkingRecorder``.
        duration_after: Of the final stand that still counts, [s].
        adapts_steps: Whether step adaptation is on, which a robot that falls while it stands does not log.
    """
    if len(log) == 0:
        return _nothing() | _stepping(log, adapts_steps)
    window = _window(log, duration_after)
    path = walked_path(log, window)
    tilt = _tilt(log["simulation::root_link::orientation"])
    return {
        "distance_m": path.length,
        "mean_speed_mps": _mean_speed(path.length, _walking_time(log)),
        "walking_speed_mps": _mean_speed(path.length, path.stepping_time),
        "peak_speed_mps": path.peak_speed,
        "com_error_m": _error(log, window, "com::position::measured", "com::position::desired"),
        "dcm_error_m": _error(log, window, "dcm::position::measured", "dcm::position::desired"),
        "zmp_error_m": _error(log, window, "zmp::measured", "zmp::desired"),
        "foot_error_m": rms_and_max(np.concatenate([_foot_distances(log, window, side) for side in Side])),
        "foot_yaw_error_rad": rms_and_max(np.concatenate([_foot_turns(log, window, side) for side in Side])),
        "sinkage_m": _largest(log, window, "sinkage"),
        "foot_tilt_rad": _largest(log, window, "tilt"),
        "odometry_drift_m": _drift(log, window),
        "flexible_joints": flexible_score(log, window),
        **_stepping(log, adapts_steps),
        "torque_control": torque_score(log, window),
        "max_tilt_rad": float(np.max(np.abs(tilt[window] - tilt[0]))),
        "tick_us": {part: _spread(log[f"tick::{part}"][:, 0]) for part in PARTS},
    }


def with_freeze(figures: dict[str, Any], tick: WalkingLog | None) -> dict[str, Any]:
    """Return the figures with the errors of the tick that froze the robot, after the last one of the log.

    Args:
        figures: Of `score`.
        tick: That froze the robot; None: none did.
    """
    if tick is None or tick.robot_state is None or tick.reference is None:
        return figures
    state, reference = tick.robot_state, tick.reference
    last = {
        "com_error_m": float(np.linalg.norm(state.com_position - reference.com_position)),
        "dcm_error_m": float(np.linalg.norm(state.dcm_position - reference.dcm.position)),
    }
    errors = {key: figures[key] | {"max": max(value, figures[key]["max"] or 0.0)} for key, value in last.items()}
    return figures | errors


def com_error(log: SignalLog, duration_after: float = 2.0) -> tuple[NDArray, NDArray]:
    """Return the times [s], shape (T,), and how far the CoM is from its reference, [m], shape (T,), as in `score`.

    Any log of walking signals will do, also one without the simulator's truth.
    """
    window = _window(log, duration_after)
    return log.times[window], _distances(log, window, "com::position::measured", "com::position::desired")


def rms_and_max(values: NDArray) -> dict[str, float]:
    """Return root mean square and greatest of distances."""
    return {"rms": float(math.sqrt(np.mean(values**2))), "max": float(values.max())}


def specific_energetic_cost(energy: float, mass: float, distance: float) -> float | None:
    """Return the energy per mass and distance, [J/kg/m]; None for a robot that went nowhere."""
    return energy / (mass * distance) if distance > 0.05 else None


def _nothing() -> dict[str, Any]:
    """The figures of a robot that went down before it balanced."""
    errors = ("com_error_m", "dcm_error_m", "zmp_error_m", "foot_error_m", "foot_yaw_error_rad")
    return {
        "distance_m": 0.0,
        "mean_speed_mps": 0.0,
        "walking_speed_mps": 0.0,
        "peak_speed_mps": 0.0,
        **{name: {"rms": None, "max": None} for name in errors},
        "sinkage_m": None,
        "foot_tilt_rad": None,
        "odometry_drift_m": None,
        "flexible_joints": None,
        "torque_control": None,
        "max_tilt_rad": None,
        "tick_us": {part: {"median": None, "p99": None, "max": None} for part in PARTS},
    }


def _stepping(log: SignalLog, is_on: bool) -> dict[str, Any]:
    """Return how long step adaptation answered, how many steps it changed, by how much at most, and when they began.

    None while it is off. Earlier is negative. The largest change is of steps that came down on the ground, not of feet
    of a robot that falls; None where no changed step did.
    """
    is_logged = "step_adaptation::delay" in log and np.isfinite(log["step_adaptation::nominal_foothold"]).any()
    if not is_on and not is_logged:
        return dict.fromkeys(_STEPPING)
    changed = adapted_steps(log) if is_logged else []
    active = _duration_of(log, "step_adaptation::is_active")
    steps = [step for step in changed if _has_landed(log, step)]
    if not steps:
        largest = None if changed else 0.0
        return dict(zip(_STEPPING, (active, len(changed), largest, None, largest, None), strict=True))
    moved, late = max(steps, key=lambda step: step.distance), max(steps, key=lambda step: abs(step.delay))
    at = late.nominal.time if abs(late.delay) > _SAME_TIME else None
    changes = moved.distance, moved.nominal.time, late.delay, at
    return dict(zip(_STEPPING, (active, len(changed), *changes), strict=True))


def _duration_of(log: SignalLog, flag: str) -> float:
    """Return for how long a flag of the log was set, [s]; zero where it is not logged."""
    if flag not in log or len(log) < 2:
        return 0.0
    return float(np.diff(log.times) @ (log[flag][:-1, 0] > 0.5))


def _has_landed(log: SignalLog, step: AdaptedStep) -> bool:
    """Return whether the log goes on after the swing of a step, at whose end the robot did not fall."""
    after = np.flatnonzero(log.times > step.end)[:1]
    return bool(_is_upright(log, after).any())


def _is_upright(log: SignalLog, rows: IntArray) -> BoolArray:
    """Return in which of some rows the base tilts less than that of a robot that falls; all where it is not known."""
    orientation = "simulation::root_link::orientation"
    return np.asarray(
        _tilt(log[orientation][rows]) < _FALLING if orientation in log else np.ones(len(rows), dtype=bool)
    )


def steps_of(log: SignalLog) -> tuple[int, int]:
    """Return how many steps the robot has ended, by the plan that it followed, and how many of them on the spot."""
    if not len(log):
        return 0, 0
    middles = _double_supports(log["walking::is_double_support"][:, 0] > 0.5)[2]
    places = [log[f"{side}_foot::position::desired"][middles, :2] for side in Side]
    headings = [log[f"{side}_foot::orientation::desired"][middles, 2] for side in Side]
    return max(0, len(middles) - 1), steps_on_the_spot(np.stack(places), np.stack(headings))


def steps_on_the_spot(places: NDArray, headings: NDArray) -> int:
    """Return how many steps led no foot elsewhere.

    Args:
        places: Of the left and the right foot before the first step and after each, [m], shape (2, n + 1, 2).
        headings: The same, [rad], shape (2, n + 1).
    """
    moves, turns = np.linalg.norm(np.diff(places, axis=1), axis=2), np.diff(headings, axis=1)
    is_still = (moves < _SAME_PLACE) & (np.abs(np.arctan2(np.sin(turns), np.cos(turns))) < _SAME_HEADING)
    return int(np.count_nonzero(is_still.all(axis=0)))


def _window(log: SignalLog, duration_after: float) -> slice:
    walking = np.flatnonzero(log["walking::is_walking"][:, 0] > 0.5)
    if len(walking) == 0:
        return slice(0, len(log.times))
    end = np.searchsorted(log.times, log.times[walking[-1]] + duration_after, side="right")
    return slice(int(walking[0]), int(end))


def _walking_time(log: SignalLog) -> float:
    walking = log.times[log["walking::is_walking"][:, 0] > 0.5]
    return float(walking[-1] - walking[0]) if len(walking) else 0.0


def _mean_speed(length: float, duration: float) -> float:
    """Return [m/s]; zero for a robot that went down before its first step."""
    return length / duration if duration > 0.0 else 0.0


def _error(log: SignalLog, window: slice, measured: str, desired: str) -> dict[str, float]:
    return rms_and_max(_distances(log, window, measured, desired))


def _distances(log: SignalLog, window: slice, measured: str, desired: str) -> NDArray:
    return np.linalg.norm(log[measured][window] - log[desired][window], axis=1)


def _foot_distances(log: SignalLog, window: slice, side: Side) -> NDArray:
    """Return the distance of a foot from its reference on the ground plane, [m]; its depth is another figure."""
    measured, desired = (log[f"{side}_foot::position::{kind}"][window, :2] for kind in ("measured", "desired"))
    return np.linalg.norm(measured - desired, axis=1)


def _foot_turns(log: SignalLog, window: slice, side: Side) -> NDArray:
    """Return the angle of a foot from its reference about the vertical, [rad], not negative."""
    measured, desired = (log[f"{side}_foot::orientation::{kind}"][window, 2] for kind in ("measured", "desired"))
    return np.abs(np.arctan2(np.sin(measured - desired), np.cos(measured - desired)))


@dataclass(frozen=True, slots=True)
class LastingTilt:
    """Tilt of a sole from the floor that lasts while the sole carries a tenth of the weight.

    Attributes:
        side: Of the foot.
        angle: Below which the sole does not come for as long as was asked, [rad].
        bound: Beyond which it counts, or the angle where that is smaller, [rad].
        begin: When the sole came beyond the bound, [s].
        duration: Time for which it stayed beyond it, [s].
    """

    side: Side
    angle: float
    bound: float
    begin: float
    duration: float

    def __str__(self) -> str:
        """Return foot, angle, time and duration."""
        angle, bound = (math.degrees(each) for each in (self.angle, self.bound))
        return (
            f"{self.side} sole tilted by {angle:.0f}° while it carried load, at {self.begin:.2f} s:"
            f" beyond {bound:.0f}° for {self.duration:.2f} s"
        )


def lasting_sole_tilt(log: SignalLog, duration: float, bound: float, since: float = -math.inf) -> LastingTilt | None:
    """Return the largest tilt below which a loaded sole does not come for a ``duration`` [s]; None: unknown.

    Args:
        log: With the tilts of the soles, which are no numbers without load.
        duration: For which a tilt has to last, [s].
        bound: Beyond which a sole is tilted, [rad].
        since: Time from which on the log is looked at, [s].
    """
    sides = [side for side in Side if f"simulation::{side}_foot::tilt" in log]
    rows = log.times >= since
    times = log.times[rows]
    tick = float(np.median(np.diff(times))) if len(times) > 1 else math.inf
    count = round(duration / tick)
    if not sides or not 0 < count <= len(times):
        return None
    tilts = np.nan_to_num(np.stack([log[f"simulation::{side}_foot::tilt"][rows, 0] for side in sides]))  # no load: 0
    lasting = np.lib.stride_tricks.sliding_window_view(tilts, count, axis=1).min(axis=-1)
    foot, row = divmod(int(lasting.argmax()), lasting.shape[1])
    angle = float(lasting[foot, row])
    first, last = next(run for run in runs_of(tilts[foot] >= min(bound, angle)) if run[0] <= row <= run[1])
    begin, end = times[[first, last]].tolist()
    return LastingTilt(sides[foot], angle, min(bound, angle), begin, end - begin + tick)


def _largest(log: SignalLog, window: slice, quantity: str) -> float | None:
    """Return the largest value of either foot while it carries load; None where none ever did, or it is not logged."""
    names = [name for side in Side if (name := f"simulation::{side}_foot::{quantity}") in log]
    values = np.concatenate([log[name][window, 0] for name in names]) if names else np.zeros(0)
    loaded = values[np.isfinite(values)]
    return float(loaded.max()) if len(loaded) else None


def _drift(log: SignalLog, window: slice) -> float:
    """Return how much farther apart truth and estimate are at the end than at the beginning."""
    gap = log["simulation::root_link::position"][:, :2] - log["odometry::root_link::position"][:, :2]
    return float(np.linalg.norm(gap[window][-1] - gap[window][0]))


def _tilt(roll_pitch_yaw: NDArray) -> NDArray:
    return np.arccos(np.cos(roll_pitch_yaw[:, 0]) * np.cos(roll_pitch_yaw[:, 1]))


def _spread(values: NDArray) -> Mapping[str, float]:
    median, p99 = np.percentile(values, [50, 99])
    return {"median": float(median), "p99": float(p99), "max": float(values.max())}


# -- landings ----------------------------------------------------------------------------------------------------------

_HIT = 0.005  # [s] over which a landing force is a mean: a stiff floor takes the velocity of a sole in 3 to 5 ms
EARLY_LANDING = 0.08  # [s] median of a healthy walk; by position control on the plant `robot` at most 0.07
LANDING_FORCE = 2.5  # [weights] of a healthy walk; on `ideal` at most 1.3, by position control on `robot` 1.9
BOUNCES = 2.5  # [-] a landing of a healthy walk; on the plant `ideal` by torque at most 2.0, by position control 0.6
_TOUCHES, _LEAVES = 0.05, 0.01  # [-] of the weight, on a sole that comes to the ground and that is in the air again


def landing_force(times: NDArray, is_single: BoolArray, loads: NDArray) -> float | None:
    """Return the largest normal force of a foot from the first lift-off on, over the weight, [-]; None before it.

    It is a mean over 5 ms, or over a tick where that is longer.

    Args:
        times: Of the ticks, [s], shape (T,).
        is_single: Whether one foot stands alone by the plan, shape (T,).
        loads: Normal forces over the weight, as means over each tick, [-], shape (T, 2).
    """
    swings = np.flatnonzero(is_single)
    means = _means(times, loads[swings[0] if len(swings) else len(loads) :])
    return float(means.max()) if len(means) else None


def _means(times: NDArray, loads: NDArray) -> NDArray:
    """Return the means of loads over 5 ms, or over a tick where that is longer, one for each time that is whole."""
    count = math.ceil(_HIT / float(np.median(np.diff(times))) - 1e-6) if len(times) > 1 else 1
    if len(loads) < count:
        return loads[:0]
    sums = np.cumsum(np.concatenate((np.zeros((1, 2)), loads)), axis=0)
    return np.asarray((sums[count:] - sums[:-count]) / count)


def landing_score(times: NDArray, is_single: BoolArray, loads: NDArray) -> dict[str, Any]:
    """Return how early soles come down beside the plan that is followed, and how often they bounce; None: no landing.

    A sole touches from a twentieth of the weight on and leaves the ground below a hundredth, as means over 5 ms or a
    longer tick, so that ticks of any length count the same. A landing is a time in
    which one foot stands alone by the plan and both after it; the sole is looked at from the middle of its swing to
    its next lift-off. One that is loaded in the middle already counts as touching from there on.

    Args:
        times: As in `landing_force`, like the others.
        is_single: Likewise by name.
        loads: Likewise by name.
    """
    loads = _means(times, loads)
    times, is_single = times[len(times) - len(loads) :], is_single[len(is_single) - len(loads) :]
    runs = runs_of(is_single)
    ends = [*(first for first, _ in runs), len(times)][1:] if runs else []
    early, bounces = [], []
    for (first, last), end in zip(runs, ends, strict=True):
        middle, foot = (first + last + 1) // 2, int(loads[first : last + 1].sum(axis=0).argmin())
        touches = _touch_downs(loads[middle:end, foot])
        if last + 1 < end and touches:
            early.append(float(times[last + 1] - times[middle + touches[0]]))
            bounces.append(len(touches) - 1)
    if not early:
        return {"early_landing_s": {"median": None, "max": None}, "bounces_per_landing": None}
    return {
        "early_landing_s": {"median": float(np.median(early)), "max": max(early)},
        "bounces_per_landing": sum(bounces) / len(bounces),
    }


def _touch_downs(loads: NDArray) -> list[int]:
    """Return the rows in which a sole comes to the ground, of its loads over the weight, shape (T,)."""
    rows, touches = list[int](), False
    for row, load in enumerate(loads.tolist()):
        if not touches and load >= _TOUCHES:
            rows.append(row)
        touches = load >= _LEAVES if touches else load >= _TOUCHES
    return rows


# -- links that bend ---------------------------------------------------------------------------------------------------

_DEFLECTIONS, _OBSERVED = "simulation::flexible_joints::positions", "flexible_joints::positions::estimated"


def flexible_score(log: SignalLog, window: slice) -> dict[str, Any] | None:
    """Return figures of flexible joints, None of a plant whose links do not bend.

    The largest deflection, true and observed, the error of the observed ones (None where nothing observes them), and
    that of the true CoM: the estimated one takes the legs to be as the controller knows them.
    """
    if _DEFLECTIONS not in log:
        return None
    errors = deflection_errors(log)
    return {
        "deflection_rad": float(np.abs(log[_DEFLECTIONS][window]).max()),
        "observed_deflection_rad": float(np.abs(log[_OBSERVED][window]).max()) if errors.size else None,
        "deflection_error_rad": rms_and_max(errors[window].ravel()) if errors.size else None,
        "true_com_error_m": rms_and_max(np.linalg.norm(true_com_errors(log)[window], axis=1)),
    }


def true_deflections(log: SignalLog) -> NDArray:
    """Return the deflections of the plant's flexible joints, [rad], shape (T, f); f is 0 for a rigid one."""
    return log[_DEFLECTIONS] if _DEFLECTIONS in log else np.zeros((len(log), 0))


def deflection_errors(log: SignalLog) -> NDArray:
    """Return observed less true deflections of the joints that bend and are observed, [rad], shape (T, f)."""
    true = log.info(_DEFLECTIONS).elements if _DEFLECTIONS in log else ()
    observed = log.info(_OBSERVED).elements if _OBSERVED in log else ()
    both = [(observed.index(name), true.index(name)) for name in true if name in observed]
    if not both:
        return np.zeros((len(log), 0))
    estimates, truths = map(list, zip(*both, strict=True))
    return log[_OBSERVED][:, estimates] - log[_DEFLECTIONS][:, truths]


def true_com_errors(log: SignalLog) -> NDArray:
    """Return the true CoM less its reference, both seen from the stance sole: world axes of the plan, [m], (T, 3)."""
    is_left = log["stance_foot::is_left"] > 0.5

    def of_stance(signal: str) -> NDArray:
        left, right = (log[signal.format(side=side)] for side in Side)
        return np.where(is_left, left, right)

    turn = (
        of_stance("simulation::{side}_foot::orientation")[:, 2] - of_stance("{side}_foot::orientation::desired")[:, 2]
    )
    seen = log["simulation::com::position"] - of_stance("simulation::{side}_foot::position")
    cosine, sine = np.cos(turn), np.sin(turn)
    turned = np.column_stack(
        (cosine * seen[:, 0] + sine * seen[:, 1], cosine * seen[:, 1] - sine * seen[:, 0], seen[:, 2])
    )
    return turned - (log["com::position::desired"] - of_stance("{side}_foot::position::desired"))


# -- limits of torque control ------------------------------------------------------------------------------------------


def torque_score(log: SignalLog, window: slice) -> dict[str, Any] | None:
    """Return fractions of the logged ticks, and the worst; None where torques are not controlled.

    Args:
        log: With the signals of ``torque_signals``.
        window: The rows that count.
    """
    if _SATURATED not in log:
        return None
    violations = {name.removeprefix(_VIOLATION): log[name][window, 0] for name in log if name.startswith(_VIOLATION)}
    return {
        "saturated_fraction": float(np.mean(log[_SATURATED][window, 0] > 0.0)),
        "violations": {
            name: {"fraction": float(np.mean(values > _NEGLIGIBLE)), "max": float(values.max())}
            for name, values in violations.items()
            if values.max() > _NEGLIGIBLE
        },
    }


# -- distance and speeds -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """The way of the middle of the feet.

    Attributes:
        length: Along it, [m].
        peak_speed: Of the fastest stride, or of the walk where that is faster, [m/s]; zero before a whole step.
        stepping_time: From the first lift-off to the last touch-down, [s]; zero before a whole step.
    """

    length: float
    peak_speed: float
    stepping_time: float


def walked_path(log: SignalLog, window: slice) -> WalkedPath:
    r"""Return the way of the middle of the feet from stride to stride, by the simulator's truth.

    Its points lie in the middles of double supports, where both feet rest. From each of them to the next but one both
    feet have stepped, so that neither the body's sway nor the turn of a single foot about the middle is a way; a last
    step that is left over counts alone, one that was not ended not at all, nor one that a robot ended as it fell. The
    fastest stride is no slower than the walk, whose time begins later. Two points are taken to lie on an arc, as those
    of a unicycle do: of the chord c and the change of heading :math:`\Delta\psi` its length is

    .. math:: s = c \, \frac{\Delta\psi / 2}{\sin(\Delta\psi / 2)}

    Args:
        log: With ``simulation::*_foot::*`` and ``walking::is_double_support``.
        window: The rows that count.
    """
    begins, ends, middles = _double_supports(log["walking::is_double_support"][window, 0] > 0.5)
    stands = _is_upright(log, np.arange(len(log))[window][begins])
    positions, headings = _middle_of_feet(log, window, middles[stands])
    times = log.times[window][begins[stands]]
    strides, steps = _arcs(positions, headings, 2), _arcs(positions, headings, 1)
    left_over = steps[-1:] if len(steps) % 2 else steps[:0]
    stepping = float(times[-1] - log.times[window][ends[0]]) if len(times) > 1 else 0.0
    length = float(strides[::2].sum() + left_over.sum())
    speeds = strides / (times[2:] - times[:-2])
    return WalkedPath(length, float(np.max(speeds, initial=_mean_speed(length, stepping))), stepping)


def middles_of_feet(log: SignalLog) -> NDArray:
    """Return where the middle of the feet was in the middle of each double support, by the truth, [m], shape (n, 2)."""
    rows = _double_supports(log["walking::is_double_support"][:, 0] > 0.5)[2]
    return _middle_of_feet(log, slice(None), rows)[0]


def _arcs(positions: NDArray, headings: NDArray, steps: int) -> NDArray:
    """Return the lengths of the arcs from each point to the one ``steps`` later, [m]."""
    chords = np.linalg.norm(positions[steps:] - positions[:-steps], axis=1)
    turns = headings[steps:] - headings[:-steps]
    return chords / np.sinc(0.5 * turns / np.pi)


def _double_supports(is_double_support: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first row of each, the first row after it, and its middle row, shape (n,) each."""
    changes = np.diff(np.concatenate([[0], is_double_support.astype(int), [0]]))
    begins, ends = np.flatnonzero(changes > 0), np.flatnonzero(changes < 0)
    return begins, ends, (begins + ends) // 2


def _middle_of_feet(log: SignalLog, window: slice, rows: IntArray) -> tuple[NDArray, NDArray]:
    """Return where it is, [m], shape (n, 2), and its heading, [rad], shape (n,), in rows of the window."""
    feet = [log[f"simulation::{side}_foot::position"][window][rows, :2] for side in Side]
    yaws = [log[f"simulation::{side}_foot::orientation"][window][rows, 2] for side in Side]
    return np.mean(feet, axis=0), np.unwrap(np.unwrap(yaws, axis=0).mean(axis=0))
