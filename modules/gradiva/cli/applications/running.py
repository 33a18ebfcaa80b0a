"""Run an application: ``gradiva app run``, from its first process to the end of the last one."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import signal
import tempfile
import threading
import uuid
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from gradiva.cli.applications.claims import (
    claim_of,
    end_name_service,
    name_service,
    network,
    refuse_shared_ports,
    remove_leftovers,
)
from gradiva.cli.applications.monitor import RunMonitor
from gradiva.cli.output import JsonTarget, console_beside
from gradiva.cli.yarp.failures import ToolFailure, say
from gradiva.common import ConfigError, nearest_name
from gradiva.middleware import current_settings
from gradiva.setup import Plant, load_setup
from gradiva.telemetry import unused_path
from gradiva.yarp_modules.application import (
    AlreadyRunsError,
    Application,
    ApplicationModule,
    ApplicationNetwork,
    ApplicationRun,
    EndTimeouts,
    RunClaim,
    RunningModule,
    RunOptions,
    RunOrigin,
    RunRecord,
    SignalledEvent,
    StartedProcess,
    StartFailed,
    end_marked,
    forget_ports,
    load_application,
)
from gradiva.yarp_modules.application.shipped_applications import robot_application
from gradiva.yarp_modules.module_options import CONTEXT, found_file

SIMULATOR = "gradiva-simulator"
"""Program of the modules that simulate a robot."""
PANEL = "gradiva-panel"
"""Program of the operator's page."""
_CONTROLLERS = ("gradiva-walking", "gradiva-whole-body")  # programs of modules with a coordinator
_LAST_RANK = 99  # the page is opened when all others run
_LINK = "panel "  # begins the line with the link of the page
_LOOK = 0.1  # [s] between two looks for it
_LOGGER = "gradiva-logger"  # program of the modules that write run folders
_OURS = "gradiva-"  # programs of modules that take --set
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DONE, _FAILED = 0, 1  # exit status


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The options of ``gradiva app run``.

    Attributes:
        name: Of the application, or its file.
        without: Modules to leave out.
        additions: ``MODULE=PARAMETERS``.
        restarts: Start modules again that end by themselves.
        duration: [s]; None until a signal.
        prints_output: Print what the modules print.
        out: Where the folder of the run is made.
        json: Where the result goes.
        robot: Name or folder of a robot; ``name`` is the form of its application then.
        plant: Of the simulator; None leaves the parameters of the application as they are.
        settings: ``table.key=value`` for all of our modules.
        files: TOML laid over the configuration of all of our modules, before ``settings``.
        is_viewed: Whether the operator's panel is a further module.
    """

    name: str
    without: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    restarts: bool = False
    duration: float | None = None
    prints_output: bool = False
    out: Path = Path("runs")
    json: str | None = None
    robot: str | None = None
    plant: str | None = None
    settings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_viewed: bool = False


def run_application(request: RunRequest) -> int:
    """Run an application until it is stopped; return the exit status.

    Raises:
        ConfigError: Wrong input.
    """
    target = JsonTarget(request.json)
    with _application(request) as found:
        if request.is_viewed:
            found = with_panel(found)
        shared = setting_additions(found, request.settings, request.files)
        logs = log_additions(found, request.out)
        additions = (*logs, *shared, *request.additions, *plant_additions(found, request.plant))
        application = as_requested(found, request.without, additions)
        check_configuration(application)
        for note in application.notes:
            say(note)
        with stop_signals() as signals:
            try:
                return _run(application, request, target, signals)
            except (AlreadyRunsError, ToolFailure) as error:
                say(f"error: {error}")
                return _FAILED


@contextmanager
def _application(request: RunRequest) -> Iterator[Application]:
    """Yield the installed application, or the one that is written for the robot of the request."""
    if request.robot is None:
        yield load_application(request.name)
        return
    written = robot_application(request.robot, request.name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{written.name}.xml")
        file.write_text(written.text(), encoding="utf-8")
        yield load_application(str(file))


def with_panel(application: Application) -> Application:
    """Return an application with the operator's panel of its controller.

    Raises:
        ConfigError: It has no controller.
    """
    modules = application.titles()
    controller = next((one for one in modules.values() if Path(one.program).name in _CONTROLLERS), None)
    if controller is None:
        raise ConfigError(f"--view: the application {application.name} has no controller ({', '.join(_CONTROLLERS)})")
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("--robot", "--environment"):
        parser.add_argument(option)
    given = vars(parser.parse_known_args(controller.arguments)[0])
    words = [word for name, value in given.items() if value for word in (f"--{name}", shlex.quote(value))]
    remote = ["--remote", controller.port] if controller.port else []
    panel = ApplicationModule(PANEL, " ".join([*words, *remote, "--name", "/panel"]), rank=_LAST_RANK)
    return dataclasses.replace(application, modules=(*application.modules, panel))


def plant_additions(application: Application, plant: str | None) -> list[str]:
    """Return ``MODULE=PARAMETERS`` for the simulators of an application.

    Raises:
        ConfigError: There is no such plant, or the application has no simulator.
    """
    if plant is None:
        return []
    simulators = [title for title, module in application.titles().items() if Path(module.program).name == SIMULATOR]
    if not simulators:
        raise ConfigError(
            f"--plant {plant}: the application {application.name} has no {SIMULATOR}, its plant is elsewhere"
        )
    return [f"{title}=--plant {Plant.named(plant)}" for title in simulators]


def log_additions(application: Application, out: Path) -> list[str]:
    """Return ``MODULE=PARAMETERS`` by which loggers write below ``out``, but for those that are to write elsewhere."""
    loggers = [title for title, module in application.titles().items() if Path(module.program).name == _LOGGER]
    folder = shlex.quote(str(out.absolute()))
    return [f"{title}=--out {folder}" for title in loggers if "--out" not in application.titles()[title].arguments]


def setting_additions(application: Application, settings: Sequence[str], files: Sequence[str] = ()) -> list[str]:
    """Return ``MODULE=PARAMETERS`` that configure each of our modules alike: they read one configuration.

    Args:
        application: The application.
        settings: ``table.key=value``.
        files: TOML; one that is here is named by its full path, for a module on this machine runs anywhere.

    Raises:
        ConfigError: The application has none of our modules.
    """
    options = [("--from", str(Path(file).absolute()) if Path(file).is_file() else file) for file in files]
    options += [("--set", setting) for setting in settings]
    if not options:
        return []
    ours = [title for title, module in application.titles().items() if Path(module.program).name.startswith(_OURS)]
    if not ours:
        name, value = options[0]
        raise ConfigError(f"{name} {value}: the application {application.name} has no modules of Gradiva")
    parameters = " ".join(f"{name} {shlex.quote(value)}" for name, value in options)
    return [f"{title}={parameters}" for title in ours]


def check_configuration(application: Application) -> None:
    """Read the configuration of each of our modules that has a robot, as the module itself reads it.

    Raises:
        ConfigError: One is refused.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("--robot", "--plant", "--context"):
        parser.add_argument(option)
    for option in ("--from", "--set"):
        parser.add_argument(option, action="append", default=[])
    parser.add_argument("--first-run", action="store_true")
    read = []
    for module in application.modules:
        given = vars(parser.parse_known_args(module.arguments)[0])
        if given["robot"] and Path(module.program).name.startswith(_OURS) and given not in read:
            files = [found_file(Path(name), given["context"] or CONTEXT) for name in given["from"]]
            load_setup(given["robot"], given["set"], files, given["plant"], given["first_run"])
            read.append(given)


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


