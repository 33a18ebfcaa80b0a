"""Finds the cause of a bad end in simulation, where all is known in which a walk differs from one as shipped.

What differs are pushes, faults, bumps, keys of the configuration, the speed. A difference is the cause where the robot
does better without it: does not fall, walks on past where it stopped, or ends where and as it was commanded. For that
the walk is repeated without it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from itertools import groupby
from typing import Any

from gradiva.common import ControlMode
from gradiva.planner import Command, GoalCommand, PathCommand, PlannerConfig, VelocityCommand
from gradiva.setup import Plant, Setup, load_robot, load_setup
from gradiva.setup.changed_keys import (
    CHOSEN,
    as_shipped,
    changed_keys,
    flat_keys,
    setting_in_words,
    shipped_values,
)
from gradiva.simulated_walk.commanded_end import AS_HEALTHY, commanded_speed, excess_of
from gradiva.simulated_walk.fall_causes import maps_of_pushes
from gradiva.simulated_walk.fall_evidence import AFTER, LONGEST_PUSH, Cause, CauseKind
from gradiva.simulated_walk.footing import SlopeFooting
from gradiva.simulated_walk.simulated_walk import SimulatedWalk
from gradiva.simulation import Bump, FaultKind, Push
from gradiva.telemetry import plain, without_none
from gradiva.walking import WalkingState

LATER = 2.0  # [s] that a robot has to stand or walk beyond the end of which a difference is to be the cause
_SLOWER = 0.5  # [-] of the speed that was asked for
_SLOWER_THAN_KNOWN = 0.5, 0.25  # [-] of the known speed, where the robot falls at that as well
PUSHES, _FAULTS, _BUMPS = "simulation.pushes", "simulation.faults", "simulation.ground.bumps"
_MAX_SPEED, _SWING_HEIGHT = "planner.max_speed", "planner.swing_height"
_KIND = "simulation.ground.kind"
_SLOPE = "simulation.ground.slope_forward", "simulation.ground.slope_left"
_KINDS = (  # of keys of the simulation, the first that fits
    ("simulation.ground.friction", CauseKind.FRICTION),
    ("simulation.model_errors.floor_friction", CauseKind.FRICTION),
    ("simulation.ground.slope", CauseKind.SLOPE),
    ("simulation.model_errors.floor_slope", CauseKind.SLOPE),
    ("simulation.plant.mass_scale", CauseKind.MASS),
    (_KIND, CauseKind.SOFT_GROUND),
    ("simulation.ground.contact_time", CauseKind.SOFT_GROUND),
    ("simulation.model_errors.floor_contact_time", CauseKind.SOFT_GROUND),
    ("simulation.viscoelastic", CauseKind.SOFT_GROUND),
    ("simulation.penalty", CauseKind.SOFT_GROUND),
    ("simulation.sensors", CauseKind.SENSOR),
    ("simulation.motors", CauseKind.MOTOR),
    ("simulation.friction", CauseKind.MOTOR),
    ("simulation.servo", CauseKind.MOTOR),
)
_FAULTS_IN_WORDS: Mapping[FaultKind, str] = {
    FaultKind.DEAD_WRENCH: "reads zero",
    FaultKind.FROZEN_WRENCH: "repeats one reading",
    FaultKind.NAN_WRENCH: "reads no numbers",
    FaultKind.REVERSED_WRENCH: "has the wrong sign",
    FaultKind.TURNED_WRENCH: "is mounted turned",
    FaultKind.ENCODER_OFFSET: "has an encoder that is off",
    FaultKind.NAN_ENCODER: "has an encoder that reads no numbers",
    FaultKind.DEAD_VELOCITY: "has an encoder whose velocity reads zero",
    FaultKind.HOT_MOTOR: "has a motor that gets hot",
    FaultKind.WEAK_MOTOR: "has a weak motor",
    FaultKind.TILTED_IMU: "the IMU is mounted tilted",
    FaultKind.FROZEN_IMU: "the IMU repeats one reading",
    FaultKind.DEAD_GYROSCOPE: "the rates of the IMU read zero",
    FaultKind.NAN_IMU: "the IMU reads no numbers",
    FaultKind.SILENCE: "no sensor sends",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which a simulated walk differs from the same robot's as shipped.

    Attributes:
        kind: Of the cause that it would be.
        text: In words, with numbers.
        advice: What to do if it is the cause.
        settings: Keys of a walk without it, ``table.key`` to value, None for the shipped value; others stay.
        slower: Factor on the commanded speed of a walk without it, [-].
        plant: Of a walk without it; None: the same.
        trials: What may help against it, in words, to the settings with which a walk tries it.
    """

    kind: CauseKind
    text: str
    advice: str
    settings: Mapping[str, Any]
    slower: float = 1.0
    plant: Plant | None = None
    trials: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_choice(self) -> bool:
        """Whether it is the control mode alone, each of which is shipped."""
        return self.kind is CauseKind.SETTING and self.settings.keys() <= set(CHOSEN)


