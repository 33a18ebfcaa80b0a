"""List the commands of ``gradiva``, handle their errors; the commands on finished runs."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from gradiva import __version__
from gradiva.cli.applications import applications_app
from gradiva.cli.configuration import config
from gradiva.cli.doctor import doctor, plugins
from gradiva.cli.experiment import bench, campaign, experiment, tune
from gradiva.cli.main import INTERRUPTED, leaving_at_once
from gradiva.cli.module_scripts import joypad_command, module, panel_command
from gradiva.cli.robots import robots_app
from gradiva.cli.walk import WalkCommand, walk
from gradiva.cli.yarp import yarp_app
from gradiva.cli.yarp.commands import rpc, yarpserver

Run = Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run.")]
DONE, FAILED, WRONG_INPUT = 0, 1, 2  # exit status
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def report(run: Run) -> int:
    """Write the report of a run again."""
    with leaving_at_once():
        from gradiva.telemetry import RunFolder, write_report

    print(write_report(RunFolder(Path(run))))
    return 0


def view(
    run: Run,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; the next free one if in use.")] = 8080,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Write a page that replays by itself instead.")
    ] = None,
) -> int:
    """Replay a run in the browser."""
    with leaving_at_once():
        from gradiva.cli.output import check_writable
        from gradiva.setup import simulated_robot
        from gradiva.telemetry import RunFolder, replay, save_replay_page

    folder = RunFolder(Path(run))
    robot = simulated_robot(folder.read_config())
    if save is None:
        replay(folder, robot, port)
    else:
        check_writable(Path(save))
        print(save_replay_page(folder, robot, Path(save)))
    return 0


def export(
    run: Run,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv or npz (numpy).")] = "csv",
    signals: Annotated[
        list[str] | None,
        typer.Option("--signal", metavar="NAME", help="Only these, such as 'dcm*'; may be repeated."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where to; log.csv or log.npz in the run's folder by default.")
    ] = None,
) -> int:
    """Write the signals of a run's log.mat as CSV or NPZ: a column time and one for each element, SI units."""
    with leaving_at_once():
        from gradiva.cli.output import check_writable
        from gradiva.common import ConfigError, nearest_name
        from gradiva.telemetry import ExportFormat, RunFolder, export_log

    formats = [str(known) for known in ExportFormat]
    if form not in formats:
        raise ConfigError(f"unknown --format '{form}'{nearest_name(form, formats)}")
    folder = RunFolder(Path(run))
    log = folder.read_log().log
    path = folder.path / f"log.{form}" if out is None else Path(out)
    check_writable(path)
    export_log(log, path, ExportFormat(form), signals or ())
    print(path)
    return 0


def support(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run, or of a dump of a black box.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE.zip", help="Where to; RUN-support.zip here by default.")
    ] = None,
) -> int:
    """Make one archive of a run or dump to send, and list its contents and what personal things they hold.

    Paths of home folders become ~ in its texts; names of the host and the user that remain are listed.
    """
    with leaving_at_once():
        from gradiva.cli.dumps import write_archive
        from gradiva.telemetry import RunFolder

    folder = RunFolder(Path(run))
    path = Path(out or f"{folder.path.resolve().name}-support.zip")
    for line in write_archive(folder, path):
        print(line)
    print(f"{path}  {path.stat().st_size / 1e6:.1f} MB; paths of home folders are left out of its texts")
    return 0


_OF_ONE_WALK = ("view", "record", "film_size", "camera", "cause", "json_to")  # options of gradiva walk
_WHERE_TO = ("speed", "lateral", "turn", "goal", "path", "duration")  # likewise
Command = Callable[..., int]


def _with_options_of_a_walk(*without: str) -> Callable[[Command], Command]:
    """Return what gives a command the options of ``gradiva walk`` behind its own, but for some."""

    def add_to(command: Command) -> Command:
        own, of_walk = (list(inspect.signature(each, eval_str=True).parameters.values()) for each in (command, walk))
        shared = [parameter for parameter in of_walk if parameter.name not in without]
        command.__signature__ = inspect.Signature([*own[:-1], *shared])  # type: ignore[attr-defined]
        return command

    return add_to


@_with_options_of_a_walk(*_OF_ONE_WALK)
def compare(
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Folders of finished runs.")] = None,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Where to; a new comparison.html beside the runs by default."),
    ] = None,
    is_filmed: Annotated[
        bool, typer.Option("--record", help="Film each run that has no film yet, into its folder and the page.")
    ] = False,
    **options: Any,
) -> int:
    """Write a page with runs beside each other: settings that differ, figures, plots over each other, films.

    RUN RUN … are folders of finished runs. Without them, a key that is --set to several values is walked with each:
    gradiva compare --set zmp_com_controller.walking.zmp=1.0 --set zmp_com_controller.walking.zmp=1.5
    """
    with leaving_at_once():
        from gradiva.cli.output import check_writable
        from gradiva.cli.walk_session import film_run, walk_variants
        from gradiva.common import ConfigError
        from gradiva.telemetry import RunFolder, unused_path, write_comparison

    out = options.pop("out")
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if runs and given:
        raise ConfigError(f"{runs[0]} is walked already: leave out RUN, or the options of a walk ({', '.join(given)})")
    folders = [RunFolder(Path(run)) for run in runs or ()]
    if runs and len({folder.path.resolve() for folder in folders}) < 2:
        raise ConfigError(f"one run cannot be compared, {runs[0]}: name another, or several values of a --set")
    page = Path(save or Path(out if not runs else Path(runs[0]).parent) / "comparison.html")
    if folders or save:
        check_writable(page)
    folders = folders or walk_variants(options, Path(out), is_filmed)
    for folder in folders if is_filmed else ():
        film_run(folder)
    print(write_comparison(folders, page if save else unused_path(page.parent, page.stem, page.suffix)))
    return 0