def _run(application: Application, request: RunRequest, target: JsonTarget, signals: StopRequest) -> int:
    claim, console = claim_of(application.name), console_beside(target)
    with claim.held():
        if not remove_leftovers(claim, signals.hurry):
            return _FAILED
        refuse_shared_ports(application)
        options = RunOptions(restarts=request.restarts)
        folder = unused_path(request.out, f"{datetime.now():%Y%m%d-%H%M%S}-{application.name}")
        session = ApplicationSession(application, claim, folder, options, console, request.prints_output)
        status = session.run(signals, request.duration)
    target.write(status)
    reason = f": {status['reason']}" if status["reason"] else ""
    console.print(f"{status['outcome']}{reason}", markup=False)
    return _FAILED if status["outcome"] == "failed" else _DONE


class ApplicationSession:
    """Run an application and leave nothing behind; every process is in the record as soon as it is started."""

    def __init__(
        self,
        application: Application,
        claim: RunClaim,
        folder: Path,
        options: RunOptions,
        console: Console,
        prints_output: bool,
    ) -> None:
        """Prepare the run; makes its folder.

        Args:
            application: The application.
            claim: Held by the caller.
            folder: Of the run; must not exist.
            options: Whether its modules are restarted.
            console: Terminal of the run.
            prints_output: Whether the lines of the modules are printed.

        Raises:
            ConfigError: A program is missing.
            OSError: The folder cannot be made.
        """
        self._claim, self._folder, self._console = claim, folder, console
        mark = uuid.uuid4().hex
        self._record = RunRecord(
            application.name,
            os.getpid(),
            mark,
            str(folder.absolute()),
            origin=RunOrigin.here(current_settings().namespace),
        )
        self._run = ApplicationRun(application, folder, mark, options, self._print, self._note_start)
        self._monitor = RunMonitor(application.name, self._run, folder, console, prints_output)
        folder.mkdir(parents=True)
        shutil.copyfile(application.file, folder / "application.xml")

    def run(self, signals: StopRequest, duration: float | None) -> dict[str, Any]:
        """Run until a signal, the end of ``duration`` [s] or of all modules; return the status.

        Raises:
            ToolFailure: There is no name server, and none can be started here.
        """
        with self._on_record(signals), name_service(self._record.mark, self._folder), network():
            self._note(ports_before=tuple(sorted(ApplicationNetwork().names())))
            with self._monitor.shown():
                self._live(signals, duration)
        return self._monitor.status()

    def _live(self, signals: StopRequest, duration: float | None) -> None:
        try:
            self._run.start(signals.stop)
            self._monitor.outcome = "running"
            threading.Thread(target=self._announce_page, args=(signals.stop,), daemon=True).start()
            with _ending_after(duration, signals.stop):
                self._run.watch(signals.stop)
        except StartFailed as error:
            self._run.failure = str(error)
        finally:
            self._monitor.outcome = "stopping"
            self._stop(signals.hurry)
            asked_for = "stopped" if signals.stop.is_set() else "ended"
            self._monitor.outcome = "failed" if self._run.failure else asked_for

    def _announce_page(self, stop: threading.Event) -> None:
        """Print the link of the panel as soon as it has printed it."""
        panel = next((module for module in self._run.modules if Path(module.module.program).name == PANEL), None)
        while panel is not None and panel.is_alive and not stop.wait(_LOOK):
            if link := next((line for line in panel.lines() if line.startswith(_LINK)), None):
                self._print(link)
                return

    def _stop(self, hurry: threading.Event) -> None:
        self._run.stop(hurry)
        end_marked(self._record.mark, EndTimeouts(), hurry)
        forget_ports(self._record.ports_before, ApplicationNetwork())

    @contextmanager
    def _on_record(self, signals: StopRequest) -> Iterator[None]:
        self._claim.write(self._record)
        try:
            yield
        finally:
            end_marked(self._record.mark, EndTimeouts(), signals.hurry)
            end_name_service(self._record.mark)
            self._claim.clear()

    def _note_start(self, module: RunningModule) -> None:
        started = StartedProcess(module.title, module.process or 0, module.module.port)
        others = (each for each in self._record.started if each.title != module.title)
        self._note(started=(*others, started))

    def _note(self, **changes: Any) -> None:
        self._record = dataclasses.replace(self._record, **changes)
        self._claim.write(self._record)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


@contextmanager
def _ending_after(duration: float | None, stop: threading.Event) -> Iterator[None]:
    if duration is None:
        yield
        return
    timer = threading.Timer(duration, stop.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@dataclass(frozen=True, slots=True)
class StopRequest:
    """The end that signals ask for.

    Attributes:
        stop: Set by the first signal.
        hurry: Set by the second one.
    """

    stop: SignalledEvent = field(default_factory=SignalledEvent)
    hurry: SignalledEvent = field(default_factory=SignalledEvent)

    def note(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        (self.hurry if self.stop.is_set() else self.stop).set()


@contextmanager
def stop_signals() -> Iterator[StopRequest]:
    """Yield the requests of SIGINT, SIGTERM and SIGHUP within the context."""
    request = StopRequest()
    before = {number: signal.signal(number, request.note) for number in _SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
