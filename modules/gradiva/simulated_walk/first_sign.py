"""Finds the first sign of a walk that ended badly: the quantity that left its healthy range first and did not return.

All is read from the log: of the simulator's truth, where it is logged, how soles slip, tilt and sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, NDArray, Side
from gradiva.robot_model import RobotDescription
from gradiva.simulated_walk.commanded_end import SLIP_TOLERANCE
from gradiva.simulated_walk.measured_walk import Mask, rotations_of
from gradiva.simulation import Push, SlipMeter
from gradiva.telemetry import SignalLog, adapted_steps

IntArray = npt.NDArray[np.int_]
_DEGREES = 180.0 / np.pi
_TILTED_SOLE = np.radians(8.0)  # [rad] soles of walks that do not fall tilt by up to 6°
_RECENT = 2.0  # [s] for so long a push is suspected of what goes wrong after it
_OFF_BALANCE = "DCM error", "CoM error"  # healthy walks leave the bounds of others for moments
_SLOW_RISE = 0.1  # [s] for which an error grew from half of its bound on: worth a word
_TAIL = 5  # [ticks] at the end of the log, in any of which a departed quantity is still outside
_RETURN = 0.3  # [s] for so long a quantity has to be inside its bound to have come back; a push lets it dip for 0.1 s
_LOADED = 0.1  # [-] of the weight, on a foot that stands

_POSITION = "simulation::{}_foot::position"

HEALTHY_ERRORS = {"dcm": 0.06, "zmp": 0.08, "com": 0.04, "foot": 0.04}
"""Distance from the reference, [m], below which healthy walks stay."""


@dataclass(frozen=True, slots=True, eq=False)
class WatchedQuantity:
    """A quantity that stays small while the robot walks well.

    Attributes:
        name: In the report.
        values: Its size over the log, shape (T,); NaN where it is not known.
        bound: What healthy walks stay below.
        unit: In which it is written, with the space before it.
        scale: From the values to that unit.
        settles: Time inside the bound after which it has come back, [s].
        settles_anew: The same where references restarted where the robot was, which makes errors zero, [s].
    """

    name: str
    values: NDArray
    bound: float
    unit: str
    scale: float
    settles: float = _RETURN
    settles_anew: float = _RETURN

    def rise(self, row: int) -> int:
        """Return the row from which on the quantity was beyond half of its bound up to ``row``."""
        within = ~(_last_known(self.values[: row + 1]) > 0.5 * self.bound)
        return int(np.flatnonzero(within)[-1]) + 1 if within.any() else 0

    @property
    def outside(self) -> IntArray:
        """Rows in which it is beyond its bound, or was when it was known last, shape (n,)."""
        return np.flatnonzero(_last_known(self.values) > self.bound)

    def departure(self, times: NDArray, restarts: Sequence[tuple[float, float]] = ()) -> int | None:
        """Return the row at which the quantity left its bound for good; None when it did not.

        Where it is not known, as for a sole in the air, it is what it was last.

        Args:
            times: Of the rows, [s], shape (T,); a stay inside the bound that is shorter than `settles` is no return.
            restarts: Begin and end of times in which references restarted, [s].
        """
        outside = self.outside
        if not len(outside):
            return None
        left, back = times[outside], np.append(times[outside[1:]], times[-1])
        needed = np.full(len(outside), self.settles)
        if self.settles == _RETURN:
            needed[-1] = times[-1] - times[-min(_TAIL, len(times))]
        for begin, end in restarts if self.settles_anew > self.settles else ():
            needed[(begin <= back) & (left <= end)] = self.settles_anew
        returns = np.flatnonzero(back - left > needed)
        rows = outside[returns[-1] + 1 :] if len(returns) else outside
        return int(rows[0]) if len(rows) else None


def _last_known(values: NDArray) -> NDArray:
    """Return values of which each NaN is the last number before it; NaN where there is none."""
    rows = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))))
    return np.asarray(values[rows])


def first_sign(log: SignalLog, robot: RobotDescription | None = None) -> tuple[float | None, str]:
    """Return when something left its bounds, [s], and what, with value and support phase; nothing where nothing did.

    Where all came back, it is the first slip: what a sole has slipped is not undone.

    Args:
        log: Of the walk.
        robot: Its mass and soles, by which a slip is known; None: that is not looked at.
    """
    if not len(log):
        return None, ""
    slips = [] if robot is None else _watched_slip(log, robot)
    restarts = [(step.changed, step.end) for step in adapted_steps(log)]
    watched = [*slips, *_watched(log)]
    departures = [(row, each) for each in watched if (row := each.departure(log.times, restarts)) is not None]
    departures = departures or [(int(rows[0]), slip) for slip in slips if len(rows := slip.outside)]
    if not departures:
        return None, ""
    row, first = min(departures, key=lambda departure: departure[0])
    time, begin = float(log.times[row]), float(log.times[first.rise(row)])
    value, before = (first.scale * first.values[each] for each in (row, first.rise(row)))
    text = f"{first.name} {value:.0f}{first.unit} at {time:.2f} s"
    if time - begin >= _SLOW_RISE:
        text += f" ({before:.0f}{first.unit} at {begin:.2f} s)"
    return time, f"{text}, {_phase(log, row)}{_step_before(log, time)}"


def pushes_before(log: SignalLog, pushes: Sequence[Push], onset: float) -> tuple[Push, ...]:
    """Return the pushes that began before a time [s] and from which DCM and CoM had not recovered for 2 s."""
    watched = [each for each in _watched(log) if each.name in _OFF_BALANCE] if len(log) else []
    outside = np.any([each.values > each.bound for each in watched], axis=0) if watched else np.zeros(0, dtype=bool)
    begin = onset
    for time in log.times[: len(outside)][outside][::-1]:
        begin = float(time) if begin - _RECENT <= time < begin else begin
    return tuple(push for push in pushes if push.start <= onset and begin <= push.end + _RECENT)


def onset_of(log: SignalLog, end: float) -> float:
    """Return up to when causes are looked for, [s]: the first sign other than a slip, by which friction is measured.

    Args:
        log: Of the walk.
        end: When the walk ended, [s]; it is returned where there is no such sign.
    """
    time, _ = first_sign(log)
    return end if time is None else time


def _step_before(log: SignalLog, time: float) -> str:
    """Return in words the last step that was adapted and lifted off shortly before a time [s]; empty where none did.

    It restarts the references where the robot is, so that errors leave their bounds for good later than it is moved.
    """
    steps = [step for step in adapted_steps(log) if time - _RECENT < step.nominal.time and step.changed < time]
    if not steps:
        return ""
    lifted, changed = steps[-1].nominal.time, steps[-1].changed
    return f" (earlier, at {changed:.2f} s, step adaptation changed the step that lifted off at {lifted:.2f} s)"


def _watched(log: SignalLog) -> list[WatchedQuantity]:
    anew = {"settles_anew": _RECENT}
    quantities = [
        WatchedQuantity("DCM error", _gap(log, "dcm::position"), HEALTHY_ERRORS["dcm"], " cm", 100.0, **anew),
        WatchedQuantity("ZMP error", _gap(log, "zmp"), HEALTHY_ERRORS["zmp"], " cm", 100.0),
        WatchedQuantity("CoM error", _gap(log, "com::position"), HEALTHY_ERRORS["com"], " cm", 100.0, **anew),
    ]
    for side in Side:
        path, turn = _gap(log, f"{side}_foot::position", 2), _foot_turn(log, side)
        quantities += [
            WatchedQuantity(f"{side} foot off its path by", path, HEALTHY_ERRORS["foot"], " cm", 100.0, **anew),
            WatchedQuantity(f"{side} foot turned by", turn, np.radians(6.0), "°", _DEGREES, **anew),
            *_watched_of_sole(log, side),
        ]
    return quantities


def _watched_slip(log: SignalLog, robot: RobotDescription) -> list[WatchedQuantity]:
    """Return the slip of either sole, named after the one that slips first; it begins anew with each step.

    It is the simulator's truth where that is logged, else what a robot measures.
    """
    is_true = _POSITION.format(Side.LEFT) in log
    slips = sole_slips(log, robot) if is_true else {None: measured_slip(log, robot)}
    values = np.max([np.nan_to_num(each) for each in slips.values()], axis=0)
    name = "soles slipped against each other by"
    slip = WatchedQuantity(name, values, SLIP_TOLERANCE, " mm", 1000.0, _RECENT, _RECENT)
    if not len(slip.outside) or not is_true:
        return [slip]
    departed = slip.departure(log.times)
    row = slip.outside[0] if departed is None else departed
    side = max(slips, key=lambda each: float(np.nan_to_num(slips[each][row])))
    return [replace(slip, name=f"{side} foot slipped by")]


def sole_slips(log: SignalLog, robot: RobotDescription) -> dict[Side, NDArray]:
    """Return for each foot how far its sole has slipped since its touch-down, [m], shape (T,); NaN in the air.

    By the simulator's truth, of a foot that the plan has on the ground: one that scuffs as it swings does not slip.
    """
    feet = {side: _sole(log, robot, side, f"simulation::{side}_foot", "") for side in Side}
    return {side: _slip(*sole, _is_loaded(log, robot, side)) for side, sole in feet.items()}


def measured_slip(log: SignalLog, robot: RobotDescription) -> NDArray:
    """Return how far two soles have moved against each other since both carry load, [m], shape (T,); else NaN.

    A robot knows no more: where it stands on one foot, that foot is what it takes to stand still.
    """
    (left, rotation), (right, base) = (_sole(log, robot, side, f"{side}_foot", "::measured") for side in Side)
    heading = np.arctan2(base[:, 1, 0], base[:, 0, 0])
    to_right = rotations_of(-heading[:, None] * [0.0, 0.0, 1.0])
    both = _is_loaded(log, robot, Side.LEFT) & _is_loaded(log, robot, Side.RIGHT)
    return _slip((to_right @ (left - right)[:, :, None])[:, :, 0], to_right @ rotation, both)


def _sole(log: SignalLog, robot: RobotDescription, side: Side, foot: str, end: str) -> tuple[NDArray, NDArray]:
    """Return the middle of the face of a sole, [m], shape (T, 3), and its rotation, shape (T, 3, 3)."""
    rotations = rotations_of(log[f"{foot}::orientation{end}"])
    return log[f"{foot}::position{end}"] + rotations @ robot.sole.middle(side), rotations


def _slip(positions: NDArray, rotations: NDArray, is_loaded: Mask) -> NDArray:
    """Return what a slip meter shows, [m], shape (T,)."""
    meter = SlipMeter(0.0)
    samples = zip(positions, rotations, is_loaded.astype(float).tolist(), strict=True)
    return np.array([meter.update(Side.LEFT, *sample) for sample in samples])


def _is_loaded(log: SignalLog, robot: RobotDescription, side: Side) -> Mask:
    """Return in which rows a foot stands by the plan and carries load.

    By the simulator, which logs how a loaded sole is tilted; else as measured, from a tenth of the weight on.
    """
    is_stance = (log["stance_foot::is_left"][:, 0] > 0.5) == (side is Side.LEFT)
    stands = is_stance | (log["walking::is_double_support"][:, 0] > 0.5)
    if (tilt := f"simulation::{side}_foot::tilt") in log:
        return np.asarray(stands & np.isfinite(log[tilt][:, 0]))
    return np.asarray(stands & (log[f"{side}_foot::linear_force::measured"][:, 2] > _LOADED * robot.mass * GRAVITY))


def _watched_of_sole(log: SignalLog, side: Side) -> list[WatchedQuantity]:
    """Return how a sole that carries load stands in the ground; nothing where it is not logged."""
    tilt, sinkage = (f"simulation::{side}_foot::{quantity}" for quantity in ("tilt", "sinkage"))
    if tilt not in log:
        return []
    return [
        WatchedQuantity(f"{side} sole tilted by", log[tilt][:, 0], _TILTED_SOLE, "°", _DEGREES),
        WatchedQuantity(f"{side} sole sunk by", log[sinkage][:, 0], 0.10, " cm", 100.0),
    ]


def _phase(log: SignalLog, row: int) -> str:
    if log["walking::is_double_support"][row, 0] > 0.5:
        return "in double support"
    stance = Side.LEFT if log["stance_foot::is_left"][row, 0] > 0.5 else Side.RIGHT
    return f"while the {stance} foot carried the robot"


def _gap(log: SignalLog, quantity: str, axes: int = 3) -> NDArray:
    """Return the distance of the first axes of a quantity from its reference."""
    gap = log[f"{quantity}::measured"] - log[f"{quantity}::desired"]
    return np.linalg.norm(gap[:, :axes], axis=1)


def _foot_turn(log: SignalLog, side: Side) -> NDArray:
    turn = log[f"{side}_foot::orientation::measured"][:, 2] - log[f"{side}_foot::orientation::desired"][:, 2]
    return np.abs(np.arctan2(np.sin(turn), np.cos(turn)))
