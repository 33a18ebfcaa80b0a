"""Carry out ``gradiva bench --peers``: a table of all solvers, and JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any

from rich.table import Table

from gradiva.cli import JsonTarget, console_beside
from gradiva.setup import GccCompiler, cache_folder
from gradiva_experiments.experiment import current_commit, this_machine
from gradiva_experiments.peers.centroidal import centroidal_rows
from gradiva_experiments.peers.comparison import PeerRow, compared


def run_peers(python: str, blf_python: str, json_to: str | None) -> int:
    """Compare the solvers; return the exit status.

    Args:
        python: Interpreter that has Pink and TSID; empty: this one.
        blf_python: Interpreter of bipedal-locomotion-framework, as ``blf.python``.
        json_to: File of the result, - is standard output; None: none.
    """
    target = JsonTarget(json_to)
    console = console_beside(target)
    compiler = GccCompiler(cache_folder())
    rows = [*compared(python, blf_python, compiler), *centroidal_rows(blf_python, compiler)]
    origin = {"date": date.today().isoformat(), "commit": current_commit(), "machine": this_machine()}
    target.write({"command": "gradiva bench --peers", **origin, "results": [asdict(row) for row in rows]})
    console.print(_table(rows))
    return 0


def _table(rows: list[PeerRow]) -> Table:
    table = Table(title="the same recorded ticks", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("problem", "solver"):
        table.add_column(heading)
    for heading in ("median µs", "p99 µs", "violation", "distance"):
        table.add_column(heading, justify="right")
    table.add_column("source")
    for row in rows:
        numbers = (_cell(row.median, ".0f"), _cell(row.p99, ".0f"), _cell(row.violation, ".0e"))
        table.add_row(row.problem, row.solver, *numbers, _cell(row.distance, ".0e"), row.source)
    return table


def _cell(number: Any, form: str) -> str:
    return "–" if number is None else f"{number:{form}}"
