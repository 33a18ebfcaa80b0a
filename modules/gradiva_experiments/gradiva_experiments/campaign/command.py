"""Carry out ``gradiva campaign``: walk what a file asks for, report it, compare two campaigns."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from gradiva.cli import JsonTarget, console_beside, progress_bar
from gradiva.common import ConfigError
from gradiva_experiments.campaign.campaign import (
    REFUSED,
    WALK,
    CampaignResult,
    CampaignRun,
    begin,
    is_success,
    read_result,
    shown,
)
from gradiva_experiments.campaign.campaign_file import FAILED
from gradiva_experiments.campaign.report import (
    compare_campaigns,
    not_walked,
    summary,
    write_campaign_comparison,
    write_campaign_report,
)
from gradiva_experiments.campaign.tables import TableOptions, lost_text, markdown, publish_table, rate_text
from gradiva_experiments.experiment import RESULTS_FOLDER

Scheduler = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Of a dask scheduler, tcp://host:8786; by default a cluster of this machine."),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Processes of this machine's cluster; one a core by default.")
]
Out = Annotated[
    str, typer.Option(metavar="DIR", help="Below it lies the folder campaign-NAME, that of its earlier runs.")
]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the figures; - is standard output.")]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="Of a campaign.")]


class _FileGroup(TyperGroup):
    """Takes what is no command for the file of a campaign: ``gradiva campaign pushes.toml``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``run`` before the first word, unless it is a command or a help option."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of ``run`` below that of the group: its options are those of the command without a word."""
        super().format_help(ctx, formatter)
        self.commands["run"].format_help(typer.Context(self.commands["run"], info_name="run", parent=ctx), formatter)


app = typer.Typer(
    cls=_FileGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="FILE.toml | COMMAND [ARGS]...",
    help="Walk a grid, a list or draws of any input with many seeds, on this machine or on a cluster.",
)


@app.command()
def run(
    file: Annotated[str, typer.Argument(metavar="FILE.toml", help="What is walked, see the page 'Campaigns'.")],
    scheduler: Scheduler = "",
    workers: Workers = None,
    out: Out = "runs",
    json_to: Json = None,
) -> int:
    """Walk what a file asks for; the same command goes on where it was interrupted.

    Exit status: 0 all trials have a row, 1 each of them failed or was refused, 2 wrong input, 130 interrupted by
    Ctrl-C, which leaves what is done so far.
    """
    target = JsonTarget(json_to)
    console = console_beside(target)
    campaign_run = begin(Path(file), Path(out))
    try:
        walk(console, campaign_run, scheduler, workers)
    except BaseException:
        _print_so_far(console, campaign_run.folder)
        raise
    result = read_result(campaign_run.folder)
    _print(console, result)
    target.write(figures(result))
    return int(all(row["outcome"] in (REFUSED, FAILED) for row in result.rows))


def walk(
    console: Console, campaign_run: CampaignRun, scheduler: str, workers: int | None, function: str = WALK
) -> None:
    """Run a campaign with its progress on a console."""
    from gradiva_experiments.campaign.engine import Engine

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    campaign = campaign_run.campaign
    with progress_bar(console, campaign.name, campaign.count) as update:
        campaign_run.progress = shown(console, update)
        campaign_run.note = lambda line: console.print(line, markup=False, soft_wrap=True)
        campaign_run.run(lambda: Engine(function, scheduler, workers, timeout=campaign.timeout))


@app.command()
def report(folder: Folder) -> int:
    """Write the page of a campaign again, also while it is walked."""
    print(write_campaign_report(read_result(Path(folder))))
    return 0


@app.command()
def table(
    folder: Folder,
    by: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Of which each value gets a row; robot, or what varies.")
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option("--score", metavar="NAME", help="Median and largest value, a row each combination; repeatable."),
    ] = None,
    paired: Annotated[
        str | None,
        typer.Option(metavar="INPUT", help="Of two values: walks that differ in it alone are pairs, which are tested."),
    ] = None,
    matters: Annotated[
        bool, typer.Option("--matters", help="How much of the variance of errors inputs explain.")
    ] = False,
    is_published: Annotated[
        bool, typer.Option("--publish", help="Write the table to results/ of this folder too: the site's pages.")
    ] = False,
) -> int:
    """Print a Markdown table of a campaign, and publish it.

    By default outcomes: a row each value of one input, a column each combination of the others.
    """
    result = read_result(Path(folder))
    options = TableOptions(by, tuple(scores or ()), paired, matters)
    print(markdown(options.lines(result)))
    if is_published:
        print(f"published {publish_table(result, options, RESULTS_FOLDER)}")
    return 0


@app.command()
def compare(
    first: Folder,
    second: Folder,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Where to; comparison-NAME.html in the second's folder.")
    ] = None,
) -> int:
    """Compare two campaigns by paired tests on the trials that both have: McNemar's, Wilcoxon's."""
    if Path(first).resolve() == Path(second).resolve():
        raise ConfigError(f"{first} cannot be compared with itself")
    comparison = compare_campaigns(read_result(Path(first)), read_result(Path(second)))
    path = Path(save) if save else Path(second) / f"comparison-{comparison.first.name}.html"
    for line in summary(comparison):
        print(line)
    print(write_campaign_comparison(comparison, path))
    return 0


def run_command(arguments: Sequence[str]) -> int:
    """Carry out ``gradiva campaign`` with its arguments; return the exit status.

    Raises:
        WalkingError: Wrong input.
        KeyboardInterrupt: By Ctrl-C.
    """
    status = app(list(arguments), prog_name="gradiva campaign", standalone_mode=False)
    return status if isinstance(status, int) else 0


def figures(result: CampaignResult) -> dict[str, Any]:
    """Return the figures of a campaign, as JSON holds them."""
    walked = sum(map(is_success, result.rows))
    return {
        "name": result.name,
        "folder": str(result.folder),
        "trials": result.count,
        "rows": len(result.rows),
        "walked": walked,
    }


def _print_so_far(console: Console, folder: Path) -> None:
    """Report what is done while another error is under way, which an error of the report does not hide."""
    try:
        _print(console, read_result(folder))
    except (OSError, ConfigError) as error:
        console.print(f"no report of what is done so far: {error}", markup=False, soft_wrap=True)


def _print(console: Console, result: CampaignResult) -> None:
    walked = sum(map(is_success, result.rows))
    rate = f"{rate_text(walked, len(result.rows))} did what was commanded{lost_text(result.rows)}"
    rate = rate if result.rows else "no walk has ended yet"
    for line in (rate, *not_walked(result)):
        console.print(line, markup=False, soft_wrap=True)
    console.print(str(write_campaign_report(result)), markup=False, soft_wrap=True)
