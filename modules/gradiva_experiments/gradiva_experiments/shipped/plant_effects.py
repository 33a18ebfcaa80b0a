"""Switches the effects of the robot plant on one by one: tracking, highest speed and largest gain with each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import reduce
from operator import getitem
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradiva.common import ControlMode
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, installed_robot_names, load_setup, preset_tables
from gradiva.telemetry import COM, DCM, STYLE, ZMP
from gradiva_experiments.campaign.driver import Search
from gradiva_experiments.experiment import IS_CAPPED, Asked, Experiment, ExperimentOptions, ExperimentRun, Row
from gradiva_experiments.speed_search import SpeedLimit, SpeedSearch, WalkedSpeeds, add_rows_of, highest_speed
from gradiva_experiments.trial import Trial, TrialResult

# -- the effects -------------------------------------------------------------------------------------------------------

EFFECTS: Mapping[str, tuple[str, ...]] = {
    "rotors": ("simulation.plant.rotor_*",),
    "gear play": ("simulation.plant.gear_play*",),
    "friction": ("simulation.friction.*", "simulation.motors.*_compensation", "simulation.motors.compensation_*"),
    "torque-speed limits": ("simulation.motors.speed_*",),
    "torque bandwidth": ("simulation.motors.torque_*",),
    "link masses": ("simulation.plant.mass_scale", "simulation.model_errors.link_*", "simulation.model_errors.trunk_*"),
    "soles": ("simulation.model_errors.sole_*",),
    "floor": ("simulation.model_errors.floor_*", "simulation.ground.*"),
    "command path": ("simulation.servo.delay", "simulation.transport.*"),
    "encoders": ("simulation.sensors.encoders.*",),
    "wrenches": ("simulation.sensors.force_torque.*",),
    "IMU": ("simulation.sensors.inertial.*",),
    "ages of samples": (*(f"simulation.sensors.{stream}.*" for stream in ("joints", "wrenches", "imu")),),
}
"""Patterns of the keys of ``plant_robot.toml`` by effect; keys that none has are an effect named after their table."""

NONE, ALL, ALL_BUT = "none", "all", "all but "


def keys_of(tables: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield ``table.key`` and value of all keys."""
    for name, value in tables.items():
        if isinstance(value, Mapping):
            yield from keys_of(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def effect_of(key: str) -> str:
    """Return the effect to which a key of the preset belongs."""
    named = [name for name, patterns in EFFECTS.items() if any(fnmatchcase(key, pattern) for pattern in patterns)]
    return named[0] if named else key.rpartition(".")[0].rpartition(".")[2]


def effects_of(robot: str) -> dict[str, dict[str, Any]]:
    """Return ``table.key`` and value of each effect of the robot plant, in the order of its file."""
    effects: dict[str, dict[str, Any]] = {}
    for key, value in keys_of(preset_tables(robot, Plant.ROBOT)):
        effects.setdefault(effect_of(key), {})[key] = value
    return effects


# -- the walks ---------------------------------------------------------------------------------------------------------

_SPEED = {ControlMode.POSITION: 0.19, ControlMode.VELOCITY: 0.19, ControlMode.TORQUE: 0.15}  # [m/s]
_DURATION, _QUICK_DURATION = 8.0, 1.0  # [s] of the walks that are measured
_SEEDS = 5
_DISTANCE, _QUICK_DISTANCE = 2.0, 0.1  # [m] of the walks of a search
_SEARCH = SpeedSearch(slowest=0.10, fastest=1.0, resolution=0.02, stride=4)
_QUICK_SEARCH = SpeedSearch(slowest=0.15, fastest=0.15, resolution=0.15, stride=1)
_GAINS = SpeedSearch(slowest=1.0, fastest=12.0, resolution=1.0, stride=2)  # half octaves from a quarter on
_QUICK_GAINS = SpeedSearch(slowest=5.0, fastest=5.0, resolution=1.0, stride=1)
_GAIN_DURATION = 3.0  # [s]
_MOTION_POWERS = {"zmp_com_controller.walking.zmp": 1.0, "zmp_com_controller.walking.com": 1.0}  # of a factor on gains
_TORQUE_POWERS = {
    "torque_control.stance_foot.linear_damping": 0.5,
    "torque_control.stance_foot.angular_damping": 0.5,
    "torque_control.swing_foot.linear_stiffness": 1.0,
    "torque_control.swing_foot.linear_damping": 0.5,
    "torque_control.swing_foot.angular_stiffness": 1.0,
    "torque_control.swing_foot.angular_damping": 0.5,
    "torque_control.com.stiffness": 1.0,
    "torque_control.com.damping": 0.5,
}
_ERRORS = ("com", "dcm", "zmp", "foot")
_QUICK_EFFECTS = (NONE, "friction", "soles", "IMU", ALL)


def gain_factor(step: float) -> float:
    """Return the factor on gains of a step of the search for the largest one: half octaves, 1 at step 5."""
    return 2.0 ** (0.5 * (step - 5.0))


def scaled_gains(robot: str, control: ControlMode, factor: float, overrides: Mapping[str, Any]) -> dict[str, float]:
    """Return the overrides that scale the feedback gains of a control mode.

    Of position and velocity control both gains of the ZMP-CoM law, which closes the loop over sensors and servos;
    the servos' gains are those of the robots' boards. Of torque control those of feet and CoM: stiffness by ``factor``
    and damping by its root, which leaves damping ratios as they are.
    """
    tables = load_setup(robot, overrides).tables
    powers = _TORQUE_POWERS if control is ControlMode.TORQUE else _MOTION_POWERS
    found = {}
    for key, power in powers.items():
        first, *inner, name = key.split(".")
        found[key] = reduce(getitem, inner, tables[first])[name] * factor**power
    return found


@dataclass(slots=True, eq=False)
class EffectWalks:
    """Walks of one robot in one control mode with one effect.

    Attributes:
        run: The experiment.
        robot: Name or folder.
        control: Control mode.
        effect: Its name, ``none``, ``all`` or ``all but`` one.
        keys: That switch it on over the ideal plant, or off over the robot plant: ``table.key`` to value.
        speeds: Those of the search for the highest one.
    """

    run: ExperimentRun
    robot: str
    control: ControlMode
    effect: str
    keys: Mapping[str, Any]
    speeds: WalkedSpeeds = field(init=False)

    def __post_init__(self) -> None:
        options = self.run.options
        distance = options.either(_DISTANCE, _QUICK_DISTANCE)
        self.speeds = WalkedSpeeds(self.robot, self.plant, self.overrides, (0,), distance)

    @property
    def plant(self) -> Plant:
        """The plant to which the effect is added."""
        return Plant.ROBOT if self.effect.startswith(ALL) else Plant.IDEAL

    @property
    def overrides(self) -> dict[str, Any]:
        """The effect, the control mode and the settings of the experiment."""
        return {"walking.control": str(self.control), **self.keys, **self.run.options.overrides}

    @property
    def title(self) -> str:
        """Robot, control mode and effect."""
        return f"{self.robot}, {self.control} control, {self.effect}"

    def row(self) -> Search[Row]:
        """Walk, search, and return the row; the value is the highest speed, [m/s].

        Without one effect of all, seeds are walked and nothing is searched.
        """
        results = []
        for seed in range(self._seeds):
            results.append((yield from self._walk(seed).done()))
        walked = sum(result.stands for result in results)
        falls = [str(result.figures["reason"]) for result in results if not result.stands]
        limit, gain = SpeedLimit(None, None, "; ".join(falls)), None
        if not self.effect.startswith(ALL_BUT):
            limit = yield from self._limit()
            gain = (yield from self._gain()).speed
        self.run.report(len(self.run.rows) + 1, None, f"{self.title}: {walked} of {self._seeds} walked")
        return {
            "robot": self.robot,
            "control": str(self.control),
            "effect": self.effect,
            "speed_mps": _SPEED[self.control],
            "seeds": self._seeds,
            "success": walked / self._seeds,
            **{f"{name}_mm": _mean(results, f"{name}_error_m", 1e3) for name in _ERRORS},
            "tilt_deg": _mean(results, "max_tilt_rad", math.degrees(1.0)),
            "gain_factor": None if gain is None else gain_factor(gain),
            "asked": str(Asked.AS_FOUND),
            "paper": None,
            "value": limit.speed,
            IS_CAPPED: limit.speed is not None and limit.next_speed is None,
            "outcome": "walked" if walked == self._seeds else "fell",
            "reason": limit.reason,
        }

    def _limit(self) -> Search[SpeedLimit]:
        search = _QUICK_SEARCH if self.run.options.quick else _SEARCH
        return highest_speed(self.speeds.walk_at, search, guess=_SPEED[self.control])

    def _gain(self) -> Search[SpeedLimit]:
        search = _QUICK_GAINS if self.run.options.quick else _GAINS
        return highest_speed(self._walks_with_gain, search, guess=5.0)

    @property
    def _seeds(self) -> int:
        """Number of different walks: without an effect nothing is drawn."""
        options = self.run.options
        return 1 if self.effect == NONE or options.quick else options.seeds or _SEEDS

    def _walk(self, seed: int) -> Trial:
        duration = _QUICK_DURATION if self.run.options.quick else _DURATION
        command = VelocityCommand(_SPEED[self.control], duration=duration)
        return Trial(self.robot, command, self.overrides, self.plant, seed)

    def _walks_with_gain(self, step: float) -> Search[str | None]:
        gains = scaled_gains(self.robot, self.control, gain_factor(step), self.overrides)
        duration = _QUICK_DURATION if self.run.options.quick else _GAIN_DURATION
        command = VelocityCommand(_SPEED[self.control], duration=duration)
        result = yield from Trial(self.robot, command, {**self.overrides, **gains}, self.plant).done()
        return None if result.stands else str(result.figures["reason"])


def _mean(results: Sequence[TrialResult], key: str, factor: float) -> float | None:
    """Return the mean over the walks that succeeded of a figure, of an error its largest value in a walk."""
    values = [result.figures.get(key) for result in results if result.stands]
    numbers = [value["max"] if isinstance(value, dict) else value for value in values]
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) * factor if known else None


def walks_of(run: ExperimentRun) -> list[EffectWalks]:
    """Return all robots in all control modes with each effect, or those that are chosen."""
    options = run.options
    robots = options.robots or ((options.robot,) if options.quick else tuple(installed_robot_names()))
    return [
        EffectWalks(run, robot, control, effect, keys)
        for robot in robots
        for control in _controls(options)
        for effect, keys in switches_of(robot, control).items()
        if not options.quick or effect in _QUICK_EFFECTS
    ]


def switches_of(robot: str, control: ControlMode) -> dict[str, dict[str, Any]]:
    """Return the keys of each row: no effect, each alone, all, and all but each, which is as ideal."""
    effects = effects_of(robot)
    ideal = dict(keys_of(load_setup(robot, {"walking.control": str(control)}).tables))
    without = {f"{ALL_BUT}{name}": {key: ideal[key] for key in keys} for name, keys in effects.items()}
    return {NONE: {}, **effects, ALL: {}, **without}


def _controls(options: ExperimentOptions) -> tuple[ControlMode, ...]:
    return options.controls or ((ControlMode.POSITION,) if options.quick else tuple(ControlMode))


def run_plant_effects(run: ExperimentRun) -> None:
    """Walk with each effect; a figure for each robot and control mode."""
    walks = walks_of(run)
    add_rows_of(run, [walk.row() for walk in walks])
    for robot, control in dict.fromkeys((walk.robot, str(walk.control)) for walk in walks):
        rows = [row for row in run.rows if (row["robot"], row["control"]) == (robot, control)]
        name = f"{run.name}_{rows[0]['robot'].rstrip('/').rpartition('/')[2]}_{control}"
        run.add_figure(effects_figure(rows, f"{robot}, {control} control"), name)


