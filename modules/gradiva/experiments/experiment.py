"""What an experiment is: a name, a source, rows and figures."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gradiva.experiments.asked import is_fulfilled
from gradiva.experiments.trial_pool import TrialPool
from gradiva.telemetry import RunFolder
from gradiva.telemetry.log_files import plain

Row = dict[str, Any]
"""Inputs of one trial or search, then ``paper``, ``value``, ``outcome`` and ``reason``."""

Report = Callable[[int, int | None, str], None]
"""Called with the trials done, the trials in all (None: nobody knows) and what was just done."""


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """What can be chosen.

    Attributes:
        robot: Name of the robot.
        quick: Fewer and shorter trials, to see that all works.
    """

    robot: str = "icub_v2_7"
    quick: bool = False


@dataclass(slots=True, eq=False)
class ExperimentRun:
    """A running experiment: takes rows and figures, keeps ``result.json`` up to date.

    Attributes:
        name: Of the experiment.
        source: Table, figure or text that it stands against.
        options: What was chosen.
        folder: Where figures and result lie.
        pool: Runs trials.
        report: Progress.
        figures: So far, paths.
        value_title: What ``value`` is, with its unit, for the tables.
    """

    name: str
    source: str
    options: ExperimentOptions
    folder: RunFolder
    pool: TrialPool
    report: Report = lambda done, total, text: None
    figures: list[str] = field(default_factory=list)
    value_title: str = "value"
    _rows: dict[int, Row] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)

    @property
    def rows(self) -> list[Row]:
        """So far, by place."""
        return [self._rows[place] for place in sorted(self._rows)]

    @property
    def is_fulfilled(self) -> bool:
        """Whether all that is asked for came; without a row nothing did."""
        rows = self.rows
        return bool(rows) and all(is_fulfilled(row) for row in rows)

    def add_row(self, row: Row, place: int | None = None) -> None:
        """Take a row; what there is so far is on the disk afterwards.

        Args:
            row: With ``paper``, ``value``, ``outcome`` and ``reason``.
            place: In the table, whatever the order in which rows come; None: the next.
        """
        missing = {"paper", "value", "outcome", "reason"} - set(row)
        assert not missing, f"a row without {missing}"
        self._rows[len(self._rows) if place is None else place] = row
        self.save()

    def add_figure(self, figure: Figure, name: str) -> None:
        """Write a figure as PNG and SVG.

        Raises:
            ValueError: There is one of that name already.
        """
        if any(Path(path).stem == name for path in self.figures):
            raise ValueError(f"figure '{name}' is there already")
        for kind in ("png", "svg"):
            path = self.folder.path / f"{name}.{kind}"
            figure.savefig(path, dpi=150, facecolor="white")
            self.figures.append(str(path))
        self.save()

    def result(self) -> dict[str, Any]:
        """Return what there is so far, in the shape of the experiments' JSON."""
        return {
            "name": self.name,
            "source": self.source,
            "rows": self.rows,
            "figures": self.figures,
            "wall_s": time.perf_counter() - self._started,
        }

    def save(self) -> None:
        """Write ``result.json``, whole or not at all, and the same as a table."""
        unfinished = self.folder.result_path.with_suffix(".part")
        unfinished.write_text(json.dumps(plain(self.result()), indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, self.folder.result_path)
        self.table_path.write_text(markdown_table(self.rows, self.value_title), encoding="utf-8")

    @property
    def table_path(self) -> Path:
        """The rows as a Markdown table."""
        return self.folder.path / "table.md"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One of the experiments that can be asked for by name.

    Attributes:
        name: What to ask for.
        source: Table, figure or text that it stands against.
        description: One line.
        run: Fills an ``ExperimentRun``.
        value_title: What ``value`` is in its rows, with its unit.
    """

    name: str
    source: str
    description: str
    run: Callable[[ExperimentRun], None]
    value_title: str = "value"

    def start(self, options: ExperimentOptions, parent: Path, pool: TrialPool, report: Report) -> ExperimentRun:
        """Return a run of this experiment, its folder made and still empty.

        Raises:
            ConfigError: The folder cannot be written.
        """
        folder = RunFolder.create(parent, self.name, {"experiment": {"name": self.name}, "options": options})
        return ExperimentRun(self.name, self.source, options, folder, pool, report, value_title=self.value_title)


def markdown_table(rows: list[Row], value_title: str = "value") -> str:
    """Return rows as a Markdown table; numbers with four digits; ``value`` under its title."""
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    headings = [value_title if name == "value" else name for name in names]
    lines = [headings, ["---"] * len(names), *([as_text(row.get(name)) for name in names] for row in rows)]
    return "".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |\n" for line in lines)


def as_text(value: Any) -> str:
    """Return a cell of a table, numbers with four digits and short exponents."""
    if value is None:
        return "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.4g}") if isinstance(value, float) else str(value)
