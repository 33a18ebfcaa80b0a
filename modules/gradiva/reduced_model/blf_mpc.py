r"""Centroidal MPC by bipedal-locomotion-framework: the same plan and state in, the same kind of solution out.

Its samples are equally long and the first one begins now, so touch-downs and lift-offs are rounded to whole periods;
mass is 1 kg. What differs from ``CentroidalMpc``:

* It knows no external wrench: the measured CoM is shifted by :math:`h f_{xy} / (m g)`, as for the DCM laws.
* Its box about a planned contact is the same for all landings; landings beyond the legs' reach are moved back to it.
* Its answer has the corner forces of the first interval alone. Later ones are those that the velocities of the CoM
  need, in equal parts on the corners on the ground.
* The vertical weight of the CoM counts squared, and falls to half of it within a few samples: found on its recorded
  answers. The weights of contacts and of the angular momentum are one number each, contact velocities have none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradiva.blf import WAIT, BackendLost, WorkerProcess
from gradiva.common import GRAVITY, NDArray, NoSolutionFound
from gradiva.reduced_model.centroidal_mpc import (
    CentroidalMpcConfig,
    CentroidalSolution,
    CentroidalState,
    InputMemory,
    check_finite,
)
from gradiva.reduced_model.centroidal_problem import CentroidalBody
from gradiva.reduced_model.condensed_program import PROBLEM
from gradiva.reduced_model.contact_plan import ComReference, ContactPhase, ContactPlan

_LIMIT = 1.0  # [s] of a solution on a robot; 0.058 is the median. Far older than a decision may be
_MAX_AGE = 0.15  # [s] of a decision: two solutions of 0.058, and a tick at either end
_AHEAD = 2  # [-] periods by which the contacts reach beyond the horizon
_SLICES = 1  # [-] of the friction pyramid in a quadrant


def centroidal_parameters(config: CentroidalMpcConfig, corners: Mapping[str, NDArray]) -> dict[str, Any]:
    """Return the parameters of the framework's MPC; ``corners`` of each contact in its frame, [m], shape (n, 3)."""
    period, box = config.period, [float(half) for half in config.limits.location_box]
    contacts = {
        f"CONTACT_{number}": {
            "contact_name": name,
            "number_of_corners": len(each),
            **{f"corner_{j}": corner.tolist() for j, corner in enumerate(each)},
            "bounding_box_lower_limit": [-half for half in box],
            "bounding_box_upper_limit": box,
        }
        for number, (name, each) in enumerate(corners.items())
    }
    return {
        "sampling_time": period,
        "time_horizon": (config.samples + 0.5) * period,  # rounded down to samples
        "number_of_maximum_contacts": len(contacts),
        "number_of_slices": _SLICES,
        "static_friction_coefficient": float(config.limits.friction),
        **_weights(config),
        "solver_name": "ipopt",  # "sqp" diverges while it returns True
        "linear_solver": "mumps",
        "ipopt_tolerance": float(config.tolerance),
        "ipopt_max_iteration": int(config.max_iterations),
        "solver_verbosity": 0,
        "is_warm_start_enabled": True,
        **contacts,
    }


def _weights(config: CentroidalMpcConfig) -> dict[str, Any]:
    """Return the weights in the framework's terms, see the top of this file."""
    weights = config.weights
    horizontal, vertical = weights.com
    return {
        "com_weight": [float(horizontal), float(horizontal), 2.0 * math.sqrt(vertical)],
        "contact_position_weight": float(weights.contact[0]),
        "force_rate_of_change_weight": [weights.force_rate / config.period**2] * 3,
        "angular_momentum_weight": float(weights.angular_momentum[0]),
        "contact_force_symmetry_weight": float(weights.force_spread),
    }


