"""Carry out ``gradiva experiment``: options, progress, tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradiva.cli import JsonTarget, console_beside, progress_bar
from gradiva.common import ConfigError, ControlMode, nearest_name
from gradiva.push_recovery import SteppingMode
from gradiva.setup import Plant, load_setup
from gradiva.simplified_model import balance_law
from gradiva.telemetry import RunFolder
from gradiva_experiments.continued_walks import check_phases
from gradiva_experiments.experiment import (
    DEFAULT_ROBOT,
    IS_CAPPED,
    RESULTS_FOLDER,
    Experiment,
    ExperimentOptions,
    ExperimentRun,
    Report,
    Row,
    all_experiments,
    as_text,
    cell,
    check_publishable,
    find_experiment,
    interrupted_experiment,
    publish,
)
from gradiva_experiments.pool import Pool, progress_of_jobs
from gradiva_experiments.typed_options import with_options

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="As in --list.")]
ListAll = Annotated[bool, typer.Option("--list", help="List the experiments.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter walks.")]
Robots = Annotated[
    list[str] | None,
    typer.Option(
        "--robot",
        metavar="ROBOT",
        help=f"A name, as in: gradiva robots, or a folder; {DEFAULT_ROBOT} by default. Some experiments take several.",
    ),
]
PlantName = Annotated[
    str | None,
    typer.Option(
        "--plant",
        metavar="PLANT",
        help="ideal, noisy, robot or all: on which simulated robot it walks; by default those that --list shows.",
    ),
]
Controls = Annotated[
    list[str] | None, typer.Option("--control", metavar="MODE", help="position, velocity or torque; may be repeated.")
]
Speeds = Annotated[list[float] | None, typer.Option("--speed", metavar="M/S", help="Forward; may be repeated.")]
Seeds = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of walks of each kind.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TABLE.KEY=VALUE", help="One value of the configuration of all walks."),
]
Modes = Annotated[
    list[str] | None,
    typer.Option("--mode", metavar="MODE", help="Of step adaptation: off, place or place_and_time; may be repeated."),
]
Directions = Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of directions of a push.")]
Phases = Annotated[
    list[str] | None,
    typer.Option(
        "--phase", metavar="PHASE", help="Of a push: early, middle, late in a step, or touch_down; may be repeated."
    ),
]
Durations = Annotated[
    list[float] | None, typer.Option("--duration", metavar="S", min=0.01, help="Of a push; may be repeated.")
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="Law of layer 2, as in: gradiva walk; may be repeated."),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Of what is drawn, the first one with --seeds: other draws than as shipped."),
]
Pushes = Annotated[int | None, typer.Option(metavar="N", min=1, max=10, help="Number of equal pushes, 0.8 s apart.")]
Turn = Annotated[float | None, typer.Option(metavar="DEG/S", help="Counter-clockwise, while it walks.")]
Resume = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Go on with an interrupted run in its folder, as it was asked for. What it has walked so is kept.",
    ),
]
Scheduler = Annotated[str, typer.Option(metavar="ADDRESS", help="As in gradiva campaign.")]
Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Processes of this machine; one a core, at most 8, by default.")
]
Out = Annotated[str, typer.Option(metavar="DIR", help="Below it the run gets a new folder, by time and name.")]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result; - is standard output.")]
Publish = Annotated[
    bool,
    typer.Option("--publish", help="Write rows and figures to results/ of this folder too: the site's pages."),
]
_ALL = "all"  # plants
_GAP = 2  # [characters] between two columns
_RESULTS = ("paper", "value", "outcome")


@dataclass(frozen=True, slots=True)
class TypedOptions:
    """Options from --quick to --seed, as they were typed: those of which each experiment has some."""

    quick: Quick = False
    robot: Robots = None
    plant: PlantName = None
    control: Controls = None
    speed: Speeds = None
    seeds: Seeds = None
    settings: Set = None
    mode: Modes = None
    directions: Directions = None
    phase: Phases = None
    duration: Durations = None
    model: Models = None
    seed: Seed = None
    pushes: Pushes = None
    turn: Turn = None

    def asked(self) -> ExperimentOptions:
        """Return what the command line asks for; the robots and settings are tried beforehand.

        Raises:
            WalkingError: An option is wrong.
        """
        check_phases(self.phase or ())
        robots = tuple(self.robot or ())
        options = ExperimentOptions(
            robots[0] if robots else DEFAULT_ROBOT,
            self.quick,
            _plants(self.plant),
            robots,
            _choices(ControlMode, "control", self.control),
            tuple(self.speed or ()),
            self.seeds,
            tuple(self.settings or ()),
            _choices(SteppingMode, "mode", self.mode),
            self.directions,
            tuple(self.phase or ()),
            tuple(self.duration or ()),
            _laws(self.model or ()),
            self.seed,
            self.pushes,
            None if self.turn is None else math.radians(self.turn),
        )
        for each in robots or ((DEFAULT_ROBOT,) if self.settings else ()):
            load_setup(each, options.settings)
        return options


@with_options(TypedOptions)
def experiment(
    name: Name = None,
    list_all: ListAll = False,
    *,
    options: TypedOptions,
    resume: Resume = None,
    scheduler: Scheduler = "",
    workers: Workers = None,
    out: Out = "runs",
    json_to: Json = None,
    is_published: Publish = False,
) -> int:
    """Repeat a table or figure of the sources, or run an experiment of our own.

    Which of the options from --robot to --seed an experiment has, its line in --list says; others are refused.

    Exit status: 0 all as asked, 1 a walk fell that should not, a goal or a limit was missed, 2 wrong input, 130
    interrupted by Ctrl-C, which leaves what is done so far.
    """
    target = JsonTarget(json_to)
    console = console_beside(target)
    if list_all and name is None:
        return _list(console)
    chosen, start = _chosen(name, list_all, resume, options, Path(out))
    if is_published:
        check_publishable(RESULTS_FOLDER)
    run, is_complete = _carry_out(console, chosen, start, Pool(workers, scheduler))
    target.write(run.result())
    _print(console, run, is_complete)
    if not is_complete:
        raise KeyboardInterrupt
    if is_published:
        console.print(f"published {publish(chosen, run, RESULTS_FOLDER)}", markup=False, soft_wrap=True)
    return 0 if run.is_fulfilled else 1


def _chosen(
    name: str | None, list_all: bool, resume: str | None, options: TypedOptions, out: Path
) -> tuple[Experiment, Starter]:
    """Return the experiment that is asked for, and how its run begins or goes on.

    Raises:
        WalkingError: There is none, or options contradict each other.
    """
    if name is not None and (list_all or resume is not None):
        option, why = ("--list", "") if list_all else ("--resume", ": its folder says which experiment it is")
        raise ConfigError(f"{option} takes no name, got '{name}'{why}")
    if resume is not None:
        if options != TypedOptions():
            raise ConfigError("--resume takes none of the options from --quick to --seed: its folder has them")
        return resumed(Path(resume))
    if name is None:
        raise ConfigError("which experiment? see gradiva experiment --list")
    return begun(find_experiment(name), options.asked(), out)


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(experiment)


def run_command(arguments: Sequence[str]) -> int:
    """Carry out ``gradiva experiment`` with its arguments; return the exit status.

    Raises:
        WalkingError: Wrong input.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    status = app(list(arguments), prog_name="gradiva experiment", standalone_mode=False)
    return status if isinstance(status, int) else 0


