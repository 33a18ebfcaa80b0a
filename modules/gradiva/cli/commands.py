"""List the commands of ``gradiva``, handle their errors; the commands on finished runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gradiva import __version__
from gradiva.cli.applications import applications_app
from gradiva.cli.doctor import doctor, plugins
from gradiva.cli.experiment import bench, experiment
from gradiva.cli.main import INTERRUPTED, leaving_at_once
from gradiva.cli.module_scripts import joypad_command, module
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


app.command(cls=WalkCommand)(walk)
for command in (bench, report, view, export, doctor, plugins, yarpserver):
    app.command()(command)


app.command(context_settings={"allow_interspersed_args": False})(rpc)  # what stands after PORT is the command
_OF_MODULES = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
app.command(context_settings=_OF_MODULES)(module)  # the words after NAME are options of the module
app.command(context_settings=_OF_MODULES, add_help_option=False)(experiment)
app.command("joypad", context_settings=_OF_MODULES, add_help_option=False)(joypad_command)
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
    try:
        status = app(list(arguments) or ["--help"], prog_name="gradiva", standalone_mode=False)
    except _named_errors() as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        return _refuse(error.format_message().rstrip(".") + _given(error, arguments) + " (see --help)")
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


def _given(error: typer.TyperException, arguments: Sequence[str]) -> str:
    """Return the words of the option that an error is about, as they were typed; empty for other errors."""
    names = getattr(getattr(error, "param", None), "opts", [])
    for index, word in enumerate(arguments):
        name, separator, value = word.partition("=")
        if name in names and (separator or index + 1 < len(arguments)):
            given = f"'{value if separator else arguments[index + 1]}'"
            return "" if given in error.format_message() else f", got {given}"
    return ""


def _named_errors() -> tuple[type[Exception], ...]:
    """Return what is reported by name; imported only after an error, so that no command waits for YARP's modules."""
    from gradiva.middleware import NAMED_ERRORS

    return NAMED_ERRORS


def _refuse(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT
