"""Turn the options of ``gradiva walk`` into a request."""

from __future__ import annotations

import csv
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.cli.walk import DEFAULT_DURATION, DEFAULT_ROBOT, DEFAULT_SPEED
from gradiva.common import ConfigError, ControlMode, NDArray, merge, nearest_name, unreadable
from gradiva.planner import Command, GoalCommand, PathCommand, VelocityCommand
from gradiva.push_recovery import SteppingMode
from gradiva.setup import MODULE_TABLES, Plant, Setup, load_setup, nested, parse_setting, read_toml, robot_of
from gradiva.setup.changed_keys import OPTIONS
from gradiva.simplified_model import BalanceLaw, balance_law_names, shipped_laws
from gradiva.simulated_walk import WalkRequest
from gradiva.simulation import Bump, Fault, FaultKind, GroundKind, Push, ground_names, ground_table, slope_components
from gradiva.telemetry import without_none

_SLOPE = "DEG or DEG,HEADING"
_PUSH = "LINK,FX,FY,FZ,START,DURATION"
_FAULT = "KIND,START[,NAME[,VALUE]]"
_BUMP = "X,Y,HEIGHT or X,Y,HEIGHT,LENGTH,WIDTH"
_NAMES = {"from_files": "files", "push": "pushes", "fault": "faults", "bump": "bumps"}
"""Arguments of ``gradiva walk`` that `WalkOptions` has by another name."""
CHOICES = {
    "control": tuple(map(str, ControlMode)),
    "plant": tuple(map(str, Plant)),
    "step_adaptation": tuple(map(str, SteppingMode)),
}


def _is_by(law: BalanceLaw) -> Callable[[Setup], bool]:
    return lambda setup: setup.walking.walking.model == law.name


