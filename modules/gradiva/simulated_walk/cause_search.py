"""Searches for the cause of a bad end: repeats the walk without one difference after the other, and follows advice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant
from gradiva.setup.changed_keys import flat_keys
from gradiva.simulated_walk.fall_causes import maps_of_pushes
from gradiva.simulated_walk.fall_evidence import Cause, CauseKind
from gradiva.simulated_walk.known_causes import (
    LATER,
    PUSHES,
    BadEnd,
    Difference,
    KnownWalk,
    Trial,
    differences,
    lower_speeds,
)

_MOST_WALKS = 8
_PUSH_WALKS = 5  # of the bisection for the largest push that is held: to a thirty-second of the one that was not
_WATCHED = 4.0  # [s] after a push in which a robot that holds it does not fall
_MODE, _ADAPTED = "step_adaptation.mode", str(SteppingMode.PLACE_AND_TIME)
_PARTNERS = {CauseKind.SLOPE: CauseKind.PUSH, CauseKind.PUSH: CauseKind.SLOPE}  # on a slope a smaller push fells
PLANT_PARTS: Mapping[str, tuple[str, ...]] = {
    "errors and ages of its sensors": ("simulation.sensors.", "simulation.transport."),
    "friction, play and rotors of its gears": (
        "simulation.friction.",
        "simulation.plant.gear",
        "simulation.plant.rotor",
    ),
    "its motors and servos": ("simulation.motors.", "simulation.servo."),
    "its floor and the errors of its masses and soles": (
        "simulation.ground.",
        "simulation.model_errors.",
        "simulation.plant.mass",
    ),
}
"""Parts of a plant in words, to the beginnings of their keys."""


def tried_cause(
    known: KnownWalk,
    inferred: Cause | None,
    report: Callable[[str], None],
    measured: CauseKind | None = None,
) -> Cause | None:
    """Return the first difference without which the robot does better, what was inferred where there is none.

    A fall is chance in part: without a harmless difference the robot may stand as well. So differences of the kind that
    the measurements name are tried before all others, but never a control mode, each of which is shipped, nor a speed
    below the known one, at which the robot may not come as far as a bump.

    A slope and a push are named together where the robot does better without the one and without the other: on a slope
    a smaller push fells it.

    Args:
        known: The walk that ended badly.
        inferred: Cause by the measurements and what else is known of the simulation.
        report: Takes a line for each walk.
        measured: Kind of the cause by the measurements alone; an oscillation may stand above it in ``inferred``.
    """
    if not known.is_repeatable:
        report("the walk cannot be repeated: parts of it, or of its configuration, were handed over in Python")
        return inferred
    found = differences(known)
    speeds = lower_speeds(known)
    candidates = _candidates(found[:_MOST_WALKS], speeds if known.is_too_fast else ())
    if candidates or speeds or known.setup.plant is not Plant.IDEAL:
        lasting = "" if known.bad_end is BadEnd.WALKED_BADLY else f" {known.end + LATER:.0f} s each,"
        report(f"looks for the cause: walks again,{lasting} without what may be the cause")
    named = (measured, inferred and inferred.kind)

    def rank(each: Difference) -> int:
        is_last = each.is_choice or each in speeds[1:] or each.kind not in named
        return len(named) if is_last else named.index(each.kind)

    candidates.sort(key=rank)
    cure = next((difference for difference in candidates if _is_better_without(known, difference, report)), None)
    if cure is not None and cure.is_choice:
        return _beside_choice(known, cure, inferred, report)
    if cure is not None:
        partner = _partner(known, cure, candidates, report)
        is_like_push = CauseKind.PUSH in named and not known.settings.get(PUSHES)
        cause = _cause_of(known, cure, partner, inferred, report)
        return replace(cause, text=f"{cause.text}{'; no push acted' * is_like_push}", is_shown=True)
    if len(found) > 1 and _helps(_reported(known, report, "with all settings as shipped", known.as_shipped)):
        advice = "any of it as shipped, one after the other"
        return Cause(found[0].kind, _together(known, found), advice, is_tried=True, is_shown=True)
    return _without_differences(known, found, speeds, inferred, report)


def _candidates(found: Sequence[Difference], speeds: Sequence[Difference]) -> list[Difference]:
    """Return what is tried first: all differences, but a choice that is shipped after the speeds."""
    own = [difference for difference in found if not difference.is_choice]
    choices = [difference for difference in found if difference.is_choice]
    return [*own, *speeds, *choices]


def _together(known: KnownWalk, found: Sequence[Difference]) -> str:
    texts = "; ".join(difference.text for difference in found)
    return f"{texts}: it {known.bad_end.better} without all of that, without one it {known.bad_end.no_better}"


def _without_differences(
    known: KnownWalk,
    found: Sequence[Difference],
    speeds: Sequence[Difference],
    inferred: Cause | None,
    report: Callable[[str], None],
) -> Cause | None:
    """Return as the cause, where no difference is one, the plant as drawn or the speed."""
    innocent = "; ".join(difference.text for difference in found)
    aside = f" (it {known.bad_end.no_better_either} without: {innocent})" if innocent else ""
    if by_plant := _by_plant(known, inferred, report):
        return replace(by_plant, text=f"{by_plant.text}{aside}")
    untried = () if known.is_too_fast else speeds
    if speed := next((speed for speed in untried if _is_better_without(known, speed, report)), None):
        advice = f"{speed.advice} {known.bad_end.better}, tried"
        return Cause(speed.kind, f"{speed.text}{aside}", advice, is_tried=True, is_shown=True)
    if inferred is None or inferred.kind is not None:
        return inferred and replace(inferred, text=f"{inferred.text}{aside}")
    tried = [*(speed.advice for speed in speeds), *(["--plant ideal"] if known.setup.plant is not Plant.IDEAL else [])]
    why = f"tried and {known.bad_end.no_better_either}: {', '.join(tried)}" if tried else ""
    return replace(inferred, text=f"{inferred.text}{aside}", why=why, trials={})


def _by_plant(known: KnownWalk, inferred: Cause | None, report: Callable[[str], None]) -> Cause | None:
    """Return the plant where the robot does better on the ideal one, beside what was inferred; None where it does not.

    Its parts that alone are to blame are named.
    """
    text = f"the plant {known.setup.plant}, as seed {known.seed} draws it"
    ideal = Difference(CauseKind.PLANT, text, "", {}, 1.0, Plant.IDEAL)
    if known.setup.plant is Plant.IDEAL or not _is_better_without(known, ideal, report):
        return None
    exact, own = (flat_keys(known.configured({}, plant).tables) for plant in (Plant.IDEAL, None))
    parts = []
    for name, prefixes in PLANT_PARTS.items():
        part = {key: exact[key] for key in own if key.startswith(prefixes) and exact[key] != own[key]}
        walk_again = partial(known.with_settings, {**part, **known.settings})
        if part and _helps(_reported(known, report, f"without {name}", walk_again)):
            parts.append(name)
    if len(parts) == 1:
        text = f"{text}: it {known.bad_end.better} without {parts[0]}"
    elif parts:
        text = f"{text}: it {known.bad_end.better} where one of these is left out, whichever: {', '.join(parts)}"
    kind, beside = (inferred.kind, f"; {inferred.text}") if inferred and inferred.kind else (CauseKind.PLANT, "")
    advice = f"--plant ideal {known.bad_end.better}; another --seed draws another"
    return Cause(kind, f"{text}{beside}", advice, is_tried=True)


def _partner(
    known: KnownWalk, cure: Difference, candidates: Sequence[Difference], report: Callable[[str], None]
) -> Difference | None:
    """Return the push beside a slope, or the slope beside a push, without which the robot does better as well."""
    if cure.kind not in _PARTNERS:
        return None
    untried = candidates[candidates.index(cure) + 1 :]  # without those before it the robot does no better
    others = [each for each in untried if each.kind is _PARTNERS[cure.kind]]
    return next((other for other in others if _is_better_without(known, other, report)), None)


def _cause_of(
    known: KnownWalk,
    difference: Difference,
    partner: Difference | None,
    inferred: Cause | None,
    report: Callable[[str], None],
) -> Cause:
    text = f"{difference.text}: it {known.bad_end.better} without that"
    if partner is not None:
        text = f"{difference.text} and {partner.text}: it {known.bad_end.better} without the one or the other"
    if difference.kind is CauseKind.PUSH:
        cause = _push_with_advice(known, difference, text, inferred, report)
        level = f"{partner.advice}: tried, the robot {known.bad_end.better}; " if partner is not None else ""
        return replace(cause, advice=f"{level}{cause.advice}")
    tried, helps = _followed(known, difference.trials, report)
    if not helps:
        tried.insert(0, f"{difference.advice}: tried, the robot {known.bad_end.better}")
    return Cause(difference.kind, text, "; ".join(tried), is_tried=True)


def _beside_choice(
    known: KnownWalk, choice: Difference, inferred: Cause | None, report: Callable[[str], None]
) -> Cause:
    """Return what explains a bad end beside a choice that is shipped, as a control mode: that was asked for."""
    other = f"{choice.advice}: tried, the robot {known.bad_end.better}"
    if by_plant := _by_plant(known, inferred, report):
        return replace(by_plant, advice=f"{by_plant.advice}; {other}")
    if inferred is None:
        return Cause(None, f"not found; it {known.bad_end.better} with {choice.advice}", other, is_tried=True)
    advice = f"{other}; {inferred.advice}" if inferred.is_tried else other
    return replace(inferred, advice=advice, is_tried=True)


def _push_with_advice(
    known: KnownWalk, push: Difference, text: str, inferred: Cause | None, report: Callable[[str], None]
) -> Cause:
    """Return a push as the cause, with what was advised against it and whether the robot stands so, which is tried."""
    mode, measured = known.setup.walking.step_adaptation.mode, inferred and inferred.kind is CauseKind.PUSH
    trials: dict[str, Mapping[str, Any]] = {}
    if mode is not SteppingMode.PLACE_AND_TIME:
        trials[f"--step-adaptation {_ADAPTED}"] = {_MODE: _ADAPTED}
    trials |= inferred.trials if inferred and measured else {}
    tried, helps = _followed(known, trials, report)
    if helps:
        return Cause(CauseKind.PUSH, text, "; ".join(tried), is_tried=True)
    options = "--control", str(known.setup.walking.walking.control), "--speed", f"{known.asked_speed:.3g}"
    advice = "; ".join(
        [_largest_push(known, push, report), *tried, maps_of_pushes(known.setup.robot_argument, *options)]
    )
    return Cause(CauseKind.PUSH, text, advice, True, inferred.why if inferred and measured else "")


def _largest_push(known: KnownWalk, push: Difference, report: Callable[[str], None]) -> str:
    """Return the largest force with which a robot holds a push, in words, by a bisection of walks with the same draw.

    A smaller push may fell it nevertheless: what is between was not walked.
    """
    pushes, others = list(known.settings[PUSHES]), push.settings[PUSHES]
    number = next(k for k in range(len(pushes)) if [*pushes[:k], *pushes[k + 1 :]] == list(others))
    force, end = pushes[number]["force"], pushes[number]["start"] + pushes[number]["duration"]
    watched = replace(known, end=max(known.end, end + _WATCHED))
    held, fells, size = 0.0, 1.0, math.hypot(*force)
    for _ in range(_PUSH_WALKS):
        middle = 0.5 * (held + fells)
        smaller = {**pushes[number], "force": [middle * each for each in force]}
        settings = {PUSHES: [*pushes[:number], smaller, *pushes[number + 1 :]]}
        what = f"with {middle * size:.0f} N"
        if _helps(_reported(known, report, what, partial(watched.with_settings, settings))):
            held = middle
        else:
            fells = middle
    worse = f"{known.bad_end.no_better} with {fells * size:.0f} N"
    return f"it {known.bad_end.better} with {held * size:.0f} N there and {worse}" if held else f"it {worse} as well"


def _followed(
    known: KnownWalk, trials: Mapping[str, Mapping[str, Any]], report: Callable[[str], None]
) -> tuple[list[str], bool]:
    """Follow advice until one helps; return what became of each that was followed, and whether the last one helps."""
    tried = []
    for advice, settings in trials.items():
        trial = _reported(known, report, f"with {advice}", partial(known.with_settings, settings))
        if trial is None:
            continue
        drawn = "" if known.setup.plant is Plant.IDEAL else f", on the plant of seed {known.seed} alone"
        tried.append(f"{advice} was tried and {known.bad_end.words(trial, is_beside_another=True)}{drawn}")
        if _helps(trial):
            return tried, True
    return tried, False


def _is_better_without(known: KnownWalk, difference: Difference, report: Callable[[str], None]) -> bool:
    what = f"on the plant {difference.plant}" if difference.plant else f"without: {difference.text}"
    what = difference.advice if difference.kind is CauseKind.SPEED else what
    return _helps(_reported(known, report, what, partial(known.without, difference)))


def _helps(trial: Trial | None) -> bool:
    return trial is Trial.BETTER


def _reported(
    known: KnownWalk, report: Callable[[str], None], what: str, walk_again: Callable[[], Trial | None]
) -> Trial | None:
    trial = walk_again()
    again = "cannot walk again" if trial is None else "walked again"
    report(f"{again} {what}" + ("" if trial is None else f": the robot {known.bad_end.words(trial)}"))
    return trial
