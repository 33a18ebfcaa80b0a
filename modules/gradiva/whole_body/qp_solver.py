r"""Quadratic programs in one form, behind one interface.

Variables: :math:`x`. Objective: :math:`\tfrac12 x^\top H x + g^\top x`. Constraints: bounds on the first variables,
then rows, :math:`l \le (x, A x) \le u`; where both bounds are the same it is an equality. A constraint with a finite
slack weight may be violated: each square of its violation costs half of that weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import daqp
import numpy as np
import numpy.typing as npt

from gradiva.common import LazyModule, NDArray, NoSolutionFound

if TYPE_CHECKING:
    import osqp
    from scipy import sparse
else:
    osqp, sparse = LazyModule("osqp"), LazyModule("scipy.sparse")

_DAQP_EQUALITY = 5
_DAQP_SOFT = 8
_DAQP_TOLERANCE = 1e-9
_DAQP_ITERATIONS = 1000  # healthy problems of whole bodies take 1 to 50
_REFINEMENTS = 2  # after which residuals are those of rounding
MET = 1e-8  # of a hard constraint, in its own unit: with less it is met
_OSQP_SIGMA = 1e-8  # at the solver's own 1e-6 the polish of problems with large weights stops short of the optimum
_OSQP_REFINEMENTS = 10  # and it needs more steps than the solver's own 3
_OSQP_ITERATIONS = 10_000
_OSQP_VIOLATION = 1e-3  # in the units of the constraints
_DAQP_STATUS = {
    -1: "infeasible",
    -2: "cycling",
    -3: "unbounded",
    -4: "iteration limit",
    -5: "non-convex",
    -6: "initial active set overdetermined",
}


class SolverName(StrEnum):
    """The solvers that can be chosen."""

    DAQP = "daqp"
    OSQP = "osqp"


@dataclass(slots=True)
class QuadraticProgram:
    """The data of one problem; views that live as long as the problem.

    Attributes:
        hessian: H, (n, n), symmetric.
        gradient: g, (n,).
        rows: A, (m, n).
        lower: Bounds of the first variables, then of the rows.
        upper: The same; equal bounds make an equality.
        slack_weights: Of each constraint's squared violation, infinite where it is hard; None: all are.
        pattern: Which entries of A are ever used, (m, n); None: all.
        regularisation: Trace that solvers add to the diagonal of H, which they need positive definite, [-].
    """

    hessian: NDArray
    gradient: NDArray
    rows: NDArray
    lower: NDArray
    upper: NDArray
    slack_weights: NDArray | None = None
    pattern: npt.NDArray[np.bool_] | None = None
    regularisation: float = 0.0

    @property
    def bounded_variables(self) -> int:
        """Return the number of variables, from the first, that have bounds."""
        return len(self.lower) - len(self.rows)

    def values(self, solution: NDArray) -> NDArray:
        """Return what is constrained: the bounded variables, then the rows, (bounded + m,)."""
        return np.concatenate((solution[: self.bounded_variables], self.rows @ solution))

    def excess(self, solution: NDArray) -> NDArray:
        """Return by how much ``solution`` violates each constraint, (bounded + m,); negative where there is room."""
        values = self.values(solution)
        return np.maximum(self.lower - values, values - self.upper)

    def passed(self, solution: NDArray) -> NDArray:
        """Return which limits a solution passes, (bounded + m,): 1 the upper one, -1 the lower one, else 0."""
        values = self.values(solution)
        return np.subtract(values > self.upper, values < self.lower, dtype=np.float64)

    def violation(self, solution: NDArray) -> float:
        """Return by how much ``solution`` violates its worst hard constraint."""
        excess = self.excess(solution)
        if self.slack_weights is not None:
            excess = excess[np.isinf(self.slack_weights)]
        return float(np.max(excess, initial=0.0))


class QpSolver(Protocol):
    """Solves one problem again and again, its data changing and its structure not."""

    def solve(self) -> NDArray:
        """Return the optimum of the problem's present data, (n,).

        Raises:
            NoSolutionFound: There is none, or it was not found.
        """
        ...


class DaqpSolver:
    """The dense dual active-set method: exact, the faster one for small and ill-conditioned problems."""

    def __init__(self, name: str, problem: QuadraticProgram) -> None:
        self._name = name
        self._problem = problem
        self._model: daqp.Model | None = None
        count = len(problem.lower)
        slack_weights = np.full(count, np.inf) if problem.slack_weights is None else problem.slack_weights
        self._kind = np.where(np.isfinite(slack_weights), _DAQP_SOFT, 0).astype(np.int32)
        self._softness = np.where(np.isfinite(slack_weights), 1.0 / slack_weights, 1.0)
        self._trace = problem.regularisation * np.eye(len(problem.gradient))
        self._hessian = np.empty_like(self._trace)

    def solve(self) -> NDArray:
        """See ``QpSolver.solve``."""
        p = self._problem
        np.add(p.hessian, self._trace, out=self._hessian)
        sense = self._kind | np.multiply(p.lower == p.upper, _DAQP_EQUALITY, dtype=np.int32)
        if self._model is None or not len(p.rows):  # bounds alone cannot be updated
            self._model = self._set_up(sense)
        else:
            self._model.update(self._hessian, p.gradient, p.rows, p.upper, p.lower, sense)
        solution, cost, flag, _ = self._model.solve()
        self._refuse(flag)
        if not math.isfinite(cost):
            raise NoSolutionFound(self._name, "not finite")
        return solution

    def _set_up(self, sense: npt.NDArray[np.int32]) -> daqp.Model:
        p, model = self._problem, daqp.Model()
        flag, _ = model.setup(self._hessian, p.gradient, p.rows, p.upper, p.lower, sense)
        self._refuse(flag)  # of equalities that contradict each other there is no model, and to use it ends the process
        model.settings = {"primal_tol": _DAQP_TOLERANCE, "iter_limit": _DAQP_ITERATIONS}
        if p.slack_weights is not None:
            model.soft_weights(self._softness, self._softness)
        return model

    def _refuse(self, flag: int) -> None:
        if flag <= 0:
            raise NoSolutionFound(self._name, _DAQP_STATUS.get(flag, f"exit flag {flag}"))


class OsqpSolver:
    """The operator splitting method, for large, sparse problems: to a tight tolerance, then polished to the optimum.

    Each soft constraint gets a slack variable, scaled so that its square costs a half.
    """

    def __init__(self, name: str, problem: QuadraticProgram, tolerance: float = 1e-7) -> None:
        self._name = name
        self._problem = problem
        self._tolerance = tolerance
        self._solver: osqp.OSQP | None = None
        self._equalities = np.zeros(0, dtype=bool)
        size = len(problem.gradient)
        self._size = size
        self._slack = _slack_columns(problem)
        self._upper_triangle = np.nonzero(np.triu(np.ones((size, size))).T)[::-1]
        self._rows = np.vstack([np.eye(problem.bounded_variables, size), np.zeros_like(problem.rows)])
        used = np.ones_like(problem.rows) if problem.pattern is None else problem.pattern
        columns, rows = np.nonzero(np.vstack([self._rows[: problem.bounded_variables], used]).T)
        self._pattern = (rows, columns)

    def solve(self) -> NDArray:
        """See ``QpSolver.solve``."""
        p = self._problem
        self._rows[p.bounded_variables :] = p.rows
        equalities = p.lower == p.upper
        if self._solver is None or not np.array_equal(equalities, self._equalities):
            self._equalities = equalities  # a bound that becomes an equality within a workspace is met badly
            self._solver = self._set_up()
        else:
            slack = len(self._slack.data)
            values = np.concatenate((self._regularised(), np.ones(slack)))
            rows = np.concatenate((self._rows[self._pattern], self._slack.data))
            self._solver.update(Px=values, Ax=rows)
            self._solver.update(q=self._gradient(), l=p.lower, u=p.upper)
        result = self._solver.solve(raise_error=False)
        if result.info.status != "solved":
            raise NoSolutionFound(self._name, result.info.status)
        solution = np.array(result.x[: self._size])
        violation = p.violation(solution)
        if not violation <= _OSQP_VIOLATION:  # of large constraints the solver's own test is relative
            raise NoSolutionFound(self._name, f"inaccurate by {violation:.1g}")
        return solution

    def _regularised(self) -> NDArray:
        """Return the upper triangle of H with the trace on its diagonal."""
        rows, columns = self._upper_triangle
        return self._problem.hessian[rows, columns] + self._problem.regularisation * (rows == columns)

    def _gradient(self) -> NDArray:
        return np.concatenate((self._problem.gradient, np.zeros(self._slack.shape[1])))

    def _set_up(self) -> osqp.OSQP:
        p, size = self._problem, self._size
        hessian = sparse.csc_matrix((self._regularised(), self._upper_triangle), (size, size))
        rows = sparse.csc_matrix((self._rows[self._pattern], self._pattern), self._rows.shape)
        solver = osqp.OSQP()
        solver.setup(
            sparse.block_diag((hessian, sparse.eye(self._slack.shape[1])), format="csc"),
            self._gradient(),
            sparse.hstack((rows, self._slack), format="csc"),
            p.lower,
            p.upper,
            verbose=False,
            eps_abs=self._tolerance,
            eps_rel=self._tolerance,
            sigma=_OSQP_SIGMA,
            max_iter=_OSQP_ITERATIONS,
            polishing=True,
            polish_refine_iter=_OSQP_REFINEMENTS,
        )
        return solver


def _slack_columns(problem: QuadraticProgram) -> sparse.csc_matrix:
    """Return one column a soft constraint: the violation that costs a half."""
    slack_weights = np.full(len(problem.lower), np.inf) if problem.slack_weights is None else problem.slack_weights
    soft = np.flatnonzero(np.isfinite(slack_weights))
    worth = 1.0 / np.sqrt(slack_weights[soft])
    shape = (len(slack_weights), len(soft))
    return sparse.csc_matrix((worth, (soft, np.arange(len(soft)))), shape)


def relaxed_optimum(name: str, problem: QuadraticProgram, slack_weights: NDArray) -> NDArray:
    """Return the optimum of a problem with other slack weights, (n,).

    Raises:
        NoSolutionFound: There is none; ``name`` appears in the error.
    """
    return DaqpSolver(name, replace(problem, slack_weights=slack_weights)).solve()


def refined_optimum(problem: QuadraticProgram, solution: NDArray) -> NDArray | None:
    """Return the optimum where those soft limits are active that ``solution`` violates, (n,); None where it has others.

    A dual solver makes its answer of multipliers by the inverse of H. Where conditions of 1e9 meet multipliers of 1e5,
    as of a foot whose wrench is newtons outside of its cone, constraints are missed by 1e-3. The KKT equations of the
    known active set, equilibrated and refined by their residual, meet them to rounding.
    """
    p, size = problem, len(problem.gradient)
    assert p.slack_weights is not None, "soft limits have weights"
    rows = np.vstack((np.eye(p.bounded_variables, size), p.rows))
    soft, active = np.isfinite(p.slack_weights), p.passed(solution)
    pulls = soft & (active != 0.0)
    pulling, weights = rows[pulls], p.slack_weights[pulls]
    laws = ~soft & (p.lower == p.upper)
    hessian = p.hessian + pulling.T * weights @ pulling
    gradient = p.gradient - pulling.T @ (weights * np.where(active > 0.0, p.upper, p.lower)[pulls])
    matrix = np.block([[hessian, rows[laws].T], [rows[laws], np.zeros((laws.sum(), laws.sum()))]])
    right, found = np.concatenate((-gradient, p.lower[laws])), np.zeros(len(matrix))
    found[:size] = solution
    trace = np.diag(p.regularisation * (np.arange(len(matrix)) < size))  # pulls towards the last iterate
    scale = 1.0 / np.sqrt(np.abs(matrix + trace).max(axis=1))
    scaled = scale[:, None] * (matrix + trace) * scale
    try:
        for _ in range(_REFINEMENTS):
            found += scale * np.linalg.solve(scaled, scale * (right - matrix @ found))
    except np.linalg.LinAlgError:
        return None
    exact = found[:size]
    is_consistent = np.array_equal(p.passed(exact)[soft], active[soft]) and p.violation(exact) <= MET
    return exact if is_consistent else None


def make_solver(solver: SolverName, name: str, problem: QuadraticProgram) -> QpSolver:
    """Return the chosen solver for ``problem``; ``name`` appears in its errors."""
    return DaqpSolver(name, problem) if SolverName(solver) is SolverName.DAQP else OsqpSolver(name, problem)
