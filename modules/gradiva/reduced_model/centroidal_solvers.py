"""Solvers of the centroidal MPC's problem: real-time iteration on condensed quadratic programs, and IPOPT."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as cs
import numpy as np

from gradiva.common import GRAVITY, NDArray, NoSolutionFound
from gradiva.reduced_model.centroidal_problem import CentroidalProblem
from gradiva.reduced_model.condensed_program import PROBLEM, CondensedProgram

_LEAST, _MOST, _COLD = 2, 5, 10  # quadratic programs of a start; of one without a last solution
_SETTLED = 5e-4  # [-] of the cost: estimate of what another quadratic program gains, below which there is none
_FAR = 0.4  # [-] estimate after the first quadratic program, beyond which a second start follows
_DOUBTFUL = 5e-3  # [-] estimate after the last one, likewise
_HOPE = math.inf, 1.1, 1.0  # [-] of the first start's cost: a program of the second start that costs more ends it
_WEIGHT_CHANGE = 1e-3  # [-] of the weight by which the force on a corner may change in an interval for nothing
_HALVINGS = 4  # of a step that costs more than none
_INACCURATE = 1e-2  # [-] estimate or residual, beyond which a solution has a warning
_UNUSABLE = 1.0  # [-] estimate or residual, as a fraction of the cost, of what is no solution


class Accuracy(NamedTuple):
    """Estimates of how much less the optimum costs, as fractions of the cost; not a number where there is none.

    Attributes:
        estimate: Cost less that of the last quadratic program's optimum.
        residual: That of the KKT conditions at the solution, squared in the norm of the inverse Hessian: what a Newton
            step gains.
    """

    estimate: float = math.nan
    residual: float = math.nan

    @property
    def worst(self) -> float:
        """Return the larger one of both, without its sign."""
        return max(abs(self.estimate), self.residual)

    @property
    def warning(self) -> str:
        """Return what is wrong with a solution that may cost noticeably more than the optimum; else nothing."""
        if not self.worst > _INACCURATE:
            return ""
        return f"estimate {100.0 * self.estimate:.2g} %, KKT residual {100.0 * self.residual:.2g} % of the cost"


NO_ESTIMATE = Accuracy()


class TrajectorySolver(ABC):
    """Solves the problem whose parameters are set.

    Attributes:
        iterations: Of the last solution.
        solve_time: Of the last solution, [s].
        accuracy: Of the last solution.
    """

    iterations, solve_time, accuracy, _deadline = 0, 0.0, NO_ESTIMATE, math.nan

    @property
    def deadline(self) -> float:
        """Time of a solution, beyond which it counts as missing, [s]; infinite: none."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        if deadline != self._deadline:
            self._deadline = deadline
            self._limit(deadline)

    def _limit(self, deadline: float) -> None:  # noqa: B027  (not every solver has to know)
        """Have the solver stop after ``deadline`` [s]."""

    @abstractmethod
    def solve(self, guess: NDArray, is_cold: bool, intervals: int) -> NDArray:
        """Return a solution, consistent, shape (n,).

        Args:
            guess: Forces and locations to begin from, shape (3, V).
            is_cold: Whether it does not come from a last solution.
            intervals: By how many intervals the horizon has moved.

        Raises:
            NoSolutionFound: There is none, or not in time.
        """


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A consistent trajectory.

    Attributes:
        w: Variables of the problem, shape (n,).
        vectors: Its forces and locations, shape (3, V).
        errors: Deviations of CoM, then angular momentum, from their references, shape (6, N).
        levers: Of its angular momentum, shape (3 N, V).
        cost: Objective.
    """

    w: NDArray
    vectors: NDArray
    errors: NDArray
    levers: NDArray
    cost: float


class _Descent(NamedTuple):
    """Result of one start: where it ended, the estimate after its first quadratic program, and after all."""

    point: _Point
    first: float
    accuracy: Accuracy


class RealTimeIteration(TrajectorySolver):
    """Two to five quadratic programs from the shifted last solution, each linearised anew and solved exactly.

    The objective is least squares and the only products of variables are those of levers and forces: Gauss-Newton. One
    quadratic program is never enough, as the first Jacobian is that of the guess. Each solution is made consistent with
    the dynamics, which shows what the linearisation was worth: ``Accuracy.estimate``. Where that is bad the problem may
    have several minima, and another start, from the weight over the standing corners, may end in a better one; it ends
    as soon as the optima of its quadratic programs say that it does not. A start that has not converged goes on, for up
    to ten more.
    """

    def __init__(self, problem: CentroidalProblem, deadline: float) -> None:
        self._problem, self._deadline = problem, deadline
        self._program = CondensedProgram(problem.samples, problem.period, problem.body, problem.weights)
        rate = problem.weights.force_rate / problem.period**2
        self._point = problem.function.maker(_Point, ("w", "vectors", "errors", "levers"))
        self._negligible = 0.5 * rate * (_WEIGHT_CHANGE * GRAVITY) ** 2  # cost: standing still costs nothing

    def solve(self, guess: NDArray, is_cold: bool, intervals: int) -> NDArray:
        """See ``TrajectorySolver.solve``."""
        self._began, self.iterations, self.solve_time = time.perf_counter(), 0, 0.0
        self._is_cold, self.accuracy = is_cold, NO_ESTIMATE
        begin, before = self._evaluate(guess), self._problem.function.inputs["forces"]
        self._program.begin(before.reshape(-1, 3), self._problem.data(), None if is_cold else intervals)
        found = self._descent(begin, _COLD if is_cold else _MOST)
        if not is_cold and (found.first > _FAR or abs(found.accuracy.estimate) > _DOUBTFUL):
            other = self._descent(self._evaluate(self._problem.weight_vectors()), _MOST, found.point.cost)
            found = min(found, other, key=lambda descent: descent.point.cost)
            self._evaluate(found.point.vectors)
        if not found.accuracy.worst < _UNUSABLE:
            found = self._descent(found.point, _COLD)  # on the way down it costs less than the last solution, shifted
        self.accuracy = found.accuracy
        self.solve_time = time.perf_counter() - self._began
        if not self.accuracy.worst < _UNUSABLE:
            raise NoSolutionFound(PROBLEM, f"not converged: {self.accuracy.warning or 'not finite'}")
        return found.point.w

    def _descent(self, point: _Point, limit: int, best: float = math.inf) -> _Descent:
        """Return where quadratic programs end that begin at a trajectory, or where they cannot get below ``best``."""
        estimates = list[float]()
        while True:
            program = self._program.solve(point.levers, point.vectors, point.errors)
            self.iterations += 1
            if program.cost > best * _HOPE[min(len(estimates), len(_HOPE) - 1)]:
                return _Descent(point, estimates[0], NO_ESTIMATE)  # no optimum costs more than where it begins
            before, point = point, self._stepped(point, program.vectors)
            scale = point.cost + self._negligible
            estimates.append((point.cost - program.cost) / scale)
            self._check_time()
            is_settled = len(estimates) >= _LEAST and abs(estimates[-1]) < _SETTLED
            if is_settled or point is before or len(estimates) == limit:
                residual = self._program.residual(program, point.vectors, point.errors, point.levers) / scale
                return _Descent(point, estimates[0], Accuracy(estimates[-1], residual))

    def _check_time(self) -> None:
        self.solve_time = time.perf_counter() - self._began
        if self.solve_time > self._deadline and not self._is_cold:
            raise NoSolutionFound(PROBLEM, f"deadline of {self._deadline} s missed")

    def _stepped(self, point: _Point, vectors: NDArray) -> _Point:
        """Return the way to the optimum of a quadratic program as far as it costs less; else where it began."""
        for halving in range(_HALVINGS + 1):
            ahead = point.vectors + 0.5**halving * (vectors - point.vectors)
            found = self._evaluate(ahead)
            if found.cost <= point.cost:
                return found
        self._evaluate(point.vectors)
        return point

    def _evaluate(self, vectors: NDArray) -> _Point:
        """Return the consistent trajectory of forces and locations."""
        return self._point(cost=float(self._problem.evaluate(vectors)["cost"][0]))


class InteriorPoint(TrajectorySolver):
    """IPOPT on the nonlinear program itself: the reference."""

    def __init__(self, problem: CentroidalProblem, deadline: float, tolerance: float, max_iterations: int) -> None:
        """Take the problem, and the options of the solver."""
        self._problem, self._tolerance, self._max_iterations = problem, tolerance, max_iterations
        self.deadline = deadline

    def _limit(self, deadline: float) -> None:
        """Build the solver, whose options are fixed."""
        options: dict[str, Any] = {
            "print_time": False,
            "record_time": True,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "ipopt.tol": self._tolerance,
            "ipopt.max_iter": self._max_iterations,
        }
        if math.isfinite(deadline):
            options["ipopt.max_wall_time"] = deadline
        self._solver = cs.nlpsol("centroidal_mpc", "ipopt", self._problem.nonlinear_program, options)

    def solve(self, guess: NDArray, is_cold: bool, intervals: int) -> NDArray:
        """See ``TrajectorySolver.solve``."""
        begin, (lower, upper) = self._problem.evaluate(guess)["w"], self._problem.bounds()
        found = self._solver(x0=begin, p=self._problem.parameters, lbg=lower, ubg=upper)
        stats = self._solver.stats()
        self.iterations, self.solve_time = int(stats["iter_count"]), float(stats["t_wall_total"])
        if not stats["success"]:
            raise NoSolutionFound(PROBLEM, str(stats["return_status"]))
        optimum = self._problem.trajectory(np.array(found["x"]).reshape(-1))
        return self._problem.evaluate(self._problem.vectors(optimum))["w"].copy()
