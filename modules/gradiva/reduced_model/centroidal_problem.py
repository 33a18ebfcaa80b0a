r"""The optimisation problem of the centroidal MPC, stated once for both of its solvers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import GRAVITY, ConfigError, NDArray
from gradiva.robot_model import Compiler, FlatFunction, interpreted

FREE = 10.0  # [m] bound of a location that no box constrains; infinite ones change the solver's step


@dataclass(frozen=True, slots=True)
class CentroidalWeights:
    """Weights of the objective; momentum and forces count per kilogram of the robot.

    Attributes:
        com: Λ_CoM, horizontal and vertical, [1/m²].
        angular_momentum: Λ_h, about horizontal axes and the vertical, [s²/m⁴].
        force_spread: Λ_f of corner forces about the mean of their contact, [s⁴/m²].
        force_rate: Λ_ḟ, [s⁶/m²].
        contact: Λ_p of the contact location, horizontal and vertical, [1/m²].
        contact_velocity: Of the velocity of contacts in the air, [s²/m²].
    """

    com: tuple[float, float]
    angular_momentum: tuple[float, float]
    force_spread: float
    force_rate: float
    contact: tuple[float, float]
    contact_velocity: float

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not np.all(np.greater(getattr(self, name), 0.0)) or not np.all(np.isfinite(getattr(self, name))):
                raise ConfigError(f"{name}={getattr(self, name)}: weights are positive and finite", [name])


@dataclass(frozen=True, slots=True)
class CentroidalLimits:
    """Inequality constraints.

    Attributes:
        friction: Coefficient μ of the cone, [-].
        location_box: Half sizes of the box about a nominal contact, along its axes, [m].
        contact_speed: By which a contact in the air may still move until it lands, along each of its axes, [m/s].
    """

    friction: float
    location_box: tuple[float, float, float]
    contact_speed: float

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not np.all(np.greater(getattr(self, name), 0.0)) or not np.all(np.isfinite(getattr(self, name))):
                raise ConfigError(f"{name}={getattr(self, name)}: limits are positive and finite", [name])


@dataclass(frozen=True, slots=True, eq=False)
class CentroidalBody:
    """Mass and contacts.

    Attributes:
        mass: [kg].
        corners: Of each contact, in its frame, [m], shape (corners, 3) each.
    """

    mass: float
    corners: tuple[NDArray, ...]

    def __post_init__(self) -> None:
        if not 0.0 < self.mass < math.inf or not self.corners:
            raise ConfigError(f"mass={self.mass} kg, {len(self.corners)} contacts: both are needed")

    @property
    def owners(self) -> NDArray:
        """Contact to which each corner belongs, shape (all corners,)."""
        return np.repeat(np.arange(len(self.corners)), [len(corners) for corners in self.corners])


class Trajectory(NamedTuple):
    """States at N + 1 nodes and inputs of N intervals; momentum and forces per kilogram; windows of ``flat``.

    Attributes:
        com: [m], shape (N + 1, 3).
        velocity: [m/s], shape (N + 1, 3).
        spin: Angular momentum about the CoM, [m²/s], shape (N + 1, 3).
        contacts: [m], shape (N + 1, contacts, 3).
        forces: On all corners, [m/s²], shape (N, corners, 3).
        contact_velocities: [m/s], shape (N, contacts, 3).
        flat: All of it, shape (n,).
    """

    com: NDArray
    velocity: NDArray
    spin: NDArray
    contacts: NDArray
    forces: NDArray
    contact_velocities: NDArray
    flat: NDArray


class CentroidalProblem:
    r"""Multiple shooting of the centroidal dynamics over N intervals (thesis 11.1.15).

    Momentum, forces and wrenches are divided by the mass.

    Variables: CoM :math:`x`, its velocity :math:`v`, angular momentum :math:`l` and contact locations :math:`p_i` at
    the nodes; corner forces :math:`f_{ij}` and contact velocities :math:`v_i` in the intervals.

    Objective: half the weighted squares of x and p about their references, of l, of each corner force about the mean
    of its contact, of the rates of the forces and of the contact velocities: least squares, of constant Hessian.

    Constraints: the dynamics with forces constant over the interval T, :math:`F = \sum \Gamma_i f_{ij}`, external
    wrench :math:`(w, n)` of which the fraction :math:`\gamma^k` is left in interval k (11.2.1 has :math:`\gamma = 0`:
    it acts in the first one alone), :math:`a = F + w - g e_3`:

    .. math::
        x' = x + T v + \tfrac12 T^2 a, \quad v' = v + T a, \quad p_i' = p_i + T (1 - \Gamma_i) v_i, \quad
        l' = l + T n + T \sum (p_i + R_i c_j - x - \tfrac12 T v) \times \Gamma_i f_{ij}
        - \tfrac16 T^3 (w - g e_3) \times F

    which is exact, where the thesis has a step of Euler (its CoM falls :math:`g T / 2` faster than a stone after each
    interval). Then :math:`|R_i^\top f|_{x, y} \le \mu / \sqrt 2 \; (R_i^\top f)_z`, a pyramid within the cone of forces
    that do not pull; :math:`R_i^\top (p_i - p_i^n)` within a box where a contact lands: that of the limits, of the
    contact's speed until then and of the ground that is allowed. The only product of variables is lever times force.
    """

    def __init__(
        self,
        samples: int,
        period: float,
        body: CentroidalBody,
        weights: CentroidalWeights,
        limits: CentroidalLimits,
        persistence: float = 0.0,
        compiler: Compiler = interpreted,
    ) -> None:
        """State the problem and compile its data.

        Args:
            samples: N.
            period: Nominal length of an interval, over which rates of forces are counted, [s].
            body: Mass and contacts.
            weights: Of the objective.
            limits: Of the constraints.
            persistence: γ.
            compiler: How its function becomes fast.
        """
        self.samples, self.period, self._persistence = samples, period, persistence
        self.body, self.weights, self.limits = body, weights, limits
        self._contacts, self._corners = len(body.corners), len(body.owners)
        self._owners: list[int] = body.owners.tolist()
        self.size = 3 * ((samples + 1) * (3 + self._contacts) + samples * (self._corners + self._contacts))
        self._symbols = self._inputs()
        variables = cs.SX.sym("w", self.size)
        cost = self._objective(variables, period, weights)
        rows, lower, upper = self._constraints(variables)
        parameters = cs.vertcat(*(cs.vec(symbol.T) for symbol in self._symbols.values()))
        self.nonlinear_program = {"x": variables, "p": parameters, "f": cost, "g": rows}
        consistent = self._consistent(variables)
        cost, rows = cs.Function("stated", [variables, parameters], [cost, rows])(consistent, parameters)
        outputs = {"w": consistent, "cost": cost, "levers": self._levers(consistent)}
        outputs |= {"rows": rows, "lower": lower, "upper": upper}
        name = f"centroidal_mpc_{samples}_{self._contacts}_{self._corners}"
        self.function = FlatFunction(name, {"guess": variables, **self._symbols}, outputs, compiler)

    def evaluate(self, guess: NDArray) -> Mapping[str, NDArray]:
        """Return ``w``, made consistent of a guess, with everything else at it; overwritten by the next call.

        Consistent: forces are within their pyramids, and the states follow by the dynamics.
        """
        self.function.inputs["guess"][:] = guess
        return self.function()

    def trajectory(self, flat: NDArray) -> Trajectory:
        """Return the windows of a vector of variables, shape (n,)."""
        nodes, width = self.samples + 1, 3 + self._contacts
        states = flat[: 3 * nodes * width].reshape(nodes, width, 3)
        inputs = flat[3 * nodes * width :].reshape(self.samples, -1, 3)
        forces, velocities = inputs[:, : self._corners], inputs[:, self._corners :]
        return Trajectory(states[:, 0], states[:, 1], states[:, 2], states[:, 3:], forces, velocities, flat)

    def vectors(self, found: Trajectory) -> NDArray:
        """Return corner forces, then contact locations at the ends of the intervals, shape (3, V)."""
        return np.concatenate((found.forces.reshape(-1, 3), found.contacts[1:].reshape(-1, 3))).T

    def with_vectors(self, vectors: NDArray) -> NDArray:
        """Return variables with these forces and locations, to be made consistent, shape (n,)."""
        guess = self.trajectory(np.zeros(self.size))
        forces = self.samples * self._corners
        guess.forces[:] = vectors[:, :forces].T.reshape(guess.forces.shape)
        given = self.function.inputs
        locations = vectors[:, forces:].T.reshape(guess.contact_velocities.shape)
        moves = np.diff(locations, axis=0, prepend=given["state"][None, 3:])
        guess.contact_velocities[:] = moves / given["periods"][:, None, None]
        return guess.flat

    def weight_guess(self) -> NDArray:
        """Return variables that carry the weight and move no contact, shape (n,)."""
        guess = self.trajectory(np.zeros(self.size))
        active = self.function.inputs["active"].reshape(self.samples, -1) > 0.0
        guess.forces[:] = weight_forces(active, self.body.owners)
        return guess.flat

    def violation(self) -> float:
        """Return the largest violation of a constraint by the ``w`` that was evaluated last."""
        values = self.function.outputs
        rows = values["rows"]
        return float(max((values["lower"] - rows).max(), (rows - values["upper"]).max(), 0.0))

    @property
    def parameters(self) -> NDArray:
        """All inputs but the guess as they are now, in the order of the nonlinear program."""
        return np.concatenate([self.function.inputs[name].reshape(-1) for name in self._symbols])

    def _inputs(self) -> dict[str, cs.SX]:
        samples, contacts, corners = self.samples, self._contacts, self._corners
        shapes = {
            "periods": (samples, 1),  # [s]
            "state": (3 + contacts, 3),  # measured: CoM, its velocity, angular momentum, contacts
            "external": (2, 3),  # force and moment about the CoM per kilogram, now
            "active": (samples, contacts),  # Γ
            "com": (samples, 3),  # reference of the nodes from the second on
            "contacts": (samples * contacts, 3),  # likewise
            "lowest": (samples * contacts, 3),  # location less reference, along the axes of the contact
            "highest": (samples * contacts, 3),
            "rotations": ((samples + 1) * contacts * 3, 3),  # of contact frames, at all nodes
            "forces": (corners, 3),  # of the interval before the first
        }
        return {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}

    def _node(self, variables: cs.SX, node: int) -> list[cs.SX]:
        """Return CoM, velocity, angular momentum and contacts of a node."""
        width = 3 + self._contacts
        return cs.vertsplit(variables[3 * node * width : 3 * (node + 1) * width], 3)

    def _interval(self, variables: cs.SX, interval: int) -> list[cs.SX]:
        """Return the corner forces, then the contact velocities, of an interval."""
        begin, width = 3 * (self.samples + 1) * (3 + self._contacts), self._corners + self._contacts
        return cs.vertsplit(variables[begin + 3 * interval * width : begin + 3 * (interval + 1) * width], 3)

    def _rotation(self, node: int, contact: int) -> cs.SX:
        first = 3 * (node * self._contacts + contact)
        return self._symbols["rotations"][first : first + 3, :]

    def _objective(self, variables: cs.SX, period: float, weights: CentroidalWeights) -> cs.SX:
        symbols, total = self._symbols, cs.SX(0)
        com, spin, contact = (_axes(pair) for pair in (weights.com, weights.angular_momentum, weights.contact))
        for node in range(1, self.samples + 1):
            x, _, angular, *contacts = self._node(variables, node)
            total += _square(x - symbols["com"][node - 1, :].T, com) + _square(angular, spin)
            for i, location in enumerate(contacts):
                nominal = symbols["contacts"][(node - 1) * self._contacts + i, :].T
                total += _square(location - nominal, contact)
        before = [symbols["forces"][j, :].T for j in range(self._corners)]
        for interval in range(self.samples):
            inputs = self._interval(variables, interval)
            forces, velocities = inputs[: self._corners], inputs[self._corners :]
            for first, count in self._groups():
                mean = sum(forces[first : first + count], cs.SX.zeros(3)) / count
                total += sum(_square(force - mean, weights.force_spread) for force in forces[first : first + count])
            rate = weights.force_rate / period**2
            total += sum(_square(now - old, rate) for now, old in zip(forces, before, strict=True))
            total += sum(_square(velocity, weights.contact_velocity) for velocity in velocities)
            before = forces
        return 0.5 * total

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Yield first corner and number of corners of each contact."""
        first = 0
        for corners in self.body.corners:
            yield first, len(corners)
            first += len(corners)

    def _constraints(self, variables: cs.SX) -> tuple[cs.SX, cs.SX, cs.SX]:
        """Return rows with their bounds: start, dynamics, then friction and boxes of each interval."""
        start = cs.vertcat(*self._node(variables, 0)) - cs.vec(self._symbols["state"].T)
        rows = [start, *(self._dynamics(variables, interval) for interval in range(self.samples))]
        lower = upper = [cs.SX.zeros(row.numel()) for row in rows]
        limits = [limit for k in range(self.samples) for limit in self._limits(variables, k)]
        rows += [row for row, _, _ in limits]
        lower, upper = lower + [low for _, low, _ in limits], upper + [high for _, _, high in limits]
        return cs.vertcat(*rows), cs.vertcat(*lower), cs.vertcat(*upper)

    def _dynamics(self, variables: cs.SX, k: int) -> cs.SX:
        """Return the state at node k + 1 less the integrated one."""
        integrated = self._integrated(k, self._node(variables, k), self._interval(variables, k))
        return cs.vertcat(*self._node(variables, k + 1)) - cs.vertcat(*integrated)

    def _integrated(self, k: int, state: Sequence[cs.SX], inputs: Sequence[cs.SX]) -> list[cs.SX]:
        """Return the state at the end of interval k."""
        T, weight = self._symbols["periods"][k], self._weight(k)
        x, v, spin, *contacts = state
        total, torque = cs.SX.zeros(3), self._symbols["external"][1, :].T * self._persistence**k
        for arm, owner, force in zip(self._arms(k, state), self._owners, inputs, strict=False):
            pressed = self._symbols["active"][k, owner] * force
            total, torque = total + pressed, torque + cs.cross(arm, pressed)
        acceleration = total + weight
        airborne = [1.0 - self._symbols["active"][k, i] for i in range(self._contacts)]
        moved = zip(contacts, airborne, inputs[self._corners :], strict=True)
        return [
            x + T * v + 0.5 * T**2 * acceleration,
            v + T * acceleration,
            spin + T * torque,
            *(location + T * is_free * velocity for location, is_free, velocity in moved),
        ]

    def _levers(self, variables: cs.SX) -> cs.SX:
        r"""Return q of the derivative :math:`q \times` of the angular momentum, shape (3 N, V).

        A force turns the body by its lever, and moves the CoM under all forces after it; a contact moves under its own
        forces. Rows are axes and nodes, columns the forces of all intervals, then the locations at their ends.
        """
        periods, active = self._symbols["periods"], self._symbols["active"]
        count, contacts, owners = self._corners, self._contacts, self._owners
        middles = cs.cumsum(periods) - 0.5 * periods
        loads = [self._loads(variables, k) for k in range(self.samples)]
        levers = [cs.SX.zeros(self.samples, self.samples * (count + contacts)) for _ in range(3)]
        for begin in range(self.samples):
            moved, own = cs.SX.zeros(3), self._arms(begin, self._node(variables, begin))
            for node in range(begin, self.samples):
                if node > begin:
                    moved += periods[node] * periods[begin] * (middles[node] - middles[begin]) * sum(loads[node])
                forces = [active[begin, i] * (periods[begin] * arm + moved) for arm, i in zip(own, owners, strict=True)]
                _write(levers, node, begin * count, forces)
                if begin > 0:
                    locations = [-periods[begin] * load for load in loads[begin]]
                    _write(levers, node, self.samples * count + (begin - 1) * contacts, locations)
        return cs.vertcat(*levers)

    def _loads(self, variables: cs.SX, k: int) -> list[cs.SX]:
        """Return the force on each contact in interval k."""
        inputs, active = self._interval(variables, k), self._symbols["active"]
        return [active[k, i] * sum(inputs[first : first + n]) for i, (first, n) in enumerate(self._groups())]

    def _arms(self, k: int, state: Sequence[cs.SX]) -> list[cs.SX]:
        """Return the lever of each corner about the CoM, which moves under gravity, in the mean of interval k."""
        T = self._symbols["periods"][k]
        x, v, _, *contacts = state
        middle = x + 0.5 * T * v + T**2 / 6.0 * self._weight(k)
        corners = zip(self._owners, np.vstack(self.body.corners), strict=True)
        return [contacts[i] + self._rotation(k, i) @ cs.DM(corner) - middle for i, corner in corners]

    def _weight(self, k: int) -> cs.SX:
        """Return gravity and what is left of the external force in interval k."""
        return self._symbols["external"][0, :].T * self._persistence**k - cs.DM([0.0, 0.0, GRAVITY])

    def _consistent(self, guess: cs.SX) -> cs.SX:
        """Return the variables with forces and landings within their limits, and the states that follow from them."""
        slope = self.limits.friction / math.sqrt(2.0)
        state = [row.T for row in cs.vertsplit(self._symbols["state"])]
        states, all_inputs = list(state), list[cs.SX]()
        for k in range(self.samples):
            inputs = self._interval(guess, k)
            for i, (first, count) in enumerate(self._groups()):
                rotation = self._rotation(k, i)
                for j in range(first, first + count):
                    x, y, z = cs.vertsplit(rotation.T @ inputs[j])
                    z = cs.fmax(z, 0.0)
                    x, y = (cs.fmin(cs.fmax(side, -slope * z), slope * z) for side in (x, y))
                    inputs[j] = rotation @ cs.vertcat(x, y, z)
            state = self._integrated(k, state, inputs)
            for i in range(self._contacts):
                beyond = self._beyond_box(k, i, state[3 + i])
                state[3 + i] -= beyond
                inputs[self._corners + i] -= beyond / self._symbols["periods"][k]
            states, all_inputs = states + state, all_inputs + inputs
        return cs.vertcat(*states, *all_inputs)

    def _beyond_box(self, k: int, contact: int, location: cs.SX) -> cs.SX:
        """Return by how much a location at the end of interval k is beyond its box, world."""
        rotation = self._rotation(k + 1, contact)
        offset, lowest, highest = self._offset_and_box(k, contact, location)
        return rotation @ (offset - cs.fmin(cs.fmax(offset, lowest), highest))

    def _offset_and_box(self, k: int, contact: int, location: cs.SX) -> tuple[cs.SX, cs.SX, cs.SX]:
        """Return location less reference along the axes of the contact, at the end of interval k, with its bounds."""
        nominal, lowest, highest = (
            self._symbols[name][k * self._contacts + contact, :].T for name in ("contacts", "lowest", "highest")
        )
        return self._rotation(k + 1, contact).T @ (location - nominal), lowest, highest

    def _limits(self, variables: cs.SX, k: int) -> Iterator[tuple[cs.SX, cs.SX, cs.SX]]:
        """Yield rows, lower and upper bounds of interval k and of the node at its end."""
        inputs, slope, wide = self._interval(variables, k), self.limits.friction / math.sqrt(2.0), cs.inf
        for contact, (first, count) in enumerate(self._groups()):
            turned = self._rotation(k, contact).T
            for force in inputs[first : first + count]:
                x, y, z = cs.vertsplit(turned @ force)
                pyramid = cs.vertcat(slope * z - x, slope * z + x, slope * z - y, slope * z + y)
                yield pyramid, cs.SX.zeros(4), cs.SX.zeros(4) + wide
        for contact, location in enumerate(self._node(variables, k + 1)[3:]):
            yield self._offset_and_box(k, contact, location)


def weight_forces(active: npt.NDArray[np.bool_], owners: NDArray) -> NDArray:
    """Return forces of the weight over the corners on the ground, or over all while none is.

    Args:
        active: Contacts on the ground in each interval, shape (N, contacts).
        owners: Contact of each corner, shape (corners,).

    Returns:
        Of all corners, so that those that land begin so, [m/s²], shape (N, corners, 3).
    """
    standing = active[:, owners]
    counts = np.where(standing.any(axis=1), standing.sum(axis=1), len(owners))
    forces = np.zeros((*standing.shape, 3))
    forces[:, :, 2] = GRAVITY / counts[:, None]
    return forces


def _axes(weights: Sequence[float]) -> cs.DM:
    horizontal, vertical = weights
    return cs.DM([horizontal, horizontal, vertical])


def _square(vector: cs.SX, weight: cs.DM | float) -> cs.SX:
    return cs.dot(vector, weight * vector)


def _write(rows: Sequence[cs.SX], node: int, first: int, vectors: Sequence[cs.SX]) -> None:
    """Write vectors, an axis each matrix, into a row from its column ``first`` on."""
    for axis, matrix in enumerate(rows):
        for column, vector in enumerate(vectors, first):
            matrix[node, column] = vector[axis]
