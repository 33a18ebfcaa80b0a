"""``gradiva experiment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once
from gradiva.cli.walk import DEFAULT_ROBOT

if TYPE_CHECKING:
    from rich.console import Console

    from gradiva.experiments import Experiment, ExperimentOptions, ExperimentRun


Name = Annotated[str | None, typer.Argument(metavar="NAME", help="As in --list.")]
ListAll = Annotated[bool, typer.Option("--list", help="List the experiments.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter walks.")]
Robot = Annotated[str, typer.Option(metavar="NAME", help="As in: gradiva robots.")]
Out = Annotated[str, typer.Option(metavar="DIR", help="Where runs are kept.")]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result; - is standard output.")]


def experiment(
    name: Name = None,
    list_all: ListAll = False,
    quick: Quick = False,
    robot: Robot = DEFAULT_ROBOT,
    out: Out = "runs",
    json_to: Json = None,
) -> int:
    """Repeat a table or figure of the sources, or run a campaign.

    Exit status: 0 all as asked, 1 a walk fell that should not, a goal or a limit was missed, 2 wrong input, 130
    interrupted by Ctrl-C, which leaves what is done so far.
    """
    with leaving_at_once():
        from gradiva.cli.output import JsonTarget, console_beside
        from gradiva.common import ConfigError
        from gradiva.experiments import ExperimentOptions, find_experiment
        from gradiva.setup import load_setup

    target = JsonTarget(json_to)
    console = console_beside(target)
    if list_all:
        if name is not None:
            raise ConfigError(f"--list takes no name, got '{name}'")
        return _list(console)
    if name is None:
        raise ConfigError("which experiment? see gradiva experiment --list")
    chosen = find_experiment(name)
    load_setup(robot)
    run, is_complete = _carry_out(console, chosen, ExperimentOptions(robot, quick), Path(out))
    target.write(run.result())
    _print(console, run, is_complete)
    if not is_complete:
        raise KeyboardInterrupt
    return 0 if run.is_fulfilled else 1


def _list(console: Console) -> int:
    from rich.table import Table

    from gradiva.experiments import all_experiments

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("name", "source", "what"):
        table.add_column(heading, no_wrap=heading == "name")
    for each in all_experiments().values():
        table.add_row(each.name, each.source, each.description)
    console.print(table)
    return 0


def _carry_out(
    console: Console, chosen: Experiment, options: ExperimentOptions, out: Path
) -> tuple[ExperimentRun, bool]:
    """Run an experiment; return it and whether it came to its end."""
    from gradiva.cli.output import progress_bar
    from gradiva.experiments import TrialPool

    with TrialPool() as pool, progress_bar(console, chosen.name, None) as update:

        def report(done: int, total: int | None, text: str) -> None:
            update(done, text, total)
            if not console.is_terminal:
                console.print(text, markup=False)

        run = chosen.start(options, out, pool, report)
        console.print(f"{chosen.description} ({chosen.source})", markup=False)
        try:
            chosen.run(run)
        except KeyboardInterrupt:
            return run, False
        finally:
            run.save()
    return run, True


def _print(console: Console, run: ExperimentRun, is_complete: bool) -> None:
    from gradiva.cli.experiment_text import print_rows

    print_rows(console, run.rows, run.value_title)
    for path in (run.folder.result_path, run.table_path, *run.figures):
        console.print(str(path), markup=False, soft_wrap=True)
    if not is_complete:
        console.print("these are the rows so far", style="yellow")