def _plants(name: str | None) -> tuple[Plant, ...]:
    """Return the plants that are asked for; none leaves it to the experiment."""

    if name is None:
        return ()
    if name not in (*Plant, _ALL):
        raise ConfigError(f"unknown --plant '{name}'{nearest_name(name, [*Plant, _ALL])}")
    return tuple(Plant) if name == _ALL else (Plant(name),)


def _laws(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of laws of layer 2.

    Raises:
        ConfigError: There is none of a name.
    """

    for name in names:
        try:
            balance_law(name)
        except ConfigError as error:
            raise ConfigError(f"--model: {error}") from None
    return tuple(names)


Choice = TypeVar("Choice", bound="StrEnum")


def _choices(kind: type[Choice], option: str, names: Sequence[str] | None) -> tuple[Choice, ...]:
    """Return the members of a kind by their names.

    Raises:
        ConfigError: There is none of a name.
    """

    for name in names or ():
        if name not in [*kind]:
            raise ConfigError(f"unknown --{option} '{name}'{nearest_name(name, kind)}")
    return tuple(map(kind, names or ()))


def _list(console: Console) -> int:

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("name", "source", "plants", "what"):
        table.add_column(heading, no_wrap=heading == "name")
    for each in all_experiments().values():
        quick = f" --quick: {each.quick}" if each.quick else ""
        options = f" Options: {', '.join(each.options)}." if each.options else ""
        table.add_row(each.name, each.source, ", ".join(each.plants), escape(f"{each.description}{quick}{options}"))
    console.print(table)
    return 0


Starter = Callable[["Pool", "Report"], "ExperimentRun"]
"""Returns the run of an experiment, with pool and progress."""


def begun(chosen: Experiment, options: ExperimentOptions, out: Path) -> tuple[Experiment, Starter]:
    """Return the experiment and how a new run begins."""
    return chosen, lambda pool, report: chosen.start(options, out, pool, report)


def resumed(path: Path) -> tuple[Experiment, Starter]:
    """Return the experiment of an interrupted run and how it goes on.

    Raises:
        ConfigError: The folder is not that of an experiment.
    """

    folder = RunFolder(path)
    chosen, options = interrupted_experiment(folder)
    return chosen, lambda pool, report: chosen.within(folder, options, pool, report)


def _carry_out(console: Console, chosen: Experiment, start: Starter, pool: Pool) -> tuple[ExperimentRun, bool]:
    """Run an experiment; return it and whether it came to its end.

    A terminal shows one line of what is being done, anything else gets a line for each trial or search that is done.
    """

    def report(done: int, total: int | None, text: str) -> None:
        update(done, text, total)
        if not console.is_terminal:
            console.print(text, markup=False)

    run = start(pool, report)
    with (
        progress_of_jobs(run.folder.path / "progress") as now,
        progress_bar(console, chosen.name, None, now) as update,
    ):
        pool.folder, pool.note = run.folder.path / "rows", lambda line: console.print(line, markup=False)
        console.print(chosen.title(run.options.quick), markup=False, soft_wrap=True)
        try:
            with pool:
                chosen.run(run)
        except KeyboardInterrupt:
            return run, False
        finally:
            run.save()
    return run, True


def _print(console: Console, run: ExperimentRun, is_complete: bool) -> None:
    print_rows(console, run.rows, run.value_title, run.paper_title)
    for path in (run.folder.result_path, run.table_path, *run.figures):
        console.print(str(path), markup=False, soft_wrap=True)
    if not is_complete:
        console.print("these are the rows so far", style="yellow")


def print_rows(console: Console, rows: Sequence[Row], value_title: str, paper_title: str = "paper") -> None:
    """Print what all rows have in common, the rest as a table, and below it the reasons that say something.

    Args:
        console: Where to.
        rows: Of an experiment.
        value_title: Heading of the column ``value``.
        paper_title: Heading of the column ``paper``.
    """

    if not rows:
        return
    inputs = _inputs(rows)
    common = [name for name in inputs if len(rows) > 1 and all(row.get(name) == rows[0].get(name) for row in rows)]
    shared = [f"{name} {text}" for name in common if (text := as_text(rows[0][name]))]
    if shared:
        console.print(", ".join(shared), markup=False, soft_wrap=True)
    titles = {"value": value_title, "paper": paper_title}
    names = [*(name for name in inputs if name not in common), *_RESULTS]
    for block in _blocks(rows, names, titles, console.width):
        console.print(_row_table(rows, block, titles))
    reasons = [(number, row["reason"]) for number, row in enumerate(rows, 1)]
    usual = {row["reason"] for row in rows if row["outcome"] == "walked" and not row["reason"].startswith("at ")}
    for number, reason in reasons:
        if reason and reason not in usual:
            console.print(f"{number}: {reason}", markup=False, soft_wrap=True)


def _inputs(rows: Sequence[Row]) -> list[str]:
    """Return the columns before the results that hold plain values."""

    names = dict.fromkeys(name for row in rows for name in row if name not in (*_RESULTS, "reason", IS_CAPPED))
    return [name for name in names if not any(isinstance(row.get(name), (list, tuple, dict)) for row in rows)]


def _blocks(rows: Sequence[Row], names: Sequence[str], titles: Mapping[str, str], width: int) -> list[list[str]]:
    """Return the columns of tables that fit a width [characters], so that no word is broken."""
    blocks, left = list[list[str]](), 0
    for name in names:
        needed = _word_width(rows, name, titles) + _GAP
        left -= needed
        if left < 0:
            blocks.append([])
            left = width - len(str(len(rows))) - _GAP - needed
        blocks[-1].append(name)
    return blocks


def _word_width(rows: Sequence[Row], name: str, titles: Mapping[str, str]) -> int:
    """Return the length of the longest word of a column, its heading included."""

    texts = [titles.get(name, name), *(cell(row, name) for row in rows)]
    return max(len(word) for text in texts for word in text.split() or [""])


def _row_table(rows: Sequence[Row], names: Sequence[str], titles: Mapping[str, str]) -> Table:

    table = Table(box=None, padding=(0, _GAP, 0, 0))
    table.add_column("", justify="right", style="dim")
    for name in names:
        table.add_column(escape(titles.get(name, name)), min_width=_word_width(rows, name, titles), overflow="fold")
    for number, row in enumerate(rows, 1):
        table.add_row(str(number), *(escape(cell(row, name)) for name in names))
    return table
