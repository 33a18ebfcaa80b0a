r"""Linear model of the loop through the foot wrenches, of a robot that stands and is commanded motion.

Forces of the ground move the desired CoM (ZMP-CoM law) and the soles (admittance); servos turn that into forces again.
The model is cut at the wrenches: :math:`L(z)` maps the deviations of :math:`(f, \mu_x, \mu_y)` of each standing
foot that the controller reads to those which the ground then exerts. Feedback is positive, so the critical point is +1.

The plant goes by physics steps of duration h, with all joints; per step, as the engine integrates it,

.. math::
    f &= S^\top \tau - K_g q - c \dot q, &
    \lambda &= (J_c M^{-1} J_c^\top + R)^{-1} (-B J_c v - K J_c q - J_c M^{-1} f), \\
    v^+ &= v + h (M + h D)^{-1} (f + J_c^\top \lambda), & q^+ &= q + h v^+,

with the corners of the soles in :math:`J_c`, the stiffness of gravity and contact
:math:`K_g = \partial (h(q) - J^\top W_0) / \partial q`, damping D, and the law of the servos of ``PositionServo`` or
``VelocityServo``. The controller goes by ticks; with :math:`g(T) = 1 - e^{-\Delta / T}` each of its low passes is
:math:`g / (1 - (1 - g) z^{-1})`. Saturations, Coulomb friction and play are not in the model: a margin is necessary,
not sufficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import (
    GRAVITY,
    ControlMode,
    ModelError,
    NDArray,
    RobotPosture,
    Side,
    so3,
)
from gradiva.robot_model import FlatFunction, IdynTreeModel, ServoLaw, SymbolicDynamics, built_once
from gradiva.setup.load_setup import Setup
from gradiva.whole_body import forward_base_rotation, integrate, upright_torso

Complex = npt.NDArray[np.complex128]

CHANNELS = (0, 1, 2, 3, 4)  # all of a wrench but μ_z
_PROBE = 1e-6  # [m, rad, m of the ZMP] of finite differences
_ITERATIONS = 60  # of the posture; 20 are enough
_TOLERANCE = 1e-6  # [m, rad]
_IMPEDANCE = (0.9, 0.95, 0.001)  # of contacts, by depth: at none, at most, [m] in between, of a quadratic spline


class StandingBody:
    """Kinematics and dynamics of a robot at rest on one foot or on both.

    Attributes:
        setup: Of the robot.
        sides: Feet that stand; the first one is the stance foot.
        mass_matrix: Rotors included, mixed representation, shape (6 + n, 6 + n).
        jacobians: Of both soles (6 rows), ``com`` (3), ``torso`` and ``pelvis`` (rotation), by name.
    """

    def __init__(self, setup: Setup, sides: Sequence[Side]) -> None:
        """Find posture and load.

        Raises:
            ModelError: No posture has the CoM above the feet that stand.
        """
        self.setup, self.sides = setup, tuple(sides)
        self._model = IdynTreeModel(setup.robot, setup.walking.drives.rotor_inertia)
        self.mass, self.size = self._model.mass, 6 + len(setup.robot.joints)
        key = (StandingBody, self._model.fingerprint)
        self._function = built_once(key, self._quantities)
        self.centre = self._centre_of_pressure()
        self.posture = self._standing_posture()
        self._take_linearisation()

    def _quantities(self) -> FlatFunction:
        dynamics, description = SymbolicDynamics.of(self._model), self.setup.robot
        frames = {str(side): dynamics.frame(description.foot_frame(side)) for side in Side}
        frames["torso"] = dynamics.frame(description.torso_frame)
        still = [dynamics.base_twist, dynamics.joint_velocities]
        bias = cs.substitute([dynamics.bias_forces], still, [cs.SX.zeros(6), cs.SX.zeros(dynamics.joints)])[0]
        outputs = {"mass_matrix": dynamics.mass_matrix, "bias": bias, "com": dynamics.com_position}
        for name, frame in frames.items():
            outputs |= {f"{name}_position": frame.position, f"{name}_rotation": frame.rotation}
            outputs[f"{name}_jacobian"] = frame.jacobian
        inputs = {name: getattr(dynamics, name) for name in ("base_position", "base_rotation", "joint_positions")}
        return FlatFunction(f"standing_body_{description.name}", inputs, outputs)

    def _evaluate(self, posture: RobotPosture) -> dict[str, NDArray]:
        self._function.set(
            base_position=posture.base_position,
            base_rotation=posture.base_rotation,
            joint_positions=posture.joint_positions,
        )
        return {name: value.copy() for name, value in self._function().items()}

    def _centre_of_pressure(self) -> NDArray:
        """Return the planned ZMP in the frame of each standing sole, [m], shape (feet, 3)."""
        x, y = self.setup.walking.planner.zmp_offset
        return np.array([(x, side.sign * y, self.setup.robot.sole.z) for side in self.sides])

    def _standing_posture(self) -> RobotPosture:
        """Return the posture with level soles, upright trunk and the CoM above the centre of pressure."""
        description, model = self.setup.robot, self._model
        half, height = 0.5 * description.step_width, self.setup.walking.planner.com_height
        feet = {side: np.array([0.0, side.sign * half, 0.0]) for side in Side}
        above = np.mean([feet[side] + point for side, point in zip(self.sides, self.centre, strict=True)], axis=0)
        base = forward_base_rotation(model)
        torso = upright_torso(model)
        posture = RobotPosture(np.array([0.0, 0.0, height]), base, description.posture)
        for _ in range(_ITERATIONS):
            now = self._evaluate(posture)
            errors = [_pose_error(now, str(side), feet[side], np.eye(3)) for side in Side]
            errors.append(np.array([above[0], above[1], height]) - now["com"])
            soft = so3.log(torso @ now["torso_rotation"].T), so3.log(base @ posture.base_rotation.T)
            hard = np.concatenate(errors)
            if np.abs(hard).max() < _TOLERANCE:
                return posture
            still = np.zeros(self.size - 6)
            motion = self._inverse(now) @ np.concatenate((hard, *soft, still))
            posture = integrate(posture, motion, 1.0)
        raise ModelError(f"{description.name}: no posture to stand on {' and '.join(self.sides)} foot")

    def _inverse(self, now: dict[str, NDArray]) -> NDArray:
        """Return the map from the velocities of tasks to ν: the optimum of layer 3 away from all limits.

        Tasks: left foot, right foot (6 each), CoM (3), which are hard; torso, pelvis (3 each), joints (n).
        """
        config, size = self.setup.walking.inverse_kinematics, self.size
        weights = self.setup.robot.spread(config.posture_weights, "inverse_kinematics.posture_weights")
        hard = np.vstack((now["left_jacobian"], now["right_jacobian"], now["mass_matrix"][:3] / self.mass))
        joints = np.hstack((np.zeros((size - 6, 6)), np.eye(size - 6)))
        soft = np.vstack((now["torso_jacobian"][3:], _turn(size), joints))
        scale = np.concatenate((np.full(3, config.torso_weight), np.full(3, config.pelvis_weight), weights))
        rows = len(hard)
        system = np.block([[soft.T * scale @ soft, hard.T], [hard, np.zeros((rows, rows))]])
        wanted = np.block([[np.zeros((size, rows)), soft.T * scale], [np.eye(rows), np.zeros((rows, len(soft)))]])
        return np.linalg.lstsq(system, wanted, rcond=1e-12)[0][:size]

    def _take_linearisation(self) -> None:
        now = self._evaluate(self.posture)
        self.mass_matrix = now["mass_matrix"]
        self.inverse = self._inverse(now)
        self.jacobians = {str(side): now[f"{side}_jacobian"] for side in Side}
        self.jacobians |= {"com": now["mass_matrix"][:3] / self.mass, "torso": now["torso_jacobian"][3:]}
        self.jacobians["pelvis"] = _turn(self.size)
        self.soles = {side: now[f"{side}_position"] for side in Side}
        self.com_position = now["com"]
        self.stiffness = self._stiffness()

    @property
    def joint_torques(self) -> NDArray:
        """Torques that hold the posture, the weight in equal parts on the feet that stand, [N·m], shape (n,)."""
        return self._forces(self.posture)[6:]

    def _stiffness(self) -> NDArray:
        """Return K_g by central differences, under forces of the ground that keep their points and directions."""
        columns = []
        for axis in np.eye(self.size):
            forces = [self._forces(integrate(self.posture, axis, sign * _PROBE)) for sign in (1.0, -1.0)]
            columns.append((forces[0] - forces[1]) / (2.0 * _PROBE))
        return np.column_stack(columns)

    def _forces(self, posture: RobotPosture) -> NDArray:
        now = self._evaluate(posture)
        forces, load = now["bias"], self.mass * GRAVITY / len(self.sides)
        for side, point in zip(self.sides, self.centre, strict=True):
            lever = now[f"{side}_rotation"] @ point
            force = np.array([0.0, 0.0, load])
            forces = forces - now[f"{side}_jacobian"].T @ np.concatenate((force, np.cross(lever, force)))
        return forces

    @cached_property
    def corners(self) -> list[tuple[Side, NDArray]]:
        """Return side and lever of each corner of the soles that stand, world axes, [m]; one box a sensor."""
        found = []
        for side in self.sides:
            boxes, sole = len(self.setup.robot.sensors_of(side)), self.setup.robot.sole
            edges = np.linspace(*sole.x, boxes + 1)
            ys = sorted(side.sign * y for y in sole.y)
            for box in range(boxes):
                found += [(side, np.array([x, y, sole.z])) for x in edges[box : box + 2] for y in ys]
        return found

    def mobility(self) -> float:
        """Return the inverse mass of a sole of the straight robot, the engine's measure of contacts, [1/kg]."""
        straight = RobotPosture(np.zeros(3), np.eye(3), np.zeros(self.size - 6))
        now = self._evaluate(straight)
        jacobian = now[f"{self.sides[0]}_jacobian"][:3]
        return float(np.trace(jacobian @ np.linalg.solve(now["mass_matrix"], jacobian.T)) / 3.0)

    def corner_jacobian(self) -> NDArray:
        """Return the Jacobian of all corners, three rows each, shape (3 corners, 6 + n)."""
        rows = [self.jacobians[side][:3] - _skew(lever) @ self.jacobians[side][3:] for side, lever in self.corners]
        return np.vstack(rows)


