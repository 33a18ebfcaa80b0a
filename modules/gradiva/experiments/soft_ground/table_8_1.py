"""Torque control for rigid and for soft ground on six soft grounds (thesis, table 8.1)."""

from __future__ import annotations

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.soft_ground.outcome_figure import outcome_figure
from gradiva.experiments.soft_ground.rows import add_walks
from gradiva.experiments.soft_ground.soft_walk import SoftWalk, asked_of
from gradiva.walking import GroundModel

GROUNDS = tuple(ViscoElasticParameters(k, b) for b in (1e4, 1e3) for k in (8e5, 1e6, 2e6))
_QUICK_GROUNDS = (GROUNDS[2], GROUNDS[3])
_RIGID_WALKS = {ViscoElasticParameters(2e6, 1e4)}  # in the thesis; all others fall
_STEPS, _QUICK_STEPS = 16, 3


def run_table_8_1(run: ExperimentRun) -> None:
    """Walk each ground with each controller; the value is the largest error of the centre of mass, [m]."""
    grounds, steps = (_QUICK_GROUNDS, _QUICK_STEPS) if run.options.quick else (GROUNDS, _STEPS)
    walks = [
        SoftWalk(ground, steps, controller=controller, asked=asked_of(controller))
        for controller in (GroundModel.COMPLIANT, GroundModel.RIGID)
        for ground in grounds
    ]
    add_walks(run, walks, [_paper(walk) for walk in walks])
    run.add_figure(outcome_figure(run.rows), run.name)


def _paper(walk: SoftWalk) -> str:
    is_success = walk.controller is GroundModel.COMPLIANT or walk.ground in _RIGID_WALKS
    return "success" if is_success else "failure"
