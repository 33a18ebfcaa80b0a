"""Ground that differs from place to place, learned on the way (thesis, figure 8.10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.asked import judged
from gradiva.experiments.experiment import ExperimentRun, Row
from gradiva.experiments.soft_ground.ground_change import GroundChange, ground_changes
from gradiva.experiments.soft_ground.soft_walk import SoftWalk
from gradiva.experiments.trial import walk_trial
from gradiva.telemetry import SignalLog
from gradiva.telemetry.time_plots import contact_figure
from gradiva.telemetry.walk_record import WalkRecord

SIGMA, INTERVAL = 5.0, 1e-5  # [N, N·m] and [s], as in the thesis
TOLERANCE = 0.1  # [-] of the truth
_PAPER_TIME = 1.0  # [s] "less than a second"
_STEPS, _QUICK_STEPS = 9, 4
_PLACES, _QUICK_PLACES = (0.35, 0.75), (0.2,)  # [m] from where on the ground is another one
_CASES: dict[str, tuple[ViscoElasticParameters, ...]] = {
    "k": tuple(ViscoElasticParameters(k, 1e4) for k in (1e6, 2e6, 8e5)),
    "b": tuple(ViscoElasticParameters(1e6, b) for b in (1e4, 5e3, 1.5e4)),
    "k and b": (
        ViscoElasticParameters(1e6, 1e4),
        ViscoElasticParameters(2e6, 5e3),
        ViscoElasticParameters(8e5, 1.5e4),
    ),
}


def run_figure_8_10(run: ExperimentRun) -> None:
    """Walk over two edges in the ground; the value is how long a foot needs to know what it stands on, [s]."""
    cases = dict(list(_CASES.items())[:1]) if run.options.quick else _CASES
    for count, (name, grounds) in enumerate(cases.items()):
        run.report(count, len(cases), f"varying {name}")
        outcome = walk_trial(varying_walk(grounds, run.options.quick).trial())
        log = outcome.walk.recorder.log
        for row in rows_of(name, log, outcome.result):
            run.add_row(row)
        title = f"Space-varying {name}, σ = {SIGMA:g} N, N·m"
        figure = contact_figure(WalkRecord(log, outcome.walk.setup.robot.joints), title)
        run.add_figure(figure, f"{run.name}_{name.replace(' ', '_')}")
    run.report(len(cases), len(cases), "drawn")


def varying_walk(grounds: tuple[ViscoElasticParameters, ...], is_quick: bool) -> SoftWalk:
    """Return the walk from the first ground over the others; the first one is known at the start."""
    places = _QUICK_PLACES if is_quick else _PLACES
    noise = {"force": SIGMA, "moment": SIGMA, "interval": INTERVAL, "target": "both"}
    patches = [
        {"stiffness": ground.stiffness, "damping": ground.damping, "beyond_x": place}
        for ground, place in zip(grounds[1:], places, strict=False)
    ]
    overrides = {"simulation.viscoelastic.patches": patches, "simulation.viscoelastic.noise": noise}
    return SoftWalk(grounds[0], _QUICK_STEPS if is_quick else _STEPS, learns=True, overrides=overrides)


def rows_of(case: str, log: SignalLog, result: dict[str, Any]) -> Iterator[Row]:
    """Return a row a change of the ground; of a walk that ended before the first one, a row that says so.

    A walk that fell, or whose CoM strayed, spoils all its rows.

    Args:
        case: What varies.
        log: Of the walk.
        result: In the shape of ``result.json``.
    """
    outcome, reason = judged(result)
    ended = {} if outcome == "walked" else {"outcome": outcome, "reason": reason}
    changes = ground_changes(log, TOLERANCE)
    for change in changes:
        yield _row(case, change) | ended
    if not changes:
        yield _without_change(case) | ended


def _without_change(case: str) -> Row:
    reason = "no foot came onto other ground"
    return {"varies": case, "paper": _PAPER_TIME, "value": None, "outcome": "missed", "reason": reason}


def _row(case: str, change: GroundChange) -> Row:
    is_met = change.settled_after is not None and change.settled_after < _PAPER_TIME
    return {
        "varies": case,
        "foot": str(change.side),
        "at_s": change.time,
        "parameter": change.parameter,
        "before": change.before,
        "truth": change.truth,
        "estimate_at_end": change.estimate,
        "paper": _PAPER_TIME,
        "value": change.settled_after,
        "outcome": "met" if is_met else "missed",
        "reason": f"within {TOLERANCE:.0%} of the truth from then to the end of the stance"
        if is_met
        else "not in time",
    }
