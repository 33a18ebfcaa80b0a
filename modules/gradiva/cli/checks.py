"""Check for ``gradiva doctor``: Python, packages, compiler, cache, robots, drawing, YARP; a robot, by exercises."""

from __future__ import annotations

import importlib.metadata
import operator
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradiva.blf import BackendError, find_python, imported_version
from gradiva.cli.doctor import COLOURS, follow_clock_of, plugin_findings
from gradiva.cli.output import text_console
from gradiva.cli.yarp.failures import address_of, origin_of
from gradiva.cli.yarp.session import log_lines, network_session
from gradiva.common import ConfigError, ModelNotInstalled, NDArray, StateError
from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.middleware import NAMED_ERRORS, NameClient, NameServerUnreachable, chosen_bindings, is_real, load_settings
from gradiva.planner import VelocityCommand
from gradiva.robot_model import Environment, FlatFunction, IdynTreeModel, SymbolicDynamics
from gradiva.session import DRIVE_SIGNALS, Exercise, Figure, HealthRecord, TickSchedule, figure_text
from gradiva.setup import (
    GccCompiler,
    Plant,
    Setup,
    cache_folder,
    load_setup,
    robot_names,
)
from gradiva.setup.robot_checks import margin_findings
from gradiva.setup.stability_margins import SITUATION
from gradiva.simulated_walk import WalkRequest, run_walk, walking_time
from gradiva.simulation import MujocoRobot
from gradiva.simulation.film import snapshot
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.network_clock import CLOCK
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot

_OPERATORS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}
OLDEST_PYTHON = (3, 11)
_TICK = 0.01  # [s] of an exercise
_LOCAL = "/gradiva-exercise"  # its ports
Check = Callable[[], Finding]


def all_checks() -> list[Check]:
    """Return the checks in the order of a newcomer's troubles."""
    robots = robot_names()
    return [
        check_python,
        *(partial(check_package, line) for line in _requirements()),
        check_cache_folder,
        check_compiler,
        *(partial(check_robot, robot) for robot in robots),
        check_rendering,
        check_plugins,
        check_yarp,
        check_blf,
    ]


def parse_requirement(requirement: str) -> tuple[str, str]:
    """Return name and range of a requirement such as ``numpy<3,>=2.0``."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)", requirement)
    assert match is not None, f"{requirement!r} is no requirement"
    return match.group(1), match.group(2).strip().strip("()").replace(" ", "")


def allows(versions: str, installed: str) -> bool:
    """Return whether ``installed`` lies in the range ``versions``, such as ``<3,>=2.0``; an empty one allows all."""
    for part in filter(None, versions.split(",")):
        match = re.match(r"(==|>=|<=|<|>)(.+)", part)
        if match and not _OPERATORS[match.group(1)](*_same_length(installed, match.group(2))):
            return False
    return True


def _same_length(*versions: str) -> list[list[int]]:
    """Return release numbers, filled up with zeros; what follows them (rc1, post1) is left out."""
    numbers = [
        [int(digits) for digits in re.findall(r"\d+", re.split(r"[^\d.]", one, maxsplit=1)[0])] for one in versions
    ]
    longest = max(map(len, numbers))
    return [one + [0] * (longest - len(one)) for one in numbers]


def check_python() -> Finding:
    """Python itself."""
    text = f"Python {platform.python_version()}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding("fail", text, "install Python 3.11 or newer")
    return Finding("ok", text)


def check_package(requirement: str) -> Finding:
    """One package that Gradiva depends on, against the range it is tested with."""
    name, versions = parse_requirement(requirement)
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Finding("fail", f"{name} is not installed", f"pip install '{name}{versions}'")
    if not allows(versions, installed):
        return Finding("warn", f"{name} {installed}, tested with {versions}", f"pip install '{name}{versions}'")
    return Finding("ok", f"{name} {installed}")


def check_cache_folder() -> Finding:
    """Check that the cache folder of compiled functions can be written."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "set XDG_CACHE_HOME to a folder that can be written; until then nothing is compiled"
        return Finding("warn", f"cannot write {folder}: {error.strerror}", remedy)
    return Finding("ok", f"compiled functions are kept in {folder}")


def check_compiler() -> Finding:
    """A C compiler that makes a library this process can load."""
    remedy = "install gcc (apt-get install gcc libc6-dev); until then the controller is slower, but works"
    setup = _any_setup()
    if setup is None:
        return Finding("warn", "C compiler: not tried, there is no robot model to try it on")
    dynamics = SymbolicDynamics(IdynTreeModel(setup.robot))
    with tempfile.TemporaryDirectory() as folder:
        compiler = GccCompiler(Path(folder), lambda line: None)
        joints = dynamics.joint_positions
        FlatFunction("doctor", {"joints": joints}, {"doubled": 2.0 * joints}, compiler)
    if compiler.failure is not None:
        return Finding("warn", f"C compiler: {compiler.failure}", remedy)
    return Finding("ok", "C compiler works")