# -- the figure --------------------------------------------------------------------------------------------------------

_PANELS = (
    ("success", "fraction that walks", COM),
    ("dcm_mm", "largest DCM error [mm]", DCM),
    ("com_mm", "largest CoM error [mm]", COM),
    ("tilt_deg", "largest tilt [°]", ZMP),
    ("value", "highest speed [m/s]", DCM),
    ("gain_factor", "largest factor on gains", COM),
)
_PANEL, _ROW_HEIGHT, _MARGIN = 2.1, 0.28, 1.0  # [inch]


def effects_figure(rows: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Return a bar an effect in each panel; a dash where the robot fell or nothing was searched."""
    with matplotlib.rc_context(STYLE):
        size = (_PANEL * len(_PANELS) + 1.0, _MARGIN + _ROW_HEIGHT * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(title, x=0.01, ha="left")
        axes = figure.subplots(1, len(_PANELS), sharey=True)
        for axis, (key, label, colour) in zip(axes, _PANELS, strict=True):
            _draw_bars(axis, [row[key] for row in rows], colour)
            axis.set_title(label)
        axes[0].set_yticks(range(len(rows)), [str(row["effect"]) for row in rows])
        axes[0].invert_yaxis()
        return figure


def _draw_bars(axis: Axes, values: Sequence[float | None], colour: str) -> None:
    bars = axis.barh(np.arange(len(values)), [value or 0.0 for value in values], 0.7, color=colour)
    axis.bar_label(bars, labels=["–" if value is None else f"{value:.3g}" for value in values], padding=3)
    axis.margins(x=0.3)  # room for the numbers


EXPERIMENTS = (
    Experiment(
        "plant",
        "Gradiva's own experiment",
        "Each effect of the robot plant alone, all, all but one: tracking, highest speed, largest gain.",
        run_plant_effects,
        "highest speed [m/s]",
        takes=("robots", "controls", "seeds", "settings"),
    ),
)
