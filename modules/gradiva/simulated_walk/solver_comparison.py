"""The centroidal MPC and IPOPT on the same problems: gaits and weights of the benchmark."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradiva.common import NDArray
from gradiva.reduced_model import (
    CentroidalMpc,
    CentroidalSolution,
    CentroidalSolver,
    CentroidalState,
    CentroidalWeights,
    com_reference,
)
from gradiva.robot_model import Compiler, interpreted
from gradiva.simulated_walk.centroidal_loop import Gait, centroidal_config, simulate_gait, turning, walking_and_running
from gradiva.simulated_walk.recorded_ticks import Row, benchmark_row

_NO_DEADLINE = 60.0  # [s]
_NEVER = math.inf
BENCH_GAITS: dict[str, Callable[[float], Gait]] = {
    "two_legs": walking_and_running,
    "turning": turning,
    "quick": partial(walking_and_running, run_at=_NEVER, single=0.25, double=0.05, length=0.1),
    "slow": partial(walking_and_running, run_at=_NEVER, single=0.8, double=0.4, length=0.25),
    "backward": partial(walking_and_running, run_at=_NEVER, length=-0.12),
}
BENCH_WEIGHTS = ("shipped", "decade_1", "decade_2", "spin")
_BENCH_FORCE, _BENCH_PUSH = np.array([4.0, 4.0, 1.0]), 0.3  # [N] largest on one kilogram along each axis, [s]
_WEAKER = 0.3  # [-] pushes of bodies with other weights, which balance less well
_BENCH_NOISE = 0.02  # [m/s] rms of the measured velocity
_TIGHT, _USUAL = 1e-8, 3e-5  # tolerances of IPOPT
Solved = tuple[float, CentroidalSolution]
"""Time of the processor [s], solution."""


def bench_weights(name: str, shipped: CentroidalWeights) -> CentroidalWeights:
    """Return the shipped weights, each multiplied by up to ten or divided by it, or those of ``spin``.

    With those of ``spin`` angular momentum counts for more than all else, as other implementations have it: forces pass
    through the CoM, and many corners carry nothing.
    """
    if name == "spin":
        return CentroidalWeights((1.0, 1e3), (1e5, 1e5), 10.0, 0.1, (1e3, 1e3), shipped.contact_velocity)
    if name == "shipped":
        return shipped
    random = np.random.default_rng(int(name.removeprefix("decade_")))
    values = (np.asarray(getattr(shipped, key)) for key in CentroidalWeights.__dataclass_fields__)
    return CentroidalWeights(*((value * 10.0 ** random.uniform(-1.0, 1.0, value.shape)).tolist() for value in values))


@dataclass(frozen=True, slots=True)
class SolverComparison:
    """Solutions of the same problems, from the same warm start.

    Attributes:
        ours: By the real-time iteration.
        ipopt: By IPOPT, to a usual tolerance.
        gaps: How much more ours cost than those of a tightly converged IPOPT, as a fraction; all are consistent with
            the dynamics.
        failure: Why the legs did not go on to the end; empty where they did.
    """

    ours: list[Solved]
    ipopt: list[Solved]
    gaps: list[float]
    failure: str = ""


def compared_solvers(
    samples: int, duration: float, name: str = "two_legs", weights: str = "shipped", compiler: Compiler = interpreted
) -> SolverComparison:
    """Solve closed loops with the centroidal MPC, and each problem with IPOPT from the same warm start.

    Two legs of four corners each move by the gait ``name`` for ``duration`` [s]; each second they are pushed for 0.3 s,
    at random, and their velocity is measured with noise. The first problem, without a last solution, does not count.
    The solvers take turns, problem by problem: whatever else the machine does slows both. Times are of the processor.

    Args:
        samples: Of the horizon.
        duration: [s].
        name: Of `BENCH_GAITS`.
        weights: Of `BENCH_WEIGHTS`.
        compiler: How the MPC's function becomes fast.

    Returns:
        The problems until the end, or until the legs did not go on.
    """
    config = replace(centroidal_config(), samples=samples, deadline=_NO_DEADLINE)
    config, gait = replace(config, weights=bench_weights(weights, config.weights)), BENCH_GAITS[name](duration)
    by_ipopt = [replace(config, solver=CentroidalSolver.IPOPT, tolerance=tolerance) for tolerance in (_USUAL, _TIGHT)]
    mpc, *exact = (CentroidalMpc(each, gait.body, compiler) for each in (config, *by_ipopt))
    com, random = com_reference(gait.plan, gait.com_height), np.random.default_rng(0)
    strength = 1.0 if weights == "shipped" else _WEAKER
    forces, compared = dict[int, NDArray](), SolverComparison([], [], [])

    def push(now: float) -> NDArray:
        """Return the push of this second at a time [s], [N]; zeros between pushes."""
        force = random.uniform(-1.0, 1.0, 3) * _BENCH_FORCE * strength * gait.body.mass
        return forces.setdefault(math.floor(now), force) if now % 1.0 < _BENCH_PUSH else np.zeros(3)

    def timed(solver: CentroidalMpc, now: float, state: CentroidalState, wrench: NDArray) -> Solved:
        """Return how long a solver takes, [s], and its solution."""
        start = time.thread_time()
        solution = solver.update(now, state, gait.plan, com, wrench)
        return time.thread_time() - start, solution

    def solve(now: float, state: CentroidalState, wrench: NDArray) -> CentroidalSolution:
        """Solve by both solvers from the same state and memory; return the first one's solution."""
        memory, noise = mpc.memory, _BENCH_NOISE * random.standard_normal(3)
        state = replace(state, com_velocity=state.com_velocity + noise)
        ours = timed(mpc, now, state, wrench)
        if memory is not None:
            for solver in exact:
                solver.resume(memory)
            usual, tight = (timed(solver, now, state, wrench) for solver in exact)
            compared.ours.append(ours)
            compared.ipopt.append(usual)
            if not (tight[1].is_fallback or usual[1].is_fallback):
                compared.gaps.append(ours[1].cost / tight[1].cost - 1.0)
        return ours[1]

    run = simulate_gait(gait, solve, push)
    return replace(compared, failure=run.reason or f"{run.fallbacks} solutions missing" * bool(run.fallbacks))