def centroidal_problem(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem of the worker; its answer has corner forces, contacts, and three trajectories."""
    contacts = [group for group in parameters.values() if isinstance(group, dict)]
    corners = sum(group["number_of_corners"] for group in contacts)
    nodes = 1 + int(parameters["time_horizon"] / parameters["sampling_time"])
    return {
        "kind": "centroidal_mpc",
        "parameters": dict(parameters),
        "size": 3 * (corners + len(contacts) + 3 * nodes),
    }


@dataclass(frozen=True, slots=True)
class _Interval:
    """A planned contact in whole periods from now.

    Attributes:
        phase: As planned.
        begin: Touch-down, [periods]; negative of one that lasts.
        end: Lift-off, [periods].
    """

    phase: ContactPhase
    begin: int
    end: int


class BlfCentroidalMpc:
    """Asks the framework for forces, motion and contact locations, as `CentroidalMpc` finds them.

    Attributes:
        worker: Of the framework.
        failures: How often there was no solution, so far.
        max_age: Age up to which a decision balances, [s].
    """

    max_age = _MAX_AGE

    def __init__(self, config: CentroidalMpcConfig, body: CentroidalBody, python: str) -> None:
        """Start the worker.

        Args:
            config: Settings, as in ``[centroidal_walking.mpc]``.
            body: Mass and contacts.
            python: Interpreter that has the framework, as ``blf.python``.

        Raises:
            BackendError: The framework is missing, or refuses a parameter.
        """
        self._config, self._body, self._owners = config, body, body.owners
        corners = {f"contact_{i}": each for i, each in enumerate(body.corners)}
        count, nodes = len(body.corners), config.samples + 1
        self._shapes = ((len(self._owners), 3), (count, 3), (nodes, 3), (nodes, 3), (nodes, 3))
        self.worker = WorkerProcess(python, centroidal_problem(centroidal_parameters(config, corners)))
        self.failures, self._deadline = 0, math.inf
        self.reset()

    def reset(self) -> None:
        """Forget the last solution."""
        self._last: CentroidalSolution | None = None
        self._memory: InputMemory | None = None
        self._failures_in_a_row = 0

    @property
    def deadline(self) -> float:
        """Whether the caller waits: infinite; else the worker is given up after ``limit``, whatever it is, [s]."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        self.worker.timeout = _LIMIT if math.isfinite(deadline) else WAIT

    @property
    def limit(self) -> float:
        """Longest time that `update` takes, [s]."""
        return _LIMIT

    @property
    def memory(self) -> InputMemory | None:
        """Inputs of the last solution; None before the first."""
        return self._memory

    def update(
        self,
        time: float,
        state: CentroidalState,
        plan: ContactPlan,
        reference: ComReference,
        external_wrench: NDArray | None = None,
    ) -> CentroidalSolution:
        """Return forces, motion and contact locations from now on; see ``CentroidalMpc.update``.

        Raises:
            EstimationError: The state or the wrench is not finite.
            NoSolutionFound: The worker is away or refuses, for longer than is tolerated or at the first call.
        """
        wrench = np.zeros(6) if external_wrench is None else external_wrench
        check_finite(state, wrench)
        contacts = [self._rounded(phases, time) for phases in plan.phases]
        times = time + self._config.period * np.arange(self._config.samples + 1.0)
        try:
            answer = self.worker.solve(
                self._numbers(shifted_state(state, wrench, self._body.mass), reference(times), contacts)
            )
        except (NoSolutionFound, BackendLost) as error:
            return self._without(error)
        self._failures_in_a_row = 0
        self._last = self._solution(times, state, contacts, answer)
        return self._last

    def _without(self, error: Exception) -> CentroidalSolution:
        """Return the last solution while that is tolerated."""
        self.failures += 1
        self._failures_in_a_row += 1
        if self._last is None or self._failures_in_a_row > self._config.tolerated_failures:
            raise error if isinstance(error, NoSolutionFound) else NoSolutionFound(PROBLEM, str(error)) from None
        return replace(self._last, is_fallback=True, warning=f"{error}; the last solution takes its place")

    # -- question: the plan in whole periods from now ------------------------------------------------------------------

    def _rounded(self, phases: tuple[ContactPhase, ...], time: float) -> list[_Interval]:
        """Return the phases of a contact that last or come, the last one to beyond the horizon."""
        period, beyond = self._config.period, self._config.samples + _AHEAD
        found = []
        for phase in phases:
            begin, end = (
                (min(max(each, time - period), time + beyond * period) - time) / period
                for each in (phase.begin, phase.end)
            )
            if round(end) > max(round(begin), 0):
                found.append(_Interval(phase, round(begin), round(end)))
        return found

    def _numbers(self, state: CentroidalState, com: NDArray, contacts: list[list[_Interval]]) -> NDArray:
        """Return the numbers of a tick, in the order in which the worker reads them."""
        parts: list[npt.ArrayLike] = [state.com_position, state.com_velocity, state.angular_momentum / self._body.mass]
        parts += [len(com), com]
        for intervals in contacts:
            parts.append(len(intervals))
            for each in intervals:
                parts += [each.begin, each.end, each.phase.position, each.phase.rotation]
        return np.concatenate([np.ravel(part) for part in parts])

    # -- answer --------------------------------------------------------------------------------------------------------

    def _solution(
        self, times: NDArray, state: CentroidalState, contacts: list[list[_Interval]], answer: NDArray
    ) -> CentroidalSolution:
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])[:-1]
        first, places, com, velocity, spin = (
            part.reshape(shape) for part, shape in zip(np.split(answer, ends), self._shapes, strict=True)
        )
        active, positions = self._located(state, contacts, places)
        forces = self._shared(velocity, active)
        forces[0] = first
        still = np.zeros((*active.shape, 3))
        self._memory = InputMemory(times, forces, still, 0)
        com = com + state.com_position - com[0]  # without the shift by an external wrench
        return CentroidalSolution(
            times=times,
            active=active,
            com_positions=com,
            com_velocities=velocity,
            angular_momenta=self._body.mass * spin,
            contact_positions=positions,
            corner_forces=self._body.mass * forces,
            contact_velocities=still,
            cost=math.nan,
            violation=math.nan,
            iterations=0,
            solve_time=self.worker.own_time,
            is_fallback=False,
        )

    def _located(
        self, state: CentroidalState, contacts: list[list[_Interval]], places: NDArray
    ) -> tuple[npt.NDArray[np.bool_], NDArray]:
        """Return which contacts are on the ground in each interval, and where they are at the nodes."""
        samples = self._config.samples
        active = np.zeros((samples, len(contacts)), dtype=bool)
        positions = np.repeat(state.contact_positions[None], samples + 1, axis=0)
        for i, intervals in enumerate(contacts):
            for number, each in enumerate(intervals):
                active[max(each.begin, 0) : each.end, i] = True
                positions[max(each.begin, 0) :, i] = (
                    _landing(each.phase, places[i]) if number == 0 else each.phase.position
                )
        return active, positions

    def _shared(self, velocity: NDArray, active: npt.NDArray[np.bool_]) -> NDArray:
        """Return corner forces per kilogram that move the CoM, in equal parts on the ground, shape (N, corners, 3)."""
        standing = active[:, self._owners]
        totals = np.diff(velocity, axis=0) / self._config.period + [0.0, 0.0, GRAVITY]
        return standing[:, :, None] * (totals / np.maximum(standing.sum(axis=1), 1)[:, None])[:, None, :]


def shifted_state(state: CentroidalState, wrench: NDArray, mass: float) -> CentroidalState:
    """Return a state whose CoM is where it would be pushed as much without the external wrench."""
    height = state.com_position[2] - state.contact_positions[:, 2].mean()
    shift = height / (mass * GRAVITY) * np.array([wrench[0], wrench[1], 0.0])
    return replace(state, com_position=state.com_position + shift)


def _landing(phase: ContactPhase, place: NDArray) -> NDArray:
    """Return a location, moved into the box of its landing where it is beyond it."""
    offset = np.clip(phase.rotation.T @ (place - phase.position), *phase.allowed)
    landing: NDArray = phase.position + phase.rotation @ offset
    return landing
