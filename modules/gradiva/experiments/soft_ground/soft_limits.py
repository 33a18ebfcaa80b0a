"""How soft the ground may be, and how little of it needs to be known."""

from __future__ import annotations

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.asked import Asked
from gradiva.experiments.experiment import ExperimentRun, as_text
from gradiva.experiments.soft_ground.outcome_figure import outcome_figure
from gradiva.experiments.soft_ground.rows import add_walks
from gradiva.experiments.soft_ground.soft_walk import SoftWalk

_STIFFNESSES = (6e5, 5e5, 4e5, 3e5, 2e5, 1.5e5)  # [N/m³]
_DAMPINGS = (300.0, 100.0, 30.0, 10.0)  # [N·s/m³]
_WELL_DAMPED, _SOFT = 1e4, 8e5  # [N·s/m³], [N/m³]
_PRIORS = (1.0 / 3.0, 3.0)  # [-] of the truth
_UNKNOWN = (ViscoElasticParameters(2e6, 1e4), ViscoElasticParameters(8e5, 1e3))
_STIFF_ENOUGH, _DAMPED_ENOUGH = 3e5, 300.0  # [N/m³], [N·s/m³] beyond these a limit is looked for
_SOFTEST, _LEAST_DAMPED = 3e5, 100.0  # [N/m³], [N·s/m³] that have been walked on: what a quick run shows
_SOFTENS_AT = 5.0  # [s] under standing feet
_STEPS, _QUICK_STEPS = 6, 2


def run_soft_limits(run: ExperimentRun) -> None:
    """Walk where it is ever softer, less damped, less known; the value is the largest error of the CoM, [m]."""
    walks = _one_of_each(_QUICK_STEPS) if run.options.quick else _all(_STEPS)
    add_walks(run, walks, [None] * len(walks))
    run.add_figure(outcome_figure(run.rows), run.name)


def _one_of_each(steps: int) -> list[SoftWalk]:
    return [
        _softer(_SOFTEST, steps),
        _less_damped(_LEAST_DAMPED, steps),
        _unknown(_UNKNOWN[0], _PRIORS[1], steps),
        _softening(True, steps),
    ]


def _all(steps: int) -> list[SoftWalk]:
    return [
        *(_softer(stiffness, steps) for stiffness in _STIFFNESSES),
        *(_less_damped(damping, steps) for damping in _DAMPINGS),
        *(_unknown(ground, prior, steps) for ground in _UNKNOWN for prior in _PRIORS),
        *(_softening(learns, steps) for learns in (True, False)),
    ]


def _softer(stiffness: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if stiffness >= _STIFF_ENOUGH else Asked.AS_FOUND
    return SoftWalk(ViscoElasticParameters(stiffness, _WELL_DAMPED), steps, notes={"case": "softer"}, asked=asked)


def _less_damped(damping: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if damping >= _DAMPED_ENOUGH else Asked.AS_FOUND
    return SoftWalk(ViscoElasticParameters(_SOFT, damping), steps, notes={"case": "less damped"}, asked=asked)


def _unknown(ground: ViscoElasticParameters, prior: float, steps: int) -> SoftWalk:
    asked = Asked.TO_TRACK if ground.stiffness > _SOFT else Asked.AS_FOUND
    notes = {"case": f"learned from {prior:.2g} × the truth"}
    return SoftWalk(ground, steps, learns=True, prior=prior, notes=notes, asked=asked)


def _softening(learns: bool, steps: int) -> SoftWalk:
    """Feet that the ground lets down take the body with them, for as long as legs need to stretch."""
    patch = {"stiffness": _SOFT, "damping": _WELL_DAMPED, "after": _SOFTENS_AT}
    overrides = {"simulation.viscoelastic.patches": [patch]}
    notes = {"case": f"softens to {as_text(_SOFT)} under the feet, {'learned' if learns else 'unnoticed'}"}
    return SoftWalk(_UNKNOWN[0], steps, learns=learns, overrides=overrides, notes=notes, asked=Asked.TO_WALK)