_RIGID, _COMPLIANT = (f'--control torque --set torque_control.ground="{ground}"' for ground in ("rigid", "compliant"))
_SPRINGS = "--flexibility K with torque_control.law=flexible"
_BENDING = "--flexibility K: both laws are one where no links bend"


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """The options as they were written; ``gradiva walk --help`` explains them."""

    robot: str | None = None
    speed: float | None = None
    lateral: float | None = None
    turn: float | None = None
    goal: str | None = None
    path: str | None = None
    duration: float | None = None
    control: str | None = None
    model: str | None = None
    step_adaptation: str | None = None
    flexibility: float | None = None
    ground: str | None = None
    stiffness: float | None = None
    damping: float | None = None
    slope: str | None = None
    files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    pushes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    bumps: tuple[str, ...] = ()
    plant: str | None = None
    noise: bool = False
    seed: int = 0

    @classmethod
    def given(cls, arguments: Mapping[str, Any]) -> WalkOptions:
        """Return the options in arguments of ``gradiva walk``."""
        named = {_NAMES.get(name, name): value for name, value in arguments.items()}
        lists = {name: tuple(named.get(name) or ()) for name in ("settings", *_NAMES.values())}
        return cls(**{**named, **lists})

    def request(self) -> WalkRequest:
        """Return the request.

        Raises:
            WalkingError: An option is wrong, or does not go with another.
        """
        setup = self._setup()
        name = f"{setup.robot.name}-{setup.walking.walking.model}-{setup.walking.walking.control}"
        return WalkRequest(setup, self._command(setup), self.seed, name, self._words(setup))

    def _words(self, setup: Setup) -> tuple[str, ...]:
        """Return the words that repeat the walk, defaults written out; those of its result are left out."""
        options: dict[str, Any] = {"robot": setup.robot_argument, **self._destination(setup)}
        options |= {"control": str(setup.walking.walking.control), "model": str(setup.walking.walking.model)}
        options |= {"step-adaptation": self.step_adaptation, "plant": str(setup.plant)}
        options |= {name: getattr(self, name) for name in ("flexibility", "ground", "stiffness", "damping", "slope")}
        options |= {
            "from": self.files,
            "set": self.settings,
            "push": self.pushes,
            "fault": self.faults,
            "bump": self.bumps,
        }
        options |= {"seed": self.seed or None}
        repeated = [(name, value) for name, given in options.items() for value in _each(given)]
        return tuple(word for name, value in repeated for word in (f"--{name}", _as_typed(value)))

    def _destination(self, setup: Setup) -> dict[str, Any]:
        """Return speeds, goal or path and duration by option."""
        values = {name: getattr(self, name) for name in ("speed", "lateral", "turn", "goal", "path", "duration")}
        if not self._has_destination:
            if all(values[name] is None for name in ("speed", "lateral", "turn")):
                values["speed"] = _default_speed(setup)
            if self.duration is None:
                values["duration"] = DEFAULT_DURATION
        return values

    def _plant(self) -> str | None:
        """Return the plant that is asked for; None leaves it to the configuration."""
        if self.noise and self.plant not in (None, Plant.NOISY):
            raise ConfigError(f"--noise is short for --plant noisy, which contradicts --plant {self.plant}")
        return str(Plant.NOISY) if self.noise else self.plant

    def _setup(self) -> Setup:
        for option in ("control", "model", "plant", "step_adaptation"):
            _check_choice(option, getattr(self, option))
        by_options = self._keys_of_options()
        _refuse_contradictions(by_options, self.settings)
        layers = [(f"by --{option}", nested(key, value)) for key, (option, value) in by_options.items()]
        layers += [("by --flexibility", nested(key, value)) for key, value in self._stiffness_of_links.items()]
        layers += [("by --set", nested(*parse_setting(text))) for text in self.settings]
        files = [Path(name) for name in self.files]
        robot = (robot_of(files) or DEFAULT_ROBOT) if self.robot is None else self.robot
        setup = load_setup(robot, layers, files, self._plant())
        kind = setup.simulation.ground.kind
        if self._soil and kind != GroundKind.VISCOELASTIC:
            raise ConfigError(f"--{next(iter(self._soil))} is of a soft ground, this one is {kind}: add --ground soft")
        with_floor = with_bumps(setup, [parse_bump(text) for text in self.bumps])
        with_faults = _with_more(with_floor, "faults", [parse_fault(text) for text in self.faults])
        return with_pushes(with_faults, [parse_push(text) for text in self.pushes])

    def _keys_of_options(self) -> dict[str, tuple[str, Any]]:
        """Return option and value by the key that an option sets; links that bend are another matter."""
        keys = {
            "walking.control": self.control,
            "walking.model": self.model,
            "step_adaptation.mode": self.step_adaptation,
            "simulation.ground.kind": _ground_kind(self.ground),
            **{f"simulation.viscoelastic.{name}": _number(name, value) for name, value in self._soil.items()},
            **{f"simulation.ground.{name}": value for name, value in self._slope.items()},
        }
        found = {key: (OPTIONS[key], value) for key, value in keys.items() if value is not None}
        if self._has_destination and self.duration is not None:
            found["planner.commands.max_duration"] = ("duration", _duration(self.duration))
        return found

    @property
    def _stiffness_of_links(self) -> dict[str, float]:
        """Return the stiffness that the controller knows, and the plant too: by its own key where settings differ."""
        if self.flexibility is None:
            return {}
        known, stiffness = "flexibility.stiffness", _number("flexibility", self.flexibility)
        differs = any(setting.partition("=")[0].strip() == known for setting in self.settings)
        return {known: stiffness} | ({f"simulation.{known}": stiffness} if differs else {})

    @property
    def _soil(self) -> dict[str, float]:
        """Parameters of a soft ground that are given."""
        given = {"stiffness": self.stiffness, "damping": self.damping}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def _slope(self) -> dict[str, float]:
        """Return the components of the slope that is asked for."""
        if self.slope is None:
            return {}
        return dict(zip(("slope_forward", "slope_left"), parse_slope(self.slope), strict=True))

    @property
    def _has_destination(self) -> bool:
        return self.goal is not None or self.path is not None

    def _command(self, setup: Setup) -> Command:
        if not self._has_destination:
            return self._velocity(setup)
        if self.goal is not None and self.path is not None:
            raise ConfigError("--goal and --path exclude each other")
        for option in ("lateral", "turn"):
            if getattr(self, option) is not None:
                raise ConfigError(f"--{option} does not go with --goal or --path, which choose the way themselves")
        if self.goal is not None:
            return parse_goal(self.goal, self.speed)
        speed = setup.walking.planner.commands.cruise_speed if self.speed is None else self.speed
        return PathCommand(read_path(Path(str(self.path))), _number("speed", speed))

    def _velocity(self, setup: Setup) -> VelocityCommand:
        """Forward by default only when no other motion is asked for."""
        given = {"speed": self.speed, "lateral": self.lateral, "turn": self.turn}
        numbers = {name: _number(name, value) for name, value in given.items() if value is not None}
        forward = numbers.get("speed", 0.0 if numbers else _default_speed(setup))
        duration, step = self.duration, setup.walking.planner.min_step_duration
        duration = DEFAULT_DURATION if duration is None else _duration(duration)
        if duration < step:
            raise ConfigError(f"--duration {duration:g}: expected {step:g} s, the shortest step, or more")
        return VelocityCommand(forward, numbers.get("lateral", 0.0), math.radians(numbers.get("turn", 0.0)), duration)