PagePort = Annotated[int, typer.Option(min=0, max=65535, help="Of the page; the next free one if in use.")]
Listen = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Serve other machines too, at this address of ours; needs TLS.")
]
Certificate = Annotated[
    str | None, typer.Option("--tls-cert", metavar="FILE.pem", help="Certificate chain of the page.")
]
Key = Annotated[str | None, typer.Option("--tls-key", metavar="FILE.pem", help="Private key of the certificate.")]


@_with_options_of_a_walk(*_OF_ONE_WALK, *_WHERE_TO)
def play(
    port: PagePort = 8080,
    listen: Listen = None,
    certificate: Certificate = None,
    key: Key = None,
    **options: Any,
) -> int:
    """Drive, push and tune a simulated robot from a page in the browser, until Ctrl-C.

    The page has a link of its own, for this machine alone. The robot stands first; W A S D, the arrows or the buttons
    drive it, a click on the floor is a goal.
    """
    with leaving_at_once():
        from gradiva.cli.playing import page_address, play_walks

    return play_walks(options, page_address(port, listen, certificate, key))


app.command(cls=WalkCommand)(walk)
app.command(cls=WalkCommand)(play)
app.command(cls=WalkCommand)(compare)
for command in (config, bench, report, view, export, support, doctor, plugins, yarpserver):
    app.command()(command)


app.command(context_settings={"allow_interspersed_args": False})(rpc)  # what stands after PORT is the command
_OF_MODULES = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
app.command(context_settings=_OF_MODULES)(module)  # the words after NAME are options of the module
for of_experiments in (experiment, campaign, tune):
    app.command(context_settings=_OF_MODULES, add_help_option=False)(of_experiments)
app.command("joypad", context_settings=_OF_MODULES, add_help_option=False)(joypad_command)
app.command("panel", context_settings=_OF_MODULES, add_help_option=False)(panel_command)
app.add_typer(robots_app, name="robots")
app.add_typer(applications_app, name="app")
app.add_typer(yarp_app, name="yarp")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gradiva {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]


@app.callback()
def _gradiva(version: Version = False) -> None:
    """Makes humanoid robots walk."""


def carry_out(arguments: Sequence[str]) -> int:
    """Run one command; return its exit status.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    if not os.path.isabs(os.path.expanduser("~")):
        return _refuse("this account has no home folder: set HOME to a folder that can be written")
    try:
        status = app(list(arguments) or ["--help"], prog_name="gradiva", standalone_mode=False)
    except _named_errors() as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        _suggest_by_meaning(error)
        message = _without_value(error, arguments) or error.format_message().rstrip(".") + _given(error, arguments)
        return _refuse(f"{message} (see --help)")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the pipe is closed: end without a message
        return FAILED
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if status == INTERRUPTED:  # what Typer makes of Ctrl-C
        raise KeyboardInterrupt
    return status if isinstance(status, int) else DONE


_MEANT = {
    "--report": "--out",
    "--headless": "--view",
    "--gui": "--view",
    "--render": "--view",
    "--viewer": "--view",
    "--video": "--record",
    "--film": "--record",
    "--velocity": "--speed",
    "--time": "--duration",
    "--config": "--from",
    "--output": "--out",
    "--yaw-rate": "--turn",
    "--terrain": "--ground",
    "--floor": "--ground",
    "--incline": "--slope",
    "--force": "--push",
    "--obstacle": "--bump",
    "--controller": "--model",
}
"""Options that other programs have, to those that mean the same or nearly so here."""


def _suggest_by_meaning(error: typer.TyperException) -> None:
    """Have an unknown option, also one that begins with ``--no-``, suggest the one that means it, if there is one."""
    name, context = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    known = {option: param for param in context.command.params for option in param.opts} if context else {}
    positive = f"--{name.removeprefix('--no-')}" if name.startswith("--no-") else name
    meant = _MEANT.get(positive, positive if getattr(known.get(positive), "is_flag", False) else "")
    if meant in known:
        error.possibilities = [meant]  # type: ignore[attr-defined]


def _given(error: typer.TyperException, arguments: Sequence[str]) -> str:
    """Return the words of the option that an error is about, as they were typed; empty for other errors."""
    names = getattr(getattr(error, "param", None), "opts", [])
    for index, word in enumerate(arguments):
        name, separator, value = word.partition("=")
        if name in names and (separator or index + 1 < len(arguments)):
            given = f"'{value if separator else arguments[index + 1]}'"
            return "" if given in error.format_message() else f", got {given}"
    return ""


def _without_value(error: typer.TyperException, arguments: Sequence[str]) -> str:
    """Return that an option has another option for its value, where one has; empty otherwise."""
    context = getattr(error, "ctx", None)
    options = {name: option for option in context.command.params for name in option.opts} if context else {}
    for word, value in pairwise(arguments):
        if word in options and value in options and not getattr(options[word], "is_flag", False):
            return f"{word} needs {options[word].metavar or 'a value'}, and is followed by the option {value}"
    return ""


def _named_errors() -> tuple[type[Exception], ...]:
    """Return what is reported by name; imported only after an error, so that no command waits for YARP's modules."""
    from gradiva.middleware import NAMED_ERRORS

    return NAMED_ERRORS


def _refuse(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT
