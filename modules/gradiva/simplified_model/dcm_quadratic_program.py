"""The quadratic program of the predictive DCM controller, kept in one OSQP workspace."""

from __future__ import annotations

import math

import numpy as np
import osqp
import scipy.sparse as sparse

from gradiva.common import NDArray, NoSolutionFound

POLYGON_ROWS = 8  # the hull of two rectangles has at most eight edges
PROBLEM = "DCM MPC"  # its name in errors
_TOLERANCE = 2e-4  # [m] of OSQP's residuals; with the step below the first ZMP is then within 0.1 mm of the optimum
_STEP = 0.6  # [-] ρ over the mean curvature along u: at 1 the ZMP is off by 0.24 mm, at 0.5 falling takes more steps
_USABLE_RESIDUAL = 3e-3  # [m] what is let through of an inaccurate solution


class DcmQuadraticProgram:
    r"""Deviations of ZMP and DCM from their references over N samples, as an OSQP problem of fixed pattern.

    Variables: the ZMP deviations :math:`u_k = z_k - \bar z_k`, then the DCM errors :math:`e_k`, k = 0 … N − 1,
    both axes of a sample together, [m].

    Objective (divided by the DCM weight): the errors, the ZMP deviations with the relative weight w, the change of the
    ZMP from sample to sample with r, and the distance of the first error from the measured one with W:

    .. math:: \tfrac12 \sum_{k \ge 1} |e_k|^2 + \tfrac w2 \sum_k |u_k|^2
        + \tfrac r2 \sum_k |u_k - u_{k-1} + \Delta \bar z_k|^2
        + \tfrac W2 |e_0 - \hat e|^2

    Constraints: the DCM dynamics solved backwards in time with :math:`F_k = e^{\sigma_k T}` and
    :math:`e_N = 0`, then the polygons:

    .. math:: \frac{F_k e_k - e_{k+1}}{F_k - 1} = u_k, \qquad A_k u_k \le b_k - A_k \bar z_k

    Forwards the dynamics grow by :math:`e^{2 \sigma}` over two seconds, which no solver likes; backwards they
    decay. Ending on the reference is what the forward problem does by itself, and it says that the DCM can be
    captured within the polygons. Where it cannot, :math:`e_0` gives way, so the problem always has a solution
    and the ZMP then waits at the edge of the polygon.

    The solver goes on from its last solution: moved on by a sample it would start further away.
    """

    def __init__(
        self, sample_count: int, zmp_weight: float, rate_weight: float, capture_weight: float, max_iterations: int
    ) -> None:
        self._count = sample_count
        self._capture_weight = capture_weight
        self._growth = np.zeros(sample_count)
        self._capture_shares = np.zeros(sample_count)
        self._normals = np.zeros((sample_count, POLYGON_ROWS, 2))
        self._linear = np.zeros(4 * sample_count)
        self._upper = np.zeros((2 + POLYGON_ROWS) * sample_count)
        self._lower = np.full_like(self._upper, -1e30)
        self._lower[: 2 * sample_count] = 0.0
        self._set_constraint_pattern()
        self._set_up_solver(zmp_weight, rate_weight, max_iterations)

    def solve(
        self, growth: NDArray, normals: NDArray, offsets: NDArray, rate_gradient: NDArray, error: NDArray
    ) -> NDArray:
        """Return the ZMP deviations u (world axes, [m], shape (N, 2)).

        Args:
            growth: F, shape (N,).
            normals: A, rows that are not needed zero, shape (N, POLYGON_ROWS, 2).
            offsets: b − A z̄, [m], shape (N, POLYGON_ROWS).
            rate_gradient: Gradient of the objective with respect to u at u = 0, [m], shape (N, 2).
            error: Measured DCM minus its reference, [m], shape (2,).

        Raises:
            NoSolutionFound: OSQP stopped early, or its answer does not satisfy the dynamics; it starts cold
                next time.
        """
        solver = self._solver
        if self._has_new_matrix(growth, normals):
            solver.update_data_mat(None, None, self._constraint_values, None)
        n = 2 * self._count
        self._linear[:n] = rate_gradient.reshape(-1)
        self._linear[n : n + 2] = -self._capture_weight * error
        self._upper[n:] = offsets.reshape(-1)
        solver.update_data_vec(self._linear, self._lower, self._upper)
        solver.solve()
        return self._checked_solution()

    def reset(self) -> None:
        """Forget the last solution: the next problem starts from zero."""
        self._solver.warm_start(np.zeros_like(self._linear), np.zeros_like(self._upper))

    def _checked_solution(self) -> NDArray:
        info, solution = self._solver.info, np.array(self._solver.solution.x)
        n = 2 * self._count
        deviations = solution[:n].reshape(-1, 2)
        if info.status_val not in (1, 2):  # solved, solved inaccurate
            status = str(info.status)
        elif not math.isfinite(float(solution.sum())):
            status = "not finite"
        elif np.abs(self._capture_shares @ deviations - solution[n : n + 2]).max() > _USABLE_RESIDUAL:
            status = f"{info.status}, but the dynamics do not hold"
        else:
            return deviations
        self.reset()
        raise NoSolutionFound(PROBLEM, status)

    def _has_new_matrix(self, growth: NDArray, normals: NDArray) -> bool:
        has_new_growth = not np.array_equal(growth, self._growth)
        if has_new_growth:
            self._growth = growth.copy()
            self._capture_shares = (growth - 1.0) / np.cumprod(growth)
            self._constraint_values[self._diagonal_entries] = np.repeat(growth / (growth - 1.0), 2)
            self._constraint_values[self._next_entries] = np.repeat(-1.0 / (growth[:-1] - 1.0), 2)
        has_new_normals = not np.array_equal(normals, self._normals)
        if has_new_normals:
            self._normals = normals.copy()
            self._constraint_values[self._normal_entries] = normals.reshape(-1)
        return has_new_growth or has_new_normals

    def _set_constraint_pattern(self) -> None:
        """Lay out the constraint matrix and find where each of its changing values is stored."""
        count, n = self._count, 2 * self._count
        eye = sparse.eye(count)
        shift = sparse.eye(count, k=1)
        dynamics = sparse.hstack((-sparse.eye(n), sparse.kron(2.0 * eye + 3.0 * shift, sparse.eye(2))))
        rows = sparse.kron(eye, np.full((POLYGON_ROWS, 2), 4.0))
        polygons = sparse.hstack((rows, sparse.csc_matrix((POLYGON_ROWS * count, n))))
        matrix = sparse.csc_matrix(sparse.vstack((dynamics, polygons)))
        matrix.sort_indices()
        self._constraints = matrix
        self._constraint_values = matrix.data
        self._diagonal_entries = np.flatnonzero(matrix.data == 2.0)
        self._next_entries = np.flatnonzero(matrix.data == 3.0)
        entries = np.flatnonzero(matrix.data == 4.0)  # column by column; wanted row by row
        self._normal_entries = entries.reshape(count, 2, POLYGON_ROWS).transpose(0, 2, 1).reshape(-1)
        matrix.data[entries] = 0.0

    def _set_up_solver(self, zmp_weight: float, rate_weight: float, max_iterations: int) -> None:
        count = self._count
        difference = sparse.eye(count) - sparse.eye(count, k=-1)
        rate = sparse.kron(zmp_weight * sparse.eye(count) + rate_weight * (difference.T @ difference), sparse.eye(2))
        tracking = np.ones(2 * count)
        tracking[:2] = self._capture_weight
        hessian = sparse.triu(sparse.block_diag((rate, sparse.diags(tracking))), format="csc")
        problem = osqp.OSQP()
        problem.setup(
            hessian,
            self._linear,
            self._constraints,
            self._lower,
            self._upper,
            scaling=0,  # all is in metres, and the objective of order one
            rho=_STEP * math.sqrt(zmp_weight + rate_weight + 0.1),  # about the geometric mean curvature along u
            adaptive_rho=0,
            eps_abs=_TOLERANCE,
            eps_rel=0.0,
            max_iter=max_iterations,
            check_termination=5,
            check_dualgap=False,
            verbose=False,
        )
        self._solver = problem._solver  # its methods cost 15 µs less a tick than their public wrappers
