"""The command line: which commands there are, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy comes: its matrices are small, threads only get in the way

from gradiva.cli.bench import bench
from gradiva.cli.doctor import doctor
from gradiva.cli.experiment import experiment
from gradiva.cli.robots import robots
from gradiva.cli.runs import report, view
from gradiva.cli.walk import walk
from gradiva.common import WalkingError

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130  # exit status

app = typer.Typer(
    help="Makes humanoid robots walk.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (walk, experiment, bench, report, view, robots, doctor):
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit status: 0 done, 1 fell or failed, 2 wrong input."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    wanted = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(wanted or ["--help"], prog_name="gradiva", standalone_mode=False)
    except WalkingError as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        return _refuse(error.format_message() + " (see --help)")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads any more: leave in silence
        return FAILED
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status if isinstance(status, int) else DONE


def _refuse(message: str) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT
