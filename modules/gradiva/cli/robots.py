"""List robots with their checks (``gradiva robots [NAME]``), draft new ones from a URDF (``gradiva robots new``)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from gradiva.cli.main import leaving_at_once

if TYPE_CHECKING:
    from gradiva.common import SoleRectangle
    from gradiva.common.errors import Finding
    from gradiva.robot_model import RobotDescription
    from gradiva.setup.new_robot import Choices


class RobotsGroup(TyperGroup):
    """Takes a name that is no command for that of a robot: ``gradiva robots icub_v3``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``--robot`` before the name, unless it is there."""
        place = next((index for index, text in enumerate(args) if not text.startswith("-")), None)
        if place is not None and args[place] not in self.commands and "--robot" not in args:
            args = [*args[:place], "--robot", *args[place:]]
        return super().parse_args(ctx, args)


robots_app = typer.Typer(
    cls=RobotsGroup,
    help="Check the robots that there are, or describe a new one.",
    invoke_without_command=True,
    subcommand_metavar="[ROBOT | COMMAND [ARGS]...]",
)

_SOLE = "X0,X1,Y0,Y1,Z"


@robots_app.callback()
def robots(
    context: typer.Context,
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="Only this one: a name, or a folder with a robot.toml.")
    ] = None,
    walks: Annotated[bool, typer.Option("--walk/--no-walk", help="Two metres of each robot, in simulation.")] = True,
) -> int:
    """List the robots, check names, mass, soles, limits and ports of each, and walk it; exit status 1 if any fails."""
    if context.invoked_subcommand is not None:
        return 0
    from rich.markup import escape

    with leaving_at_once():
        from gradiva.cli.checks import check_first_walk
        from gradiva.cli.doctor import COLOURS
        from gradiva.cli.output import text_console
        from gradiva.common.errors import FAIL, OK
        from gradiva.setup import robot_argument, robot_names
        from gradiva.setup.robot_checks import check_robot_folder

    console = text_console()
    names = robot_names() if robot is None else [robot_argument(robot)]
    console.print(_table(names))
    failed = False
    for name in names:
        findings = check_robot_folder(name, needs_model=robot is not None)
        if walks and OK in (verdicts := {finding.verdict for finding in findings}) and FAIL not in verdicts:
            findings.append(check_first_walk(name))
        facts = [finding.text for finding in findings if finding.verdict == OK and ": " not in finding.text]
        lines = [(OK, ", ".join(facts))] if facts else []
        lines += [(finding.verdict, _with_remedy(finding)) for finding in findings if finding.text not in facts]
        for verdict, text in lines:
            colour = COLOURS[verdict]
            console.print(f"[{colour}]{verdict:4}[/]  {name}: {escape(text)}", soft_wrap=True, emoji=False)
        failed = failed or any(finding.verdict == FAIL for finding in findings)
    return 1 if failed else 0


_Urdf = Annotated[str | None, typer.Option(metavar="FILE", help="A file, or PACKAGE:MODEL, as in robot.toml.")]
_Mjcf = Annotated[Path | None, typer.Option(metavar="FILE", help="Instead of a URDF: an XML file of MuJoCo.")]
_Folder = Annotated[Path, typer.Option("--in", metavar="DIR", help="Where the robot's folder is made.")]
_Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Name for reports; NAME by default.")]
_LeftFoot = Annotated[str | None, typer.Option(metavar="LINK", help="Where the left leg ends.")]
_RightFoot = Annotated[str | None, typer.Option(metavar="LINK", help="Where the right leg ends.")]
_LeftSole = Annotated[str | None, typer.Option(metavar="FRAME", help="Of the left foot, x forward, z up.")]
_RightSole = Annotated[str | None, typer.Option(metavar="FRAME", help="Likewise of the right foot.")]
_Sole = Annotated[str | None, typer.Option(metavar=_SOLE, help="Rectangle of the left sole in its frame, metres.")]
_Imu = Annotated[str | None, typer.Option(metavar="FRAME", help="Of the inertial unit.")]
_ArmJoints = Annotated[int, typer.Option(min=0, help="That each arm moves; the rest is locked.")]


@robots_app.command()
def new(
    name: Annotated[str, typer.Argument(help="Of the folder, and what --robot takes.")],
    urdf: _Urdf = None,
    mjcf: _Mjcf = None,
    folder: _Folder = Path("robots"),
    title: _Title = None,
    left_foot: _LeftFoot = None,
    right_foot: _RightFoot = None,
    left_sole: _LeftSole = None,
    right_sole: _RightSole = None,
    sole: _Sole = None,
    imu: _Imu = None,
    arm_joints: _ArmJoints = 4,
    walks: Annotated[bool, typer.Option("--walk/--no-walk", help="Two metres, in simulation.")] = True,
) -> int:
    """Write a first robots/NAME/robot.toml from a URDF or MJCF, and walk it: names, soles, posture, servos, limits.

    Names that are found and values that are guessed are printed. Feet are the lowest links with six joints above them.
    """
    with leaving_at_once():
        from gradiva.setup import SEARCH_PATH, robot_names
        from gradiva.setup.new_robot import Choices, check_name

    check_name(name, folder / name, robot_names())
    choices = Choices(left_foot, right_foot, left_sole, right_sole, imu, arm_joints)
    rectangle = None if sole is None else _parse_sole(sole)
    speed = 0.5 * _written(name, (urdf, mjcf), folder, choices, rectangle, title).max_speed
    shown = name if name in robot_names() else folder / name
    if not _holds(str(shown), folder / name, walks):
        return 1
    _say(f"try     gradiva walk --robot {shown} --speed {speed:.2f}")
    if shown != name:
        _say(f"or      by its name where the environment has {SEARCH_PATH}={folder.resolve()}")
    return 0


def _written(
    name: str,
    models: tuple[str | None, Path | None],
    folder: Path,
    choices: Choices,
    sole: SoleRectangle | None,
    title: str | None,
) -> RobotDescription:
    """Write a draft of a model, a URDF or an MJCF, with what was found on the way; return its description."""
    from gradiva.setup.new_robot import draft_robot, model_file_of, write_robot

    with TemporaryDirectory() as place:
        model = model_file_of(name, *models, choices, Path(place))
        for note in model.notes:  # before what they may be the cause of is refused
            _say(note)
        draft = draft_robot(name, model, choices, sole, title)
        for note in draft.notes[len(model.notes) :]:
            _say(note)
        for path in write_robot(draft, folder / name):
            _say(f"wrote   {path}")
    return draft.description


def _holds(robot: str, folder: Path, walks: bool) -> bool:
    """Return whether torques hold a draft, which then gets wide margins and is walked; say what was found."""
    from gradiva.cli.checks import check_first_walk
    from gradiva.common.errors import FAIL, OK, WalkingError
    from gradiva.setup.robot_checks import torque_findings, widen_margins

    findings = [finding for finding in torque_findings(robot) if finding.verdict != OK]
    if all(finding.verdict != FAIL for finding in findings):
        with suppress(WalkingError):  # the walk says why
            for path, lowered in widen_margins(folder, f"What differs on {folder.name}"):
                _say(f"wrote   {path}, {lowered.note}")
        if walks:
            findings.append(check_first_walk(robot))
            findings += _narrow_loops(robot) if findings[-1].verdict == OK else []
    for finding in findings:
        _say(f"{finding.verdict:8}{folder.name}: {_with_remedy(finding)}")
    return all(finding.verdict != FAIL for finding in findings)


def _say(line: str) -> None:
    """Print a line as it is, however wide the terminal."""
    from gradiva.cli.output import text_console

    text_console().print(line, markup=False, soft_wrap=True)


def _narrow_loops(robot: str) -> list[Finding]:
    """Return the loops without wide margins as warnings; a draft need not walk by velocity, where it may have none."""
    from dataclasses import replace

    from gradiva.common.errors import FAIL, OK, WARN
    from gradiva.setup.robot_checks import margin_findings

    narrow = [finding for finding in margin_findings(robot) if finding.verdict != OK]
    fails = f"; gradiva robots {robot} fails for it"
    return [replace(finding, verdict=WARN, text=finding.text + fails * (finding.verdict == FAIL)) for finding in narrow]


def _with_remedy(finding: Finding) -> str:
    """Return the text of a finding with what to do."""
    return f"{finding.text} → {finding.remedy}" if finding.remedy else finding.text


def _table(names: list[str]) -> object:
    from rich.table import Table

    from gradiva.common import WalkingError
    from gradiva.setup import describe_robot

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("robot")
    for heading in ("joints", "mass", "CoM height", "max speed"):
        table.add_column(heading, justify="right")
    table.add_column("model")
    for name in names:
        try:
            robot = describe_robot(name)
        except WalkingError:
            table.add_row(name, "–", "–", "–", "–", "–", "not usable, see below")
            continue
        figures = (f"{robot.mass:.1f} kg", f"{robot.com_height:.3f} m", f"{robot.max_speed:.2f} m/s")
        table.add_row(name, robot.title, str(len(robot.joints)), *figures, robot.model)
    return table


def _parse_sole(text: str) -> SoleRectangle:
    from gradiva.common import ConfigError, SoleRectangle

    try:
        x0, x1, y0, y1, z = (float(cell) for cell in text.split(","))
    except ValueError:
        raise ConfigError(f"--sole {text}: expected five numbers {_SOLE}") from None
    return SoleRectangle((x0, x1), (y0, y1), z)
