"""``gradiva doctor`` and ``gradiva plugins``: check this machine, a robot on the network, installed plug-ins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradiva.cli.main import leaving_at_once

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gradiva.common.errors import Finding

_CLOCK = "/clock"
_CLOCK_TIMEOUT = 2.0  # [s]
PLUGIN_GROUPS = {
    "gradiva.robots": "robot",
    "gradiva.planners": "planner",
    "gradiva.estimators": "estimator",
    "gradiva.whole_body_controllers": "whole-body controller",
    "gradiva.balance_laws": "balance law",
    "gradiva.tasks": "whole-body task",
    "gradiva.safety_checks": "safety check",
    "gradiva.step_adaptations": "step adaptation",
    "gradiva.experiments": "experiment",
    "gradiva.grounds": "ground",
}
COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


class Place(StrEnum):
    """Names the environment of the robot, which decides the prefix of its ports."""

    SIMULATION = "simulation"
    HARDWARE = "hardware"
    PROCESS = "process"


def doctor(
    robot: Annotated[
        str | None,
        typer.Option(metavar="ROBOT", help="Look at this robot on the YARP network instead: a name or a folder."),
    ] = None,
    environment: Annotated[
        Place,
        typer.Option(help="Simulated robot (or Gazebo's), the real one, or with --exercise one without a network."),
    ] = Place.SIMULATION,
    exercise: Annotated[
        bool, typer.Option("--exercise", help="Then move it a little, joint by joint, and judge it by that.")
    ] = False,
    is_confirmed: Annotated[bool, typer.Option("--yes", help="Move without asking.")] = False,
    plant: Annotated[str | None, typer.Option(help="Of --environment process: ideal, noisy or robot.")] = None,
    files: Annotated[list[Path] | None, typer.Option("--from", help="TOML laid over the configuration.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="One value.")] = None,
    first_run: Annotated[bool, typer.Option("--first-run", help="With the low speeds of first walks.")] = False,
) -> int:
    """Check this machine, or a robot on the network from its ports to its posture; exit status 1 if something fails.

    Nothing is commanded, the robot is only read, unless --exercise: then it moves a little, after a question. Its
    figures are kept over time, and prepareRobot is refused after one that is out of its healthy range.
    """
    if robot is None:
        if files or settings or first_run or exercise:
            from gradiva.common import ConfigError

            raise ConfigError(
                "--from, --set, --first-run and --exercise are of a robot: --robot NAME, as in: gradiva robots"
            )
        return _check_machine()
    if environment is Place.PROCESS:
        _check_exercised(exercise)
        with leaving_at_once():
            from gradiva.cli.checks import exercise_in_process
        return exercise_in_process(robot, settings or [], files or [], plant, first_run, is_confirmed)
    _check_simulated(plant)
    status = _check_robot(robot, environment, files or [], settings or [], first_run)
    if status or not exercise:
        return status
    from gradiva.cli.checks import exercise_over_ports

    return exercise_over_ports(robot, settings or [], files or [], str(environment), first_run, is_confirmed)


def _check_simulated(plant: str | None) -> None:
    """Refuse a plant for a robot of the network: its simulator has one already."""
    if plant is not None:
        from gradiva.common import ConfigError

        raise ConfigError("--plant is of --environment process: a simulator on the network has a plant of its own")


def _check_exercised(exercise: bool) -> None:
    """Refuse a robot of this process that is not to move: it has no ports to be looked at."""
    if not exercise:
        from gradiva.common import ConfigError

        raise ConfigError("--environment process has no network to look at: it is there for --exercise, which moves")


def plugins() -> int:
    """List the plug-ins of installed packages, and import each; exit status 1 if one fails.

    A package declares them as entry points: robots in gradiva.robots, planners in gradiva.planners, estimators in
    gradiva.estimators, balance laws in gradiva.balance_laws, whole-body tasks in gradiva.tasks, whole-body controllers
    in gradiva.whole_body_controllers, safety checks in gradiva.safety_checks, step adaptations in
    gradiva.step_adaptations, experiments in gradiva.experiments, grounds in gradiva.grounds.
    """
    with leaving_at_once():
        from gradiva.common.errors import Finding

    findings = list(plugin_findings())
    return _print_findings(findings or [Finding("ok", f"no package declares any of {', '.join(PLUGIN_GROUPS)}")])


def plugin_findings() -> Iterator[Finding]:
    """Yield a finding for each entry point of the plug-in groups."""
    from importlib.metadata import entry_points

    for group in PLUGIN_GROUPS:
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            yield _plugin_finding(point)


def _plugin_finding(point: EntryPoint) -> Finding:
    from gradiva.common.errors import ConfigError, Finding, ModelError

    package = f" ({point.dist.name} {point.dist.version})" if point.dist is not None else ""
    text = f"{PLUGIN_GROUPS[point.group]} '{point.name}': {point.value}{package}"
    try:
        _load(point)
    except (ConfigError, ModelError) as error:
        return Finding("fail", f"{text}: {error}", "mend the package, or uninstall it")
    return Finding("ok", text)


def _load(point: EntryPoint) -> None:
    """Load a plug-in as a walk or an experiment does, which checks its type where the room has a registry."""
    from gradiva.common import load_plugin
    from gradiva.estimation import ESTIMATORS
    from gradiva.planner import PLANNERS
    from gradiva.push_recovery import STEP_ADAPTATIONS
    from gradiva.safety import CHECKS
    from gradiva.setup import load_robot
    from gradiva.simplified_model import LAWS
    from gradiva.simulation import GROUNDS
    from gradiva.whole_body import CONTROLLERS, TASKS

    seams = PLANNERS, ESTIMATORS, LAWS, TASKS, CONTROLLERS, CHECKS, STEP_ADAPTATIONS, GROUNDS
    registries = {each.group: each for each in seams}
    if point.group == "gradiva.robots":
        load_robot(point.name)
    elif point.group in registries:
        registries[point.group].kind(point.name)
    else:
        load_plugin(point.group, point.name)


def _check_machine() -> int:
    with leaving_at_once():
        from gradiva.cli.checks import all_checks

    return _print_findings(check() for check in all_checks())


def _check_robot(robot: str, place: Place, files: list[Path], settings: list[str], first_run: bool) -> int:
    with leaving_at_once():
        from gradiva.cli.yarp.session import log_lines, network_session
        from gradiva.robot_model import Environment
        from gradiva.setup import load_setup
        from gradiva.yarp_modules.bring_up import BringUp

    setup = load_setup(robot, settings, files, first_run=first_run)
    with network_session(), log_lines(False, "gradiva.robot"):
        follow_clock_of(place)
        return _print_findings(BringUp(setup, Environment(place)).findings())


def follow_clock_of(place: str) -> None:
    """Use the clock of a simulation that has one: a slow simulation then is slow, but its samples are not old."""
    from gradiva.middleware import follow_clock, is_there

    if place == Place.SIMULATION and is_there(_CLOCK):
        follow_clock(_CLOCK, _CLOCK_TIMEOUT)


def _print_findings(findings: Iterable[Finding]) -> int:
    """Print findings as they come; return the exit status."""
    from rich.markup import escape

    from gradiva.cli.output import text_console

    console = text_console()
    verdicts = []
    for finding in findings:
        verdicts.append(finding.verdict)
        remedy = f" → {finding.remedy}" if finding.remedy else ""
        colour = COLOURS[finding.verdict]
        console.print(f"[{colour}]{finding.verdict:4}[/]  {escape(finding.text + remedy)}", soft_wrap=True, emoji=False)
    return 1 if "fail" in verdicts else 0
