"""``gradiva walk``."""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULT_ROBOT = "icub_v2_7"
DEFAULT_SPEED = 0.19  # [m/s]
DEFAULT_DURATION = 10.0  # [s]

_WHERE = "Where to"
_HOW = "How"
_WHAT = "What happens to the robot"
_RESULT = "Result"


def walk(
    robot: Annotated[str, typer.Option(help="Name, as in: gradiva robots.", metavar="NAME")] = DEFAULT_ROBOT,
    speed: Annotated[
        float | None,
        typer.Option(
            metavar="M/S",
            help=f"Forward, negative is backward; {DEFAULT_SPEED} by default.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    lateral: Annotated[float | None, typer.Option(metavar="M/S", help="To the left.", rich_help_panel=_WHERE)] = None,
    turn: Annotated[
        float | None, typer.Option(metavar="DEG/S", help="Counter-clockwise.", rich_help_panel=_WHERE)
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="X,Y[,YAW]", help="Walk there and stop; metres and degrees.", rich_help_panel=_WHERE),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Walk along the points x,y of a CSV file.", rich_help_panel=_WHERE),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help=f"Of a velocity, {DEFAULT_DURATION:g} by default; of a goal or path, the longest allowed.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    control: Annotated[
        str | None, typer.Option(metavar="MODE", help="position or velocity.", rich_help_panel=_HOW)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="dcm (instantaneous) or dcm_mpc (predictive).", rich_help_panel=_HOW),
    ] = None,
    from_files: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="FILE", help="TOML laid over the configuration.", rich_help_panel=_HOW),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TABLE.KEY=VALUE", help="One value; after --from.", rich_help_panel=_HOW),
    ] = None,
    ground: Annotated[str, typer.Option(metavar="GROUND", help="rigid.", rich_help_panel=_WHAT)] = "rigid",
    push: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK,FX,FY,FZ,START,DURATION",
            help="Newtons in world and seconds; the walk starts at about 3 s.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    noise: Annotated[
        bool, typer.Option("--noise", help="Lay the noise preset over the simulation.", rich_help_panel=_WHAT)
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.", rich_help_panel=_WHAT)] = 0,
    view: Annotated[
        bool, typer.Option("--view", help="Show the robot in the browser, in real time.", rich_help_panel=_RESULT)
    ] = False,
    record: Annotated[
        str | None, typer.Option(metavar="FILE.mp4", help="Film the walk.", rich_help_panel=_RESULT)
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where runs are kept.", rich_help_panel=_RESULT)] = "runs",
    json_to: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write the result; - is standard output.", rich_help_panel=_RESULT),
    ] = None,
) -> int:
    """Walk in simulation: forward, sideways, in curves, to a goal or along a path.

    Velocities can be combined. Exit status: 0 walked and stands, 1 fell or stopped, 2 wrong input.
    """
    from gradiva.cli.walk_options import WalkOptions
    from gradiva.cli.walk_session import walk_session

    options = WalkOptions(
        robot=robot,
        speed=speed,
        lateral=lateral,
        turn=turn,
        goal=goal,
        path=path,
        duration=duration,
        control=control,
        model=model,
        ground=ground,
        files=tuple(from_files or ()),
        settings=tuple(settings or ()),
        pushes=tuple(push or ()),
        noise=noise,
        seed=seed,
    )
    return walk_session(options, out, json_to, record, view)