def centroidal_rows(
    samples: int, duration: float, name: str = "two_legs", weights: str = "shipped", compiler: Compiler = interpreted
) -> list[Row]:
    """Return rows of the centroidal MPC over ``duration`` [s] of a gait of `BENCH_GAITS`, and of IPOPT on its problems.

    The MPC's row also has ``cost_gap``, median and largest, see `compared_solvers`, and ``ipopt_ratio``: how many times
    as long IPOPT takes in the median and in the 99th percentile. Where the gait did not go on to its end it has
    ``failure``, the reason, and the times until then.
    """
    gc.collect()
    gc.disable()  # as the loop has it
    try:
        compared = compared_solvers(samples, duration, name, weights, compiler)
    finally:
        gc.enable()
    suffix = "" if weights == "shipped" else f"_{weights}"
    title = f"reduced_model.centroidal_mpc/{name}_{samples}{suffix}"
    ours, reference = (
        benchmark_row(row, [1e6 * time for time, _ in solved], max(found.violation for _, found in solved))
        for row, solved in ((title, compared.ours), (f"{title}.ipopt", compared.ipopt))
    )
    gap = {"median": float(np.median(compared.gaps)), "max": max(compared.gaps)}
    ratio = {key: reference[f"{key}_us"] / ours[f"{key}_us"] for key in ("median", "p99")}
    failure = {"failure": compared.failure} if compared.failure else {}
    return [ours | {"cost_gap": gap, "ipopt_ratio": ratio} | failure, reference]
