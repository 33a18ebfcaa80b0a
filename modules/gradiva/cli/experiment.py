"""Run experiments and campaigns, which are a package of their own, and the benchmark (``gradiva bench``)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradiva.cli.main import leaving_at_once

if TYPE_CHECKING:
    from rich.console import Console

COMMANDS = "gradiva.commands"
"""Entry points of packages that carry out a command: functions of its arguments that return its exit status."""


def experiment(context: typer.Context) -> int:
    """Repeat a table or figure of the sources, or run an experiment of our own (gradiva experiment --help).

    Raises:
        ConfigError: The package of the experiments is not installed.
    """
    with leaving_at_once():
        run_command = _command_of_experiments("experiment")
    return int(run_command(context.args))


def campaign(context: typer.Context) -> int:
    """Walk a grid, a list or draws of any input, on one machine or many (gradiva campaign --help).

    Raises:
        ConfigError: The package of the experiments is not installed.
    """
    with leaving_at_once():
        run_command = _command_of_experiments("campaign")
    return int(run_command(context.args))


def tune(context: typer.Context) -> int:
    """Search gains by simulated walks, and write an overlay for --from (gradiva tune --help).

    Raises:
        ConfigError: The package of the experiments is not installed.
    """
    with leaving_at_once():
        run_command = _command_of_experiments("tune")
    return int(run_command(context.args))


def _command_of_experiments(name: str) -> Any:
    """Return a command that the package of the experiments carries out: an entry point, or ``package.module:function``.

    Raises:
        ConfigError: It is not installed.
    """
    from gradiva.common import ConfigError, load_plugin, plugin_names

    if "experiment" not in plugin_names(COMMANDS):
        raise ConfigError(
            "the experiments are a package of their own, which is not installed: pip install gradiva-experiments, "
            "in a checkout of Gradiva pip install ./modules/gradiva_experiments"
        )
    return load_plugin(COMMANDS, name)


def bench(
    robot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROBOT", help="Only this robot, a name or a folder; may be repeated. All shipped ones by default."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples: a sixth of the time.")] = False,
    json_to: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the result; - is standard output.")
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Instead: the same recorded ticks by this and by other whole-body solvers.")
    ] = False,
    peers_python: Annotated[
        str, typer.Option("--peers-python", metavar="PYTHON", help="Interpreter with pin, pin-pink and tsid.")
    ] = "",
    blf_python: Annotated[
        str, typer.Option("--blf-python", metavar="PYTHON", help="That of bipedal-locomotion-framework.")
    ] = "",
) -> int:
    """Time the layers of the controller, each alone and all together, and beside ten physics steps. Some minutes."""
    if peers:
        with leaving_at_once():
            run_peers = _command_of_experiments("gradiva_experiments.peers.command:run_peers")
        return int(run_peers(peers_python, blf_python, json_to))
    with leaving_at_once():
        from gradiva.cli.output import JsonTarget, console_beside
        from gradiva.setup import installed_robot_names

    target = JsonTarget(json_to)
    console = console_beside(target)
    try:
        result = _timed(console, robot or installed_robot_names(), quick)
    except RuntimeError as error:
        console.print(f"failed: {error}", markup=False)
        return 1
    target.write(result)
    console.print(_timing_table(result))
    for name, factors in result["real_time_factor"].items():
        by_plant = ", ".join(f"{factor:.1f} on the {plant} plant" for plant, factor in factors.items())
        console.print(f"real_time_factor/{name}: {by_plant}", markup=False)
    failed = [row for row in result["results"] if row.get("failure")]
    for row in failed:
        console.print(f"failed: {row['name']}: {row['failure']}", markup=False)
    return 1 if failed else 0


def _timed(console: Console, robots: Sequence[str], is_quick: bool) -> dict[str, Any]:
    """Run the benchmark; show its stages meanwhile."""
    from gradiva.cli.output import progress_bar
    from gradiva.simulated_walk import benchmark

    stages = count()

    def show_stage(text: str) -> None:
        update(next(stages), text)
        if not console.is_terminal:  # no bar is seen there
            console.print(text, markup=False, highlight=False)

    with progress_bar(console, "starting", 2.0 * len(robots) + 1.0) as update:  # a robot walks, then its layers run
        return benchmark.run_benchmark(robots, show_stage, benchmark.QUICK if is_quick else benchmark.FULL)


def _timing_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    machine = result["machine"]
    title = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, CasADi {machine['casadi']}"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("what")
    for heading in ("median µs", "p99 µs", "max µs", "of ten steps", "violation", "samples", "clock"):
        table.add_column(heading, justify="right")
    for row in result["results"]:
        violation = "–" if row["max_violation"] is None else f"{row['max_violation']:.0e}"
        times = [f"{row[key]:.0f}" for key in ("median_us", "p99_us", "max_us")]
        ratio = f"{row['ten_steps_ratio']:.2f}" if "ten_steps_ratio" in row else "–"
        table.add_row(row["name"], *times, ratio, violation, str(row["samples"]), row["clock"])
    return table
