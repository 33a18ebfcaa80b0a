"""The quadratic program of the predictive DCM controller: two decoupled axes, joined by few active polygon edges."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from gradiva.common import LazyModule, NDArray, NoSolutionFound

if TYPE_CHECKING:
    from scipy.linalg import lapack
else:
    lapack = LazyModule("scipy.linalg.lapack")

POLYGON_ROWS = 8  # the hull of two rectangles has at most eight edges
PROBLEM = "DCM MPC"  # its name in errors
_TOLERANCE = 1e-9  # [m] by which a ZMP may be beyond an edge
_DEPENDENT = 1e-9  # [-] of the curvature along an edge that active edges leave: below it the edge depends on them


class DcmQuadraticProgram:
    r"""Deviations of ZMP and DCM from their references over N samples, solved exactly.

    Variables: the ZMP deviations :math:`u_k = z_k - \bar z_k` and the DCM errors :math:`e_k`, k = 0 … N − 1, [m].

    Objective (divided by the DCM weight): the errors, the ZMP deviations with the relative weight w, the change of the
    ZMP from sample to sample with r, and the distance of the first error from the measured one with W:

    .. math:: \tfrac12 \sum_{k \ge 1} |e_k|^2 + \tfrac w2 \sum_k |u_k|^2
        + \tfrac r2 \sum_k |u_k - u_{k-1} + \Delta \bar z_k|^2
        + \tfrac W2 |e_0 - \hat e|^2

    Constraints: the DCM dynamics solved backwards in time with :math:`F_k = e^{\sigma_k T}` and
    :math:`e_N = 0`, then the polygons:

    .. math:: \frac{F_k e_k - e_{k+1}}{F_k - 1} = u_k, \qquad A_k u_k \le b_k - A_k \bar z_k

    Forwards the dynamics grow by :math:`e^{2 \sigma}` over two seconds; backwards they decay. Ending on the reference
    is what the forward problem does by itself, and it says that the DCM can be captured within the polygons. Where it
    cannot, :math:`e_0` gives way: the problem always has a solution, and the ZMP then waits at the edge of the polygon.

    The dynamics give :math:`u = T e` with a bidiagonal T. In e the Hessian H is pentadiagonal and the same for both
    axes; :math:`K = T H^{-1} T^\top` is computed when a rate changes, never where the CoM height is constant. Without
    edges :math:`u = -K g`, linear in the error and in the changes of the reference; an active edge i of sample
    :math:`k_i` with normal :math:`n_i` moves it by :math:`-\lambda_i K_{\cdot k_i} n_i^\top`. The multipliers are found
    by the dual active-set method of Goldfarb and Idnani (1983), from the edges that were active in the last call; their
    Schur complement is :math:`S_{ij} = n_i^\top n_j K_{k_i k_j}`.
    """

    def __init__(
        self, sample_count: int, zmp_weight: float, rate_weight: float, capture_weight: float, max_iterations: int
    ) -> None:
        self._weights = zmp_weight, rate_weight, capture_weight
        self._max_iterations = max_iterations
        self._growth = np.zeros(sample_count)
        self._response = np.zeros((sample_count, sample_count))  # K
        self._of_error = np.zeros(sample_count)  # u without edges by ê
        self._of_changes = np.zeros((sample_count, sample_count))  # and by −Δz̄
        self._last_edges = np.zeros(0, dtype=int)

    def solve(
        self,
        growth: NDArray,
        reference: NDArray,
        previous: NDArray,
        error: NDArray,
        normals: NDArray,
        offsets: NDArray,
    ) -> NDArray:
        """Return the ZMPs z, world, [m], shape (N, 2).

        Args:
            growth: F, shape (N,).
            reference: z̄, world, [m], shape (N, 2).
            previous: ZMP before the first sample, world, [m], shape (2,).
            error: Measured DCM minus its reference, [m], shape (2,).
            normals: A, of length one, rows that are not needed zero, shape (N, POLYGON_ROWS, 2).
            offsets: b, world, [m], shape (N, POLYGON_ROWS).

        Raises:
            NoSolutionFound: More active edges were tried than there are iterations; it starts cold next time.
        """
        if not np.array_equal(growth, self._growth):
            self._take_growth(growth)
        changes = reference.copy()
        changes[0] -= previous
        changes[1:] -= reference[:-1]
        free = reference + self._of_error[:, None] * error - self._of_changes @ changes
        edges = ActiveEdges(self._response, normals, offsets, free)
        edges.hold(self._last_edges)
        self.reset()
        for _ in range(self._max_iterations):
            zmps = edges.zmps()
            violated = edges.most_violated(zmps)
            if violated is None:
                self._last_edges = edges.active
                return zmps
            edges.add(violated)
        raise NoSolutionFound(PROBLEM, f"maximum iterations reached, {len(edges.active)} edges are active")

    def reset(self) -> None:
        """Forget the active edges: the next problem starts without one."""
        self._last_edges = np.zeros(0, dtype=int)

    def _take_growth(self, growth: NDArray) -> None:
        """Compute K from the bands of H, and the responses to the error and to the changes of the reference."""
        own, following = growth / (growth - 1.0), 1.0 / (growth - 1.0)  # T: u_k = own e_k − following e_{k+1}
        transposed = np.diag(own) - np.diag(following[:-1], -1)
        _, solution, status = lapack.dpbsv(self._bands(own, following), transposed, lower=1)
        if status != 0:
            raise NoSolutionFound(PROBLEM, "not run: the DCM rates are not usable")
        response = own[:, None] * solution
        response[:-1] -= following[:-1, None] * solution[1:]
        _, rate_weight, capture_weight = self._weights
        self._of_error = capture_weight * (response @ ((growth - 1.0) / np.cumprod(growth)))  # e_0 in terms of u
        self._of_changes = rate_weight * response
        self._of_changes[:, 1:] -= rate_weight * response[:, :-1]
        self._response, self._growth = response, growth.copy()

    def _bands(self, own: NDArray, following: NDArray) -> NDArray:
        """Return the lower bands of H: rows of u have two entries, those of its change three."""
        zmp_weight, rate_weight, capture_weight = self._weights
        centre, before = own.copy(), -own[:-1]  # change_k = before_k e_{k−1} + centre_k e_k − following_k e_{k+1}
        centre[1:] += following[:-1]
        bands = np.zeros((3, len(own)))
        bands[0] = 1.0 + zmp_weight * own**2 + rate_weight * centre**2
        bands[0, 0] += capture_weight - 1.0
        bands[0, 1:] += (zmp_weight + rate_weight) * following[:-1] ** 2
        bands[0, :-1] += rate_weight * before**2
        bands[1, :-1] = -zmp_weight * own[:-1] * following[:-1]
        bands[1, :-1] += rate_weight * (before * centre[1:] - centre[:-1] * following[:-1])
        bands[2, :-2] = -rate_weight * before[:-1] * following[1:-1]
        return bands


class ActiveEdges:
    """Edges of polygons on which the ZMP is held, with the multipliers that do so, all positive.

    An edge is its index in all rows of A, sample by sample.
    """

    def __init__(self, response: NDArray, normals: NDArray, offsets: NDArray, free: NDArray) -> None:
        """Take K, A and b of ``DcmQuadraticProgram``, and the ZMPs without edges, world, [m], shape (N, 2)."""
        self._response, self._free = response, free
        self._rows, self._normals, self._offsets = normals, normals.reshape(-1, 2), offsets.reshape(-1)
        self.active = np.zeros(0, dtype=int)
        self._multipliers: npt.NDArray[np.floating] = np.zeros(0)

    def hold(self, edges: NDArray) -> None:
        """Begin with those of the edges that the ZMP would cross if it were not held on them."""
        with suppress(LinAlgError):  # edges that depend on each other since the polygons have changed: begin without
            while len(edges):
                multipliers = np.linalg.solve(self._schur(edges, edges), self._excess(edges, self._free))
                if (multipliers > 0.0).all():
                    self.active, self._multipliers = edges, multipliers
                    return
                edges = edges[multipliers > 0.0]

    def zmps(self) -> NDArray:
        """Return the ZMPs, world, [m], shape (N, 2)."""
        if not len(self.active):
            return self._free
        pushes = self._multipliers[:, None] * self._normals[self.active]
        return self._free - self._response[:, self.active // POLYGON_ROWS] @ pushes

    def most_violated(self, zmps: NDArray) -> int | None:
        """Return the edge that the ZMP is farthest beyond; None if it is within all of them."""
        excess = (self._rows @ zmps[:, :, None]).reshape(-1) - self._offsets
        worst = int(excess.argmax())
        return worst if excess[worst] > _TOLERANCE else None

    def add(self, edge: int) -> None:
        """Raise the multiplier of an edge until the ZMP is on it; an edge whose multiplier falls to zero is let go.

        Raises:
            NoSolutionFound: The edge contradicts the active ones: a polygon is empty.
        """
        added, multiplier = np.array([edge]), 0.0
        excess = float(self._excess(added, self.zmps())[0])
        while True:
            along = self._schur(self.active, added)[:, 0]
            falling = np.linalg.solve(self._schur(self.active, self.active), along)
            own = float(self._schur(added, added)[0, 0])
            curvature = own - float(along @ falling)
            whole = excess / curvature if curvature > _DEPENDENT * own else math.inf
            steps = np.divide(self._multipliers, falling, out=np.full(len(along), math.inf), where=falling > 0.0)
            step = min(whole, float(steps.min(initial=math.inf)))
            if step == math.inf:
                raise NoSolutionFound(PROBLEM, "not solved: a support polygon is empty")
            excess -= step * curvature
            multiplier += step
            self._multipliers -= step * falling
            if step == whole:
                break
            kept = np.arange(len(steps)) != steps.argmin()
            self.active, self._multipliers = self.active[kept], self._multipliers[kept]
        self.active = np.append(self.active, edge)
        self._multipliers = np.append(self._multipliers, multiplier)

    def _excess(self, edges: NDArray, zmps: NDArray) -> NDArray:
        excess: NDArray = (self._normals[edges] * zmps[edges // POLYGON_ROWS]).sum(axis=1) - self._offsets[edges]
        return excess

    def _schur(self, rows: NDArray, columns: NDArray) -> NDArray:
        samples = self._response[np.ix_(rows // POLYGON_ROWS, columns // POLYGON_ROWS)]
        schur: NDArray = samples * (self._normals[rows] @ self._normals[columns].T)
        return schur
