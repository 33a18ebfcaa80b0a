"""Solve recorded ticks of a centroidal MPC by Gradiva, by IPOPT on Gradiva's problem, and by the framework.

The closed loop is that of the framework's recording: two feet of four corners, a kilogram, 12 samples of 0.1 s, with
the framework's weights. Both problems differ in what is exact: Gradiva integrates the dynamics, the framework steps by
forward Euler, whose pyramids of friction are turned by 45° as well. So each is compared with its own optimum, by the
largest distance of the CoM over the horizon; the recording has no tighter optimum of the framework's problem.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from gradiva.blf import BackendError, WorkerProcess
from gradiva.common import NDArray, so3
from gradiva.reduced_model import (
    CentroidalBody,
    CentroidalLimits,
    CentroidalMpc,
    CentroidalMpcConfig,
    CentroidalSolution,
    CentroidalSolver,
    CentroidalState,
    CentroidalWeights,
    ContactPhase,
    ContactPlan,
    centroidal_problem,
)
from gradiva.robot_model import Compiler
from gradiva_experiments.peers.comparison import PeerRow

FEET = ("left_foot", "right_foot")
_PROBLEM = "centroidal MPC"
_PERIOD, _CONTACT_VELOCITY = 0.1, 1e-2  # [s], [s²/m²] of which the framework has none
_USUAL, _TIGHT = 3e-5, 1e-8  # tolerances of IPOPT
_FIXED = 1e-6  # [m] half the box of a contact that may not move
_REPEATS = 3  # of the recorded loop


@cache
def recorded() -> dict[str, Any]:
    """Return the recorded ticks and answers of the framework."""
    text = files("gradiva_experiments.peers").joinpath("centroidal.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


# -- the framework -----------------------------------------------------------------------------------------------------


def recorded_parameters(case: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the recording, in the names of the framework."""
    given, (lower, upper) = recorded()["parameters"], case["box"]
    corners = {f"corner_{j}": [float(each) for each in corner] for j, corner in enumerate(given["corners"])}
    box = {"bounding_box_lower_limit": lower, "bounding_box_upper_limit": upper}
    groups = {
        f"CONTACT_{i}": {"contact_name": name, "number_of_corners": len(corners), **corners, **box}
        for i, name in enumerate(FEET)
    }
    names = ("sampling_time", "time_horizon", "number_of_slices", "static_friction_coefficient", "solver_name")
    weights = ("contact_position_weight", "angular_momentum_weight", "contact_force_symmetry_weight")
    vectors = {name: [float(each) for each in given[name]] for name in ("com_weight", "force_rate_of_change_weight")}
    kept = {name: given[name] for name in (*names, *weights, "linear_solver", "is_warm_start_enabled")}
    return {**kept, **vectors, "number_of_maximum_contacts": len(FEET), **groups}


def recorded_numbers(case: dict[str, Any], sample: dict[str, Any]) -> NDArray:
    """Return state, reference and contacts of a tick, whose times are periods from now."""
    tick, nodes = sample["tick"], recorded()["parameters"]["horizon_samples"] + 1
    reference = recorded()["com_reference"][tick : tick + nodes]
    parts = [*(sample[name] for name in ("com", "com_velocity", "angular_momentum")), len(reference), reference]
    for name in FEET:
        lasting = [each for each in _contacts(case, tick)[name] if round(each[8] / _PERIOD) > tick]
        parts.append(len(lasting))
        for each in lasting:
            parts += [[round(at / _PERIOD) - tick for at in each[7:]], each[:3], _rotation(each[3:7])]
    return np.concatenate([np.ravel(part) for part in parts])


def _contacts(case: dict[str, Any], tick: int) -> dict[str, list[list[float]]]:
    """Return the planned contacts of a tick: position, quaternion, begin and end [s]."""
    known = max(int(each) for each in case["contact_lists"] if int(each) <= tick)
    found: dict[str, list[list[float]]] = case["contact_lists"][str(known)]
    return found


def _rotation(numbers: list[float]) -> NDArray:
    """Return the rotation of x, y, z, w; contacts of the recording do not tilt."""
    return so3.rotation_z(2.0 * math.atan2(numbers[2], numbers[3]))


def _framework_row(python: str) -> PeerRow:
    """Return the figures of the framework where it is installed, else the recorded ones."""
    case = recorded()["cases"]["unit_test"]
    samples = case["samples"]
    try:
        worker = WorkerProcess(python, centroidal_problem(recorded_parameters(case)))
    except BackendError:
        forces = [np.array(each["forces"][foot]) for each in samples for foot in FEET]
        source = f"recorded: {recorded()['source']}, from C++"
        return PeerRow(_PROBLEM, "blf", case["median_us"], case["p99_us"], _slip(forces), None, source)
    forces, durations = [], list[float]()
    for _ in range(_REPEATS):
        for sample in samples:
            forces.append(worker.solve(recorded_numbers(case, sample))[:24].reshape(-1, 3))
            durations.append(worker.own_time)
    median, p99 = (1e6 * np.percentile(durations, (50, 99))).tolist()
    return PeerRow(
        _PROBLEM, f"blf, and {1e6 * worker.median_overhead:.0f} µs to its process", median, p99, _slip(forces)
    )


