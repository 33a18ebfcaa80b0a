"""Experiments: their runs, rows and figures, what is asked of a row, and which experiments there are."""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from matplotlib.figure import Figure

from gradiva.common import ConfigError, ControlMode, from_table, load_plugin, nearest_name, plugin_names
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant, installed_robot_names, parse_setting, processor_line
from gradiva.telemetry import RunFolder, plain
from gradiva_experiments import shipped
from gradiva_experiments.pool import Pool

# -- what is asked of a row --------------------------------------------------------------------------------------------

COM_LIMIT = 0.010  # [m] a walk whose CoM is ever farther from its reference keeps its balance, but does not track
INACCURATE = "inaccurate"
"""Outcome of a walk beyond that limit."""

_SUCCESSES = ("walked", "met")


class Asked(StrEnum):
    """Requirement of a row, under ``asked``; a row without it must succeed, whatever that is in its experiment."""

    TO_TRACK = "to track"
    """To walk with the CoM within the limit."""
    TO_WALK = "to walk"
    """To walk, however far the CoM is off: where even ground that is known would not keep it."""
    AS_FOUND = "as found"
    """A limit is looked for, or a controller compared: whatever comes is an answer."""


def judged(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return outcome and reason of a walk, `INACCURATE` when it walked with the CoM beyond `COM_LIMIT`.

    Args:
        figures: In the shape of ``result.json``; without an error of the CoM where there was no plan.
    """
    outcome, reason = str(figures["outcome"]), str(figures["reason"])
    error = figures.get("com_error_m", {}).get("max")
    if outcome != "walked" or error <= COM_LIMIT:
        return outcome, reason
    return INACCURATE, f"{but_com(error)}, {1e3 * COM_LIMIT:.0f} mm is the limit"


def but_com(error: float) -> str:
    """Return what tables and figures say of a walk with this error of the CoM [m]."""
    return f"walked, but CoM {1e3 * error:.1f} mm"


def is_fulfilled(row: Mapping[str, Any]) -> bool:
    """Return whether a row with ``outcome``, and perhaps ``asked``, is as it should be."""
    asked, outcome = row.get("asked"), row["outcome"]
    return asked == Asked.AS_FOUND or outcome in _SUCCESSES or (asked == Asked.TO_WALK and outcome == INACCURATE)


# -- an experiment and its run -----------------------------------------------------------------------------------------

T = TypeVar("T")
Row = dict[str, Any]
"""Inputs of one trial or search, then ``paper``, ``value``, ``outcome`` and ``reason``."""

Report = Callable[[int, int | None, str], None]
"""Called with the trials done, the trials in all (None: not known) and what was just done."""


DEFAULT_ROBOT = "icub_v2_7"
_OPTIONS = {
    "plants": "plant",
    "controls": "control",
    "speeds": "speed",
    "seeds": "seeds",
    "seed": "seed",
    "settings": "set",
    "modes": "mode",
    "directions": "directions",
    "phases": "phase",
    "durations": "duration",
    "models": "model",
    "pushes": "pushes",
    "turn": "turn",
}


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """Options of an experiment.

    Attributes:
        robot: Name of the robot.
        quick: Fewer and shorter trials, to see that all works.
        plants: On which the robot walks; empty leaves it to the experiment, as below.
        robots: Several of them.
        controls: Control modes.
        speeds: Commanded, [m/s].
        seeds: Number of walks of each kind.
        settings: ``table.key=value``, over the configuration of all walks.
        modes: Of step adaptation.
        directions: Number of directions of a push.
        phases: Of the gait, in which the robot is pushed.
        durations: Of a push, [s].
        models: Laws of layer 2, as in ``walking.model``.
        seed: Of the random generators; the first one where ``seeds`` are several, None: of the experiment.
        pushes: Number of equal pushes, one after the other.
        turn: Commanded rate of the heading, [rad/s].
    """

    robot: str = DEFAULT_ROBOT
    quick: bool = False
    plants: tuple[Plant, ...] = ()
    robots: tuple[str, ...] = ()
    controls: tuple[ControlMode, ...] = ()
    speeds: tuple[float, ...] = ()
    seeds: int | None = None
    settings: tuple[str, ...] = ()
    modes: tuple[SteppingMode, ...] = ()
    directions: int | None = None
    phases: tuple[str, ...] = ()
    durations: tuple[float, ...] = ()
    models: tuple[str, ...] = ()
    seed: int | None = None
    pushes: int | None = None
    turn: float | None = None

    def __post_init__(self) -> None:
        for option, values in (("speed", self.speeds), ("duration", self.durations), ("turn", (self.turn or 0.0,))):
            for value in values:
                if not math.isfinite(value):
                    raise ConfigError(f"--{option} {value}: expected a finite number")

    @property
    def chosen(self) -> dict[str, str]:
        """Options that not every experiment has, where they are chosen: the option by the name of its attribute."""
        several = {"robots": "robot"} if len(self.robots) > 1 else {}
        return several | {name: option for name, option in _OPTIONS.items() if getattr(self, name) not in (None, ())}

    @property
    def turn_in_degrees(self) -> str:
        """Commanded rate of the heading as ``--turn`` takes it, [°/s]."""
        return f"{math.degrees(self.turn or 0.0):.6g}"

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings: ``table.key`` to value."""
        return dict(map(parse_setting, self.settings))

    def either(self, usual: T, quick: T) -> T:
        """Return what belongs to a usual, or to a quick run."""
        return quick if self.quick else usual

    def count(self, usual: int, quick: int) -> int:
        """Return the number of walks of each kind: that chosen, else of a usual, or a quick run."""
        return self.seeds or self.either(usual, quick)

    def seed_or(self, own: int) -> int:
        """Return the seed that is chosen, else the experiment's own."""
        return own if self.seed is None else self.seed

    @property
    def robots_or_all(self) -> Sequence[str]:
        """The robots that are chosen, else the shipped ones whose models are installed."""
        return self.robots or installed_robot_names()


@dataclass(slots=True, eq=False)
class ExperimentRun:
    """A running experiment: takes rows and figures, keeps ``result.json`` up to date.

    Attributes:
        name: Of the experiment.
        source: Table, figure or text that it stands against.
        options: What was chosen.
        folder: Where figures and result lie.
        pool: Carries out trials and searches.
        report: Progress.
        figures: So far, paths.
        value_title: What ``value`` is, with its unit, for the tables.
        paper_title: What ``paper`` is, likewise.
    """

    name: str
    source: str
    options: ExperimentOptions
    folder: RunFolder
    pool: Pool
    report: Report = lambda done, total, text: None
    figures: list[str] = field(default_factory=list)
    value_title: str = "value"
    paper_title: str = "paper"
    _rows: dict[int, Row] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)

    @property
    def rows(self) -> list[Row]:
        """So far, by place."""
        return [self._rows[place] for place in sorted(self._rows)]

    @property
    def is_fulfilled(self) -> bool:
        """Whether all that is asked for came; without a row nothing did."""
        rows = self.rows
        return bool(rows) and all(is_fulfilled(row) for row in rows)

    def add_row(self, row: Row, place: int | None = None) -> None:
        """Take a row; what there is so far is on the disk afterwards.

        Args:
            row: With ``paper``, ``value``, ``outcome`` and ``reason``.
            place: In the table, whatever the order in which rows come; None: the next.
        """
        missing = {"paper", "value", "outcome", "reason"} - set(row)
        assert not missing, f"a row without {missing}"
        self._rows[len(self._rows) if place is None else place] = row
        self.save()

    def add_figure(self, figure: Figure, name: str) -> None:
        """Write a figure as PNG and SVG.

        Raises:
            ValueError: There is one of that name already.
        """
        if any(Path(path).stem == name for path in self.figures):
            raise ValueError(f"figure '{name}' is there already")
        for kind in ("png", "svg"):
            path = self.folder.path / f"{name}.{kind}"
            figure.savefig(path, dpi=150, facecolor="white")
            self.figures.append(str(path))
        self.save()

    def result(self) -> dict[str, Any]:
        """Return what there is so far, in the shape of the experiments' JSON."""
        return {
            "name": self.name,
            "source": self.source,
            "rows": self.rows,
            "figures": self.figures,
            "wall_s": time.perf_counter() - self._started,
        }

    def save(self) -> None:
        """Write ``result.json``, whole or not at all, and the same as a table."""
        unfinished = self.folder.result_path.with_suffix(".part")
        unfinished.write_text(json.dumps(plain(self.result()), indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, self.folder.result_path)
        self.table_path.write_text(markdown_table(self.rows, self.value_title, self.paper_title), encoding="utf-8")

    @property
    def table_path(self) -> Path:
        """The rows as a Markdown table."""
        return self.folder.path / "table.md"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One of the experiments that can be asked for by name.

    Attributes:
        name: What to ask for.
        source: Table, figure or text that it stands against.
        description: One line.
        run: Fills an ``ExperimentRun``.
        value_title: What ``value`` is in its rows, with its unit.
        plants: On which it walks by default; empty where its plant is part of it and cannot be chosen.
        own_robots: Robots that are part of it and cannot be chosen; empty where it has none, None where they can be.
        takes: Attributes of `ExperimentOptions` that it reads beside robot, quick and plants.
        paper_title: What ``paper`` is in its rows.
        quick: Of the description, what ``--quick`` leaves.
    """

    name: str
    source: str
    description: str
    run: Callable[[ExperimentRun], None]
    value_title: str = "value"
    plants: tuple[Plant, ...] = ()
    takes: tuple[str, ...] = ()
    paper_title: str = "paper"
    quick: str = ""
    own_robots: tuple[str, ...] | None = None

    @property
    def options(self) -> list[str]:
        """Options that it has beside --quick, as on the command line."""
        own = ["robot"] * (self.own_robots is None) + ["plant"] * bool(self.plants)
        return [f"--{option}" for option in (*own, *(_OPTIONS[name] for name in self.takes if name in _OPTIONS))]

    def title(self, is_quick: bool) -> str:
        """Return description and source; of a quick run what it leaves of them."""
        what = f"{self.description} ({self.source})"
        return f"{what} Quick: {self.quick or 'fewer and shorter trials.'}" if is_quick else what

    def command(self, options: ExperimentOptions) -> str:
        """Return the command line that asks for this experiment with these options."""
        words = ["gradiva", "experiment", self.name, *["--quick"] * options.quick]
        robots = options.robots or ((options.robot,) if options.robot != DEFAULT_ROBOT else ())
        values = {"robot": robots} | {option: getattr(options, name) for name, option in options.chosen.items()}
        values["plant"] = () if options.plants == self.plants else options.plants
        if "turn" in values:
            values["turn"] = options.turn_in_degrees
        if len(values["plant"]) > 1:
            values["plant"] = ("all",)
        for option, chosen in values.items():
            for value in chosen if isinstance(chosen, tuple) else (chosen,):
                words += [f"--{option}", str(value)]
        return shlex.join(words)

    def start(self, options: ExperimentOptions, parent: Path, pool: Pool, report: Report) -> ExperimentRun:
        """Return a run of this experiment, its folder made and still empty.

        Raises:
            ConfigError: The folder cannot be written, or an option is chosen that the experiment does not have.
        """
        if self.own_robots is not None and options.robots not in ((), self.own_robots):
            which = f"walks {', '.join(self.own_robots)}" if self.own_robots else "has no robot"
            raise ConfigError(f"--robot is no choice of the experiment {self.name}, which {which}")
        for name, option in options.chosen.items():
            if name not in self.takes and not (name == "plants" and self.plants):
                chosen = ", ".join(self.options) or "--quick alone"
                raise ConfigError(f"--{option} is no choice of the experiment {self.name}, its options: {chosen}")
        options = replace(options, plants=options.plants or self.plants)
        about = {"name": self.name, "commit": current_commit()}
        folder = RunFolder.create(parent, self.name, {"experiment": about, "options": options})
        return self.within(folder, options, pool, report)

    def within(self, folder: RunFolder, options: ExperimentOptions, pool: Pool, report: Report) -> ExperimentRun:
        """Return a run of this experiment in a folder, which may be that of an interrupted one."""
        run = ExperimentRun(self.name, self.source, options, folder, pool, report)
        run.value_title, run.paper_title = self.value_title, self.paper_title
        return run


# -- what a run leaves for the site ------------------------------------------------------------------------------------


RESULTS_FOLDER = Path("results")
"""Folder of the site's published results, from the root of the repository."""
_ABOUT = ("name", "source", "what", "command", "date", "commit", "machine")
_PUBLISHED = (*_ABOUT, "value_title", "paper_title", "rows", "figures")
_COMMITTED = ("modules", "config", "robots", "examples")
"""Folders that a commit must have as they are to repeat a run."""
_TITLES = {"value_title": "value", "paper_title": "paper"}


def check_publishable(folder: Path) -> None:
    """Make a folder of results if it is missing; called before the first walk, not after the last.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot publish to {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"cannot publish to {folder}: no permission to write")


def publish(experiment: Experiment, run: ExperimentRun, folder: Path) -> Path:
    """Write rows and figures of a run that ended, with command, date, commit and machine; return the JSON file.

    The commit is that at the start of the run, the path a whole one.

    Args:
        experiment: That was run.
        run: Complete.
        folder: Usually ``results``, from which the site makes its pages; made if it is missing.

    Raises:
        ConfigError: The folder cannot be written.
    """
    command = experiment.command(run.options)
    name = re.sub(r"[^\w.]+", "-", command.partition(f"experiment {run.name}")[2]).strip("-")
    result = {
        "name": run.name,
        "source": run.source,
        "what": experiment.title(run.options.quick),
        "command": command,
        "commit": run.folder.read_config()["experiment"].get("commit", ""),
        "value_title": run.value_title,
        "paper_title": run.paper_title,
        "rows": run.rows,
    }
    drawings = [Path(figure) for figure in run.figures if figure.endswith(".png")]
    return write_published(folder, f"{run.name}{'-' * bool(name)}{name}", result, drawings)


def write_published(folder: Path, stem: str, result: Mapping[str, Any], drawings: Sequence[Path] = ()) -> Path:
    """Write what the site shows of a run or a campaign, with date and machine; return the JSON file, a whole path.

    Args:
        folder: Usually ``results``; made if it is missing.
        stem: Name of the file without its suffix.
        result: Name, source, what it is, command, commit and rows; titles of the columns ``value`` and ``paper``.
        drawings: PNG files, which are copied beside it.

    Raises:
        ConfigError: The folder cannot be written.
    """
    check_publishable(folder)
    path = folder.resolve() / f"{stem}.json"
    figures = {f"{stem}-{drawing.name}": drawing for drawing in drawings}
    origin = {"date": date.today().isoformat(), "machine": this_machine(), "figures": list(figures)}
    try:
        for name, drawing in figures.items():
            shutil.copyfile(drawing, path.with_name(name))
        whole = {**_TITLES, **result, **origin}
        text = json.dumps(plain({key: whole[key] for key in _PUBLISHED}), indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot publish {path}: {error.strerror}") from None
    return path


def this_machine() -> str:
    """Return the name of the processor, and how many cores there are."""
    return f"{processor_line('model name').partition(':')[2].strip() or platform.machine()}, {os.cpu_count()} cores"


def current_commit() -> str:
    """Return the commit of this code, empty outside of a checkout.

    It ends with ``-dirty`` where code, parameters or examples differ from it.
    """

    def git(*words: str) -> str:
        command = ["git", "-C", str(Path(__file__).parent), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)  # installed beside another checkout it is not of that
        changed = git("status", "--porcelain", "--", *(f":/{folder}" for folder in _COMMITTED))
        return git("rev-parse", "--short", "HEAD") + "-dirty" * bool(changed)
    except (OSError, subprocess.SubprocessError):
        return ""


IS_CAPPED = "is_capped"
"""Key of rows whose ``value`` is the end of what was searched: tables show it as "≥ value"."""


def cell(row: Mapping[str, Any], name: str) -> str:
    """Return a cell of a table."""
    return f"{'≥ ' * bool(name == 'value' and row.get(IS_CAPPED))}{as_text(row.get(name))}"


def markdown_table(rows: list[Row], value_title: str = "value", paper_title: str = "paper") -> str:
    """Return rows as a Markdown table; numbers with four digits; ``value`` and ``paper`` under their titles."""
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row if name != IS_CAPPED))
    titles = {"value": value_title, "paper": paper_title}
    headings = [titles.get(name, name) for name in names]
    lines = [headings, ["---"] * len(names), *([cell(row, name) for name in names] for row in rows)]
    return "".join("| " + " | ".join(text.replace("|", "/") for text in line) + " |\n" for line in lines)


def as_text(value: Any) -> str:
    """Return a cell of a table, numbers with four digits and short exponents."""
    if value is None:
        return "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.4g}") if isinstance(value, float) else str(value)


def interrupted_experiment(folder: RunFolder) -> tuple[Experiment, ExperimentOptions]:
    """Return what runs in the folder of an experiment.

    Raises:
        ConfigError: It is not that of an experiment.
    """
    tables = folder.read_config()
    name = tables.get("experiment", {}).get("name")
    if not isinstance(name, str):
        raise ConfigError(f"{folder.path} is not the run of an experiment: its config.toml has no [experiment]")
    return find_experiment(name), from_table(ExperimentOptions, tables["options"], f"{folder.config_path} [options]")


# -- which experiments there are ---------------------------------------------------------------------------------------

GROUP = "gradiva.experiments"
"""Entry points of other packages: each names an ``Experiment``."""


def all_experiments() -> dict[str, Experiment]:
    """Return the experiments by name: those of ``gradiva_experiments.shipped``, and those of installed packages.

    A package adds one by an entry point of the group ``gradiva.experiments``. One that cannot be loaded stays in the
    list with the reason, and raises it when it is run.
    """
    chapters = (importlib.import_module(f"{shipped.__name__}.{found.name}") for found in iter_modules(shipped.__path__))
    own = {experiment.name: experiment for chapter in chapters for experiment in getattr(chapter, "EXPERIMENTS", ())}
    others = {name: _other(name) for name in plugin_names(GROUP) if name not in own}
    return {**own, **others}


def find_experiment(name: str) -> Experiment:
    """Return an experiment.

    Args:
        name: As ``gradiva experiment --list`` has it, or ``package.module:EXPERIMENT``.

    Raises:
        ConfigError: There is none of this name, or it cannot be loaded.
    """
    if ":" in name:
        return _loaded(name)
    experiments = all_experiments()
    if name not in experiments:
        raise ConfigError(f"unknown experiment '{name}'{nearest_name(name, experiments)}: gradiva experiment --list")
    return experiments[name]


def _loaded(name: str) -> Experiment:
    found = load_plugin(GROUP, name)
    if not isinstance(found, Experiment):
        raise ConfigError(
            f"'{name}' of the group '{GROUP}' is a {type(found).__name__}, no gradiva_experiments.Experiment"
        )
    return found


def _other(name: str) -> Experiment:
    try:
        return _loaded(name)
    except ConfigError as error:
        reason = error

    def fail(run: ExperimentRun) -> None:
        raise reason

    return Experiment(name, "an installed package", f"cannot be loaded: {reason}", fail)