def _refuse_contradictions(by_options: Mapping[str, tuple[str, Any]], settings: Iterable[str]) -> None:
    """Pass when no ``table.key=value`` gives a key another value than an option does.

    Raises:
        ConfigError: One does.
    """
    for key, value in map(parse_setting, settings):
        option, chosen = by_options.get(key, ("", None))
        if option and value != chosen:
            raise ConfigError(f"--set {key}={value} contradicts --{option}, which sets it to {chosen}: leave one out")


def _default_speed(setup: Setup) -> float:
    """Return the speed of a walk that names none, [m/s]: no robot is asked for more than it cruises at."""
    return min(DEFAULT_SPEED, setup.walking.planner.commands.cruise_speed)


def parse_goal(text: str, speed: float | None = None) -> GoalCommand:
    """Return the goal "x,y" or "x,y,yaw" in metres and degrees.

    Raises:
        ConfigError: It is neither.
    """
    numbers = _numbers("goal", text.split(","), "X,Y or X,Y,YAW")
    if len(numbers) not in (2, 3):
        raise ConfigError(f"--goal {text}: expected X,Y or X,Y,YAW")
    yaw = math.radians(numbers[2]) if len(numbers) == 3 else None
    return GoalCommand(numbers[0], numbers[1], yaw, None if speed is None else _number("speed", speed))


def parse_slope(text: str) -> tuple[float, float]:
    """Return how the ground rises towards x and y, [rad], from "degrees" or "degrees,heading".

    Raises:
        ConfigError: It is neither, or no robot could stand there.
    """
    numbers = _numbers("slope", text.split(","), _SLOPE)
    if len(numbers) not in (1, 2):
        raise ConfigError(f"--slope {text}: expected {_SLOPE}")
    if not abs(numbers[0]) < 45.0:
        raise ConfigError(f"--slope {text}: slopes must stay below 45°")
    return slope_components(math.radians(numbers[0]), math.radians(numbers[1] if len(numbers) == 2 else 0.0))


def parse_push(text: str) -> Push:
    """Return a push from "link,fx,fy,fz,start,duration".

    Raises:
        ConfigError: It is not one.
    """
    link, *rest = text.split(",")
    numbers = _numbers("push", rest, _PUSH)
    if len(numbers) != 5 or not link:
        raise ConfigError(f"--push {text}: expected {_PUSH}")
    fx, fy, fz, start, duration = numbers
    if start < 0.0:
        raise ConfigError(f"--push {text}: starts before the simulation")
    return Push(link=link.strip(), force=(fx, fy, fz), start=start, duration=duration)


def with_pushes(setup: Setup, pushes: Sequence[Push]) -> Setup:
    """Return a configuration with more pushes."""
    return _with_more(setup, "pushes", pushes)


def _with_more(setup: Setup, name: str, more: Sequence[Push | Fault]) -> Setup:
    """Return a configuration with more pushes or faults."""
    if not more:
        return setup
    together = (*getattr(setup.simulation, name), *more)
    added: dict[str, Any] = {name: together}
    simulation = dataclasses.replace(setup.simulation, **added)
    tables = merge(setup.tables, {"simulation": {name: [without_none(dataclasses.asdict(each)) for each in together]}})
    return dataclasses.replace(setup, simulation=simulation, tables=tables)


def fault_help() -> str:
    """Return what ``--fault`` takes, a line for each sort of kinds."""
    return f"--fault {_FAULT}, from START [s] on, KIND one of\n  " + FaultKind.listed().replace("; ", "\n  ")


def parse_fault(text: str) -> Fault:
    """Return a fault, for good, from "kind,start", "kind,start,name" or "kind,start,name,value".

    Raises:
        ConfigError: It is not one.
    """
    kind, *rest = (cell.strip() for cell in text.split(","))
    if kind not in [*FaultKind]:
        raise ConfigError(f"--fault {text}: expected {_FAULT}, KIND one of: {FaultKind.listed()}")
    if not 1 <= len(rest) <= 3:
        raise ConfigError(f"--fault {text}: expected {_FAULT}")
    start, *value = _numbers("fault", [rest[0], *rest[2:]], _FAULT)
    return Fault(FaultKind(kind), start, name=rest[1] if len(rest) > 1 else "", value=value[0] if value else 0.0)


