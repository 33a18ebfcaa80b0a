"""The rows of an experiment on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gradiva.experiments.experiment import Row, as_text

_RESULTS = ("paper", "value", "outcome")


def print_rows(console: Console, rows: Sequence[Row], value_title: str) -> None:
    """Print what all rows have in common, the rest as a table, and below it the reasons that say something.

    Args:
        console: Where to.
        rows: Of an experiment.
        value_title: What ``value`` is in them.
    """
    if not rows:
        return
    inputs = _inputs(rows)
    common = [name for name in inputs if len(rows) > 1 and all(row.get(name) == rows[0].get(name) for row in rows)]
    if common:
        console.print(", ".join(f"{name} {as_text(rows[0][name])}" for name in common), markup=False, soft_wrap=True)
    console.print(_table(rows, [*(name for name in inputs if name not in common), *_RESULTS], value_title))
    reasons = [(number, row["reason"]) for number, row in enumerate(rows, 1)]
    usual = {row["reason"] for row in rows if row["outcome"] == "walked" and not row["reason"].startswith("at ")}
    for number, reason in reasons:
        if reason and reason not in usual:
            console.print(f"{number}: {reason}", markup=False, soft_wrap=True)


def _inputs(rows: Sequence[Row]) -> list[str]:
    """Return the columns before the results that hold plain values."""
    names = dict.fromkeys(name for row in rows for name in row if name not in (*_RESULTS, "reason"))
    return [name for name in names if not any(isinstance(row.get(name), (list, tuple)) for row in rows)]


def _table(rows: Sequence[Row], names: Sequence[str], value_title: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("", justify="right", style="dim")
    for name in names:
        table.add_column(escape(value_title if name == "value" else name), overflow="fold")
    for number, row in enumerate(rows, 1):
        table.add_row(str(number), *(escape(as_text(row.get(name))) for name in names))
    return table
