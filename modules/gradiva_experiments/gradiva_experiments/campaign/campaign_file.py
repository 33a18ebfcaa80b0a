"""The file of a campaign: which walks it asks for.

Its words are those of ``gradiva walk``: ``speed``, ``plant``, ``push`` … by the names of the options, keys of the
configuration by theirs (``zmp_com_controller.walking.zmp``). A name that is neither fills ``{name}`` in a text, as the
force of a push; so does an option, as ``{robot}`` in the name of a file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gradiva.cli import WalkOptions
from gradiva.common import ConfigError, PlanningError, WalkingError, from_table, nearest_name
from gradiva.setup import data_folder, overlay_file, read_toml, robot_argument, robot_folder
from gradiva.simulated_walk import plan_from_start
from gradiva_experiments.campaign.driver import Answer, Row, Search
from gradiva_experiments.campaign.trial_rows import KEY

Options = dict[str, Any]
"""Arguments of `WalkOptions`, as JSON holds them."""

TEXTS = "texts"
"""Name under which an argument has the texts of its files."""
FAILED = "failed"
"""Outcome of a trial without a result: an error that has no name, a process that died or hung."""
_LISTS = {"from": "files", "push": "pushes", "fault": "faults", "bump": "bumps"}
_NUMBERS = ("speed", "lateral", "turn", "duration", "flexibility", "stiffness", "damping")
_TEXTS = ("robot", "goal", "path", "control", "model", "step_adaptation", "ground", "slope", "plant")
OPTIONS = (*_TEXTS, *_NUMBERS, *_LISTS)
_HOLE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
_DIGITS = 6  # [-] significant ones of drawn numbers, so that they can be typed
_CHECKED = 200  # [trials] of which the configuration is tried before the first walk


@dataclass(frozen=True, slots=True)
class Draw:
    """Describes one input that is drawn; one of the three is given.

    Attributes:
        between: Least and largest value.
        normal: Mean and standard deviation.
        of: Values that are equally likely.
        scale: Scale of ``between``: linear or log.
    """

    between: tuple[float, ...] = ()
    normal: tuple[float, ...] = ()
    of: tuple[Any, ...] = ()
    scale: str = "linear"

    def __post_init__(self) -> None:
        given = [name for name in ("between", "normal", "of") if getattr(self, name)]
        if len(given) != 1 or (given != ["of"] and len(getattr(self, given[0])) != 2):
            raise ConfigError("expected between = [least, largest], normal = [mean, deviation] or of = [values]")
        if self.scale not in ("linear", "log"):
            raise ConfigError(f"scale '{self.scale}': expected linear or log")
        if self.between and not self.between[0] < self.between[1]:
            raise ConfigError(f"between {list(self.between)}: expected the least value first")
        if self.scale == "log" and not (self.between and self.between[0] > 0.0):
            raise ConfigError("scale 'log' needs between = [least, largest], both above 0")

    def values(self, name: str, seed: int, count: int) -> list[Any]:
        """Return the draws; of a larger count the first ones are the same, whatever else is drawn."""
        random = np.random.default_rng([seed, zlib.crc32(name.encode())])
        if self.of:
            return [self.of[index] for index in random.integers(0, len(self.of), count)]
        if self.normal:
            return [_rounded(value) for value in random.normal(self.normal[0], self.normal[1], count)]
        low, high = np.log(self.between) if self.scale == "log" else self.between
        drawn = random.uniform(low, high, count)
        return [_rounded(value) for value in (np.exp(drawn) if self.scale == "log" else drawn)]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


@dataclass(frozen=True, slots=True)
class CampaignTrial:
    """One walk of a campaign.

    Attributes:
        key: Same for the same robot, configuration, command and seed.
        inputs: Values that the campaign varies, by name; the seed is one.
        options: All that the walk is made of.
    """

    key: str
    inputs: dict[str, Any]
    options: Options

    @property
    def command(self) -> str:
        """Command that repeats the walk."""
        return command_line(self.options)

    @property
    def argument(self) -> Options:
        """Argument of `campaign.walk_trial`: the options with the texts of their files, for workers without a share.

        Raises:
            ConfigError: A file cannot be read.
        """
        return {**self.options, TEXTS: {name: _text(name) for name in _files_of(self.options)}}

    def check(self) -> None:
        """Configure the walk and plan it.

        Raises:
            PlanningError: No plan fulfils its command.
            WalkingError: Its configuration is wrong, or a file cannot be read.
        """
        request = walk_options({name: given for name, given in self.argument.items() if name != TEXTS}).request()
        plan_from_start(request.setup, request.command)

    def row(self, answer: Answer) -> dict[str, Any]:
        """Return its row: inputs, outcome, cause, scores, versions, the command that repeats it."""
        value = answer.value if isinstance(answer.value, dict) else {}
        if answer.error:
            last = answer.error.strip().splitlines()[-1]
            value = {"outcome": FAILED, "reason": last, "cause": last, "error": answer.error}
        about = {"command": self.command, "options": json.dumps(self.options, sort_keys=True)}
        cost = {"wall_s": answer.wall_s, "memory_mb": answer.memory_mb, "worker": answer.worker}
        inputs = {name: as_cell(given) for name, given in self.inputs.items()}
        return {KEY: self.key, **value, **inputs, **about, **cost}

    def walked(self) -> Search[Row]:
        """Return the search of this trial alone."""
        return (yield self)


def as_cell(value: Any) -> Any:
    """Return a value of an input as a row has it."""
    return value if isinstance(value, bool | int | float | str | None) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Campaign:
    """The walks that a file asks for: each case in the grid, each draw, each seed.

    Attributes:
        name: Name of the file.
        walk: Common to all walks.
        grid: Values of each input, of which every combination is walked.
        cases: Inputs that belong together.
        draws: Distribution of each drawn input.
        draw_count: Number of draws.
        draw_seed: Seed of the draws.
        seeds: Seeds of the walks.
        timeout: Time after which a trial is given up, [s] of the clock.
    """

    name: str
    walk: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, list[Any]] = field(default_factory=dict)
    cases: tuple[dict[str, Any], ...] = ({},)
    draws: dict[str, Draw] = field(default_factory=dict)
    draw_count: int = 1
    draw_seed: int = 0
    seeds: range = range(1)
    timeout: float = 600.0

    @property
    def inputs(self) -> list[str]:
        """Names of what is varied; the seed is the last one."""
        names = [*self.grid, *(name for case in self.cases for name in case), *self.draws, "seed"]
        return list(dict.fromkeys(names))

    @property
    def count(self) -> int:
        """Number of walks."""
        combinations = int(np.prod([len(values) for values in self.grid.values()], dtype=int))
        return combinations * len(self.cases) * self.draw_count * len(self.seeds)

    def trials(self) -> Iterator[CampaignTrial]:
        """Yield the walks, seed after seed, so that a campaign that is ended early has walked everything a little."""
        drawn = self._drawn()
        combinations = [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]
        for seed, draw, case, combination in itertools.product(self.seeds, drawn, self.cases, combinations):
            yield trial_of(self.walk, {**combination, **case, **draw}, seed)

    def check(self) -> list[str]:
        """Refuse inputs that no walk takes, before the first walk; return a line for each reason of no plan.

        Tried are each value once, then the combinations with the first seed, `_CHECKED` walks at most. Reasons that
        differ by their numbers alone are one.

        Raises:
            WalkingError: A name, or the configuration of a walk, is wrong; or no combination has a plan.
        """
        wrong, unplanned = list[WalkingError](), list[str]()
        found = self._tried()
        tried = list(itertools.islice(found, _CHECKED))
        for trial in tried:
            try:
                trial.check()
            except PlanningError as error:
                unplanned.append(f"no plan: {error}")
            except WalkingError as error:
                wrong.append(error)
        if wrong:
            raise type(wrong[0])("\n".join(f"{self.name}: {same[0]}" for same in grouped_reasons(map(str, wrong))))
        if len(unplanned) == len(tried) < _CHECKED:
            raise PlanningError("\n".join(f"{self.name}: {same[0]}" for same in grouped_reasons(unplanned)))
        which = f"{'the first ' * (next(found, None) is not None)}{len(tried)} combinations"
        return [
            f"{len(same)} of {which} will be refused{', the first' * (len(set(same)) > 1)}: {same[0]}"
            for same in grouped_reasons(unplanned)
        ]

    def _tried(self) -> Iterator[CampaignTrial]:
        """Yield each value once, then all combinations with the first seed."""
        combinations = itertools.islice(self.trials(), self.count // len(self.seeds))
        found = itertools.chain(
            (trial_of(self.walk, varied, self.seeds[0]) for varied in self._each_value_once()), combinations
        )
        keys = set[str]()
        for trial in found:
            if trial.key not in keys:
                keys.add(trial.key)
                yield trial

    def _drawn(self) -> list[dict[str, Any]]:
        columns = {name: draw.values(name, self.draw_seed, self.draw_count) for name, draw in self.draws.items()}
        return [{name: values[index] for name, values in columns.items()} for index in range(self.draw_count)]

    def _each_value_once(self) -> Iterator[dict[str, Any]]:
        first = {name: values[0] for name, values in self.grid.items()}
        drawn = self._drawn()
        for case in self.cases:
            yield {**first, **case, **drawn[0]}
        for name, values in self.grid.items():
            for value in values[1:]:
                yield {**first, **self.cases[0], **drawn[0], name: value}
        for draw in drawn[1:]:
            yield {**first, **self.cases[0], **draw}


def grouped_reasons(reasons: Iterable[str]) -> list[list[str]]:
    """Return reasons that differ by their numbers alone together, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for reason in reasons:
        groups.setdefault(_NUMBER.sub("#", reason), []).append(reason)
    return sorted(groups.values(), key=lambda same: -len(same))


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Table ``seeds``, where it is more than a number."""

    count: int
    first: int = 0

    def __post_init__(self) -> None:
        _check_least("count", self.count, 1)
        _check_least("first", self.first, 0)


@dataclass(frozen=True, slots=True)
class _Draws:
    """Keys of the table ``draws`` beside the distributions."""

    count: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        _check_least("count", self.count, 1)
        _check_least("seed", self.seed, 0)


def _check_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"{name} = {value}{' is negative' * (value < 0)}: expected {least} or more")


def _timeout(path: Path, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0.0:
        raise ConfigError(f"{path}: timeout = {value!r}: expected more than 0 s")
    return float(value)


def _draw(where: str, value: Any, name: str) -> Draw:
    """Return a distribution; a misspelt word of it arrives as the last part of a dotted name."""
    if isinstance(value, Mapping):
        return from_table(Draw, value, f"{where}, {name}")
    word = name.rpartition(".")[2]
    raise ConfigError(
        f"{where}: {name} = {value!r} is no distribution, expected between = [least, largest], normal = [mean, "
        f"deviation] or of = [values]{nearest_name(word, [each.name for each in fields(Draw)])}"
    )


def read_campaign(path: Path) -> Campaign:
    """Return the campaign of a file.

    Raises:
        ConfigError: The file is missing, is not TOML, or has a table or value that no campaign has.
    """
    tables = read_toml(path)
    draws = dict(tables.pop("draws", {}))
    known = ("walk", "grid", "list", "seeds", "timeout", "tune")
    for name in tables:
        if name not in known:
            raise ConfigError(f"{path}: unknown table or key '{name}'{nearest_name(name, [*known, 'draws'])}")
    seeds = tables.get("seeds", 1)
    table = from_table(_Seeds, seeds if isinstance(seeds, Mapping) else {"count": seeds}, f"{path}, seeds")
    drawn = from_table(_Draws, {key: draws.pop(key) for key in ("count", "seed") if key in draws}, f"{path}, draws")
    distributions = {name: _draw(f"{path}, draws", value, name) for name, value in flat(draws).items()}
    campaign = Campaign(
        name=path.stem,
        walk=flat(tables.get("walk", {})),
        grid={name: _values(path, name, values) for name, values in flat(tables.get("grid", {})).items()},
        cases=tuple(map(flat, tables.get("list", [{}]))),
        draws=distributions,
        draw_count=drawn.count,
        draw_seed=drawn.seed,
        seeds=range(table.first, table.first + table.count),
        timeout=_timeout(path, tables.get("timeout", 600.0)),
    )
    if not campaign.count > 0:
        raise ConfigError(f"{path} asks for no walk: its list is empty")
    return campaign


def _values(path: Path, name: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise ConfigError(f"{path}, grid, {name}: expected a list of values, got {values!r}")
    return values


def flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the values of nested tables by dotted names; the table of a draw is one value."""
    values: dict[str, Any] = {}
    for name, value in table.items():
        is_table = isinstance(value, Mapping) and not {"between", "normal", "of"} & set(value)
        values |= flat(value, f"{above}{name}.") if is_table else {f"{above}{name}": value}
    return values


# -- one walk --------------------------------------------------------------------------------------------------------


def trial_of(walk: Mapping[str, Any], varied: Mapping[str, Any], seed: int) -> CampaignTrial:
    """Return a trial from what is common and what is varied.

    Raises:
        ConfigError: A name is neither an option of a walk, nor a key, nor fills a hole.
    """
    given = {name.replace("-", "_") if "." not in name else name: value for name, value in {**walk, **varied}.items()}
    fillings = {name: value for name, value in given.items() if "." not in name and name not in OPTIONS}
    used = {name for value in given.values() for text in _each(value) for name in _HOLE.findall(str(text))}
    for name in fillings:
        if name not in used:
            raise ConfigError(
                f"'{name}' is no option of gradiva walk, no table.key, and fills no {{{name}}}"
                f"{nearest_name(name, OPTIONS)}"
            )
    named = {name: value for name, value in given.items() if "." not in name}
    for name in sorted(used - set(named)):
        raise ConfigError(f"{{{name}}}: the campaign has no '{name}' that fills it{nearest_name(name, fillings)}")
    options: Options = {"seed": int(seed), "settings": []}
    for name, value in given.items():
        if name not in fillings:
            _put(options, name, _filled(value, named))
    return CampaignTrial(trial_key(options), {**varied, "seed": int(seed)}, options)


def _put(options: Options, name: str, value: Any) -> None:
    if "." in name:
        options["settings"].append(f"{name}={_as_toml(value)}")
    elif name in _LISTS:
        options[_LISTS[name]] = [str(each) for each in _each(value)]
    elif name in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{name} = {value!r}: expected a number")
        options[name] = float(value)
    else:
        options[name] = str(value)
    if name == "from":
        options["files"] = [str(overlay_file(Path(file)).resolve()) for file in options["files"]]
    elif name == "path":
        options["path"] = str(Path(options["path"]).resolve())
    elif name == "robot":
        options["robot"] = robot_argument(options["robot"])


def _filled(value: Any, fillings: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_filled(each, fillings) for each in value]
    if isinstance(value, Mapping):
        return {name: _filled(each, fillings) for name, each in value.items()}
    if not isinstance(value, str):
        return value
    return _HOLE.sub(lambda hole: str(fillings.get(hole[1], hole[0])), value)


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _as_toml(value: Any) -> str:
    """Return a value as TOML has it, on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(name)} = {_as_toml(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_as_toml, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value)


def walk_options(options: Mapping[str, Any]) -> WalkOptions:
    """Return the options as ``gradiva walk`` takes them."""
    return WalkOptions.given(options)


def command_line(options: Mapping[str, Any]) -> str:
    """Return the command that repeats a walk."""
    words = ["gradiva", "walk"]
    names = {field.name: field.name.replace("_", "-") for field in fields(WalkOptions)} | {"settings": "set"}
    names |= {attribute: option for option, attribute in _LISTS.items()}
    for name, value in options.items():
        for each in _each(value):
            words += [f"--{names[name]}", f"{each:.12g}" if isinstance(each, float) else str(each)]
    return shlex.join(words)


def trial_key(options: Mapping[str, Any]) -> str:
    """Return a digest of robot, configuration, command and seed: of the options and of all files behind them."""
    content = [_digest([Path(file)]) for file in _files_of(options)]
    about = {name: value for name, value in options.items() if name not in ("files", "path")}
    about |= {"settings": sorted(options["settings"]), "files": [_shipped(options.get("robot", "")), *content]}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]


def _files_of(options: Mapping[str, Any]) -> list[str]:
    return [*options.get("files", ()), *filter(None, [options.get("path")])]


@lru_cache(maxsize=64)
def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None


@lru_cache(maxsize=32)
def _shipped(robot: str) -> str:
    """Return a digest of the configuration of a robot, of the default one where it is empty."""
    folders = (data_folder("config"), *([robot_folder(robot)] if robot else []))
    return _digest(path for folder in folders for path in sorted(folder.glob("*.toml")))


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths if path.is_file())).hexdigest()