@dataclass(frozen=True, slots=True)
class Contact:
    """One corner as the engine's constraints have it, accelerations over deviations: of position, velocity and force.

    Attributes:
        spring: [1/s²].
        damper: [1/s].
        resistance: [1/kg].
    """

    spring: float
    damper: float
    resistance: float

    @classmethod
    def of(cls, body: StandingBody, contact_time: float) -> Contact:
        """Return that of a robot at rest; the impedance rises with the depth to which its corners sink."""
        time, (least, most, depth) = max(contact_time, 2.0 * body.setup.simulation.timestep), _IMPEDANCE
        mobility, load = body.mobility(), body.mass * GRAVITY / len(body.corners)
        stiffness, impedance = 1.0 / (most * time) ** 2, least
        for _ in range(_ITERATIONS):  # depth and impedance depend on each other
            sunk = min(1.0, load * mobility * (1.0 - impedance) / (impedance**2 * stiffness) / depth)
            rise = 2.0 * sunk**2 if sunk < 0.5 else 1.0 - 2.0 * (1.0 - sunk) ** 2
            impedance = 0.5 * (impedance + least + (most - least) * rise)
        return cls(stiffness * impedance, 2.0 / (most * time), mobility * (1.0 - impedance) / impedance)


def _turn(size: int) -> NDArray:
    return np.hstack((np.zeros((3, 3)), np.eye(3), np.zeros((3, size - 6))))