def check_robot(name: str) -> Finding:
    """Return whether a robot's start posture can be reached, and its stability margins in each control mode."""
    try:
        setup = load_setup(name)
        layers = WalkingLayers(setup.robot, setup.walking)
        margins = list(margin_findings(name, (Plant.IDEAL,)))
    except ModelNotInstalled as error:
        return Finding("warn", f"{name}: {error}")
    except NAMED_ERRORS as error:
        return Finding("fail", f"{name}: {error}")
    text = f"{name}: {setup.robot.title}, {len(setup.robot.joints)} joints, {layers.mass:.2f} kg"
    remedy = "; ".join(finding.remedy for finding in margins if finding.remedy)
    worst = max((finding.verdict for finding in margins), key=(OK, WARN, FAIL).index)
    little = [finding.text for finding in margins if finding.verdict != OK]
    return Finding(worst, "; ".join((text, *(little or [f"margins of all loops are wide, {SITUATION}"]))), remedy)


def check_rendering() -> Finding:
    """Films without a display."""
    remedy = "films need it, walking does not: apt-get install libegl1 libgl1-mesa-dri"
    setup = _any_setup()
    if setup is None:
        return Finding("warn", "drawing without a display: not tried, there is no robot model to draw")
    try:
        posture = WalkingLayers(setup.robot, setup.walking).start_posture
        with tempfile.TemporaryDirectory() as folder:
            snapshot(setup.robot, posture, Path(folder, "picture.png"))
    except (*NAMED_ERRORS, OSError) as error:
        return Finding("warn", f"drawing without a display: {error}", remedy)
    return Finding("ok", "drawing without a display works")


def check_plugins() -> Finding:
    """Check that the plug-ins of installed packages can be imported."""
    found = list(plugin_findings())
    failed = [finding for finding in found if finding.verdict != "ok"]
    if failed:
        return Finding("fail", "plug-ins: " + "; ".join(finding.text for finding in failed), "see gradiva plugins")
    return Finding("ok", f"plug-ins: {len(found)} (gradiva plugins)")


def check_yarp() -> Finding:
    """Check the YARP bindings and the name server; walking in simulation needs neither."""
    try:
        bindings = chosen_bindings(os.environ)
        settings = load_settings(os.environ)
        NameClient(settings, timeout=1.0).query_all([settings.namespace])
    except NameServerUnreachable:
        answers = "no name server answers"
    except NAMED_ERRORS as error:
        return Finding("warn", f"YARP: {error}")
    else:
        answers = "a name server answers"
    which = f"the bindings in {bindings.__file__}" if is_real(bindings) else "pureyarp"
    return Finding("ok", f"YARP: {which}; {answers} at {address_of(settings)} ({origin_of(settings)})")


def check_blf() -> Finding:
    """Whether bipedal-locomotion-framework can be imported in the interpreter that would be taken; few need it."""
    try:
        python = find_python()
        version = imported_version(python)
    except BackendError as error:
        return Finding("ok", "bipedal-locomotion-framework is left out: backend=blf alone needs it", str(error))
    return Finding("ok", f"bipedal-locomotion-framework {version} in {python}")


def _any_setup() -> Setup | None:
    """Return the first robot whose model is installed."""
    for name in robot_names():
        try:
            return load_setup(name)
        except NAMED_ERRORS:
            continue
    return None


def _requirements() -> list[str]:
    """Return the requirements of the installed Gradiva, without extras."""
    return [line for line in importlib.metadata.requires("gradiva") or [] if "extra ==" not in line]


_FIRST_WAY = 2.0  # [m]


def check_first_walk(robot: str) -> Finding:
    """Walk a robot two metres ahead on the ideal plant, at half its top speed; nothing of it is written.

    Args:
        robot: Name, or folder of a robot.toml.
    """
    try:
        setup = load_setup(robot)
        speed = 0.5 * setup.walking.planner.max_speed
        duration = walking_time(setup.walking.planner, speed, _FIRST_WAY)
        outcome = run_walk(WalkRequest(setup, VelocityCommand(speed, duration=duration)))
    except NAMED_ERRORS as error:
        return Finding(FAIL, f"does not walk: {error}")
    result = outcome.result
    if not outcome.walked:
        how = f"{result['outcome']}: {result['reason']}"
        return Finding(FAIL, f"does not walk {_FIRST_WAY:g} m at {speed:.2f} m/s: {how}")
    return Finding(OK, f"walks {result['distance_m']:.1f} m at {speed:.2f} m/s")


# -- a robot that moves a little ---------------------------------------------------------------------------------------


