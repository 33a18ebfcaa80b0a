"""``gradiva doctor --exercise``: announces small motions of a robot, lets it move, prints and keeps its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradiva.cli.doctor import COLOURS, follow_clock_of
from gradiva.cli.output import text_console
from gradiva.cli.yarp.session import log_lines, network_session
from gradiva.common import NDArray
from gradiva.common.errors import FAIL, OK
from gradiva.robot_model import Environment, IdynTreeModel
from gradiva.session import DRIVE_SIGNALS, Exercise, Figure, HealthRecord, TickSchedule, figure_text
from gradiva.setup import GccCompiler, Setup, cache_folder, load_setup
from gradiva.simulation import MujocoRobot
from gradiva.walking import WalkingLayers
from gradiva.yarp_modules.network_clock import CLOCK
from gradiva.yarp_modules.robot import RobotIoConfig, YarpRobot

_TICK = 0.01  # [s]
_LOCAL = "/gradiva-exercise"


def exercise_in_process(
    robot: str, settings: Sequence[str], files: Sequence[Path], plant: str | None, is_confirmed: bool
) -> int:
    """Exercise a robot that is simulated in this process, in its start posture; return the exit status.

    Raises:
        WalkingError: The configuration is wrong, or the robot does not follow.
    """
    setup = load_setup(robot, settings, files, plant)
    compiler = GccCompiler(cache_folder())
    posture = WalkingLayers(setup.robot, setup.walking, compiler).start_posture
    simulated = MujocoRobot(setup.robot, setup.simulation, posture, 0, compiler)
    exercise = Exercise(simulated, IdynTreeModel(setup.robot), lambda: simulated.advance(_TICK), _TICK)
    return _carry_out(exercise, setup, "process", is_confirmed)


def exercise_over_ports(
    robot: str, settings: Sequence[str], files: Sequence[Path], environment: str, is_confirmed: bool
) -> int:
    """Exercise a robot on the network in its present posture; return the exit status.

    Raises:
        WalkingError: The configuration is wrong, or the robot is not there or does not follow.
    """
    setup = load_setup(robot, settings, files)
    with network_session(), log_lines(False, "gradiva.robot"):
        follow_clock_of(environment)
        remote = YarpRobot(setup.robot, Environment(environment), setup.part(RobotIoConfig, "robot_io"), _LOCAL)
        remote.open()
        try:
            schedule = TickSchedule(_TICK, CLOCK)

            def wait() -> None:
                schedule.wait(lambda: False)

            def motors() -> NDArray | None:
                return remote.drive_signals().get(DRIVE_SIGNALS[0])

            exercise = Exercise(remote, IdynTreeModel(setup.robot), wait, _TICK, motors)
            return _carry_out(exercise, setup, environment, is_confirmed)
        finally:
            remote.close()  # its joints are held


def _carry_out(exercise: Exercise, setup: Setup, environment: str, is_confirmed: bool) -> int:
    console, robot = text_console(), setup.robot
    for line in announcement(exercise, robot.title):
        console.print(line, markup=False, soft_wrap=True)
    if not is_confirmed and not typer.confirm("Move it now?"):
        return 1
    figures = exercise.run(lambda name: console.print(f"  {name}", style="dim", markup=False))
    record, posture = HealthRecord(robot.name, environment), "stands" if exercise.stands else "hangs"
    former = record.former(posture)
    print_figures(console, figures, former)
    record.append(posture, figures)
    console.print(f"kept in {record.path}", markup=False, soft_wrap=True)
    return 1 if any(figure.verdict == FAIL for figure in figures) else 0


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
    names = list(dict.fromkeys(f"{each.name} [{each.unit}]" for each in figures if each.subject in of_joints))
    table = Table(box=None, header_style="bold")
    for heading in ("joint", *names):
        table.add_column(escape(heading), justify="left" if heading == "joint" else "right")
    for subject in of_joints:
        cells = {f"{each.name} [{each.unit}]": _cell(each) for each in figures if each.subject == subject}
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


def _cell(figure: Figure) -> str:
    return f"[{COLOURS[figure.verdict]}]{figure.value:.3g}[/]"
