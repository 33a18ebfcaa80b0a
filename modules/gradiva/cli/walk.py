"""Declare the options of ``gradiva walk``; what it does is imported when it runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gradiva.cli.main import leaving_at_once

DEFAULT_ROBOT = "icub_v2_7"
DEFAULT_SPEED = 0.19  # [m/s] or the cruise speed of a slower robot
DEFAULT_DURATION = 10.0  # [s]
_SOIL = "per area of the sole, as simulated; torque control starts from contact_estimator.* and estimates it."


def _where(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel="Where to")


def _how(*names: str, metavar: str, text: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel="How")


def _what(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="Ground and disturbances", **more)


def _result(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="Result", **more)


Robot = Annotated[
    str | None,
    typer.Option(
        help=f"A name, as in: gradiva robots, or the folder of a robot.toml; {DEFAULT_ROBOT} by default.",
        metavar="ROBOT",
    ),
]

Speed = Annotated[
    float | None,
    _where(
        "M/S",
        "Forward, negative is backward, 0 on the spot; by default, without --lateral and --turn,"
        f" {DEFAULT_SPEED} or a slower robot's cruise speed.",
    ),
]
Lateral = Annotated[float | None, _where("M/S", "To the left.")]
Turn = Annotated[float | None, _where("DEG/S", "Counter-clockwise.")]
Goal = Annotated[str | None, _where("X,Y[,YAW]", "Walk there and stop; metres and degrees.")]
Path = Annotated[
    str | None,
    _where(
        "FILE",
        "Walk along the points of a CSV file and stop at the last: a line x,y for each, in metres from where the robot"
        " starts, x ahead, y to the left; a heading, empty lines and lines that begin with # are skipped.",
    ),
]
Duration = Annotated[
    float | None,
    _where(
        "S",
        f"Of a velocity, its ramps included, {DEFAULT_DURATION:g} by default; the first shift of load, the closing step"
        " and standing come on top. Of a goal or path, the longest allowed.",
    ),
]

Control = Annotated[str | None, _how(metavar="MODE", text="position, velocity or torque.")]
Model = Annotated[str | None, _how(metavar="MODEL", text="Law of layer 2.")]
StepAdaptation = Annotated[
    str | None,
    _how(metavar="MODE", text="Whether the running step follows the DCM: place_and_time (default), place or off."),
]
Flexibility = Annotated[
    float | None,
    _how(
        metavar="NM/RAD",
        text="Stiffness of links that bend, TALOS's hips, in the simulation and as the controller knows it; one of the"
        " two is set by simulation.flexibility.stiffness or flexibility.stiffness.",
    ),
]
From = Annotated[
    list[str] | None, _how("--from", metavar="FILE", text="TOML laid over the configuration; also of a run.")
]
Set = Annotated[list[str] | None, _how("--set", metavar="TABLE.KEY=VALUE", text="One value; after --from.")]

Ground = Annotated[str | None, _what(text="Kind of ground.", metavar="GROUND")]
Stiffness = Annotated[float | None, _what(text=f"Of a soft ground, {_SOIL}", metavar="N/M³")]
Damping = Annotated[float | None, _what(text=f"Of a soft ground, {_SOIL}", metavar="NS/M³")]
Slope = Annotated[
    str | None,
    _what(
        text="Steepness of the ground, and the heading in which it rises, counter-clockwise; 0, ahead, by default.",
        metavar="DEG[,HEADING]",
    ),
]
Pushes = Annotated[
    list[str] | None,
    _what(
        text="Newtons in world and seconds; torso is the trunk of any robot; the walk starts at about 3 s, on soft"
        " ground at 1 s. May be repeated.",
        metavar="LINK,FX,FY,FZ,START,DURATION",
    ),
]
Faults = Annotated[
    list[str] | None,
    _what(
        text="A sensor or motor that fails from a time on: weak_motor,4,l_knee,0.4 leaves 40 % of its torque,"
        " dead_wrench,4,l_foot_ft a foot's sensor at zero, tilted_imu,4,,0.1 an IMU off by 0.1 rad. All kinds:"
        " gradiva walk --fault help.",
        metavar="KIND,START[,NAME[,VALUE]]",
    ),
]
Bumps = Annotated[
    list[str] | None,
    _what(text="Metres; a box on a rigid floor, of 0.1 by 0.1 unless given.", metavar="X,Y,HEIGHT[,LENGTH,WIDTH]"),
]
Plant = Annotated[
    str | None,
    _what(
        text="How much of a real robot is simulated: ideal (default), noisy (sensor noise, delay, mass error) or robot"
        " (drives, sensors, transport, contact and model errors, drawn by --seed).",
        metavar="PLANT",
    ),
]
Noise = Annotated[bool, _what("--noise", text="Short for --plant noisy.")]
Seed = Annotated[int, _what(text="Of all random numbers.", min=0)]

View = Annotated[
    bool, _result("--view", text="Show the robot in the browser in real time, then replay the walk there.")
]
Record = Annotated[str | None, _result(text="Film the walk.", metavar="FILE.mp4")]
FilmSize = Annotated[str | None, _result(text="Of the film, in pixels; 640x480 by default.", metavar="WIDTHxHEIGHT")]
CameraName = Annotated[
    str | None,
    _result(
        "--camera",
        text="Of the film: diagonal (default), front, side, back and top follow the robot, fixed sees the whole way.",
        metavar="VIEW",
    ),
]
Out = Annotated[str, _result(text="Below it the run gets a new folder, named by time and walk.", metavar="DIR")]
SearchesCause = Annotated[
    bool,
    _result(
        "--cause/--no-cause",
        text="After a bad end, walk again to find its cause, some seconds a walk; Ctrl-C ends that and keeps what was"
        " found. Without it the cause is what the measurements of this walk say.",
    ),
]
Json = Annotated[str | None, _result("--json", text="Write the result as JSON; - is standard output.", metavar="FILE")]


class WalkCommand(TyperCommand):
    """``gradiva walk``; its help lists the laws of layer 2 and the grounds, which takes a moment to import."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from gradiva.common import plugin_names
        from gradiva.simplified_model import balance_law_names, shipped_laws

        shipped = [f"{law.name}: {law.summary}" for law in shipped_laws()]
        others = balance_law_names()[len(shipped) :]
        grounds = ["rigid", "soft", "penalty", *plugin_names("gradiva.grounds")]
        texts = {
            "model": " ".join([*shipped, *others, "Or package.module:Class."]),
            "ground": f"{', '.join(grounds)}, or package.module:Class.",
        }
        for parameter in self.params:
            if parameter.name in texts:
                parameter.help = texts[parameter.name]  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def walk(
    robot: Robot = None,
    speed: Speed = None,
    lateral: Lateral = None,
    turn: Turn = None,
    goal: Goal = None,
    path: Path = None,
    duration: Duration = None,
    control: Control = None,
    model: Model = None,
    step_adaptation: StepAdaptation = None,
    flexibility: Flexibility = None,
    from_files: From = None,
    settings: Set = None,
    ground: Ground = None,
    stiffness: Stiffness = None,
    damping: Damping = None,
    slope: Slope = None,
    push: Pushes = None,
    fault: Faults = None,
    bump: Bumps = None,
    plant: Plant = None,
    noise: Noise = False,
    seed: Seed = 0,
    view: View = False,
    record: Record = None,
    film_size: FilmSize = None,
    camera: CameraName = None,
    cause: SearchesCause = True,
    out: Out = "runs",
    json_to: Json = None,
) -> int:
    """Walk in simulation: forward, sideways, in curves, to a goal or along a path.

    Velocities can be combined. Exit status: 0 walked as commanded and stands, 1 walked badly, fell or stopped,
    2 wrong input, 130 interrupted by Ctrl-C (log and report of the part that was walked are written, and what the
    search for the cause of a bad end has found).
    """
    with leaving_at_once():
        from gradiva.cli.walk_options import WalkOptions, fault_help
        from gradiva.cli.walk_session import ResultOptions, walk_session

    if "help" in (fault or ()):
        print(fault_help())
        return 0
    options = WalkOptions(
        robot=robot, speed=speed, lateral=lateral, turn=turn, goal=goal, path=path, duration=duration,
        control=control, model=model, step_adaptation=step_adaptation, flexibility=flexibility,
        files=tuple(from_files or ()), settings=tuple(settings or ()),
        ground=ground, stiffness=stiffness, damping=damping, slope=slope, pushes=tuple(push or ()),
        faults=tuple(fault or ()), bumps=tuple(bump or ()),
        plant=plant, noise=noise, seed=seed,
    )  # fmt: skip
    return walk_session(options, ResultOptions(out, json_to, record, film_size, camera, view, cause))
