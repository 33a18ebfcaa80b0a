"""How soft the ground may be, and how little of it needs to be known."""

from __future__ import annotations

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.soft_ground.outcome_figure import outcome_figure
from gradiva.experiments.soft_ground.rows import add_walks
from gradiva.experiments.soft_ground.soft_walk import SoftWalk

_STIFFNESSES, _QUICK_STIFFNESSES = (6e5, 5e5, 4e5, 3e5, 2e5, 1.5e5), (6e5,)  # [N/m³]
_DAMPINGS = (300.0, 100.0, 30.0, 10.0)  # [N·s/m³]
_WELL_DAMPED, _SOFT = 1e4, 8e5  # [N·s/m³], [N/m³]
_PRIORS = (1.0 / 3.0, 3.0)  # [-] of the truth
_UNKNOWN = (ViscoElasticParameters(2e6, 1e4), ViscoElasticParameters(8e5, 1e3))
_STIFF_ENOUGH, _DAMPED_ENOUGH = 3e5, 300.0  # [N/m³], [N·s/m³] beyond these a limit is looked for
_SOFTENS_AT = 5.0  # [s] under standing feet
_STEPS, _QUICK_STEPS = 6, 2


def run_soft_limits(run: ExperimentRun) -> None:
    """Walk where it is ever softer, less damped, less known; the value is the largest error of the CoM, [m]."""
    walks = [*_soft(run.options.quick), *([] if run.options.quick else [*_undamped(), *_unknown(), *_softening()])]
    add_walks(run, walks, [None] * len(walks))
    run.add_figure(outcome_figure(run.rows), run.name)


def _soft(is_quick: bool) -> list[SoftWalk]:
    stiffnesses, steps = (_QUICK_STIFFNESSES, _QUICK_STEPS) if is_quick else (_STIFFNESSES, _STEPS)
    grounds = [ViscoElasticParameters(stiffness, _WELL_DAMPED) for stiffness in stiffnesses]
    return [
        SoftWalk(ground, steps, notes={"case": "softer"}, may_fall=ground.stiffness < _STIFF_ENOUGH)
        for ground in grounds
    ]


def _undamped() -> list[SoftWalk]:
    grounds = [ViscoElasticParameters(_SOFT, damping) for damping in _DAMPINGS]
    return [
        SoftWalk(ground, _STEPS, notes={"case": "less damped"}, may_fall=ground.damping < _DAMPED_ENOUGH)
        for ground in grounds
    ]


def _unknown() -> list[SoftWalk]:
    return [
        SoftWalk(ground, _STEPS, learns=True, prior=prior, notes=_learned(prior), may_fall=ground.stiffness <= _SOFT)
        for ground in _UNKNOWN
        for prior in _PRIORS
    ]


def _learned(prior: float) -> dict[str, str]:
    return {"case": f"learned from {prior:.2g} of the truth"}


def _softening() -> list[SoftWalk]:
    patch = {"stiffness": _SOFT, "damping": _WELL_DAMPED, "after": _SOFTENS_AT}
    overrides = {"simulation.viscoelastic.patches": [patch]}
    return [
        SoftWalk(
            _UNKNOWN[0],
            _STEPS,
            learns=learns,
            overrides=overrides,
            notes={"case": f"softens to {_SOFT:g} under the feet, {'learned' if learns else 'unnoticed'}"},
        )
        for learns in (True, False)
    ]
