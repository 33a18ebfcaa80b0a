r"""Centroidal MPC: contact forces and contact locations over a horizon, by real-time iteration or by IPOPT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from gradiva.common import (
    EstimationError,
    NDArray,
    NoSolutionFound,
    configuration,
    freeze_arrays,
    sealed,
    setting,
)
from gradiva.reduced_model.centroidal_problem import (
    CentroidalBody,
    CentroidalLimits,
    CentroidalProblem,
    CentroidalWeights,
    Trajectory,
)
from gradiva.reduced_model.centroidal_solvers import (
    NO_ESTIMATE,
    Accuracy,
    InteriorPoint,
    RealTimeIteration,
    TrajectorySolver,
)
from gradiva.reduced_model.condensed_program import PROBLEM
from gradiva.reduced_model.contact_plan import ComReference, ContactPlan, ContactPreview, weight_forces
from gradiva.robot_model import Compiler, interpreted

_SAME = 1e-6  # of a period, between two times that are one


class CentroidalSolver(StrEnum):
    """Names the solvers of the centroidal MPC."""

    REAL_TIME_ITERATION = "real_time_iteration"
    IPOPT = "ipopt"


@configuration
class CentroidalMpcConfig:
    """Horizon, solver, weights and limits of the centroidal MPC.

    Attributes:
        samples: N, intervals of the horizon.
        period: Of an interval, [s].
        solver: Which one.
        tolerance: Of IPOPT's residuals, [m, m/s, m²/s, m/s²]; quadratic programs are solved exactly.
        max_iterations: Of IPOPT.
        deadline: Time of a solution, beyond which the last one is shifted in its place, [s]; a real-time iteration
            with no solution before it has none.
        tolerated_failures: Solutions in a row that may be missing before the MPC stops.
        wrench_persistence: Fraction of the external wrench that is expected to be left after an interval; 0: it ends
            with the first one, [-]. Of pushes of 1 s in four directions iCub v3 survives 236 N·s in sum with 0.7, 200
            with 0 or without the estimate, 148 with 1, 168 compensated as for the DCM laws.
        weights: Of the objective.
        limits: Of forces and contact locations.

    Raises:
        ConfigError: A number is not positive, or there are fewer than two intervals.
    """

    samples: int = setting("-", least=2)
    period: float = setting("s", above=0.0)
    solver: CentroidalSolver
    tolerance: float = setting("m, m/s, m²/s, m/s²", above=0.0)
    max_iterations: int = setting("-", above=0.0)
    deadline: float = setting("s", above=0.0)
    tolerated_failures: int = setting("-", least=0)
    wrench_persistence: float = setting("-", least=0.0, most=1.0)
    weights: CentroidalWeights
    limits: CentroidalLimits


@dataclass(frozen=True, slots=True, eq=False)
class CentroidalState:
    """Measured state; world.

    Attributes:
        com_position: [m], shape (3,).
        com_velocity: [m/s], shape (3,).
        angular_momentum: About the CoM, [kg·m²/s], shape (3,).
        contact_positions: Contact frames, in the air where they are over the ground, [m], shape (contacts, 3).
    """

    com_position: NDArray
    com_velocity: NDArray
    angular_momentum: NDArray
    contact_positions: NDArray

    def __post_init__(self) -> None:
        freeze_arrays(self, com_position=(3,), com_velocity=(3,), angular_momentum=(3,), contact_positions=(None, 3))


@dataclass(frozen=True, slots=True, eq=False)
class CentroidalSolution:
    """Trajectory over the horizon; world.

    Attributes:
        times: Of the nodes, [s], shape (N + 1,).
        active: Which contacts are on the ground in each interval, shape (N, contacts).
        com_positions: [m], shape (N + 1, 3).
        com_velocities: [m/s], shape (N + 1, 3).
        angular_momenta: About the CoM, [kg·m²/s], shape (N + 1, 3).
        contact_positions: [m], shape (N + 1, contacts, 3).
        corner_forces: Of the ground, zero in the air, [N], shape (N, corners, 3).
        contact_velocities: Of the contacts in the air, [m/s], shape (N, contacts, 3).
        cost: Objective.
        violation: Largest violation of a constraint, momentum and forces per kilogram, [SI].
        iterations: Of the solver: quadratic programs, or iterations of IPOPT.
        solve_time: Of the solver, [s].
        is_fallback: Whether it is the last solution, shifted, because there is no new one.
        accuracy: How much less the optimum costs, estimated; not a number of IPOPT and of a fallback.
        warning: Why it is a fallback, or how inaccurate it is; empty of a good solution.
    """

    times: NDArray
    active: npt.NDArray[np.bool_]
    com_positions: NDArray
    com_velocities: NDArray
    angular_momenta: NDArray
    contact_positions: NDArray
    corner_forces: NDArray
    contact_velocities: NDArray
    cost: float
    violation: float
    iterations: int
    solve_time: float
    is_fallback: bool
    accuracy: Accuracy = NO_ESTIMATE
    warning: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class InputMemory:
    """Inputs of a solution, from which the next one begins; world.

    Attributes:
        times: Of the nodes, [s], shape (N + 1,).
        forces: On all corners, also of contacts in the air, per kilogram, [m/s²], shape (N, corners, 3).
        contact_velocities: [m/s], shape (N, contacts, 3).
        failures: Solutions in a row that were missing until then.
    """

    times: NDArray
    forces: NDArray
    contact_velocities: NDArray
    failures: int = 0


class CentroidalMpc:
    r"""Nonlinear model predictive control of the centroidal dynamics with adjusted contacts (thesis, chapter 11).

    At each call the horizon begins now; every touch-down and lift-off is a node, and those between them do not move
    from call to call (``ContactPlan.nodes``). The problem is posed about the measured CoM, and no horizontal direction
    has a weight of its own: it is the same wherever the robot walks. A contact that stands is not decided about: its
    nominal location is where it is, and the box counts from its next landing on.

    Attributes:
        problem: Its optimisation problem.
        failures: How often there was no solution, so far.
        max_age: Age up to which a decision balances, [s].
    """

    max_age = 0.06

    def __init__(self, config: CentroidalMpcConfig, body: CentroidalBody, compiler: Compiler = interpreted) -> None:
        """Build the problem and its solver.

        Args:
            config: Its settings, as in ``[centroidal_walking.mpc]``.
            body: Mass and contacts.
            compiler: How functions become fast.
        """
        self._config, self._body = config, body
        self.problem = CentroidalProblem(
            config.samples, config.period, body, config.weights, config.limits, config.wrench_persistence, compiler
        )
        self._solver: TrajectorySolver
        if config.solver == CentroidalSolver.IPOPT:
            self._solver = InteriorPoint(self.problem, config.deadline, config.tolerance, config.max_iterations)
        else:
            self._solver = RealTimeIteration(self.problem, config.deadline)
        self._owners = body.owners
        self.failures = 0
        self.reset()

    def reset(self) -> None:
        """Forget the last solution."""
        self._memory: InputMemory | None = None
        self._failures_in_a_row = 0

    @property
    def deadline(self) -> float:
        """Time of a solution, [s]; at first that of the configuration; infinite where the caller waits."""
        return self._solver.deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._solver.deadline = deadline

    @property
    def limit(self) -> float:
        """Longest time that `update` takes where a tick cannot wait, [s]."""
        return self._config.deadline

    @property
    def memory(self) -> InputMemory | None:
        """Inputs of the last solution; None before the first."""
        return self._memory

    def resume(self, memory: InputMemory | None) -> None:
        """Go on from the last solution of another one of the same horizon and body; None: begin again."""
        self._memory, self._failures_in_a_row = memory, 0 if memory is None else memory.failures

    def update(
        self,
        time: float,
        state: CentroidalState,
        plan: ContactPlan,
        reference: ComReference,
        external_wrench: NDArray | None = None,
    ) -> CentroidalSolution:
        """Return forces, motion and contact locations from now on.

        Args:
            time: Now, on the clock of the plan, [s].
            state: Measured.
            plan: Nominal contacts.
            reference: Of the CoM.
            external_wrench: Measured, force then moment about the CoM, [N, N·m], shape (6,).

        Raises:
            EstimationError: The state or the wrench is not finite.
            NoSolutionFound: For longer than is tolerated, or at the first call.
        """
        wrench = np.zeros(6) if external_wrench is None else external_wrench
        preview = plan.preview(plan.nodes(time, self._config.period, self._config.samples))
        guess = self._posed(time, state, preview, reference(preview.times[1:]), wrench)
        try:
            found, failure = self._solved(guess, preview), ""
        except NoSolutionFound as error:
            self.failures += 1
            self._failures_in_a_row += 1
            if self._memory is None or self._failures_in_a_row > self._config.tolerated_failures:
                raise
            found = self.problem.trajectory(self.problem.evaluate(guess)["w"].copy())
            failure = f"{error}; the last solution takes its place"
        return self._solution(found, preview, state.com_position, failure)

    def _solved(self, guess: NDArray, preview: ContactPreview) -> Trajectory:
        memory, count = self._memory, self._config.samples
        now = preview.times[0] + _SAME * self._config.period
        passed = 0 if memory is None else int(np.searchsorted(memory.times[1:], now))
        w = self._solver.solve(guess, memory is None, min(passed, count - 1))
        self._failures_in_a_row = 0
        return self.problem.trajectory(w)

    def _solution(
        self, found: Trajectory, preview: ContactPreview, origin: NDArray, failure: str
    ) -> CentroidalSolution:
        """Return a trajectory in world; with ``failure`` it is the last one, shifted, for that reason."""
        forces, velocities = sealed(found.forces), sealed(found.contact_velocities)
        self._memory = InputMemory(preview.times, forces, velocities, self._failures_in_a_row)
        mass, values = self._body.mass, self.problem.function.outputs
        accuracy = NO_ESTIMATE if failure else self._solver.accuracy
        return CentroidalSolution(
            times=preview.times,
            active=preview.active,
            com_positions=found.com + origin,
            com_velocities=found.velocity,
            angular_momenta=mass * found.spin,
            contact_positions=found.contacts + origin,
            corner_forces=mass * forces * preview.active[:, self._owners, None],
            contact_velocities=velocities * ~preview.active[:, :, None],
            cost=float(values["cost"][0]),
            violation=float(values["violation"][0]),
            iterations=self._solver.iterations,
            solve_time=self._solver.solve_time,
            is_fallback=bool(failure),
            accuracy=accuracy,
            warning=failure or accuracy.warning,
        )

    # -- parameters, and the guess: inputs of the last solution at the new intervals -----------------------------------

    def _posed(
        self, time: float, state: CentroidalState, preview: ContactPreview, com: NDArray, wrench: NDArray
    ) -> NDArray:
        """Set the problem; return the forces and locations from which it begins, shape (3, V)."""
        pose, (forces, velocities) = self.problem.pose, self._guessed_inputs(preview)
        inputs = [
            *(preview.times, preview.active, preview.phases, com),
            *(state.com_position, state.com_velocity, state.angular_momentum, state.contact_positions),
            *(wrench, forces, velocities, self._forces_before(time, forces)),
        ]  # in the order of the pose
        np.concatenate([each.reshape(-1) for each in inputs], out=pose.input)
        if not math.isfinite(np.add.reduce(pose.inputs["state"], axis=None) + np.add.reduce(wrench)):
            check_finite(state, wrench)
        pose()
        return self.problem.function.inputs["vectors"].copy()

    def _guessed_inputs(self, preview: ContactPreview) -> tuple[NDArray, NDArray]:
        """Return corner forces per kilogram, those of the last solution or the weight, and contact velocities."""
        memory = self._memory
        if memory is None:
            return weight_forces(preview.active, self._owners), np.zeros((*preview.active.shape, 3))
        middles = 0.5 * (preview.times[:-1] + preview.times[1:])
        intervals = np.searchsorted(memory.times, middles) - 1
        known = np.minimum(np.maximum(intervals, 0), len(memory.forces) - 1)
        velocities = memory.contact_velocities[known] * (intervals == known)[:, None, None]
        return memory.forces[known], velocities

    def _forces_before(self, time: float, forces: NDArray) -> NDArray:
        """Return those of the interval that ends now, from which the rate of the first ones is counted."""
        if self._memory is None:
            return forces[0]
        before = np.searchsorted(self._memory.times, time - _SAME * self._config.period) - 1
        return self._memory.forces[min(max(int(before), 0), len(self._memory.forces) - 1)]


def check_finite(state: CentroidalState, wrench: NDArray) -> None:
    """Refuse a measurement that is not finite: the last solution, shifted, would follow it.

    Raises:
        EstimationError: The message has what is not finite.
    """
    measured = {name: getattr(state, name) for name in state.__dataclass_fields__} | {"external_wrench": wrench}
    wrong = [name for name, value in measured.items() if not np.isfinite(value).all()]
    if wrong:
        raise EstimationError(f"{PROBLEM}: {', '.join(wrong)} not finite")