def _slip(forces: list[NDArray]) -> float:
    """Return by how much corner forces leave their pyramids, or pull, the largest, [m/s²]."""
    friction = recorded()["parameters"]["static_friction_coefficient"]
    found = np.concatenate(forces)
    beyond = np.abs(found[:, :2]).sum(axis=1) - friction * found[:, 2]
    return max(0.0, float(beyond.max()), float(-found[:, 2].min()))


# -- Gradiva -----------------------------------------------------------------------------------------------------------


def _config(solver: CentroidalSolver, tolerance: float) -> CentroidalMpcConfig:
    """Return the recorded problem in our terms; the vertical weight is that which the framework's falls to, squared."""
    given = recorded()["parameters"]
    ahead, _, up = given["com_weight"]
    rate = given["force_rate_of_change_weight"][0] * _PERIOD**2
    turning, contact = given["angular_momentum_weight"], given["contact_position_weight"]
    spread = given["contact_force_symmetry_weight"]
    weights = CentroidalWeights(
        (float(ahead), (0.5 * up) ** 2), (turning, turning), spread, rate, (contact, contact), _CONTACT_VELOCITY
    )
    limits = CentroidalLimits(given["static_friction_coefficient"], (_FIXED,) * 3, 10.0)
    return CentroidalMpcConfig(
        samples=given["horizon_samples"],
        period=_PERIOD,
        solver=solver,
        tolerance=tolerance,
        max_iterations=1000,
        deadline=60.0,
        tolerated_failures=0,
        wrench_persistence=0.0,
        weights=weights,
        limits=limits,
    )


def _plan(case: dict[str, Any]) -> ContactPlan:
    lists = _contacts(case, 0)
    return ContactPlan(
        [
            [ContactPhase(each[7], each[8], np.array(each[:3]), _rotation(each[3:7])) for each in lists[foot]]
            for foot in FEET
        ]
    )


def _loop(mpc: CentroidalMpc) -> Iterator[tuple[float, CentroidalSolution]]:
    """Yield time of the processor [s] and solution of each recorded tick but the first, which has no last solution."""
    case = recorded()["cases"]["unit_test"]
    plan, path = _plan(case), np.array(recorded()["com_reference"])
    times = _PERIOD * np.arange(len(path))

    def reference(at: NDArray) -> NDArray:
        return np.column_stack([np.interp(at, times, axis) for axis in path.T])

    mpc.reset()
    for sample in case["samples"]:
        now = _PERIOD * sample["tick"]
        places = plan.preview(np.array([now, now + _PERIOD])).positions[0]
        com, velocity, momentum = (np.array(sample[name]) for name in ("com", "com_velocity", "angular_momentum"))
        state = CentroidalState(com, velocity, momentum, places)
        start = time.process_time()
        solution = mpc.update(now, state, plan, reference)
        duration = time.process_time() - start
        if sample["tick"]:
            yield duration, solution


def _our_rows(compiler: Compiler) -> Iterator[PeerRow]:
    corners = np.array(recorded()["parameters"]["corners"], dtype=float)
    body = CentroidalBody(1.0, (corners, corners))
    kinds = {
        "gradiva": (CentroidalSolver.REAL_TIME_ITERATION, _USUAL, _REPEATS),
        "IPOPT on gradiva's problem": (CentroidalSolver.IPOPT, _USUAL, 1),
    }
    exact = [each.com_positions for _, each in _loop(CentroidalMpc(_config(CentroidalSolver.IPOPT, _TIGHT), body))]
    for name, (solver, tolerance, repeats) in kinds.items():
        mpc = CentroidalMpc(_config(solver, tolerance), body, compiler)
        found = [each for _ in range(repeats) for each in _loop(mpc)]
        median, p99 = (1e6 * np.percentile([duration for duration, _ in found], (50, 99))).tolist()
        apart = [
            np.abs(each.com_positions - best).max() for (_, each), best in zip(found[: len(exact)], exact, strict=True)
        ]
        worst = max(each.violation for _, each in found)
        yield PeerRow(_PROBLEM, name, median, p99, worst, float(max(apart)))


def centroidal_rows(blf_python: str, compiler: Compiler) -> Iterator[PeerRow]:
    """Yield the figures of Gradiva, IPOPT and the framework.

    Args:
        blf_python: As ``blf.python``.
        compiler: How our own functions become fast.
    """
    yield from _our_rows(compiler)
    yield _framework_row(blf_python)
