"""Noise on the wrenches of the ground (thesis, figure 8.9)."""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.contacts import ViscoElasticParameters
from gradiva.experiments.asked import Asked
from gradiva.experiments.experiment import ExperimentRun
from gradiva.experiments.soft_ground.noise_figure import noise_figure
from gradiva.experiments.soft_ground.rows import add_walks
from gradiva.experiments.soft_ground.soft_walk import SoftWalk

GROUND = ViscoElasticParameters(8e6, 1e4)
_PAPER_FAILS_AT = 20.0  # [N, N·m] at about 4 s
_ALL, _SOME = (0.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0), (1.0, 2.0, 5.0, 10.0, 20.0)  # [N, N·m]
_STEPS, _QUICK_STEPS = 3, 2
_THESIS_INTERVAL, _TICK = 1e-5, 1e-3  # [s] of its integration, and of the controller
_QUICK = {_THESIS_INTERVAL: 10.0, _TICK: 1.0}  # [N, N·m] of the same power
_FILTER = 0.003  # [s] of the low pass on what the model misses of a wrench; with 0.02 the robot falls


@dataclass(frozen=True, slots=True)
class NoiseCase:
    """How noise of one standard deviation disturbs.

    Attributes:
        name: For people.
        interval: Between two draws, [s].
        target: Who notices: the robot feels it, and the sensors may tell it.
        filter_time: Time constant of the low pass on measured wrenches, 0 for none, [s].
        deviations: σ of each component, [N, N·m].
    """

    name: str
    interval: float
    target: str
    filter_time: float
    deviations: tuple[float, ...]


CASES = (
    NoiseCase("drawn every 10 µs, felt and measured", _THESIS_INTERVAL, "both", 0.0, _ALL),
    NoiseCase("drawn every 10 µs, felt and not measured", _THESIS_INTERVAL, "robot", 0.0, _ALL),
    NoiseCase("drawn every 10 µs, felt and measured, filtered", _THESIS_INTERVAL, "both", _FILTER, _SOME),
    NoiseCase("drawn every 1 ms, felt and measured", _TICK, "both", 0.0, _SOME),
    NoiseCase("drawn every 1 ms, felt and measured, filtered", _TICK, "both", _FILTER, _SOME),
)


def run_figure_8_9(run: ExperimentRun) -> None:
    """Walk with each noise; the value is the largest error of the centre of mass, [m].

    The noise has the same σ in all components: newtons and newton metres, as in the thesis.
    """
    quick = run.options.quick
    steps = _QUICK_STEPS if quick else _STEPS
    noises = [
        (case, deviation) for case in CASES for deviation in ((_QUICK[case.interval],) if quick else case.deviations)
    ]
    walks = [_walk(case, deviation, steps) for case, deviation in noises]
    add_walks(run, walks, [_paper(case, deviation) for case, deviation in noises])
    run.add_figure(noise_figure(run.rows), run.name)


def _walk(case: NoiseCase, deviation: float, steps: int) -> SoftWalk:
    noise = "simulation.viscoelastic.noise"
    overrides = {
        f"{noise}.force": deviation,
        f"{noise}.moment": deviation,
        f"{noise}.interval": case.interval,
        f"{noise}.target": case.target,
        "compliant_torque_control.wrench_time_constant": case.filter_time,
    }
    notes = {"noise": case.name, "sigma": deviation}
    is_asked = case is CASES[0] and deviation < _PAPER_FAILS_AT
    asked = Asked.TO_TRACK if is_asked else Asked.AS_FOUND
    return SoftWalk(GROUND, steps, overrides=overrides, notes=notes, asked=asked)


def _paper(case: NoiseCase, deviation: float) -> str | None:
    """The thesis draws in each of its steps and has no filter; its text does not say what the controller measures."""
    if case.interval != _THESIS_INTERVAL or case.filter_time > 0.0:
        return None
    return "success" if deviation < _PAPER_FAILS_AT else "failure"
