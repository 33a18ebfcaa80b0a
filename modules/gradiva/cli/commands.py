"""Which commands there are, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from gradiva import __version__
from gradiva.cli.applications import applications_app
from gradiva.cli.bench import bench
from gradiva.cli.doctor import doctor
from gradiva.cli.experiment import experiment
from gradiva.cli.module import module
from gradiva.cli.robots import robots_app
from gradiva.cli.rpc import rpc
from gradiva.cli.runs import export, report, view
from gradiva.cli.walk import walk
from gradiva.cli.yarp import yarp_app
from gradiva.cli.yarpserver import yarpserver
from gradiva.middleware import NAMED_ERRORS

DONE, FAILED, WRONG_INPUT = 0, 1, 2  # exit status
_INTERRUPTED = 130  # what Typer makes of Ctrl-C

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (walk, experiment, bench, report, view, export, doctor, yarpserver):
    app.command()(command)
app.command(context_settings={"allow_interspersed_args": False})(rpc)  # what stands after PORT is the command
app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)(module)  # what stands after NAME is the module's
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
        KeyboardInterrupt: Somebody pressed Ctrl-C.
    """
    try:
        status = app(list(arguments) or ["--help"], prog_name="gradiva", standalone_mode=False)
    except NAMED_ERRORS as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        return _refuse(error.format_message() + " (see --help)")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads any more: leave in silence
        return FAILED
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    return status if isinstance(status, int) else DONE


def _refuse(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT
