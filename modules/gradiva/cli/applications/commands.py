"""Declare the options of ``gradiva app …``; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradiva.cli.main import leaving_at_once

applications_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Run applications of yarpmanager without it: several modules, their order, their connections.",
)
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is standard output alone.")
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.xml",
        help="As in: gradiva app list. With --robot: simulation, gazebo or hardware, with -three for three processes.",
    ),
]
Robot = Annotated[
    str | None,
    typer.Option(metavar="ROBOT", help="Of a robot outside the repository: the folder of its robot.toml, or a name."),
]
Without = Annotated[list[str] | None, typer.Option(metavar="MODULE", help="Leave a module out; may be repeated.")]
Add = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE=PARAMETERS", help="More parameters for a module: gradiva-walking='--dry-run'."),
]
PlantName = Annotated[
    str | None,
    typer.Option(metavar="PLANT", help="Of the application's simulator: ideal, noisy or robot, as of gradiva walk."),
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="TOML laid over the configuration of all of our modules, before --set; may be repeated.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TABLE.KEY=VALUE", help="For all of our modules; may be repeated."),
]
Restart = Annotated[bool, typer.Option("--restart", help="Start modules again that end by themselves.")]
Duration = Annotated[
    float | None, typer.Option(min=0.0, metavar="S", help="Stop after so many seconds; else at Ctrl-C.")
]
Output = Annotated[
    bool, typer.Option("--output", help="Print what the modules print, each line behind its module's name.")
]
View = Annotated[
    bool, typer.Option("--view", help="Open the operator's page too, as gradiva panel does; its link is printed.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where the folder of this run is made.")]


@applications_app.command("list")
def list_applications(json: Json = None) -> int:
    """List the installed applications."""
    with leaving_at_once():
        from gradiva.cli.applications.monitor import list_all

    return list_all(json)


@applications_app.command()
def run(
    name: Name,
    robot: Robot = None,
    without: Without = None,
    add: Add = None,
    plant: PlantName = None,
    from_files: Files = None,
    settings: Settings = None,
    restart: Restart = False,
    duration: Duration = None,
    output: Output = False,
    view: View = False,
    out: Out = Path("runs"),
    json: Json = None,
) -> int:
    """Start the modules of an application, connect them, and stop them at Ctrl-C in reverse order.

    Starts a name server if none answers. What the modules print is kept in the run's folder.

    Exit status: 0 stopped in order, 1 a module failed, 2 wrong input.
    """
    with leaving_at_once():
        from gradiva.cli.applications.running import RunRequest, run_application

    left_out, more, wanted, files = (tuple(values or ()) for values in (without, add, settings, from_files))
    request = RunRequest(name, left_out, more, restart, duration, output, out, json, robot, plant, wanted, files, view)
    return run_application(request)


@applications_app.command()
def stop(
    name: Annotated[str | None, typer.Argument(metavar="NAME|FILE.xml", help="Which one; all by default.")] = None,
) -> int:
    """Stop applications that run, and remove what is left of those whose runner was killed.

    Exit status: 0 nothing runs any more, 1 a process does not end, 2 wrong input.
    """
    with leaving_at_once():
        from gradiva.cli.applications.monitor import stop_applications

    return stop_applications(name)


@applications_app.command()
def status(json: Json = None) -> int:
    """Show the running applications and the state of their modules.

    Exit status: 0 all is well, 1 a module failed or a runner was killed.
    """
    with leaving_at_once():
        from gradiva.cli.applications.monitor import print_status

    return print_status(json)