def exercise_in_process(
    robot: str, settings: Sequence[str], files: Sequence[Path], plant: str | None, first_run: bool, is_confirmed: bool
) -> int:
    """Exercise a robot that is simulated in this process, in its start posture; return the exit status.

    Raises:
        WalkingError: The configuration is wrong, or the robot does not follow.
    """
    setup = load_setup(robot, settings, files, plant, first_run=first_run)
    compiler = GccCompiler(cache_folder())
    posture = WalkingLayers(setup.robot, setup.walking, compiler).start_posture
    simulated = MujocoRobot(setup.robot, setup.simulation, posture, 0, compiler)
    exercise = Exercise(simulated, IdynTreeModel(setup.robot), lambda: simulated.advance(_TICK), _TICK)
    return _carry_out(exercise, setup, "process", is_confirmed)


def exercise_over_ports(
    robot: str, settings: Sequence[str], files: Sequence[Path], environment: str, first_run: bool, is_confirmed: bool
) -> int:
    """Exercise a robot on the network in its present posture; return the exit status.

    Raises:
        WalkingError: The configuration is wrong, or the robot is not there or does not follow.
    """
    setup = load_setup(robot, settings, files, first_run=first_run)
    with network_session(), log_lines(False, "gradiva.robot"):
        follow_clock_of(environment)
        remote = YarpRobot(setup.robot, Environment(environment), setup.part(RobotIoConfig, "robot_io"), _LOCAL)
        remote.open()
        try:
            schedule = TickSchedule(_TICK, CLOCK)

            def wait() -> None:
                """Wait for the next tick of the network's clock."""
                schedule.wait(lambda: False)

            def motors() -> NDArray | None:
                """Return the first signal that the drives report; None where they report none."""
                return remote.drive_signals().get(DRIVE_SIGNALS[0])

            exercise = Exercise(remote, IdynTreeModel(setup.robot), wait, _TICK, motors)
            return _carry_out(exercise, setup, environment, is_confirmed)
        finally:
            remote.close()  # its joints are held


def _carry_out(exercise: Exercise, setup: Setup, environment: str, is_confirmed: bool) -> int:
    console, robot = text_console(), setup.robot
    for line in announcement(exercise, robot.title):
        console.print(line, markup=False, soft_wrap=True)
    if not is_confirmed and not _is_confirmed():
        return 1
    record, posture = HealthRecord(robot.name, environment), "stands" if exercise.stands else "hangs"
    try:
        figures = exercise.run(lambda name: console.print(f"  {name}", style="dim", markup=False))
    except StateError as error:
        record.append(posture, (), f"that it did not follow: {error}")
        raise
    former = record.former(posture)
    print_figures(console, figures, former)
    record.append(posture, figures)
    console.print(f"kept in {record.path}", markup=False, soft_wrap=True)
    return 1 if any(figure.verdict == FAIL for figure in figures) else 0


def _is_confirmed() -> bool:
    """Ask whether the robot may move now.

    Raises:
        ConfigError: No answer comes: the input has ended.
    """
    try:
        return typer.confirm("Move it now?")
    except typer.Abort:
        if sys.stdin.isatty():
            raise  # Ctrl-C
        raise ConfigError("it moves after a question, and nothing answers here: --yes moves it without") from None


def announcement(exercise: Exercise, title: str) -> list[str]:
    """Return the lines that say what will move, and for how long."""
    how = "stands: its base moves by 12 mm and 2°, the joints above it" if exercise.stands else "hangs: its joints move"
    names = ", ".join(motion.name for motion in exercise.motions)
    return [
        f"{title} {how} by up to 3°, for {exercise.duration:.0f} s: {names}.",
        "Keep away from it, a hand at its emergency button; Ctrl-C ends the motion, and the joints hold.",
    ]


def print_figures(console: Console, figures: Sequence[Figure], former: Mapping[str, float]) -> None:
    """Print a table of the joints, the other figures, and a line for each that is not healthy or has drifted."""
    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    of_joints = [subject for subject in subjects if f"{subject} follows" in {figure.key for figure in figures}]
    names = list(dict.fromkeys(_heading(each) for each in figures if each.subject in of_joints))
    table = Table(box=None, header_style="bold")
    for heading in ("joint", *names):
        table.add_column(escape(heading), justify="left" if heading == "joint" else "right")
    for subject in of_joints:
        cells = {_heading(each): _cell(each) for each in figures if each.subject == subject}
        table.add_row(subject, *(cells.get(name, "–") for name in names))
    console.print(table)
    for figure in figures:
        drift = figure.value - former.get(figure.key, figure.value)
        has_drifted = abs(drift) > figure.drift
        if figure.subject not in of_joints or figure.verdict != OK or has_drifted:
            note = f"; before {former[figure.key]:.3g}" if has_drifted else ""
            verdict = "warn" if has_drifted and figure.verdict == OK else figure.verdict
            text = f"{figure_text(figure)}{note}"
            console.print(f"[{COLOURS[verdict]}]{verdict:4}[/]  {text}", soft_wrap=True, emoji=False)


def _heading(figure: Figure) -> str:
    return f"{figure.name} [{figure.unit}]" if figure.unit else figure.name


def _cell(figure: Figure) -> str:
    return f"[{COLOURS[figure.verdict]}]{figure.value:.3g}[/]"
