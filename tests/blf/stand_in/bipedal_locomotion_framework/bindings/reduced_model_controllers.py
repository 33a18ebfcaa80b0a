"""Centroidal MPC of unit mass by CasADi's IPOPT: forward Euler, forces on corners in pyramids, contacts in boxes."""

from copy import copy
from itertools import product
from types import SimpleNamespace

import casadi as cs
import numpy as np

from .contacts import ContactList, ContactPhaseList

GRAVITY = 9.80665
MANDATORY = (
    *("sampling_time", "time_horizon", "number_of_maximum_contacts", "com_weight", "contact_position_weight"),
    *("force_rate_of_change_weight", "angular_momentum_weight", "contact_force_symmetry_weight", "linear_solver"),
)
OF_CONTACT = ("contact_name", "bounding_box_upper_limit", "bounding_box_lower_limit", "number_of_corners", "corner_0")


class CentroidalMPC:
    def initialize(self, handler):
        values = handler.values
        groups = [group for name, group in values.items() if name.startswith("CONTACT_")]
        if not all(name in values for name in MANDATORY) or not groups:
            return False
        if not all(name in group for group in groups for name in OF_CONTACT):
            return False
        assert values["solver_name"] == "ipopt", "the other one diverges"
        self.values, self.names = values, [group["contact_name"] for group in groups]
        self.boxes = [(group["bounding_box_lower_limit"], group["bounding_box_upper_limit"]) for group in groups]
        self.corners = [[group[f"corner_{j}"] for j in range(group["number_of_corners"])] for group in groups]
        self.period, self.time, self.output = values["sampling_time"], 0 * values["sampling_time"], None
        self.samples = values["time_horizon"] // self.period
        self.begin = None
        self._build()
        return True

    # -- the program; numbers of a contact at a node are position, rotation by columns, whether it carries ------------

    def _build(self):
        N, count, owners = self.samples, len(self.names), self._owners()
        states = [cs.SX.sym(name, 3, N + 1) for name in ("x", "v", "h")]
        places = [cs.SX.sym(f"p{i}", 3, N + 1) for i in range(count)]
        forces = [cs.SX.sym(f"f{j}", 3, N) for j in range(len(owners))]
        jumps = [cs.SX.sym(f"u{i}", 3, N) for i in range(count)]
        reference = cs.SX.sym("r", 3, N + 1)
        planned = [cs.SX.sym(f"c{i}", 13, N + 1) for i in range(count)]
        equal, bounded, dt = [], [], self.period.total_seconds()
        for k in range(N):
            (x, v, h), (x1, v1, h1) = ([each[:, at] for each in states] for at in (k, k + 1))
            total, torque = cs.SX([0.0, 0.0, -GRAVITY]), cs.SX.zeros(3)
            for j, (i, corner) in enumerate(owners):
                rotation = cs.reshape(planned[i][3:12, k], 3, 3)
                total += forces[j][:, k]
                torque += cs.cross(places[i][:, k] + rotation @ cs.DM(corner) - x, forces[j][:, k])
                bounded.append(self._pyramid(rotation.T @ forces[j][:, k]))
            equal += [x1 - x - dt * v, v1 - v - dt * total, h1 - h - dt * torque]
            for i in range(count):
                free = 1.0 - planned[i][12, k]
                equal.append(places[i][:, k + 1] - places[i][:, k] - dt * free * jumps[i][:, k])
        boxes = [
            cs.reshape(planned[i][3:12, k], 3, 3).T @ (places[i][:, k] - planned[i][:3, k])
            for i in range(count)
            for k in range(1, N + 1)
        ]
        variables = cs.veccat(*states, *places, *forces, *jumps)
        program = {
            "x": variables,
            "p": cs.veccat(reference, *planned),
            "f": self._cost(states, places, forces, reference, planned),
            "g": cs.vertcat(*equal, *bounded, *boxes),
        }
        options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
        options |= {"ipopt.tol": self.values.get("ipopt_tolerance", 1e-8), "ipopt.linear_solver": "mumps"}
        options |= {"ipopt.max_iter": self.values.get("ipopt_max_iteration", 3000)}
        self.solver = cs.nlpsol("centroidal_mpc", "ipopt", program, options)
        lower, upper = (np.repeat([box[side] for box in self.boxes], N, axis=0).ravel() for side in (0, 1))
        free, rows = np.zeros(cs.vertcat(*equal).numel()), cs.vertcat(*bounded).numel()
        self.lower = np.concatenate((free, np.full(rows, -np.inf), lower))
        self.upper = np.concatenate((free, np.zeros(rows), upper))

    def _owners(self):
        return [(i, corner) for i, corners in enumerate(self.corners) for corner in corners]

    def _pyramid(self, force):
        mu, x, y, z = self.values["static_friction_coefficient"], *cs.vertsplit(force)
        return cs.vertcat(*(a * x + b * y - mu * z for a, b in product((-1, 1), (-1, 1))))

    def _cost(self, states, places, forces, reference, planned):
        values, (x, _, momentum) = self.values, states
        ahead, beside, up = values["com_weight"]
        fading = 0.5 * up * (1.0 + np.exp(-np.arange(self.samples + 1.0)))
        error = x - reference
        cost = ahead * cs.sumsqr(error[0, :]) + beside * cs.sumsqr(error[1, :])
        cost += cs.sumsqr(cs.DM(fading).T * error[2, :]) + values["angular_momentum_weight"] * cs.sumsqr(momentum)
        for place, plan in zip(places, planned, strict=True):
            cost += values["contact_position_weight"] * cs.sumsqr(place - plan[:3, :])
        first = 0
        for corners in self.corners:
            of_contact = forces[first : first + len(corners)]
            mean, first = sum(of_contact) / len(corners), first + len(corners)
            for force in of_contact:
                cost += values["contact_force_symmetry_weight"] * cs.sumsqr(force - mean)
        rates = cs.DM(values["force_rate_of_change_weight"])
        for force in forces:
            change = force[:, 1:] - force[:, :-1]
            cost += cs.sumsqr(cs.sqrt(rates) * change)
        return cost

    # -- calls of each period ----------------------------------------------------------------------------------------

    def set_reference_trajectory(self, com, angular_momentum):
        if min(len(com), len(angular_momentum)) < self.samples + 1:
            return False
        self.reference = np.array(com[: self.samples + 1])
        return True

    def set_contact_phase_list(self, contact_phase_list):
        if set(contact_phase_list.lists) != set(self.names):
            return False
        self.lists = contact_phase_list.lists
        self.planned = [self._sampled(list(self.lists[name])) for name in self.names]
        return contact_phase_list.phases[-1].end_time > self.time + self.samples * self.period

    def _sampled(self, contacts):
        """Return position, rotation by columns and load of a contact at the nodes; the load is that after it."""
        rows = []
        for k in range(self.samples + 1):
            now, before = self.time + k * self.period, self.time + (k - 1) * self.period
            loaded = [each for each in contacts if each.activation_time <= now < each.deactivation_time]
            held = [each for each in contacts if k and each.activation_time <= before < each.deactivation_time]
            coming = [each for each in contacts if each.activation_time > now]
            pose = next(iter(held or loaded or coming), contacts[-1]).pose
            rows.append([*pose.translation(), *pose.rotation().T.ravel(), float(bool(loaded))])
        return np.array(rows)

    def set_state(self, com, dcom, angular_momentum):
        self.state = np.array([com, dcom, angular_momentum])
        return bool(np.isfinite(self.state).all())

    def advance(self):
        N, count, corners = self.samples, len(self.names), len(self._owners())
        carried = np.repeat(
            [plan[:N, 12] for plan in self.planned], [len(each) for each in self.corners], axis=0
        )  # (corners, N)
        shapes = [(N + 1, 3)] * (3 + count) + [(N, 3)] * (corners + count)
        lower, upper = ([np.full(shape, bound) for shape in shapes] for bound in (-np.inf, np.inf))
        for each in (lower, upper):
            for row in range(3):
                each[row][0] = self.state[row]
            for i, plan in enumerate(self.planned):
                each[3 + i][0] = plan[0, :3]
            for j in range(corners):
                each[3 + count + j][carried[j] == 0.0] = 0.0
        begin = self._first() if self.begin is None else self.begin
        found = self.solver(
            x0=begin,
            p=np.concatenate([np.ravel(each) for each in (self.reference, *self.planned)]),
            lbx=np.concatenate([each.ravel() for each in lower]),
            ubx=np.concatenate([each.ravel() for each in upper]),
            lbg=self.lower,
            ubg=self.upper,
        )
        self.output = None
        if not self.solver.stats()["success"]:
            return False
        self.begin = np.array(found["x"]).ravel()
        self.output = self._answer(shapes)
        self.time += self.period
        return True

    def _first(self):
        N, corners = self.samples, len(self._owners())
        still, weight = np.zeros((N + 1, 3)), np.tile([0.0, 0.0, GRAVITY / corners], (N, 1))
        parts = [self.reference, still, still, *(plan[:, :3] for plan in self.planned), *[weight] * corners]
        return np.concatenate([np.ravel(part) for part in (*parts, np.zeros((len(self.names) * N, 3)))])

    def _answer(self, shapes):
        ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
        parts = [part.reshape(shape) for part, shape in zip(np.split(self.begin, ends), shapes, strict=True)]
        com, velocity, momentum = parts[:3]
        first, contacts, lists = 3 + len(self.names), {}, {}
        for i, name in enumerate(self.names):
            forces = parts[first : first + len(self.corners[i])]
            first += len(forces)
            contacts[name] = SimpleNamespace(corners=[SimpleNamespace(force=force[0]) for force in forces])
            lists[name] = self._adjusted(name, parts[3 + i])
        phases = ContactPhaseList()
        phases.set_lists(lists)
        return SimpleNamespace(
            contacts=contacts,
            contact_phase_list=phases,
            com_trajectory=list(com),
            com_velocity_trajectory=list(velocity),
            angular_momentum_trajectory=list(momentum),
        )

    def _adjusted(self, name, places):
        """Return the contacts of a name with the next landing where it is found."""
        found, is_next = ContactList(), True
        found.set_default_name(name)
        for each in self.lists[name]:
            node, pose = (each.activation_time - self.time) / self.period, each.pose
            if is_next and 0 < node <= self.samples:
                pose, is_next = _at(places[round(node)], each.pose), False
            found.add_contact(pose, each.activation_time, each.deactivation_time)
        return found

    def is_output_valid(self):
        return self.output is not None

    def get_output(self):
        return self.output


def _at(place, pose):
    """Return a pose at another place."""
    moved = copy(pose)
    moved._position = np.array(place)
    return moved
