"""``gradiva doctor``."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gradiva.cli.interrupts import leaving_at_once
from gradiva.common import ConfigError
from gradiva.common.errors import Finding

_CLOCK = "/clock"
_CLOCK_PATIENCE = 2.0  # [s]
COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


class Place(StrEnum):
    """Where the robot is: it decides the prefix of its ports."""

    SIMULATION = "simulation"
    HARDWARE = "hardware"


def doctor(
    robot: Annotated[str | None, typer.Option(help="Look at this robot on the YARP network instead.")] = None,
    environment: Annotated[Place, typer.Option(help="Simulated robot (or Gazebo's), or the real one.")] = (
        Place.SIMULATION
    ),
    files: Annotated[list[Path] | None, typer.Option("--from", help="TOML laid over the configuration.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="One value.")] = None,
    first_run: Annotated[bool, typer.Option("--first-run", help="With the low speeds of first walks.")] = False,
) -> int:
    """Check this machine, or a robot on the network from its ports to its posture; exit status 1 if something fails.

    Nothing is commanded: the robot is only read.
    """
    if robot is None:
        if files or settings or first_run:
            raise ConfigError("--from, --set and --first-run are of a robot: --robot NAME, as in: gradiva robots")
        return _check_machine()
    return _check_robot(robot, environment, files or [], settings or [], first_run)


def _check_machine() -> int:
    with leaving_at_once():
        from gradiva.cli.checks import all_checks

    return _told(check() for check in all_checks())


def _check_robot(robot: str, place: Place, files: list[Path], settings: list[str], first_run: bool) -> int:
    with leaving_at_once():
        from gradiva.cli.yarp.session import log_lines, network_session
        from gradiva.robot_model import Environment
        from gradiva.setup import load_setup
        from gradiva.yarp_modules.bring_up import BringUp

    setup = load_setup(robot, settings, files, first_run=first_run)
    with network_session(), log_lines(False, "gradiva.robot"):
        _follow_clock(place)
        return _told(BringUp(setup, Environment(place)).findings())


def _follow_clock(place: Place) -> None:
    """Use the clock of a simulation that has one: a slow simulation then is slow, but its samples are not old."""
    from gradiva.middleware import follow_clock, is_there

    if place is Place.SIMULATION and is_there(_CLOCK):
        follow_clock(_CLOCK, _CLOCK_PATIENCE)


def _told(findings: Iterable[Finding]) -> int:
    """Print findings as they come; return the exit status."""
    from rich.markup import escape

    from gradiva.cli.output import console_for_people

    console = console_for_people()
    verdicts = []
    for finding in findings:
        verdicts.append(finding.verdict)
        remedy = f" → {finding.remedy}" if finding.remedy else ""
        colour = COLOURS[finding.verdict]
        console.print(f"[{colour}]{finding.verdict:4}[/]  {escape(finding.text + remedy)}", soft_wrap=True, emoji=False)
    return 1 if "fail" in verdicts else 0
