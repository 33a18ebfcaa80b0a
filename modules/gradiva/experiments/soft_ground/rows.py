"""Rows of walks on soft ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradiva.experiments.asked import judged
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.soft_ground.soft_walk import ROBOT, SoftWalk


def add_walks(run: ExperimentRun, walks: Sequence[SoftWalk], papers: Sequence[Any]) -> list[Row]:
    """Walk all, side by side, and add a row for each; return them in the order of the walks.

    Args:
        run: The experiment.
        walks: What to walk.
        papers: What the paper has for each.
    """
    before, rows = len(run.rows), {}
    for index, result in run.pool.results([walk.trial() for walk in walks]):
        walk = walks[index]
        rows[index] = soft_row(walk, result.figures, papers[index])
        run.add_row(rows[index], before + index)
        run.report(len(rows), len(walks), f"{walk.title}: {rows[index]['outcome']}")
    return [rows[index] for index in sorted(rows)]


def soft_row(walk: SoftWalk, figures: Mapping[str, Any], paper: Any) -> Row:
    """Return the row of one walk; the value is the largest error of the centre of mass, [m].

    Args:
        walk: What was walked.
        figures: In the shape of ``result.json``.
        paper: What the paper has.
    """
    error = figures.get("com_error_m", {})
    outcome, reason = judged(figures)
    return {
        "robot": ROBOT,
        "controller": str(walk.controller),
        "stiffness": walk.ground.stiffness,
        "damping": walk.ground.damping,
        "step_m": walk.step_length,
        "steps": walk.steps,
        **walk.notes,
        "lasted_s": figures.get("duration_s"),
        "com_rms_m": error.get("rms"),
        "asked": str(walk.asked),
        "paper": paper,
        "value": error.get("max"),
        "outcome": outcome,
        "reason": reason,
    }
