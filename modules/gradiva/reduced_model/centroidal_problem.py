r"""The optimisation problem of the centroidal MPC, stated once for both of its solvers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import casadi as cs
import numpy as np

from gradiva.common import GRAVITY, ConfigError, NDArray, configuration, setting
from gradiva.reduced_model.contact_plan import weight_forces
from gradiva.robot_model import Compiler, FlatFunction, interpreted

_PHASE = 19  # numbers of a planned contact: position, rotation, allowed box, begin
FREE = 10.0  # [m] bound of a location that no box constrains


@configuration
class CentroidalWeights:
    """Weights of the objective; momentum and forces count per kilogram of the robot.

    Attributes:
        com: Λ_CoM, horizontal and vertical, [1/m²]. With 300 the ZMP comes too late for a push of 1 s, and the DCM errs
            by half as much again; with 2000 sixteen pushes of 0.1 s add up to 528 N·s on TALOS, not 543, to 133 on iCub
            v2.7, not 147.
        angular_momentum: Λ_h, about horizontal axes and the vertical, [s²/m⁴].
        force_spread: Λ_f of corner forces about the mean of their contact, [s⁴/m²].
        force_rate: Λ_ḟ, [s⁶/m²].
        contact: Λ_p of the contact location, horizontal and vertical, [1/m²].
        contact_velocity: Of the velocity of contacts in the air, [s²/m²].
    """

    com: tuple[float, float] = setting("1/m²", above=0.0)
    angular_momentum: tuple[float, float] = setting("s²/m⁴", above=0.0)
    force_spread: float = setting("s⁴/m²", above=0.0)
    force_rate: float = setting("s⁶/m²", above=0.0)
    contact: tuple[float, float] = setting("1/m²", above=0.0)
    contact_velocity: float = setting("s²/m²", above=0.0)


@configuration
class CentroidalLimits:
    """Inequality constraints.

    Attributes:
        friction: Coefficient μ of the cone, [-].
        location_box: Half sizes of the box about a nominal contact, along its axes, [m].
        contact_speed: By which a contact in the air may still move until it lands, along each of its axes, [m/s].
    """

    friction: float = setting("-", above=0.0)
    location_box: tuple[float, float, float] = setting("m", above=0.0)
    contact_speed: float = setting("m/s", above=0.0)

    @property
    def slope(self) -> float:
        """Slope of the faces of the pyramid whose edges lie on the cone, μ / √2, [-]."""
        return self.friction / math.sqrt(2.0)


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
        parameters = cs.vertcat(*(cs.vec(symbol.T) for symbol in self._symbols.values()))
        objective, rows = self._objective(variables), self._constraints(variables)
        self.nonlinear_program = {"x": variables, "p": parameters, "f": objective, "g": rows}
        self._forces = samples * self._corners
        vectors = cs.MX.sym("vectors", 3, self._forces + samples * self._contacts)
        given = {name: cs.MX.sym(name, *symbol.shape) for name, symbol in self._symbols.items()}
        name = f"centroidal_mpc_{samples}_{self._contacts}_{self._corners}"
        inputs = {"vectors": vectors, **given}
        self.pose = FlatFunction(f"{name}_pose", *self._posed(), compiler)
        self.function = FlatFunction(name, inputs, self._rolled_out(vectors, given), compiler, after=self.pose)
        self.data = FlatFunction(f"{name}_data", inputs, self._condensed(given), compiler, self.function)

    def evaluate(self, vectors: NDArray) -> Mapping[str, NDArray]:
        """Return the trajectory of forces and locations, shape (3, V), made consistent, with everything else at it.

        Consistent: forces are within their pyramids, and the states follow by the dynamics. It is overwritten by the
        next call.
        """
        self.function.inputs["vectors"][:] = vectors
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

    def weight_vectors(self) -> NDArray:
        """Return vectors that carry the weight and move no contact, shape (3, V)."""
        given = self.function.inputs
        active = given["active"].reshape(self.samples, -1) > 0.0
        forces = weight_forces(active, self.body.owners).reshape(-1, 3)
        return np.concatenate((forces, np.tile(given["state"][3:], (self.samples, 1)))).T

    def bounds(self) -> tuple[NDArray, NDArray]:
        """Return lower and upper bounds of the rows of the nonlinear program."""
        given, pyramids = self.function.inputs, 4 * self._corners
        boxes = (given[name].reshape(self.samples, -1) for name in ("lowest", "highest"))
        equal = np.zeros(3 * (self.samples + 1) * (3 + self._contacts))
        lower, upper = (
            np.concatenate((equal, np.hstack((np.full((self.samples, pyramids), side), box)).reshape(-1)))
            for side, box in zip((0.0, math.inf), boxes, strict=True)
        )
        return lower, upper

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

    def _posed(self) -> tuple[dict[str, cs.SX], dict[str, cs.SX]]:
        """Return what is measured, planned and guessed, in world, and ``vectors`` of the guess with the parameters."""
        samples, contacts = self.samples, self._contacts
        nodes, locations = samples + 1, samples * contacts
        shapes = {"times": (nodes, 1), "active": (samples, contacts), "phases": (nodes * contacts, _PHASE)}
        shapes |= {"com": (samples, 3), "state": (3 + contacts, 3), "wrench": (2, 3)}  # momentum not per kilogram
        shapes |= {"forces": (self._forces, 3), "velocities": (locations, 3), "before": (self._corners, 3)}
        given = {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}
        times, state, phases = given["times"], given["state"], given["phases"]
        origin, places = state[0, :], state[3:, :] - cs.repmat(state[0, :], contacts, 1)
        guessed, nominal, lowest, highest = self._posed_contacts(given, places)
        return given, {
            "vectors": cs.horzcat(given["forces"].T, *guessed),
            "periods": times[1:] - times[:-1],
            "state": cs.vertcat(cs.SX(1, 3), state[1, :], state[2, :] / self.body.mass, places),
            "external": given["wrench"] / self.body.mass,
            "active": given["active"],
            "com": given["com"] - cs.repmat(origin, samples, 1),
            "contacts": cs.horzcat(*nominal).T,
            "lowest": cs.horzcat(*lowest).T,
            "highest": cs.horzcat(*highest).T,
            "rotations": cs.vertcat(*(cs.reshape(row[3:12], 3, 3).T for row in cs.vertsplit(phases))),
            "forces": given["before"],
        }

    def _posed_contacts(self, given: Mapping[str, cs.SX], places: cs.SX) -> list[list[cs.SX]]:
        """Return locations as guessed and as planned, and their bounds, at the ends of the intervals."""
        contacts, active, times, results = self._contacts, given["active"], given["times"], list[list[cs.SX]]()
        stands, flies, moved = [cs.SX(1)] * contacts, [cs.SX(1)] * contacts, cs.vertsplit(places)
        for k, i in np.ndindex(self.samples, contacts):
            is_free, phase = 1.0 - active[k, i], given["phases"][(k + 1) * contacts + i, :].T
            stands[i], flies[i] = stands[i] * active[k, i], flies[i] * is_free
            lands = is_free * active[k + 1, i] if k + 1 < self.samples else cs.SX(0)
            moved[i] += (times[k + 1] - times[k]) * is_free * given["velocities"][k * contacts + i, :]
            reach = self.limits.contact_speed * cs.fmax(phase[-1] - times[0], 0.0)
            bounds = self._landing_box(given["state"][3 + i, :].T, phase, cs.if_else(flies[i], reach, FREE))
            nominal = cs.if_else(stands[i], places[i, :].T, phase[:3] - given["state"][0, :].T)
            boxes = [
                cs.if_else(lands, bound, cs.DM([free] * 3)) for bound, free in zip(bounds, (-FREE, FREE), strict=True)
            ]
            results.append([moved[i].T, nominal, *boxes])
        return [list(each) for each in zip(*results, strict=True)]

    def _landing_box(self, measured: cs.SX, phase: cs.SX, reach: cs.SX) -> tuple[cs.SX, cs.SX]:
        """Return the bounds of a landing less its nominal location along the axes of the contact.

        A contact in the air also lands within its reach; where nothing allowed is, on the nearest allowed place.
        """
        box, rotation, allowed = cs.DM(self.limits.location_box), cs.reshape(phase[3:12], 3, 3), phase[12:18]
        offset, least, most = rotation @ (measured - phase[:3]), cs.fmax(-box, allowed[:3]), cs.fmin(box, allowed[3:])
        near, far = (cs.fmin(cs.fmax(offset + side, least), most) for side in (-reach, reach))
        return near, far

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

    def _objective(self, variables: cs.SX) -> cs.SX:
        total, before = cs.SX(0), [row.T for row in cs.vertsplit(self._symbols["forces"])]
        for k in range(self.samples):
            inputs = self._interval(variables, k)
            total += self._cost(k, self._node(variables, k + 1), inputs, before)
            before = inputs[: self._corners]
        return total

    def _cost(self, k: int, state: Sequence[cs.SX], inputs: Sequence[cs.SX], before: Sequence[cs.SX]) -> cs.SX:
        """Return that of the inputs of interval k, after the forces ``before``, and of the state at its end."""
        symbols, weights, (x, _, angular, *contacts) = self._symbols, self.weights, state
        com, spin, contact = (_axes(pair) for pair in (weights.com, weights.angular_momentum, weights.contact))
        forces, velocities = inputs[: self._corners], inputs[self._corners :]
        total = _square(x - symbols["com"][k, :].T, com) + _square(angular, spin)
        for i, location in enumerate(contacts):
            total += _square(location - symbols["contacts"][k * self._contacts + i, :].T, contact)
        for first, count in self._groups():
            mean = sum(forces[first : first + count], cs.SX.zeros(3)) / count
            total += sum(_square(force - mean, weights.force_spread) for force in forces[first : first + count])
        rate = weights.force_rate / self.period**2
        total += sum(_square(now - old, rate) for now, old in zip(forces, before, strict=True))
        return 0.5 * (total + sum(_square(velocity, weights.contact_velocity) for velocity in velocities))

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Yield first corner and number of corners of each contact."""
        first = 0
        for corners in self.body.corners:
            yield first, len(corners)
            first += len(corners)

    def _constraints(self, variables: cs.SX) -> cs.SX:
        """Return rows, bounded by ``bounds``: start, dynamics, then friction and boxes of each interval."""
        rows = [cs.vertcat(*self._node(variables, 0)) - cs.vec(self._symbols["state"].T)]
        rows += [self._dynamics(variables, interval) for interval in range(self.samples)]
        for k in range(self.samples):
            rows += self._limits(k, self._node(variables, k + 1), self._interval(variables, k))
        return cs.vertcat(*rows)

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
            carried = self._symbols["active"][k, owner] * force
            total, torque = total + carried, torque + cs.cross(arm, carried)
        acceleration = total + weight
        airborne = [1.0 - self._symbols["active"][k, i] for i in range(self._contacts)]
        moved = zip(contacts, airborne, inputs[self._corners :], strict=True)
        return [
            x + T * v + 0.5 * T**2 * acceleration,
            v + T * acceleration,
            spin + T * torque,
            *(location + T * is_free * velocity for location, is_free, velocity in moved),
        ]

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

    def _consistent(
        self, k: int, state: Sequence[cs.SX], inputs: Sequence[cs.SX]
    ) -> tuple[list[cs.SX], list[cs.SX], list[cs.SX]]:
        """Return inputs of interval k within their limits, and the state at its end; likewise how they violate them."""
        slope, inputs = self.limits.slope, list(inputs)
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
        faces = self._limits(k, state, inputs)[: self._corners]
        boxes = [cs.fabs(self._beyond_box(k, i, state[3 + i])) for i in range(self._contacts)]
        return inputs, state, [-face for face in faces] + boxes

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

    def _limits(self, k: int, state: Sequence[cs.SX], inputs: Sequence[cs.SX]) -> list[cs.SX]:
        """Return the faces of each corner's pyramid in interval k, then each contact's place in its box at its end."""
        rows, slope = list[cs.SX](), self.limits.slope
        for owner, force in zip(self._owners, inputs, strict=False):
            x, y, z = cs.vertsplit(self._rotation(k, owner).T @ force)
            rows.append(cs.vertcat(slope * z - x, slope * z + x, slope * z - y, slope * z + y))
        return rows + [self._offset_and_box(k, i, location)[0] for i, location in enumerate(state[3:])]

    # -- rolled out: forces and landings within their limits, and the states that follow from them ---------------------

    def _rolled_out(self, vectors: cs.MX, given: Mapping[str, cs.MX]) -> dict[str, cs.MX]:
        """Return ``w``, consistent, and of it ``vectors``, ``errors``, ``levers``, ``cost`` and largest ``violation``.

        Errors are the deviations of CoM, then angular momentum, from their references, shape (6, N).
        """
        interval, contacts, corners = self._interval_function(), self._contacts, self._corners
        states, inputs, others = [cs.vec(given["state"].T)], list[cs.MX](), [list[cs.MX]() for _ in range(4)]
        before, place = cs.vec(given["forces"].T), given["state"][3:, :].T
        for k in range(self.samples):
            places = slice(k * contacts, (k + 1) * contacts)
            of_interval = (given["periods"][k], given["active"][k, :], given["com"][k, :])
            of_contacts = (given[name][places, :] for name in ("contacts", "lowest", "highest"))
            rotations = given["rotations"][3 * k * contacts : 3 * (k + 2) * contacts, :]
            external, begin = self._persistence**k * given["external"], self._forces + k * contacts
            last, place = place, vectors[:, begin : begin + contacts]
            now = cs.vertcat(
                cs.vec(vectors[:, k * corners : (k + 1) * corners]), cs.vec((place - last) / given["periods"][k])
            )
            found = interval(states[-1], now, before, *of_interval, *of_contacts, rotations, external)
            for results, result in zip((states, inputs, *others), found, strict=True):
                results.append(result)
            before = inputs[-1][: 3 * corners]
        costs, violations, *turning = others
        (arms, carried), levers = (cs.horzcat(*each) for each in turning), self._levers_function()
        periods, active = given["periods"], given["active"]
        nodes, forces = cs.horzcat(*states[1:]), cs.horzcat(*inputs)[: 3 * corners, :]
        return {
            "vectors": cs.horzcat(cs.reshape(forces, 3, -1), cs.reshape(nodes[9:, :], 3, -1)),
            "errors": cs.vertcat(nodes[:3, :] - given["com"].T, nodes[6:9, :]),
            "levers": cs.vertcat(*(levers(periods, active, arms[k::3, :], carried[k::3, :]) for k in range(3))),
            "cost": cs.sum1(cs.vertcat(*costs)),
            "violation": cs.mmax(cs.vertcat(0.0, *violations)),
            "w": cs.vertcat(*states, *inputs),
        }

    def _interval_function(self) -> cs.Function:
        """Return consistent state and inputs of an interval, cost, violation, levers of corners, forces of contacts."""
        symbols, contacts = self._symbols, self._contacts
        state, before = cs.SX.sym("x", 3 * (3 + contacts)), cs.SX.sym("f", 3 * self._corners)
        inputs = cs.SX.sym("u", 3 * (self._corners + contacts))
        arms = self._arms(0, cs.vertsplit(state, 3))
        found, after, beyond = self._consistent(0, cs.vertsplit(state, 3), cs.vertsplit(inputs, 3))
        cost = self._cost(0, after, found, cs.vertsplit(before, 3))
        loads = [
            symbols["active"][0, i] * sum(found[first : first + count])
            for i, (first, count) in enumerate(self._groups())
        ]
        given = [symbols["periods"][0], symbols["active"][0, :], symbols["com"][0, :]]
        given += [symbols[name][:contacts, :] for name in ("contacts", "lowest", "highest")]
        given += [symbols["rotations"][: 6 * contacts, :], symbols["external"]]
        results = [cs.vertcat(*after), cs.vertcat(*found), cost, cs.mmax(cs.vertcat(*beyond))]
        return cs.Function(
            "interval", [state, inputs, before, *given], [*results, cs.vertcat(*arms), cs.vertcat(*loads)]
        )

    def _levers_function(self) -> cs.Function:
        r"""Return one axis of q of the derivative :math:`q \times` of the angular momentum, shape (N, V).

        A force turns the body by its lever, and moves the CoM under all forces after it; a contact moves under its own
        forces. Rows are nodes, columns the forces of all intervals, then the locations at their ends. From periods,
        active contacts, levers of the corners, shape (corners, N), and forces of the contacts, shape (contacts, N).
        """
        periods, active = self._symbols["periods"], self._symbols["active"]
        arms, loads = cs.SX.sym("r", self._corners, self.samples), cs.SX.sym("F", self._contacts, self.samples)
        middles, rows = cs.cumsum(periods) - 0.5 * periods, list[list[cs.SX]]()
        moved = [cs.SX(0)] * self.samples  # by the change of a force in each interval, over those after it
        for node in range(self.samples):
            impulse, row = periods[node] * cs.sum1(loads[:, node]), list[cs.SX]()
            for begin in range(self.samples):
                moved[begin] += impulse * periods[begin] * (middles[node] - middles[begin]) if begin < node else 0.0
                turned = [
                    active[begin, i] * (periods[begin] * arms[j, begin] + moved[begin])
                    for j, i in enumerate(self._owners)
                ]
                row += turned if begin <= node else [cs.SX(0)] * self._corners
            for begin in range(1, self.samples + 1):
                row += [-periods[begin] * loads[i, begin] if begin <= node else cs.SX(0) for i in range(self._contacts)]
            rows.append(row)
        levers = cs.vertcat(*(cs.horzcat(*row) for row in rows))
        return cs.Function("levers", [periods, active, arms, loads], [cs.densify(levers)])

    # -- what a condensed quadratic program needs of the parameters ----------------------------------------------------

    def _condensed(self, given: Mapping[str, cs.MX]) -> dict[str, cs.MX]:
        """Return data of ``CondensedProgram`` that do not change with the trajectory.

        ``moves`` of the CoM at each node by each force, shape (N, N corners); ``softness`` of the locations of each
        contact, horizontal, then vertical, shape (2 contacts N, N), ``unforced`` locations and their cost; then normals
        and bounds of the rows, first the faces of all pyramids, then lower and upper sides of all boxes.
        """
        symbols, count = self._symbols, self.samples
        ends = cs.cumsum(symbols["periods"])
        middles = ends - 0.5 * symbols["periods"]
        moves = [
            [
                symbols["periods"][j] * (ends[k] - middles[j]) * symbols["active"][j, i] if j <= k else cs.SX(0)
                for j in range(count)
                for i in self._owners
            ]
            for k in range(count)
        ]
        softness = [
            [self._location_softness(i, weight) for i in range(self._contacts)] for weight in self.weights.contact
        ]
        unforced, cost = cs.SX(count * self._contacts, 3), cs.SX(0)
        for i, axis in np.ndindex(self._contacts, 3):
            offset = symbols["contacts"][i :: self._contacts, axis] - symbols["state"][3 + i, axis]
            weight, soft = self.weights.contact[axis // 2], softness[axis // 2][i]
            moved = soft @ (weight * offset)
            unforced[i :: self._contacts, axis] = symbols["state"][3 + i, axis] + moved
            cost += 0.5 * weight * cs.dot(offset, offset - moved)
        normals, bounds = self._rows()
        results = {
            "moves": cs.vertcat(*(cs.horzcat(*row) for row in moves)),
            "softness": cs.vertcat(*(cs.vertcat(*each) for each in softness)),
            "unforced": unforced.T,
            "unforced_cost": cost,
            "normals": normals,
            "bounds": bounds,
        }
        function = cs.Function("condensed", [*symbols.values()], [cs.densify(result) for result in results.values()])
        return dict(zip(results, function(*given.values()), strict=True))

    def _location_softness(self, contact: int, weight: float) -> cs.SX:
        """Return the inverse Hessian of a contact's locations along an axis, shape (N, N).

        Locations are a random walk whose steps have the variance T² over the weight of the velocity in the air, 0 on
        the ground, each measured with the variance 1 over its weight: a Kalman filter, and backwards the smoother.
        """
        symbols, count = self._symbols, self.samples
        variances, gains, filtered = list[cs.SX](), list[cs.SX](), cs.SX(0)
        for k in range(count):
            step = symbols["periods"][k] ** 2 * (1.0 - symbols["active"][k, contact]) / self.weights.contact_velocity
            predicted = filtered + step
            gains.append(cs.if_else(predicted > 0.0, filtered / predicted, 0.0))
            filtered = predicted / (1.0 + weight * predicted)
            variances.append(filtered)
        softness = cs.SX(count, count)
        softness[-1, -1] = variances[-1]
        for k in reversed(range(count - 1)):
            gain = gains[k + 1]
            predicted = cs.if_else(gain > 0.0, variances[k] / gain, 0.0)
            softness[k, k] = variances[k] + gain**2 * (softness[k + 1, k + 1] - predicted)
            for later in range(k + 1, count):
                softness[k, later] = softness[later, k] = gain * softness[k + 1, later]
        return softness

    def _rows(self) -> tuple[cs.SX, cs.SX]:
        """Return normals, shape (3, rows), and lower bounds of the condensed rows, shape (rows,)."""
        symbols, slope = self._symbols, self.limits.slope
        normals, bounds = list[cs.SX](), list[cs.SX]()
        for k, i in product(range(self.samples), self._owners):
            x, y, z = cs.horzsplit(self._rotation(k, i))
            normals += [slope * z - x, slope * z + x, slope * z - y, slope * z + y]
        bounds.append(cs.SX(len(normals), 1))
        for k, i in np.ndindex(self.samples, self._contacts):
            rotation, place = self._rotation(k + 1, i), k * self._contacts + i
            nominal, lowest, highest = (symbols[name][place, :].T for name in ("contacts", "lowest", "highest"))
            normals += [*cs.horzsplit(rotation), *cs.horzsplit(-rotation)]
            bounds += [rotation.T @ nominal + lowest, -(rotation.T @ nominal + highest)]
        return cs.horzcat(*normals), cs.vertcat(*bounds)


def _axes(weights: Sequence[float]) -> cs.DM:
    horizontal, vertical = weights
    return cs.DM([horizontal, horizontal, vertical])


def _square(vector: cs.SX, weight: cs.DM | float) -> cs.SX:
    return cs.dot(vector, weight * vector)
