"""Searches for the cause of a bad end: repeats the walk without one difference after the other, and follows advice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    before_balance,
    differences,
    lower_speeds,
)

_MOST_WALKS = 8
_SECONDS = 100.0  # [s] of a search, beyond which it is announced in minutes
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


Progress = Callable[[int, int, str], None]
"""Takes the number of walks that are done, the most there can be, and which one is walked now."""


@dataclass(slots=True, eq=False)
class Trials:
    """Walks again, one walk after the other, until Ctrl-C: what was found by then stands, nothing is walked after it.

    Attributes:
        known: The walk that ended badly.
        report: Takes a line for each walk.
        progress: Is called before each walk.
        pace: Simulated time over that of the clock of the walk that ended badly, [-]; zero: not known.
        most: Number of walks that there can be.
        done: Number of walks that were walked to their end.
        is_interrupted: Whether Ctrl-C came.
        results: Of walks without a difference.
    """

    known: KnownWalk
    report: Callable[[str], None]
    progress: Progress = lambda done, most, what: None
    pace: float = 0.0
    most: int = 0
    done: int = 0
    is_interrupted: bool = False
    results: list[tuple[Difference, Trial]] = field(default_factory=list)

    def walk(self, what: str, walk_again: Callable[[], Trial | None]) -> Trial | None:
        """Walk again and report how it went; None where it cannot be walked so, or after Ctrl-C."""
        if self.is_interrupted:
            return None
        self.progress(self.done, max(self.most, self.done + 1), what)
        try:
            trial = walk_again()
        except KeyboardInterrupt:
            self.is_interrupted = True
            self.report(f"interrupted in the walk {what}: what was found until then is kept")
            return None
        self.done += 1
        again = "cannot walk again" if trial is None else "walked again"
        self.report(f"{again} {what}" + ("" if trial is None else f": the robot {self.known.bad_end.words(trial)}"))
        return trial

    def helps(self, what: str, walk_again: Callable[[], Trial | None]) -> bool:
        """Walk again and report; return whether the robot did better."""
        return self.walk(what, walk_again) is Trial.BETTER

    def is_better_without(self, difference: Difference) -> bool:
        """Walk again without a difference; return whether the robot did better, and note where it did not."""
        what = f"on the plant {difference.plant}" if difference.plant else f"without: {difference.text}"
        what = difference.advice if difference.kind is CauseKind.SPEED else what
        trial = self.walk(what, partial(self.known.without, difference))
        if trial is not None:
            self.results.append((difference, trial))
        return trial is Trial.BETTER

    @property
    def in_vain(self) -> list[Difference]:
        """Differences without which the robot did no better, those near the limit left out."""
        return [difference for difference, trial in self.results if trial is Trial.NO_BETTER]


def tried_cause(trials: Trials, inferred: Cause | None, measured: CauseKind | None = None) -> Cause | None:
    """Return the first difference without which the robot does better, what was inferred where there is none.

    A fall is chance in part: without a harmless difference the robot may stand as well. So differences of the kind that
    the measurements name are tried before all others, but never a control mode, each of which is shipped, nor a speed
    below the known one, at which the robot may not come as far as a bump.

    A slope and a push are named together where the robot does better without the one and without the other: on a slope
    a smaller push fells it.

    After Ctrl-C the cause is what was found until then; advice that was not followed in a walk is untried.

    Args:
        trials: Walk again what ended badly.
        inferred: Cause by the measurements and what else is known of the simulation.
        measured: Kind of the cause by the measurements alone; an oscillation may stand above it in ``inferred``.
    """
    cause = _tried_cause(trials, inferred, measured)
    notes = [] if cause is None else [cause.advice]
    if trials.done and trials.known.setup.plant is not Plant.IDEAL:
        notes.append(f"tried on the plant of seed {trials.known.seed} alone")
    if trials.is_interrupted:
        notes.append(f"the search for the cause was interrupted after {trials.done} of at most {trials.most} walks")
    return cause and replace(cause, advice="; ".join(filter(None, notes)))


def _tried_cause(trials: Trials, inferred: Cause | None, measured: CauseKind | None) -> Cause | None:
    known = trials.known
    if not known.is_repeatable:
        trials.report("the walk cannot be repeated: parts of it, or of its configuration, were handed over in Python")
        return inferred
    found = differences(known)
    speeds = lower_speeds(known)
    candidates = _candidates(found[:_MOST_WALKS], speeds if known.is_too_fast else ())
    trials.most = _most_walks(known, candidates, found, speeds, inferred)
    if candidates or speeds or known.setup.plant is not Plant.IDEAL:
        trials.report(_announcement(trials))
    named = (measured, inferred and inferred.kind)

    def rank(each: Difference) -> int:
        """Return the place of a difference in the order of trials: the measured kind first, choices last."""
        is_last = each.is_choice or each in speeds[1:] or each.kind not in named
        return len(named) if is_last else named.index(each.kind)

    candidates.sort(key=rank)
    cure = next((difference for difference in candidates if trials.is_better_without(difference)), None)
    if cure is not None and cure.is_choice:
        return _beside_choice(trials, cure, _acquitted(trials, inferred))
    if cure is not None:
        partner = _partner(trials, cure, candidates)
        is_like_push = CauseKind.PUSH in named and not known.settings.get(PUSHES)
        cause = _cause_of(trials, cure, partner, inferred)
        return replace(cause, text=f"{cause.text}{'; no push acted' * is_like_push}", is_shown=True)
    if len(found) > 1 and trials.helps("with all settings as shipped", known.as_shipped):
        advice = "any of it as shipped, one after the other"
        return Cause(found[0].kind, _together(known, found), advice, is_tried=True, is_shown=True)
    return _without_differences(trials, found, speeds, _acquitted(trials, inferred))


def _announcement(trials: Trials) -> str:
    """Return the line before the search: how many walks, how long they may take on this machine, and the way out."""
    known, is_judged = trials.known, trials.known.bad_end is BadEnd.WALKED_BADLY
    lasting = known.end + (0.0 if is_judged else LATER)
    walks = f"at most {trials.most} walks{'' if is_judged else f' of {lasting:.0f} s'}"
    seconds = trials.most * lasting / trials.pace if trials.pace > 0.0 else 0.0
    clock = f"{10 * math.ceil(seconds / 10)} s" if seconds <= _SECONDS else f"{math.ceil(seconds / 60)} min"
    pace = f", about {clock} at the pace of this one" if seconds else ""
    text = f"looks for the cause: {walks}{pace}, without what may be the cause"
    return f"{text}; Ctrl-C ends it, gradiva walk --no-cause leaves it out"


def _most_walks(
    known: KnownWalk,
    candidates: Sequence[Difference],
    found: Sequence[Difference],
    speeds: Sequence[Difference],
    inferred: Cause | None,
) -> int:
    """Return the most walks that a search can take: the candidates, then what follows one that helps, or none."""
    advice = len(inferred.trials) + 1 if inferred and inferred.kind is CauseKind.PUSH else 1
    pushes = any(each.kind is CauseKind.PUSH for each in candidates)
    after_push = advice + _PUSH_WALKS if pushes else 0
    after_others = max((len(each.trials) for each in candidates), default=0)
    plant = 0 if known.setup.plant is Plant.IDEAL else 1 + len(PLANT_PARTS)
    after_none = (len(found) > 1) + plant + (0 if known.is_too_fast else len(speeds))
    return len(candidates) + max(after_push, after_others, after_none)


def _candidates(found: Sequence[Difference], speeds: Sequence[Difference]) -> list[Difference]:
    """Return what is tried first: all differences, but a choice that is shipped after the speeds."""
    own = [difference for difference in found if not difference.is_choice]
    choices = [difference for difference in found if difference.is_choice]
    return [*own, *speeds, *choices]


def _acquitted(trials: Trials, inferred: Cause | None) -> Cause | None:
    """Return what was inferred, but no push without which the robot did no better."""
    pushes = [each.text for each in trials.in_vain if each.kind is CauseKind.PUSH]
    if inferred is None or not any(push in inferred.text for push in pushes):
        return inferred
    return Cause(None, "not found", "gradiva view RUN shows the fall slowly", is_tried=True)


def _together(known: KnownWalk, found: Sequence[Difference]) -> str:
    texts = "; ".join(difference.text for difference in found)
    return f"{texts}: it {known.bad_end.better} without all of that, without one it {known.bad_end.no_better}"


def _without_differences(
    trials: Trials, found: Sequence[Difference], speeds: Sequence[Difference], inferred: Cause | None
) -> Cause | None:
    """Return as the cause, where no difference is one, the plant as drawn or the speed."""
    known = trials.known
    by_plant = _by_plant(trials, inferred)
    untried = () if known.is_too_fast or by_plant else speeds
    speed = next((speed for speed in untried if trials.is_better_without(speed)), None)
    innocent = "; ".join(each.text for each in found if each in trials.in_vain)
    aside = f" (it {known.bad_end.no_better_either} without: {innocent})" if innocent else ""
    if by_plant:
        return replace(by_plant, text=f"{by_plant.text}{aside}")
    if speed:
        advice = f"{speed.advice} {known.bad_end.better}, tried"
        return Cause(speed.kind, f"{speed.text}{aside}", advice, is_tried=True, is_shown=True)
    if inferred is None or inferred.kind is not None:
        return inferred and replace(inferred, text=f"{inferred.text}{aside}")
    return _not_found(trials, inferred, aside)


def _not_found(trials: Trials, inferred: Cause, aside: str = "") -> Cause:
    """Return a cause that was not found, with what was walked in vain; what was not is still untried advice."""
    options = CauseKind.SPEED, CauseKind.PLANT
    tried = [_option(each) for each in trials.in_vain if each.kind in options]
    why = f"tried and {trials.known.bad_end.no_better_either}: {', '.join(tried)}" if tried else ""
    followed = {_option(each).split()[0] for each, _ in trials.results if each.kind in options}
    left = {advice: keys for advice, keys in inferred.trials.items() if not followed & set(advice.split())}
    return replace(inferred, text=f"{inferred.text}{aside}", why=why, trials=left if trials.is_interrupted else {})


def _option(difference: Difference) -> str:
    """Return the option of ``gradiva walk`` with which a speed or a plant is another."""
    return f"--plant {difference.plant}" if difference.plant else difference.advice


def _by_plant(trials: Trials, inferred: Cause | None) -> Cause | None:
    """Return the plant where the robot does better on the ideal one, beside what was inferred; None where it does not.

    Its parts that alone are to blame are named.
    """
    known = trials.known
    text = f"the plant {known.setup.plant}, as seed {known.seed} draws it"
    ideal = Difference(CauseKind.PLANT, text, "", {}, 1.0, Plant.IDEAL)
    if known.setup.plant is Plant.IDEAL or not trials.is_better_without(ideal):
        return None
    exact, own = (flat_keys(known.configured({}, plant).tables) for plant in (Plant.IDEAL, None))
    parts = []
    for name, prefixes in PLANT_PARTS.items():
        part = {key: exact[key] for key in own if key.startswith(prefixes) and exact[key] != own[key]}
        if part and trials.helps(f"without {name}", partial(known.with_settings, {**part, **known.settings})):
            parts.append(name)
    if len(parts) == 1:
        text = f"{text}: it {known.bad_end.better} without {parts[0]}"
    elif parts:
        text = f"{text}: it {known.bad_end.better} where one of these is left out, whichever: {', '.join(parts)}"
    kind, beside = (inferred.kind, f"; {inferred.text}") if inferred and inferred.kind else (CauseKind.PLANT, "")
    advice = f"--plant ideal {known.bad_end.better}; another --seed draws another"
    return Cause(kind, f"{text}{beside}", advice, is_tried=True)


def _partner(trials: Trials, cure: Difference, candidates: Sequence[Difference]) -> Difference | None:
    """Return the push beside a slope, or the slope beside a push, without which the robot does better as well."""
    if cure.kind not in _PARTNERS:
        return None
    untried = candidates[candidates.index(cure) + 1 :]  # without those before it the robot does no better
    others = [each for each in untried if each.kind is _PARTNERS[cure.kind]]
    return next((other for other in others if trials.is_better_without(other)), None)


def _cause_of(trials: Trials, difference: Difference, partner: Difference | None, inferred: Cause | None) -> Cause:
    known = trials.known
    text = f"{difference.text}: it {known.bad_end.better} without that"
    if partner is not None:
        text = f"{difference.text} and {partner.text}: it {known.bad_end.better} without the one or the other"
    if difference.kind is CauseKind.PUSH:
        cause = _push_with_advice(trials, difference, text, inferred)
        level = f"{partner.advice}: tried, the robot {known.bad_end.better}; " if partner is not None else ""
        return replace(cause, advice=f"{level}{cause.advice}")
    tried, left, helps = _followed(trials, difference.trials)
    if not helps:
        tried.insert(0, f"{difference.advice}: tried, the robot {known.bad_end.better}")
    return Cause(difference.kind, text, "; ".join(tried), is_tried=True, trials=left)


def _beside_choice(trials: Trials, choice: Difference, inferred: Cause | None) -> Cause:
    """Return what explains a bad end beside a choice that is shipped, as a control mode: that was asked for."""
    known = trials.known
    other = f"{choice.advice}: tried, the robot {known.bad_end.better}"
    if by_plant := _by_plant(trials, inferred):
        return replace(by_plant, advice=f"{by_plant.advice}; {other}")
    if inferred is None:
        return Cause(None, f"not found; it {known.bad_end.better} with {choice.advice}", other, is_tried=True)
    if inferred.kind is None:
        lower = () if known.is_too_fast else lower_speeds(known)
        speed = next((speed for speed in lower if trials.is_better_without(speed)), None)
        other = f"{speed.advice}: tried, the robot {known.bad_end.better}; {other}" if speed else other
        inferred = _not_found(trials, inferred)
    advice = f"{other}; {inferred.advice}" if inferred.is_tried else other
    return replace(inferred, advice=advice, is_tried=True)


def _push_with_advice(trials: Trials, push: Difference, text: str, inferred: Cause | None) -> Cause:
    """Return a push as the cause, with what was advised against it and whether the robot stands so, which is tried."""
    known = trials.known
    if not known.has_balanced:
        advice = "; ".join(filter(None, [_largest_push(trials, push), before_balance(known.setup)]))
        return Cause(CauseKind.PUSH, text, advice, is_tried=True)
    mode, measured = known.setup.walking.step_adaptation.mode, inferred and inferred.kind is CauseKind.PUSH
    advised: dict[str, Mapping[str, Any]] = {}
    if mode is not SteppingMode.PLACE_AND_TIME:
        advised[f"--step-adaptation {_ADAPTED}"] = {_MODE: _ADAPTED}
    advised |= inferred.trials if inferred and measured else {}
    tried, left, helps = _followed(trials, advised)
    if helps:
        return Cause(CauseKind.PUSH, text, "; ".join(tried), is_tried=True)
    options = "--control", str(known.setup.walking.walking.control), "--speed", f"{known.asked_speed:.3g}"
    maps = maps_of_pushes(known.setup.robot_argument, *options)
    advice = "; ".join(filter(None, [_largest_push(trials, push), *tried, maps]))
    return Cause(CauseKind.PUSH, text, advice, True, inferred.why if inferred and measured else "", left)


def _largest_push(trials: Trials, push: Difference) -> str:
    """Return the largest force with which a robot holds a push, in words, by a bisection of walks with the same draw.

    A smaller push may fell it nevertheless: what is between was not walked. Empty where no smaller one was walked.
    """
    known = trials.known
    pushes, others = list(known.settings[PUSHES]), push.settings[PUSHES]
    number = next(k for k in range(len(pushes)) if [*pushes[:k], *pushes[k + 1 :]] == list(others))
    force, end = pushes[number]["force"], pushes[number]["start"] + pushes[number]["duration"]
    watched = replace(known, end=max(known.end, end + _WATCHED))
    held, fells, size, before, how = 0.0, 1.0, math.hypot(*force), trials.done, Trial.NO_BETTER
    for _ in range(_PUSH_WALKS):
        middle = 0.5 * (held + fells)
        smaller = {**pushes[number], "force": [middle * each for each in force]}
        settings = {PUSHES: [*pushes[:number], smaller, *pushes[number + 1 :]]}
        trial = trials.walk(f"with {middle * size:.0f} N", partial(watched.with_settings, settings))
        if trials.is_interrupted:
            break
        if trial is Trial.BETTER:
            held = middle
        else:
            fells, how = middle, trial or how
    if trials.done == before:
        return ""
    worse = f"{known.bad_end.words(how)} with {fells * size:.0f} N"
    return f"it {known.bad_end.better} with {held * size:.0f} N there and {worse}" if held else f"it {worse} as well"


def _followed(
    trials: Trials, advised: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], dict[str, Mapping[str, Any]], bool]:
    """Follow advice until one helps; return what became of it, what Ctrl-C left untried, whether the last one helps."""
    known, tried, left = trials.known, list[str](), dict[str, Mapping[str, Any]]()
    for advice, settings in advised.items():
        trial = trials.walk(f"with {advice}", partial(known.with_settings, settings))
        if trials.is_interrupted:
            left[advice] = settings
            continue
        if trial is None:
            continue
        tried.append(f"{advice} was tried and {known.bad_end.words(trial, is_beside_another=True)}")
        if trial is Trial.BETTER:
            return tried, left, True
    return tried, left, False
