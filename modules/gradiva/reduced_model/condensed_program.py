r"""Quadratic program of the centroidal MPC in forces and landings alone, solved exactly by an active set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gradiva.common import LazyModule, NDArray, NoSolutionFound
from gradiva.reduced_model.centroidal_problem import CentroidalBody, CentroidalWeights

if TYPE_CHECKING:
    from scipy.linalg import lapack
else:
    lapack = LazyModule("scipy.linalg.lapack")

PROBLEM = "centroidal MPC"  # its name in errors
_AXES = np.array([0, 0, 1])  # weights are those of horizontal axes, or of the vertical
_FACES = 4  # of a friction pyramid
_SIDES = 6  # of a location box
_ROUNDS = 100  # changes of the active set; 1 to 4 are usual, 14 the most of five gaits
_TRIES = 10  # changes of all wrong rows at once that may fail to lower their number, until one row changes at a time
_TOLERANCE = 1e-8  # [m/s², m] of a row, and of a multiplier as a fraction of the largest
# The cross product q × y is of these axes of q and of y, less that of the other two.
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
_PROXIMITY = 1e-9  # [-] of a row's own flexibility: at the apex of a pyramid four rows hold three forces


class QuadraticSolution(NamedTuple):
    """Optimum of a quadratic program.

    Attributes:
        vectors: Corner forces of all intervals, then contact locations at the nodes, [m/s², m], shape (3, V).
        cost: Objective there, as the linearised dynamics have it.
        multipliers: Of all rows, shape (rows,).
        momenta: Multipliers μ of CoM and angular momentum at the nodes, shape (6 N,).
        rounds: Changes of the active set.
    """

    vectors: NDArray
    cost: float
    multipliers: NDArray
    momenta: NDArray
    rounds: int


class CondensedProgram:
    r"""Objective and constraints of ``CentroidalProblem``, linearised about a trajectory, without its states.

    Variables: y, the V vectors of corner forces and of contact locations. Objective: what they cost themselves, which
    is least at :math:`y_0` with the inverse Hessian :math:`E`, and the deviations z of CoM and angular momentum, linear
    in y. Constraints: faces of the friction pyramids and sides of the location boxes.

    .. math:: \min_y \tfrac12 (y - y_0)^\top E^{-1} (y - y_0) + \tfrac12 z^\top W z, \quad
        z = \bar z + J (y - \bar y), \quad G y \ge b

    E of the forces is constant: force spread and force rate know neither contacts nor time. A contact moves in the air
    alone, so E of its locations is that of its velocities, singular where it stands. With multipliers :math:`\mu = W z`
    and :math:`\lambda \ge 0` of the active rows F

    .. math:: y = y_0 - E J^\top \mu + E G^\top \lambda, \quad
        (W^{-1} + J E J^\top) \mu = \bar z + J (y_0 - \bar y) + J E G^\top \lambda,

    one Cholesky factor of 6 N rows, and of its Schur complement :math:`S = G_F (E - E J^\top C^{-1} J E) G_F^\top` for
    the active rows. J of the angular momentum is skew: :math:`q_{kv} \times y_v`, with the ``levers`` q.

    The active set begins as the last one, shifted with the horizon. All rows of the wrong side change at once, until
    that no longer lowers their number; then one by one, which ends always (block principal pivoting).
    """

    def __init__(self, samples: int, period: float, body: CentroidalBody, weights: CentroidalWeights) -> None:
        """Lay out rows and vectors; see ``CentroidalProblem`` for the arguments."""
        self._samples, self._owners, self._contacts = samples, body.owners, len(body.corners)
        self._rate, self._weights = weights.force_rate / period**2, weights
        corners = len(self._owners)
        self._forces = samples * corners
        self.size = self._forces + samples * self._contacts
        self._hessian = self._force_hessian()
        flexibility = np.linalg.inv(self._hessian)
        self._flexibility = np.zeros((2, self.size, self.size))  # E, horizontal and vertical
        self._flexibility[:, : self._forces, : self._forces] = flexibility
        self._before = flexibility.reshape(samples, corners, samples, corners)[:, :, 0].reshape(-1, corners)
        weight = np.array([weights.com, weights.angular_momentum])[:, _AXES]
        self._softness = np.repeat(1.0 / weight, samples).reshape(-1)  # 1 / W
        places = np.arange(self._forces).repeat(_FACES), np.arange(self._forces, self.size).repeat(_SIDES)
        self._places = np.concatenate(places)  # vector of each row
        self._active = np.zeros(len(self._places), dtype=bool)
        self._parts = np.zeros((3, len(self._places)))
        self._normals, self._bounds = np.zeros((3, len(self._places))), np.zeros(len(self._places))  # G, b
        self._moves, self._moved = np.zeros((2, samples, self.size))  # J of the CoM along an axis, and J E
        self._unforced = np.zeros((3, self.size))
        self._turned = np.zeros((2, 3, samples, self.size))  # levers times E, horizontal and vertical
        self._schur = np.zeros((2, 3, samples, 2, 3, samples))  # C, its lower triangle
        self._products = np.zeros((2, 3 * samples, 3 * samples))  # of levers, E and levers, horizontal and vertical
        self._com_products = np.zeros((3 * samples, samples))  # of levers, E and J of the CoM
        self._sums, self._copies = self._blocks()
        nodes = np.arange(samples)
        self._first = 3 * (samples * _NEXT[:, None] + nodes) + _AFTER[:, None]  # places of q × y in all products q y
        self._second = 3 * (samples * _AFTER[:, None] + nodes) + _NEXT[:, None]
        self._schur_places, self._rows = np.full(len(self._places), -1), np.empty(0, dtype=np.intp)  # see _extend_schur

    def _blocks(self) -> tuple[list[tuple[NDArray, NDArray, NDArray]], list[tuple[NDArray, NDArray, float]]]:
        """Return windows of C with the products that add up to them, and with those of which they are, and the sign.

        Forces along x and y turn by E of the horizontal axes, those along z by that of the vertical one.
        """
        across, along = self._products.reshape(2, 3, self._samples, 3, self._samples)
        moved = self._com_products.reshape(3, self._samples, self._samples)
        spin, com = self._schur[1, :, :, 1], self._schur[1, :, :, 0]
        sums = [
            (spin[0, :, 0], across[2, :, 2], along[1, :, 1]),
            (spin[1, :, 1], across[2, :, 2], along[0, :, 0]),
            (spin[2, :, 2], across[1, :, 1], across[0, :, 0]),
        ]
        copies = [
            (spin[1, :, 0], along[0, :, 1], -1.0),
            (spin[2, :, 0], across[0, :, 2], -1.0),
            (spin[2, :, 1], across[1, :, 2], -1.0),
        ]
        for i in range(3):
            copies += [(com[i - 1, :, i - 2], moved[i], 1.0), (com[i - 2, :, i - 1], moved[i], -1.0)]
        return sums, copies

    def _force_hessian(self) -> NDArray:
        """Return that of spread and rate along one axis, shape (N corners, N corners)."""
        samples, owners = self._samples, self._owners
        together = owners[:, None] == owners
        spread = np.eye(len(owners)) - together / together.sum(axis=1)
        difference = np.eye(samples) - np.eye(samples, k=-1)
        rate = difference.T @ difference
        hessian: NDArray = self._weights.force_spread * np.kron(np.eye(samples), spread)
        return hessian + self._rate * np.kron(rate, np.eye(len(owners)))

    # -- what stays while a problem is linearised again and again ------------------------------------------------------

    def begin(self, forces: NDArray, given: Mapping[str, NDArray], intervals: int | None) -> None:
        """Take a problem.

        Args:
            forces: Of the interval before the first, shape (corners, 3).
            given: Outputs of ``CentroidalProblem.function``.
            intervals: By which the horizon has moved; None: begin without active rows.
        """
        self._shift(intervals)
        self._set_com(given["moves"])
        self._set_unforced(forces, given)
        self._normals, self._bounds = given["normals"], given["bounds"]

    def _shift(self, intervals: int | None) -> None:
        """Move the active rows with the horizon; the last interval keeps its own."""
        if intervals is None:
            self._active[:] = False
        elif intervals:
            ends = self._forces * _FACES
            for part in (self._active[:ends], self._active[ends:]):
                block = part.reshape(self._samples, -1)
                block[:-intervals] = block[intervals:].copy()

    def _set_com(self, moves: NDArray) -> None:
        """Set J of the CoM, with what follows from it."""
        self._moves[:, : self._forces] = moves
        self._moved[:, : self._forces] = condensed = moves @ self._flexibility[0, : self._forces, : self._forces]
        schur = condensed @ moves.T
        for axis in range(3):
            self._schur[0, axis, :, 0, axis] = schur

    def _set_unforced(self, forces: NDArray, given: Mapping[str, NDArray]) -> None:
        """Set y₀, its cost, and E of the locations."""
        softness = given["softness"].reshape(2, self._contacts, self._samples, self._samples)
        for i in range(self._contacts):
            part = slice(self._forces + i, self.size, self._contacts)
            self._flexibility[:, part, part] = softness[:, i]
        self._unforced[:, : self._forces] = (self._before @ (self._rate * forces)).T
        self._unforced[:, self._forces :] = given["unforced"]
        relaxed = forces - self._unforced[:, : len(forces)].T
        self._unforced_cost = float(given["unforced_cost"][0]) + 0.5 * self._rate * float((forces * relaxed).sum())

    # -- one quadratic program -----------------------------------------------------------------------------------------

    def solve(self, levers: NDArray, vectors: NDArray, errors: NDArray) -> QuadraticSolution:
        """Return the optimum about a trajectory.

        Args:
            levers: q of its angular momentum, shape (3 N, V).
            vectors: ȳ, its forces and locations, shape (3, V).
            errors: z̄ of its CoM and angular momentum, shape (6, N).

        Raises:
            NoSolutionFound: No active set was found.
        """
        self._linearise(levers)
        offset = errors.reshape(-1) + self._effect(self._unforced - vectors)
        free = lapack.dpotrs(self._factor, offset, lower=0)[0]
        multipliers, momenta, vectors, rounds = self._pivoted(free)
        rows = multipliers.nonzero()[0]
        gain = multipliers[rows] @ self._missing(rows, self._unforced)
        cost = self._unforced_cost + 0.5 * float(offset @ momenta + gain)
        return QuadraticSolution(vectors, cost, multipliers, momenta, rounds)

    def residual(self, solution: QuadraticSolution, vectors: NDArray, errors: NDArray, levers: NDArray) -> float:
        r"""Return :math:`\tfrac12 r^\top M^{-1} r` with r the gradient of the Lagrangian at a trajectory.

        With M, the Hessian of the last quadratic program, this is what a Newton step with the same active rows would
        gain at most. At its optimum the gradient of the program is zero: r is what the levers of the trajectory change,
        and the Hessian of the forces where a step was not taken whole.

        Args:
            solution: Of the last program.
            vectors: Forces and locations of the trajectory, shape (3, V).
            errors: Its deviations, shape (6, N).
            levers: Its levers, shape (3 N, V).
        """
        momenta, levers = errors.reshape(-1) / self._softness, levers.reshape(self._levers.shape)
        change = self._pull(momenta, self._moves, levers) - self._pull(solution.momenta, self._moves, self._levers)
        moved = vectors - solution.vectors
        flexible, ends = np.empty_like(change), self._forces
        np.matmul(change[:, :ends], self._flexibility[0, :ends, :ends], out=flexible[:, :ends])
        np.matmul(change[:2, ends:], self._flexibility[0, ends:, ends:], out=flexible[:2, ends:])
        np.matmul(change[2:, ends:], self._flexibility[1, ends:, ends:], out=flexible[2:, ends:])
        answer = moved + flexible
        pushed = moved[:, : self._forces]
        stiff = lapack.dtrtrs(self._factor, self._effect(answer), lower=0, trans=1)[0]
        gain = (change * (answer + moved)).sum() + (pushed * (pushed @ self._hessian)).sum() - stiff @ stiff
        return 0.5 * max(0.0, float(gain))

    def _linearise(self, levers: NDArray) -> None:
        """Set the factor of C for the levers of a trajectory."""
        count, forces, locations = self._samples, levers[:, : self._forces], levers[:, self._forces :]
        self._levers, flexibility = levers.reshape(3, count, -1), self._flexibility
        horizontal, vertical = turned = self._turned.reshape(2, 3 * count, -1)
        np.matmul(forces, flexibility[0, : self._forces, : self._forces], out=horizontal[:, : self._forces])
        vertical[:, : self._forces] = horizontal[:, : self._forces]
        np.matmul(locations, flexibility[:, self._forces :, self._forces :], out=turned[:, :, self._forces :])
        np.matmul(turned[:, :, self._forces :], locations.T, out=self._products)
        self._products += horizontal[:, : self._forces] @ forces.T
        np.matmul(horizontal, self._moves.T, out=self._com_products)
        for block, product, other in self._sums:
            np.add(product, other, out=block)
        for block, product, sign in self._copies:
            np.multiply(product, sign, out=block)
        schur = self._schur.reshape(6 * count, -1).T.copy(order="K")
        schur.reshape(-1, order="F")[:: 6 * count + 1] += self._softness
        self._factor, failed = lapack.dpotrf(schur, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise NoSolutionFound(PROBLEM, "the quadratic program is not finite")
        self._schur_places[self._rows], self._rows = -1, self._rows[:0]

    def _effect(self, vectors: NDArray) -> NDArray:
        """Return J times vectors, shape (6 N,)."""
        effect = np.empty((2, 3, self._samples))
        np.matmul(vectors, self._moves.T, out=effect[0])
        products = self._levers.reshape(-1, self.size) @ vectors.T
        np.subtract(products.take(self._first), products.take(self._second), out=effect[1])
        return effect.reshape(-1)

    def _pull(self, momenta: NDArray, moves: NDArray, levers: NDArray) -> NDArray:
        """Return Jᵀ times multipliers of CoM and angular momentum, shape (3, V); of J E where ``levers`` are those.

        Args:
            momenta: Shape (6 N,).
            moves: J of the CoM along an axis, shape (N, V), or J E.
            levers: Shape (3, N, V), or times E, horizontal and vertical, shape (2, 3, N, V).
        """
        of_com, of_spin = momenta.reshape(2, 3, -1)
        pull: NDArray = of_com @ moves
        products = np.matmul(of_spin, levers).reshape(-1, self.size)  # of each axis of q, then of the multipliers
        along = 9 if levers.ndim > 3 else 0  # forces along z by E of the vertical axis
        pull += products[[7, 2, 3 + along]]
        pull -= products[[5, 6, 1 + along]]
        return pull

    def _slack(self, vectors: NDArray) -> NDArray:
        """Return G times vectors less b, shape (rows,)."""
        parts = vectors.take(self._places, axis=1, out=self._parts, mode="clip")
        parts *= self._normals
        slack: NDArray = parts[0] + parts[1]
        slack += parts[2]
        slack -= self._bounds
        return slack

    def _missing(self, rows: npt.NDArray[np.intp], vectors: NDArray) -> NDArray:
        """Return b less G times vectors of some rows."""
        missing: NDArray = self._bounds[rows] - (self._normals[:, rows] * vectors[:, self._places[rows]]).sum(axis=0)
        return missing

    def _pivoted(self, free: NDArray) -> tuple[NDArray, NDArray, NDArray, int]:
        """Return multipliers of the rows and of the momenta, and the vectors, at the optimum; and the rounds taken."""
        active, fewest, tries = self._active, len(self._active) + 1, _TRIES
        for count in range(_ROUNDS):
            multipliers, momenta, rows = np.zeros(len(active)), free, active.nonzero()[0]
            if len(rows):
                multipliers[rows], momenta = self._held(rows, free)
            vectors = self._unforced - self._pull(momenta, self._moved, self._turned)
            if len(rows):
                places, forces = self._places[rows], self._normals[:, rows] * multipliers[rows]
                vectors[:2] += forces[:2] @ self._flexibility[0][places]
                vectors[2] += forces[2] @ self._flexibility[1][places]
            slack = self._slack(vectors)
            least = _TOLERANCE * max(1.0, float(multipliers.max(initial=0.0)))
            wrong = np.where(active, multipliers < -least, slack < -_TOLERANCE).nonzero()[0]
            if not len(wrong):
                return multipliers, momenta, vectors, count
            if len(wrong) < fewest:
                fewest, tries = len(wrong), _TRIES
            else:
                tries -= 1
            active[wrong if tries > 0 else wrong[-1:]] ^= True
        active[:] = False
        raise NoSolutionFound(PROBLEM, f"no active set after {_ROUNDS} changes")

    def _held(self, rows: npt.NDArray[np.intp], free: NDArray) -> tuple[NDArray, NDArray]:
        """Return multipliers of rows that are held at their bounds, and the momenta with them."""
        new = rows[self._schur_places[rows] < 0]
        if len(new):
            self._extend_schur(new, free)
        known = self._schur_places[rows]
        _, multipliers, failed = lapack.dposv(self._row_schur[known[:, None], known], self._shortfall[known], lower=1)
        if failed or not math.isfinite(float(multipliers.sum())):
            raise NoSolutionFound(PROBLEM, "the active rows contradict each other")
        return multipliers, free + lapack.dtrtrs(self._factor, multipliers @ self._back[known], lower=0)[0]

    def _extend_schur(self, new: npt.NDArray[np.intp], free: NDArray) -> None:
        """Add rows to those that a factor of C has met, most of which are held in several rounds.

        Of each: by how much it is short of its bound without them, J E Gᵀ through the factor, and S with the others.
        """
        count = len(self._rows)
        self._schur_places[new] = np.arange(count, count + len(new))
        places, normals = self._places[new], self._normals[:, new]
        pushed = self._pushed(places, normals)
        short = self._missing(new, self._unforced) + free @ pushed
        back = lapack.dtrtrs(self._factor, pushed, lower=0, trans=1)[0].T
        if not count:
            self._rows, self._shortfall, self._back = new, short, back
        else:
            added = (self._rows, new), (self._shortfall, short), (self._back, back)
            self._rows, self._shortfall, self._back = (np.concatenate(each) for each in added)
        horizontal, vertical = self._flexibility[:, self._places[self._rows][:, None], places]
        others = self._normals[:, self._rows].T
        schur = horizontal * (others[:, :2] @ normals[:2]) + vertical * (others[:, 2:] * normals[2])  # E of the rows
        schur[count:].reshape(-1)[:: len(new) + 1] *= 1.0 + _PROXIMITY
        schur -= self._back @ back.T
        if not count:
            self._row_schur = schur
        else:
            self._row_schur = np.hstack((np.vstack((self._row_schur, schur[:count].T)), schur))

    def _pushed(self, places: npt.NDArray[np.intp], normals: NDArray) -> NDArray:
        """Return J E Gᵀ of some rows, shape (6 N, rows)."""
        pushed = np.empty((2, 3, self._samples, len(places)))
        turned, normals = self._turned.take(places, axis=3).reshape(6, self._samples, -1), normals[:, None]
        np.multiply(self._moved[:, places], normals, out=pushed[0])
        np.multiply(turned[[4, 2, 0]], normals[_AFTER], out=pushed[1])  # z pushes by E of the vertical axis
        pushed[1] -= turned[[2, 3, 1]] * normals[_NEXT]
        return pushed.reshape(6 * self._samples, -1)