class Trial(Enum):
    """Results of a walk that was walked again.

    One whose worst figure is near its tolerance, within half as much again, shows nothing: another draw, or a second
    more, brings it to the other side.
    """

    BETTER = "better"
    NEAR_LIMIT = "near the limit"
    NO_BETTER = "no better"

    @classmethod
    def of(cls, excess: float) -> Trial:
        """Return the result of a walk whose worst figure is ``excess`` times its tolerance, [-]; infinite: it fell."""
        if excess <= AS_HEALTHY:
            return cls.BETTER
        return cls.NEAR_LIMIT if excess * AS_HEALTHY < 1.0 else cls.NO_BETTER


class BadEnd(Enum):
    """Ways in which a walk ends badly, with words for the end of a trial.

    A robot that fell is watched for a while longer than it stood: that it does not fall is all that such a trial shows,
    not that it ends where it was commanded.

    Attributes:
        better: Of a trial that helps.
        no_better: Of one that does not; a robot that had stopped may fall then.
        no_better_either: Of one that does not, beside another.
    """

    FELL = "does not fall", "falls", "falls as well"
    STOPPED = "walks on", "does not walk on", "does not walk on either"
    OVERDUE = "ends its walk", "does not end it", "does not end it either"
    WALKED_BADLY = "walks as commanded", "walks badly", "walks badly as well"

    def __init__(self, better: str, no_better: str, no_better_either: str) -> None:
        """Take the words."""
        self.better, self.no_better, self.no_better_either = better, no_better, no_better_either

    def words(self, trial: Trial, is_beside_another: bool = False) -> str:
        """Return how a trial ended, after the name of the robot."""
        if trial is Trial.NEAR_LIMIT:
            return "comes near the limit"
        worse = self.no_better_either if is_beside_another else self.no_better
        return self.better if trial is Trial.BETTER else worse


@dataclass(frozen=True, slots=True, eq=False)
class KnownWalk:
    """A simulated walk as it can be repeated, and in what it differs from a shipped one.

    Attributes:
        setup: Its configuration.
        settings: Keys that differ from the shipped ones, ``table.key`` to value; pushes and faults that came while it
            walked are among them, those that were to come after its end are not.
        command: Where to.
        seed: Of all that is drawn.
        end: When the robot was down, had stopped or stood, [s].
        bad_end: In which way it ended badly.
        is_as_configured: Whether it had no law, task or check beside those of its configuration.
        has_balanced: Whether its controller balanced; not before it is prepared.
    """

    setup: Setup
    settings: Mapping[str, Any]
    command: Command
    seed: int
    end: float
    bad_end: BadEnd = BadEnd.FELL
    is_as_configured: bool = True
    has_balanced: bool = True

    @classmethod
    def of(cls, walk: SimulatedWalk, command: Command, bad_end: BadEnd) -> KnownWalk:
        """Return the walk that was done."""
        end = walk.time if walk.robot.fall is None else walk.robot.fall.time
        if walk.overdue and bad_end is BadEnd.STOPPED:
            bad_end = BadEnd.OVERDUE
        settings = known_settings(walk)
        for key in (PUSHES, _FAULTS):  # a robot that walks on for longer would meet what had not come
            if key in settings:
                settings[key] = [each for each in settings[key] if each["start"] < end]
        own = walk.is_as_configured, len(walk.recorder.log) > 0
        return cls(walk.setup, settings, command, walk.seed, end, bad_end, *own)

    @property
    def asked_speed(self) -> float:
        """Commanded speed, [m/s]."""
        return commanded_speed(self.command, self.setup.walking.planner)

    @property
    def known_speed(self) -> float:
        """Speed at which the robot is known to walk by ``known_control``, [m/s]."""
        return known_speed(self.setup)

    @property
    def known_control(self) -> ControlMode:
        """Control mode by which the known speed was walked: its own by torque where that is known, else position."""
        robot, control = load_robot(self.setup.robot_argument), self.setup.walking.walking.control
        is_torque = control is ControlMode.TORQUE and robot.max_torque_speed is not None
        return ControlMode.TORQUE if is_torque else ControlMode.POSITION

    @property
    def is_too_fast(self) -> bool:
        """Whether more was asked for than the robot is known to walk."""
        return self.asked_speed > self.known_speed

    @property
    def is_repeatable(self) -> bool:
        """Whether the settings make the same walk again; not of a configuration that was changed by hand."""
        if not self.is_as_configured:
            return False
        again, own = self.configured(self.settings), flat_keys(self.setup.tables)
        return {**flat_keys(again.tables), **self.settings} == {**own, **self.settings}

    def without(self, difference: Difference) -> Trial | None:
        """Walk again without a difference; return the result, None where it cannot be walked so."""
        settings = {**self.settings, **difference.settings}
        return self._trial({key: value for key, value in settings.items() if value is not None}, difference)

    def with_settings(self, settings: Mapping[str, Any]) -> Trial | None:
        """Walk again with more settings; return as ``without`` does."""
        return self._trial({**self.settings, **settings})

    def as_shipped(self) -> Trial | None:
        """Walk again without any setting of its own; return as ``without`` does."""
        return self._trial({})

    def _trial(self, settings: Mapping[str, Any], difference: Difference | None = None) -> Trial | None:
        excess = self._excess(settings, difference)
        return None if excess is None else Trial.of(excess)

    def _excess(self, settings: Mapping[str, Any], difference: Difference | None = None) -> float | None:
        """Walk again; return the worst figure over its tolerance, infinite of a robot that ends no better.

        None where it cannot be configured, planned or simulated so.
        """
        factor, plant = (difference.slower, difference.plant) if difference else (1.0, None)
        try:
            setup = self.configured(settings, plant)
            walk = SimulatedWalk(setup, self.seed)
            command = slower_command(self.command, factor, setup.walking.planner)
            return self._excess_at_end(walk, command) if walk.get_ready() else math.inf
        except Exception:  # which shows nothing: the report goes on
            return None

    def _excess_at_end(self, walk: SimulatedWalk, command: Command) -> float:
        if self.bad_end in (BadEnd.OVERDUE, BadEnd.WALKED_BADLY):
            stands = walk.follow(command) and walk.come_to_stand()
            excess = excess_of(walk, command) if stands else math.inf
            return excess if self.bad_end is BadEnd.WALKED_BADLY or math.isinf(excess) else 0.0
        walk.controller.walk(command)
        walk.run(max(0.0, self.end + LATER - walk.time))
        state = walk.controller.state
        has_stopped = self.bad_end is not BadEnd.FELL and state is WalkingState.STOPPED
        return math.inf if walk.is_down or has_stopped else 0.0

    def configured(self, settings: Mapping[str, Any], plant: Plant | None = None) -> Setup:
        """Return the configuration of the robot with other settings, on the plant of this walk or on another one."""
        return load_setup(self.setup.robot_argument, settings, plant=plant or self.setup.plant)


def slower_command(command: Command, factor: float, planner: PlannerConfig) -> Command:
    """Return a command at a fraction of its speed, [-]."""
    if isinstance(command, VelocityCommand):
        speeds = {name: factor * getattr(command, name) for name in ("forward", "lateral", "angular")}
        return replace(command, **speeds)
    if isinstance(command, GoalCommand | PathCommand) and factor != 1.0:
        return replace(command, speed=factor * (command.speed or planner.commands.cruise_speed))
    return command


# -- what differs ------------------------------------------------------------------------------------------------


def known_settings(walk: SimulatedWalk) -> dict[str, Any]:
    """Return the keys of a walk that differ from the shipped ones, pushes and faults that were added included."""
    added = ((PUSHES, walk.robot.pushes), (_FAULTS, walk.robot.faults))
    return changed_keys(walk.setup) | {
        key: [without_none(plain(asdict(each))) for each in disturbances] for key, disturbances in added if disturbances
    }


def differences(known: KnownWalk) -> list[Difference]:
    """Return what differs: faults, pushes, bumps, what else is simulated otherwise, then settings of the controller."""
    found = [*_faults(known), *_pushes(known), *_bumps(known), *_changes(known)]
    return sorted(found, key=lambda difference: difference.kind is CauseKind.SETTING)


def _faults(known: KnownWalk) -> Iterator[Difference]:
    all_faults = known.settings.get(_FAULTS, ())
    begun = sorted((fault for fault in all_faults if fault["start"] < known.end), key=lambda fault: fault["kind"])
    for name, group in groupby(begun, lambda fault: str(fault["kind"])):
        these, kind = list(group), FaultKind(name)
        what = f"{_FAULTS_IN_WORDS[kind]} from {these[0]['start']:.2f} s"
        names = ", ".join(fault["name"] for fault in these if fault["name"])
        text = f"{names} {what}" if names else what
        if kind is FaultKind.WEAK_MOTOR:
            text = f"the motor of {names} has {these[0]['value']:.0%} of its torque from {these[0]['start']:.2f} s"
        others = [fault for fault in all_faults if fault not in these]
        is_motor = kind in (FaultKind.WEAK_MOTOR, FaultKind.HOT_MOTOR)
        cause = CauseKind.MOTOR if is_motor else CauseKind.SENSOR
        yield Difference(cause, text, f"mend the {cause}", {_FAULTS: others})


def _pushes(known: KnownWalk) -> Iterator[Difference]:
    all_pushes = known.settings.get(PUSHES, ())
    for number, push in enumerate(all_pushes):
        if push["start"] < known.end:
            others = [*all_pushes[:number], *all_pushes[number + 1 :]]
            text = f"a {_push_in_words(push)}"
            yield Difference(CauseKind.PUSH, text, "", {PUSHES: others})


def _push_in_words(push: Mapping[str, Any]) -> str:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in push.items()}
    return str(Push(**values))


def known_speed(setup: Setup) -> float:
    """Return the speed at which a robot is known to walk by its control mode, [m/s]."""
    return load_robot(setup.robot_argument).known_speed(setup.walking.walking.control)


def before_balance(setup: Setup) -> str:
    """Return why no gain and no step helped a robot that fell before it balanced, and what to do instead."""
    ready = f"{setup.walking.walking.prepare_duration:.1f} s"
    return f"the controller was preparing: servos hold the posture, nothing balances before {ready}; push later"


def known_push(acted: Sequence[Push], measured: Cause | None, robot: str) -> Cause:
    """Return as the cause the push that acted, of several that one which was measured: it is one push, and named once.

    Args:
        acted: In simulation before the first sign, at least one.
        measured: By the robot; None: it names nothing.
        robot: Name or folder.
    """
    if measured is None or measured.begin is None or (push := _seen_push(acted, measured.begin)) is None:
        text = f"a {acted[-1]}: the measurements name nothing else"
        return replace(measured or Cause(CauseKind.PUSH, "", maps_of_pushes(robot), True), text=text)
    size = measured.text.removeprefix("a push of ").rpartition(" at ")[0]
    begin = max(measured.begin, push.start)  # accelerations are means, which rise before the push
    return replace(measured, text=f"a {push}, measured as {size} at {begin:.2f} s")


def _seen_push(acted: Sequence[Push], begin: float) -> Push | None:
    """Return the push that a force which was seen from ``begin`` [s] on may be; None where it is none of them."""
    near = [push for push in acted if push.start - AFTER <= begin <= push.end + LONGEST_PUSH]
    return min(near, key=lambda push: abs(push.start - begin)) if near else None


def _bumps(known: KnownWalk) -> Iterator[Difference]:
    all_bumps = known.settings.get(_BUMPS, ())
    for number, bump in enumerate(all_bumps):
        others = [*all_bumps[:number], *all_bumps[number + 1 :]]
        height = _rounded(known.setup.walking.planner.swing_height + bump["height"])
        trials = {f"--set {_SWING_HEIGHT}={height:g}": {_SWING_HEIGHT: height}}
        yield Difference(
            CauseKind.BUMP, f"a {Bump(**bump)}", "a floor without that bump", {_BUMPS: others}, trials=trials
        )