def _pose_error(now: dict[str, NDArray], name: str, position: NDArray, rotation: NDArray) -> NDArray:
    turn = so3.log(rotation @ now[f"{name}_rotation"].T)
    return np.concatenate((position - now[f"{name}_position"], turn))


@dataclass(frozen=True, slots=True, eq=False)
class Servos:
    r"""Both laws of motion servos, :math:`\tau = k [(1 - \phi) s + p w + I - q] - d \dot q`, each of shape (n,).

    With :math:`\dot I = r (s - q) + \psi w`; w is the velocity of the set-points s, or the commanded velocity.
    """

    stiffness: NDArray
    damping: NDArray
    fraction: NDArray
    lead: NDArray
    rate: NDArray
    fed: NDArray

    @classmethod
    def of(cls, setup: Setup) -> Servos:
        """Return those of the control mode of a setup."""
        config, robot = setup.simulation.servo, setup.robot
        if setup.walking.walking.control is ControlMode.VELOCITY:
            stiffness = robot.per_joint("stiffness")
            damping = robot.per_joint("damping")
            one = np.ones_like(stiffness)
            return cls(stiffness, damping, one, config.velocity_feedforward * damping / stiffness, 0.0 * one, one)
        law = ServoLaw.of(robot).scaled(config.stiffness_scale)
        fraction, stiffness = law.velocity_stiffness / law.stiffness, law.stiffness
        lead = law.velocity_feedforward * law.damping / stiffness
        fed = fraction * law.velocity_feedforward
        return cls(stiffness, law.damping, fraction, lead, law.integral_gain / stiffness, fed)


class Plant:
    """Robot, servos and ground from tick to tick, as physics steps make it.

    Inputs are s and w of ``Servos``; states the deviations of positions and velocities, and the servos' integrals.
    """

    def __init__(self, body: StandingBody, contact_time: float) -> None:
        """Take the time in which the ground lets a sole come to rest, [s]."""
        simulation = body.setup.simulation
        self._timestep, self.body = simulation.timestep, body
        self._known: dict[complex, tuple[Complex, Complex]] = {}
        self._steps = body.setup.steps_per_tick()
        self._contact(contact_time)
        self._one_step()
        self._take_delays()
        self._power_up()

    def _contact(self, contact_time: float) -> None:
        """Take spring, damper and resistance of the corners; what is tangential only damps."""
        contact, self._jacobian = Contact.of(self.body, contact_time), self.body.corner_jacobian()
        rows = len(self._jacobian)
        normal = np.arange(rows) % 3 == 2
        self._spring = contact.spring * normal[:, None] * self._jacobian
        self._damper = contact.damper * self._jacobian
        self._resistance = contact.resistance * np.eye(rows)

    def _one_step(self) -> None:
        """Compute the matrices of one physics step, of the states and of the forces at the corners."""
        body, h, servos = self.body, self._timestep, Servos.of(self.body.setup)
        friction = body.setup.simulation.friction.viscous * body.setup.robot.per_joint("viscous_friction")
        n, size = len(servos.stiffness), body.size
        joints = np.vstack((np.zeros((6, n)), np.eye(n)))
        grown = np.hstack((-h * np.diag(servos.rate) @ joints.T, np.zeros((n, size)), np.eye(n)))
        grown_by = h * np.hstack((np.diag(servos.rate), np.diag(servos.fed)))
        damping = np.diag(servos.damping + friction) @ joints.T
        torque = np.hstack((-np.diag(servos.stiffness) @ joints.T, -damping, np.zeros((n, n))))
        torque += servos.stiffness[:, None] * grown
        torque_by = servos.stiffness[:, None] * np.hstack((np.diag(1.0 - servos.fraction), np.diag(servos.lead)))
        torque_by += servos.stiffness[:, None] * grown_by
        force, force_by = joints @ torque, joints @ torque_by
        force[:, :size] -= body.stiffness
        free = np.linalg.solve(body.mass_matrix, np.hstack((force, force_by, self._jacobian.T)))
        states, inputs = 2 * size + n, 2 * n
        pull = -self._jacobian @ free
        pull[:, :size] -= self._spring
        pull[:, size : 2 * size] -= self._damper
        compliance = self._resistance + self._jacobian @ free[:, states + inputs :]
        self._corner_forces = np.linalg.solve(compliance, pull[:, : states + inputs])
        implicit = body.mass_matrix + h * joints @ damping
        total = np.hstack((force, force_by)) + self._jacobian.T @ self._corner_forces
        velocity = h * np.linalg.solve(implicit, total)
        velocity[:, size : 2 * size] += np.eye(size)
        position = h * velocity
        position[:, :size] += np.eye(size)
        self._step = np.vstack((position, velocity, np.hstack((grown, grown_by))))
        self._states, self._inputs = states, inputs

    def _take_delays(self) -> None:
        """Take ages of samples and commands in physics steps, phases in the mean."""
        simulation = self.body.setup.simulation
        to_steps, streams = simulation.steps, simulation.sensors.streams
        self._late = to_steps(simulation.servo.delay + simulation.transport.delay)
        ages = {name: to_steps(stream.delay + 0.5 * stream.period) for name, stream in streams.items()}
        self._joint_steps, self._wrench_steps = ages["joints"], ages["wrenches"]
        self.joint_age, self.wrench_age = (self._timestep * ages[name] for name in ("joints", "wrenches"))
        unread = self._steps if streams["wrenches"].is_sampled_at_reading else 1  # over which a sample is the mean
        self._window = to_steps(streams["wrenches"].period) or unread

    def _power_up(self) -> None:
        """Compute state and wrench at each step of a tick from state, new input and last one: (states, 2 inputs)."""
        steps, states, inputs = self._steps, self._states, self._inputs
        self._extra, late = divmod(self._late, steps)
        state = np.hstack((np.eye(states), np.zeros((states, 2 * inputs))))
        wrench_of = self._wrench_of_corners()
        self._at, self._wrench = [state], []
        for step in range(steps):
            row = np.zeros((inputs, states + 2 * inputs))
            begin = states if step >= late else states + inputs
            row[:, begin : begin + inputs] = np.eye(inputs)
            known = np.vstack((state, row))
            self._wrench.append(wrench_of @ self._corner_forces @ known)
            state = self._step @ known
            self._at.append(state)

    def _wrench_of_corners(self) -> NDArray:
        """Return the map from forces at the corners to the channels of the feet that stand."""
        body = self.body
        blocks = []
        for side, lever in body.corners:
            whole = np.vstack((np.eye(3), _skew(lever)))[list(CHANNELS)]
            blocks.append(np.vstack([whole if side is foot else 0.0 * whole for foot in body.sides]))
        return np.hstack(blocks)

    @property
    def poles(self) -> Complex:
        """From tick to tick, while the commands stay as they are."""
        return np.asarray(np.linalg.eigvals(self._at[self._steps][:, : self._states]))

    def response(self, z: complex) -> tuple[Complex, Complex]:
        """Return wrenches (channels) and sampled positions and velocities (2 (6 + n)) for each joint's command."""
        known = self._known.get(z)
        if known is None:
            known = self._known[z] = self._response(z, z**-self._extra * self._commanded(z))
        return known

    def _commanded(self, z: complex) -> Complex:
        """Return the map from the command to s and w, shape (2 n, n)."""
        one, setup = np.eye(self._inputs // 2, dtype=complex), self.body.setup
        if setup.walking.walking.control is ControlMode.VELOCITY:
            return np.vstack((0.0 * one, one))
        return np.vstack((one, (1.0 - 1.0 / z) / setup.walking.walking.period * one))

    def _response(self, z: complex, now: Complex) -> tuple[Complex, Complex]:
        steps, states = self._steps, self._states
        both = np.vstack((now, now / z))
        end = self._at[steps]
        first = np.linalg.solve(z * np.eye(states) - end[:, :states], end[:, states:] @ both)
        known = np.vstack((first, both))
        ticks: dict[int, NDArray] = {}
        for index in range(-self._wrench_steps - self._window, -self._wrench_steps):
            tick, step = divmod(index, steps)
            ticks[tick] = ticks.get(tick, 0.0) + self._wrench[step] / self._window
        wrench = sum(z**tick * (row @ known) for tick, row in ticks.items())
        tick, step = divmod(-self._joint_steps, steps)
        sampled = z**tick * (self._at[step][: 2 * self.body.size] @ known)
        return np.asarray(wrench), np.asarray(sampled)


def _skew(vector: NDArray) -> NDArray:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