def parse_bump(text: str) -> Bump:
    """Return a bump from "x,y,height" or "x,y,height,length,width", [m].

    Raises:
        ConfigError: It is neither.
    """
    numbers = _numbers("bump", text.split(","), _BUMP)
    if len(numbers) not in (3, 5):
        raise ConfigError(f"--bump {text}: expected {_BUMP}")
    return Bump(*numbers)


def with_bumps(setup: Setup, bumps: Sequence[Bump]) -> Setup:
    """Return a configuration with more bumps on its floor.

    Raises:
        ConfigError: The floor is not rigid.
    """
    if not bumps:
        return setup
    together = (*setup.simulation.ground.bumps, *bumps)
    ground = dataclasses.replace(setup.simulation.ground, bumps=together)
    simulation = dataclasses.replace(setup.simulation, ground=ground)
    table = {"simulation": {"ground": {"bumps": [dataclasses.asdict(bump) for bump in together]}}}
    return dataclasses.replace(setup, simulation=simulation, tables=merge(setup.tables, table))


def read_path(file: Path) -> NDArray:
    """Return the points of a CSV file with the columns x and y, [m], shape (k, 2).

    Empty lines, lines that begin with # and a first line without numbers are passed over.

    Raises:
        ConfigError: The file cannot be read, or a line of it is no point.
    """
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if _has_content(row)]
    except OSError as error:
        raise ConfigError(unreadable(file, error, "a CSV file of points x,y")) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file} is no CSV file: {error}") from None
    if rows and not _is_point(rows[0][1]) and not any(_is_number(cell) for cell in rows[0][1]):
        rows = rows[1:]  # a heading
    for number, row in rows:
        if not _is_point(row):
            raise ConfigError(f"{file}, line {number}: expected two finite numbers x,y, got '{','.join(row)}'")
    if not rows:
        raise ConfigError(f"{file} has no points")
    return np.array([[float(x), float(y)] for _, (x, y) in rows])


def _each(given: Any) -> Sequence[Any]:
    """Return the values of an option: none, one, or those of an option that may be repeated."""
    if isinstance(given, tuple):
        return given
    return () if given is None else (given,)


