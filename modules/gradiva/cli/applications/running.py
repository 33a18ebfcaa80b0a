"""``gradiva app run``."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from gradiva.cli.applications.application_session import ApplicationSession
from gradiva.cli.applications.claims import claim_of, remove_leftovers
from gradiva.cli.applications.stop_signals import StopRequest, stop_signals
from gradiva.cli.output import JsonTarget, console_beside
from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.common import ConfigError, nearest_name
from gradiva.yarp_modules.application import Application
from gradiva.yarp_modules.application.application_reader import load_application
from gradiva.yarp_modules.application.application_run import RunOptions
from gradiva.yarp_modules.application.run_claim import AlreadyRunsError

_DONE, _FAILED = 0, 1  # exit status


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What was asked for.

    Attributes:
        name: Of the application, or its file.
        without: Modules to leave out.
        additions: ``MODULE=PARAMETERS``.
        restarts: Start modules again that end by themselves.
        duration: [s]; None until a signal.
        prints_output: Print what the modules print.
        out: Where the folder of the run is made.
        json: Where the result goes.
    """

    name: str
    without: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    restarts: bool = False
    duration: float | None = None
    prints_output: bool = False
    out: Path = Path("runs")
    json: str | None = None


def run_application(request: RunRequest) -> int:
    """Run an application until it is stopped; return the exit status.

    Raises:
        ConfigError: Wrong input.
    """
    target = JsonTarget(request.json)
    application = as_requested(load_application(request.name), request.without, request.additions)
    for note in application.notes:
        say(note)
    with stop_signals() as signals:
        try:
            return _run(application, request, target, signals)
        except (AlreadyRunsError, ToolFailure) as error:
            say(f"error: {error}")
            return _FAILED


def as_requested(application: Application, without: Sequence[str], additions: Sequence[str]) -> Application:
    """Return the application without the modules ``without`` and with further parameters for others.

    Raises:
        ConfigError: There is no such module, or its parameters are no words.
    """
    modules = application.titles()
    for title in without:
        _check_title(title, modules)
    for addition in additions:
        title, parameters = _taken_apart(addition)
        _check_title(title, modules)
        module = modules[title]
        modules[title] = dataclasses.replace(module, parameters=f"{module.parameters} {parameters}".strip())
    return dataclasses.replace(
        application, modules=tuple(module for title, module in modules.items() if title not in without)
    )


def _run(application: Application, request: RunRequest, target: JsonTarget, signals: StopRequest) -> int:
    claim, console = claim_of(application.name), console_beside(target)
    with claim.held():
        if not remove_leftovers(claim, signals.hurry):
            return _FAILED
        options = RunOptions(restarts=request.restarts)
        folder = _free_folder(request.out, application.name)
        session = ApplicationSession(application, claim, folder, options, console, request.prints_output)
        status = session.run(signals, request.duration)
    target.write(status)
    reason = f": {status['reason']}" if status["reason"] else ""
    console.print(f"{status['outcome']}{reason}", markup=False)
    return _FAILED if status["outcome"] == "failed" else _DONE


def _taken_apart(addition: str) -> tuple[str, str]:
    """Return the title and the parameters of ``MODULE=PARAMETERS``."""
    title, _, parameters = addition.partition("=")
    try:
        words = shlex.split(parameters)
    except ValueError as error:
        raise ConfigError(f"--add {addition}: {error}") from None
    if not words:
        raise ConfigError(f"--add {addition}: expected MODULE=PARAMETERS, as in --add gradiva-walking=--dry-run")
    return title, parameters


def _check_title(title: str, modules: Iterable[str]) -> None:
    titles = list(modules)
    if title not in titles:
        raise ConfigError(f"the application has no module '{title}'{nearest_name(title, titles)}")


def _free_folder(parent: Path, name: str) -> Path:
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(parent / each for each in names if not (parent / each).exists())
