"""Both kinds of torque control side by side on one soft ground (thesis, figures 8.6 to 8.8)."""

from __future__ import annotations

from functools import partial

import numpy as np

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.experiment import ExperimentRun, as_text
from gradiva.experiments.soft_ground.comparison_figure import comparison_figure
from gradiva.experiments.soft_ground.rows import soft_row
from gradiva.experiments.soft_ground.soft_walk import SoftWalk, asked_of
from gradiva.experiments.trial import walk_trial
from gradiva.telemetry import SignalLog
from gradiva.walking import GroundModel

_STEPS, _QUICK_STEPS = 6, 2
Papers = dict[GroundModel, str]


def run_comparison(run: ExperimentRun, ground: ViscoElasticParameters, papers: Papers) -> None:
    """Walk with each controller; the value is the largest error of the centre of mass, [m].

    Args:
        run: The experiment.
        ground: Stiffness and damping.
        papers: What the thesis says of each controller.
    """
    logs = {}
    for count, (controller, paper) in enumerate(papers.items()):
        run.report(count, len(papers), str(controller))
        steps = _QUICK_STEPS if run.options.quick else _STEPS
        walk = SoftWalk(ground, steps, controller=controller, asked=asked_of(controller))
        outcome = walk_trial(walk.trial())
        logs[str(controller)] = log = outcome.walk.recorder.log
        run.add_row(soft_row(walk, outcome.result, paper) | {"force_rate_nps": force_rate(log)})
    title = f"Torque control on k = {as_text(ground.stiffness)} N/m³, b = {as_text(ground.damping)} N·s/m³"
    run.add_figure(comparison_figure(logs, title), run.name)
    run.report(len(papers), len(papers), "drawn")


def force_rate(log: SignalLog) -> float | None:
    """Return the root mean square of the rate of the left normal force, [N/s]: how the foot shakes.

    Impacts and the changes of load that a walk needs are in it as well.
    """
    force = log["left_foot::linear_force::measured"][:, 2] if len(log) else np.zeros(0)
    if len(force) < 2:
        return None
    return float(np.sqrt(np.mean((np.diff(force) / np.diff(log.times)) ** 2)))


_COMPLIANT, _RIGID = GroundModel.COMPLIANT, GroundModel.RIGID
_GOOD = "walks, error below 0.01 m"
run_figure_8_6 = partial(
    run_comparison, ground=ViscoElasticParameters(2e6, 1e4), papers={_COMPLIANT: _GOOD, _RIGID: _GOOD}
)
run_figure_8_7 = partial(
    run_comparison, ground=ViscoElasticParameters(2e6, 1e3), papers={_COMPLIANT: "walks", _RIGID: "falls at 1.75 s"}
)
run_figure_8_8 = partial(
    run_comparison, ground=ViscoElasticParameters(1e6, 1e4), papers={_COMPLIANT: "walks", _RIGID: "fails at 0.9 s"}
)
