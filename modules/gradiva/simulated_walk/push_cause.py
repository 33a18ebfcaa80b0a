"""Infers from what a robot measured whether it was pushed before it fell, and what withstands such a push."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, Side, so3
from gradiva.simplified_model import SteppingMode
from gradiva.simulated_walk.fall_evidence import (
    AFTER,
    LONGEST_PUSH,
    RECENT,
    Cause,
    CauseKind,
    FallEvidence,
    direction,
    overloaded_joints,
    size_of,
)
from gradiva.simulated_walk.measured_walk import MeasuredWalk
from gradiva.telemetry import SignalLog, adapted_steps

_PUSHED = 0.12  # [-] of the weight: unexplained force of a push; noisy sensors make 0.1
_LOUDER = 1.3  # [-] than the largest unexplained force before
_SUSTAINED = 0.2  # [s] over which the force of a long push is averaged
_LEANED_ON = 0.05  # [-] of the weight: average of a long push; 0.08 of 40 N on iCub v3, walks before they fall: 0.02
_STEADY = 0.7  # [-] of this average, below which the force never falls; that of a foot that tips grows
_LOUDER_ON_AVERAGE = 2.0  # [-] than the largest average before
_GOOD_DCM_GAIN = 2.0  # [-] of the instantaneous law, against pushes
_MAPS = "gradiva experiment push_recovery maps the largest pushes"
_JUST_BEFORE = 1.2  # [s] before the first sign, where a push is looked for first: an early step that lands hard is none
_FADED = 0.5  # [-] of its largest force, below which a push is over: a foot that lands or tips after it adds its own


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
    moved = [step for step in adapted_steps(log) if step.nominal.time > begin - LONGEST_PUSH]
    if not moved:
        return _MAPS
    step, late = moved[0], round(1e3 * moved[0].delay)
    delay = f", {abs(late)} ms {'later' if late > 0 else 'earlier'}" if late else ""
    return f"the step that was moved by {1e3 * step.distance:.0f} mm{delay} did not reach the DCM: {_MAPS}"


def _unusual(evidence: FallEvidence, walk: MeasuredWalk, size: NDArray, window: float) -> npt.NDArray[np.intp]:
    """Return the rows, at most ``window`` [s] before the first sign, whose force is larger than any before them."""
    recent = walk.times > evidence.onset - window
    return np.flatnonzero(recent & (size > max(_PUSHED * walk.weight, _LOUDER * size[~recent].max(initial=0.0))))