def _as_typed(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _check_choice(option: str, value: str | None) -> None:
    if value is None or (option == "model" and ":" in value):  # package.module:Class
        return
    valid = balance_law_names() if option == "model" else CHOICES[option]
    if value in valid:
        return
    more = "; or write 'package.module:Class'" if option == "model" else ""
    raise ConfigError(f"unknown --{option.replace('_', '-')} '{value}'{nearest_name(value, valid)}{more}")


def _ground_kind(name: str | None) -> str | None:
    """Return the kind of the ground that is called so: a shipped one, of an installed package, or a class."""
    kinds = {shown: kind for kind, shown in ground_names().items()}
    if name is None or ":" in name:
        return name
    if name not in kinds:
        raise ConfigError(f"unknown --ground '{name}'{nearest_name(name, kinds)}")
    return kinds[name]


def _number(option: str, value: float) -> float:
    if not math.isfinite(value):
        raise ConfigError(f"--{option} {value}: expected a finite number")
    return value


def _duration(value: float) -> float:
    if _number("duration", value) <= 0.0:
        raise ConfigError(f"--duration {value:g}: expected more than 0 s")
    return value


def _numbers(option: str, cells: Sequence[str], form: str) -> list[float]:
    for cell in cells:
        if not _is_number(cell):
            raise ConfigError(f"--{option}: '{cell}' is no finite number, expected {form}")
    return [float(cell) for cell in cells]


def _has_content(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")


def _is_point(row: Sequence[str]) -> bool:
    return len(row) == 2 and all(_is_number(cell) for cell in row)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class _Table:
    """A table, or a key, that not every walk reads.

    Attributes:
        name: With dots; of a key the title as well.
        choice: The options with which it is read, as typed.
        is_read: Whether a configuration makes that choice.
        is_key: Whether it is a key.
        chooses: Key of the table that makes the choice itself, and is always read; empty where none does.
    """

    name: str
    choice: str
    is_read: Callable[[Setup], bool]
    is_key: bool = False
    chooses: str = ""

    @property
    def title(self) -> str:
        """Name of the key, or of the table with an ellipsis."""
        return self.name if self.is_key else f"{self.name}.…"

    def is_set_by(self, key: str) -> bool:
        """Return whether a key is it, or in the table and not the one that chooses it."""
        return key == self.name or (key.startswith(f"{self.name}.") and key != f"{self.name}.{self.chooses}")


def idle_settings(settings: Iterable[str], setup: Setup) -> list[str]:
    """Return one line for each ``table.key=value`` that a later one replaces, and for each table that is not read."""
    keys = [setting.partition("=")[0].strip() for setting in settings]
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    replaced = [f"warning: --set {key}: the last value counts; 'gradiva compare' walks with each" for key in repeated]
    return replaced + [
        f"warning: --set {each.title} has no effect in this walk, it needs {each.choice}" for each in _idle(keys, setup)
    ]


def idle_tables(files: Iterable[Path], setup: Setup) -> list[str]:
    """Return one line for each table of ``--from`` that this walk does not read; the configuration of a run has all."""
    return [
        f"warning: --from {file}: {each.title} has no effect in this walk, it needs {each.choice}"
        for file in files
        if robot_of([file]) is None
        for each in _idle(list(_keys(read_toml(file))), setup)
    ]


def _idle(keys: Sequence[str], setup: Setup) -> list[_Table]:
    return [table for table in _TABLES if any(map(table.is_set_by, keys)) and not table.is_read(setup)]


def _keys(tables: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the keys of nested tables with dots, as ``--set`` names them."""
    for name, value in tables.items():
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def _is_by_torque(setup: Setup) -> bool:
    return setup.walking.walking.control is ControlMode.TORQUE


def _has_springs(setup: Setup) -> bool:
    return bool(setup.robot.flexible_joints) and setup.walking.knows_flexible_joints


def _knows_soft_ground(setup: Setup) -> bool:
    return setup.walking.knows_soft_ground


def _adapts_steps(setup: Setup) -> bool:
    return setup.walking.step_adaptation.mode is not SteppingMode.OFF


def _estimates_pushes(setup: Setup) -> bool:
    return setup.walking.external_wrench.is_estimated


def _on(kind: str) -> Callable[[Setup], bool]:
    return lambda setup: setup.simulation.ground.kind == kind


_TABLES = (
    _Table("torque_control", "--control torque", _is_by_torque),
    _Table(
        "torque_control.law",
        _BENDING,
        lambda setup: not _is_by_torque(setup) or bool(setup.robot.flexible_joints),
        True,
    ),
    _Table(
        "torque_control.spring_horizon",
        _SPRINGS,
        lambda setup: not _is_by_torque(setup) or _has_springs(setup),
        True,
    ),
    _Table("flexible_joint_observer", _SPRINGS, _has_springs),
    *(
        _Table(
            f"torque_control.{part}", _RIGID, lambda setup: not _is_by_torque(setup) or not _knows_soft_ground(setup)
        )
        for part in ("weights", "com", "stance_foot", "swing_foot", "posture_weights")
    ),
    _Table("torque_control.compliant", _COMPLIANT, lambda setup: not _is_by_torque(setup) or _knows_soft_ground(setup)),
    _Table("contact_estimator", _COMPLIANT, _knows_soft_ground),
    _Table("step_adaptation", "--step-adaptation place or place_and_time", _adapts_steps, chooses="mode"),
    _Table(
        "hip_strategy",
        "--step-adaptation place or place_and_time, by position or velocity, external_wrench.is_estimated=false",
        lambda setup: _adapts_steps(setup) and not _is_by_torque(setup) and not _estimates_pushes(setup),
    ),
    _Table(
        "external_wrench",
        "--set external_wrench.is_estimated=true",
        _estimates_pushes,
        chooses="is_estimated",
    ),
    _Table(
        "external_wrench.push_offset",
        "--model centroidal_mpc",
        lambda setup: not _estimates_pushes(setup) or setup.walking.balance.takes_wrench,
        is_key=True,
    ),
    *(_Table(law.table, f"--model {law.name}", _is_by(law)) for law in shipped_laws() if law.name != "dcm"),
    *(_Table(ground_table(kind), f"--ground {name}", _on(kind)) for kind, name in ground_names().items()),
    *(_Table(name, "the modules of a robot (gradiva app run)", lambda setup: False) for name in MODULE_TABLES),
)
