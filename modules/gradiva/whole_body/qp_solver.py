r"""Quadratic programs in one form, behind one interface.

Variables: :math:`x`. Objective: :math:`\tfrac12 x^\top H x + g^\top x`. Constraints: bounds on the first variables,
equalities, and inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import daqp
import numpy as np
import osqp
import scipy.sparse

from gradiva.common import NDArray, NoSolutionFound

_DAQP_EQUALITY = 5
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
        rows: A, (m, n): equalities first.
        lower: Bounds of the first variables, then of the rows.
        upper: The same.
        equalities: How many of the first rows have equal bounds.
    """

    hessian: NDArray
    gradient: NDArray
    rows: NDArray
    lower: NDArray
    upper: NDArray
    equalities: int

    @property
    def bounded_variables(self) -> int:
        """How many variables, from the first, have bounds."""
        return len(self.lower) - len(self.rows)

    def relaxed(self, price: float) -> QuadraticProgram:
        """Return the problem that pays ``price`` per square for each equality that is not met; copies the data."""
        assert self.equalities == len(self.rows), "only equalities can be bought"
        rows, wanted = self.rows, self.upper[self.bounded_variables :]
        first = self.bounded_variables
        return QuadraticProgram(
            hessian=self.hessian + price * rows.T @ rows,
            gradient=self.gradient - price * rows.T @ wanted,
            rows=np.zeros((0, len(self.gradient))),
            lower=self.lower[:first].copy(),
            upper=self.upper[:first].copy(),
            equalities=0,
        )

    def violation(self, solution: NDArray) -> float:
        """Return by how much ``solution`` breaks its worst constraint."""
        values = np.concatenate((solution[: self.bounded_variables], self.rows @ solution))
        return float(max(np.max(self.lower - values), np.max(values - self.upper), 0.0))


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
        self._sense = np.zeros(len(problem.lower), dtype=np.int32)
        first = problem.bounded_variables
        self._sense[first : first + problem.equalities] = _DAQP_EQUALITY

    def solve(self) -> NDArray:
        """See ``QpSolver.solve``."""
        p = self._problem
        solution, _, flag, _ = daqp.solve(p.hessian, p.gradient, p.rows, p.upper, p.lower, self._sense, primal_tol=1e-9)
        if flag <= 0:
            raise NoSolutionFound(self._name, _DAQP_STATUS.get(flag, f"exit flag {flag}"))
        return solution


class OsqpSolver:
    """The operator splitting method: for large, sparse problems; here with the polish of a tight tolerance."""

    def __init__(self, name: str, problem: QuadraticProgram, tolerance: float = 1e-7) -> None:
        self._name = name
        self._problem = problem
        self._tolerance = tolerance
        self._solver: osqp.OSQP | None = None
        size = len(problem.gradient)
        self._upper_triangle = np.nonzero(np.triu(np.ones((size, size))).T)[::-1]
        self._rows = np.vstack([np.eye(problem.bounded_variables, size), np.ones_like(problem.rows)])
        columns, rows = np.nonzero(self._rows.T)
        self._pattern = (rows, columns)

    def solve(self) -> NDArray:
        """See ``QpSolver.solve``."""
        p = self._problem
        self._rows[p.bounded_variables :] = p.rows
        if self._solver is None:
            self._solver = self._set_up()
        else:
            self._solver.update(Px=p.hessian[self._upper_triangle], Ax=self._rows[self._pattern])
            self._solver.update(q=p.gradient, l=p.lower, u=p.upper)
        result = self._solver.solve(raise_error=False)
        if result.info.status != "solved":
            raise NoSolutionFound(self._name, result.info.status)
        return np.array(result.x)

    def _set_up(self) -> osqp.OSQP:
        p = self._problem
        size = len(p.gradient)
        hessian = scipy.sparse.csc_matrix((p.hessian[self._upper_triangle], self._upper_triangle), (size, size))
        rows = scipy.sparse.csc_matrix((self._rows[self._pattern], self._pattern), self._rows.shape)
        solver = osqp.OSQP()
        solver.setup(
            hessian,
            p.gradient,
            rows,
            p.lower,
            p.upper,
            verbose=False,
            eps_abs=self._tolerance,
            eps_rel=self._tolerance,
            check_termination=5,
            max_iter=4000,
        )
        return solver


def make_solver(solver: SolverName, name: str, problem: QuadraticProgram) -> QpSolver:
    """Return the chosen solver for ``problem``; ``name`` appears in its errors."""
    return DaqpSolver(name, problem) if SolverName(solver) is SolverName.DAQP else OsqpSolver(name, problem)
