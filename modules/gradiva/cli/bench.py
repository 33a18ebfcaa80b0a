"""``gradiva bench``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradiva.cli.interrupts import leaving_at_once

if TYPE_CHECKING:
    from rich.console import Console


def bench(
    robot: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this robot; may be repeated. All by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples: a sixth of the time.")] = False,
    json_to: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the result; - is standard output.")
    ] = None,
) -> int:
    """Time the layers of the controller, each alone and all together. About half a minute a robot."""
    with leaving_at_once():
        from gradiva.cli.output import JsonTarget, console_beside
        from gradiva.setup import shipped_robot_names

    target = JsonTarget(json_to)
    console = console_beside(target)
    try:
        result = _timed(console, robot or shipped_robot_names(), quick)
    except RuntimeError as error:
        console.print(f"failed: {error}", markup=False)
        return 1
    target.write(result)
    console.print(_table(result))
    for name, factor in result["real_time_factor"].items():
        console.print(f"real_time_factor/{name}: {factor:.1f}", markup=False)
    return 0


def _timed(console: Console, robots: Sequence[str], is_quick: bool) -> dict[str, Any]:
    """Run the benchmark, and tell its stages meanwhile."""
    from gradiva.cli.output import progress_bar
    from gradiva.experiments import benchmark

    stages = count()

    def tell(text: str) -> None:
        update(next(stages), text)
        if not console.is_terminal:  # no bar is seen there
            console.print(text, markup=False, highlight=False)

    with progress_bar(console, "starting", 2.0 * len(robots) + 1.0) as update:  # a robot walks, then its layers run
        return benchmark.run_benchmark(robots, tell, benchmark.QUICK if is_quick else benchmark.FULL)


def _table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    machine = result["machine"]
    title = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, CasADi {machine['casadi']}"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("what")
    for heading in ("median µs", "p99 µs", "max µs", "violation", "samples"):
        table.add_column(heading, justify="right")
    for row in result["results"]:
        violation = "–" if row["max_violation"] is None else f"{row['max_violation']:.0e}"
        times = [f"{row[key]:.0f}" for key in ("median_us", "p99_us", "max_us")]
        table.add_row(row["name"], *times, violation, str(row["samples"]))
    return table