def _changes(known: KnownWalk) -> Iterator[Difference]:
    """Yield the other keys: together those of one property of floor, mass or sensors, else one by one."""
    values = {key: value for key, value in known.settings.items() if key not in (PUSHES, _FAULTS, _BUMPS)}
    kinds = {key: _kind_of(key) for key in values if key != _MAX_SPEED}
    shipped = shipped_values(known.setup)
    for kind in dict.fromkeys(kinds.values()):
        keys = [key for key in kinds if kinds[key] is kind]
        for these in _one_by_one(keys, shipped) if kind is CauseKind.SETTING else [keys]:
            if table := _own_table(these[0], shipped):
                text, advice = f"the table [{table}]", f"without [{table}]"
            else:
                text, advice = _keys_in_words(known, these, values, shipped)
            yield Difference(kind, text, advice, dict.fromkeys(these))


def _keys_in_words(
    known: KnownWalk, keys: Sequence[str], values: Mapping[str, Any], shipped: Mapping[str, Any]
) -> tuple[str, str]:
    """Return keys with their values, and how to have the shipped ones; a slope is one, a ground known by its kind."""
    others = [key for key in keys if key not in _SLOPE]
    texts = [setting_in_words(key, values[key], shipped.get(key)) for key in others]
    advice = [as_shipped(key, shipped.get(key)) for key in ([_KIND] if _KIND in others else others)]
    if len(others) < len(keys):
        ground = known.setup.simulation.ground
        option = f"--slope {math.degrees(ground.steepness):.3g},{math.degrees(ground.uphill):.3g}"
        texts.insert(0, f"{SlopeFooting.of(known.setup)} ({option})")
        advice.insert(0, "--slope 0" if not any(shipped.get(key) for key in _SLOPE) else "the slope as shipped")
    return " and ".join(texts), "; ".join(advice)


def _one_by_one(keys: Sequence[str], shipped: Mapping[str, Any]) -> list[list[str]]:
    """Return each key alone, those of a table of one's own together."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(_own_table(key, shipped) or key, []).append(key)
    return list(groups.values())


def _own_table(key: str, shipped: Mapping[str, Any]) -> str:
    """Return the table of one's own that has a key, as ``tasks.NAME``: below one that is shipped without keys."""
    names = key.split(".")
    for depth in range(2, len(names)):
        parent = ".".join(names[: depth - 1])
        if not any(each.startswith(f"{parent}.") for each in shipped):
            return ".".join(names[:depth])
    return ""


def _kind_of(key: str) -> CauseKind:
    return next((kind for prefix, kind in _KINDS if key.startswith(prefix)), CauseKind.SETTING)


def lower_speeds(known: KnownWalk) -> list[Difference]:
    """Return the speed as differences to lower ones, the highest first: to half of it; none where none is asked.

    One beyond the known speed differs from that, and from fractions of it: where it is known by position control alone,
    other controls may be slower.
    """
    asked, limit, known_by = known.asked_speed, known.known_speed, known.known_control
    if asked == 0.0:
        return []
    text = f"too fast: {asked:.2f} m/s were asked for, {limit:.2f} m/s are known to be walked by {known_by} control"
    lower = [(_rounded(_SLOWER * asked), text)]
    if known.is_too_fast:
        by = "as configured" if known.setup.walking.walking.control is known_by else "by this control"
        slower = f"{text}; at that speed it {known.bad_end.no_better_either} {by}"
        lower = [(limit, text), *((_rounded(factor * limit), slower) for factor in _SLOWER_THAN_KNOWN)]
    settings = {_MAX_SPEED: None}
    return [Difference(CauseKind.SPEED, words, f"--speed {speed:g}", settings, speed / asked) for speed, words in lower]


def _rounded(value: float) -> float:
    """Return a speed or height to two digits, as it is walked and advised."""
    return float(f"{value:.2g}")


def sibling_cause(own: Sequence[str], standing: Sequence[Sequence[str]]) -> Cause:
    """Return as the cause of a variant's fall in what it differs from the nearest variant that stands.

    Args:
        own: ``KEY=VALUE`` of the variant, in the order of keys that all have.
        standing: The same of the variants of the comparison that stand, at least one.
    """
    nearest = min(standing, key=lambda other: sum(map(operator.ne, own, other)))
    pairs = [pair for pair in zip(own, nearest, strict=True) if pair[0] != pair[1]]
    mine, theirs = (", ".join(side).replace("=", " = ") for side in zip(*pairs, strict=True))
    text = f"{mine}: the variant with {theirs} walks on"
    return Cause(CauseKind.SETTING, text, f"{theirs}: tried, the robot walks on", is_tried=True, is_shown=True)
