"""Inverse kinematics: find the robot velocity that does the tasks of walking, and command it (thesis section 7.1).

Position control sends the integrated positions to the servos, velocity control the velocities themselves (7.1.3). Soles
of stiff servos yield to loads that were not expected: `FootAdmittance` moves their references before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import casadi as cs
import numpy as np

from gradiva.common import (
    ControlMode,
    JointCommand,
    LowPass,
    NDArray,
    RobotPosture,
    RobotState,
    altered,
    configuration,
    low_pass_gain,
    setting,
    so3,
    unchecked,
)
from gradiva.robot_model import (
    Compiler,
    FlatFunction,
    IdynTreeModel,
    RobotDescription,
    ServoLaw,
    SymbolicDynamics,
    built_once,
    interpreted,
    symbolic_exp,
)
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.drives import FrictionFeedforward
from gradiva.whole_body.kinematic_problem import InverseKinematicsConfig, kinematic_problem, kinematic_tasks
from gradiva.whole_body.reference_symbols import Values
from gradiva.whole_body.tasks import Task
from gradiva.whole_body.walking_tasks import (
    FootTask,
    WalkingComTask,
)
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_HEIGHT_SLACK_WEIGHT = 1e4  # [-] of the CoM's height against the posture's, while a push is caught; else it is hard
_FOOT_TILT_SLACK_WEIGHT = 100.0  # [-]
"""Of the tilt of a sole in the air, likewise: at an ankle's limit the stance knee kicks where it is hard."""
_AT_REST = 0.02  # [m/s] of the planned CoM, a tenth of usual walks
_NORMAL = 2  # row of the vertical force in a wrench
_POSITION_MARGIN = 0.001  # [rad] kept from the joint limits


def base_first(solution: NDArray, joints: int) -> NDArray:
    """Return the base's six variables of a solution before those of the joints, which the solver has first."""
    return np.concatenate((solution[joints:], solution[:joints]))


class WalkingKinematics:
    """Finds the robot velocity that follows a reference; see `kinematic_problem` for the problem.

    Attributes:
        key: Equal for equal problems; None where a task comes from outside of the package.
        problem: Composed of the tasks; joints come first among its variables.
        lower_limits: Joint positions, margin included, [rad], shape (n,).
        upper_limits: The same.
        actuated: Selection of the joints that commands are for.
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: InverseKinematicsConfig,
        compiler: Compiler = interpreted,
        tasks: Sequence[Task] = (),
    ) -> None:
        """Build the problem.

        Args:
            model: The robot.
            config: Gains and weights of the tasks of walking.
            compiler: How the problem's function becomes fast.
            tasks: From outside of the package, beside those of walking.

        Raises:
            ConfigError: A posture weight is missing or belongs to no joint group, or a task states no velocity.
        """
        lower, upper = model.joint_limits()
        self.lower_limits = lower + _POSITION_MARGIN
        self.upper_limits = upper - _POSITION_MARGIN
        self._joints = len(lower)
        self.key = None if tasks else (type(self), model.fingerprint, repr(config), compiler)
        self.problem = built_once(self.key, lambda: self._composed(model, config, compiler, tasks))
        height = 2, _HEIGHT_SLACK_WEIGHT
        tilt = slice(3, 6), _FOOT_TILT_SLACK_WEIGHT
        relaxed = partial(self.problem.relaxed_slack_weights, centre_of_mass=height)
        self._yielding_weights = {  # by which feet are in contact
            (False, False): relaxed(left_foot=tilt, right_foot=tilt),
            (False, True): relaxed(left_foot=tilt),
            (True, False): relaxed(right_foot=tilt),
            (True, True): relaxed(),
        }
        self.actuated = model.description.selection

    def _composed(
        self, model: IdynTreeModel, config: InverseKinematicsConfig, compiler: Compiler, tasks: Sequence[Task]
    ) -> ComposedProblem:
        walking = kinematic_tasks(config, model.description)
        limits = self.lower_limits, self.upper_limits
        body, composer = kinematic_problem(SymbolicDynamics.of(model), [*walking, *tasks], *limits)
        errors = [task.error(body) for task in walking if isinstance(task, (FootTask, WalkingComTask))]
        outputs = {"errors": cs.vertcat(*errors)}
        return ComposedProblem("inverse kinematics", body, composer, config.solver, compiler, outputs)

    def solve(
        self, state: RobotPosture, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> NDArray:
        """Return ν = (ṗ_B, ω_B, ṡ), world, mixed, shape (6 + n,).

        Args:
            state: Where the robot is (measured) or was commanded to be (position control).
            reference: What it should do.
            period: For which the velocity will be held, [s].
            relaxed: Come as near to feet and CoM as the joint limits allow.

        Raises:
            NoSolutionFound: Feet, CoM and limits contradict each other; it names what was the hardest to meet.
        """
        values = self._values(state, reference)
        values["period"] = period
        yields = reference.height_yields and not relaxed
        weights = self._yielding_weights[reference.left_foot.in_contact, reference.right_foot.in_contact]
        solution = self.problem.solve(values, relaxed, weights if yields else None)
        return base_first(solution, self._joints)

    def task_error(self, state: RobotPosture, reference: WholeBodyReference) -> NDArray:
        """Return the errors of the poses of both feet [m, rad] and of the CoM [m], shape (15,).

        The motion of the reference in the time constants of the tasks is part of them.
        """
        self.problem.evaluate(self._values(state, reference))
        return self.problem.outputs["errors"].copy()

    def _values(self, state: RobotPosture, reference: WholeBodyReference) -> Values:
        values = self.problem.reference_values(reference, has_feet=True)
        values["base_position"] = state.base_position
        values["base_rotation"] = state.base_rotation
        values["joint_positions"] = state.joint_positions
        return values


def integrate(state: RobotPosture | RobotState, velocity: NDArray, period: float) -> RobotPosture:
    """Return the state after moving at ``velocity`` = (ṗ_B, ω_B, ṡ) for ``period`` [s]."""
    motion = period * velocity
    return unchecked(
        RobotPosture,
        base_position=state.base_position + motion[:3],
        base_rotation=so3.exp(motion[3:6]).dot(state.base_rotation),
        joint_positions=state.joint_positions + motion[6:],
    )


ACCELERATION_TIME_CONSTANT = 0.02  # [s]
"""Of the low pass on desired accelerations; 0 passes the noise of the ZMP on to the feet."""


@configuration
class ServoFeedforwardConfig:
    """Fractions of the torques that are fed forward; 0 leaves them to the servo.

    Attributes:
        velocity: Of the servo's damping torque, [-].
        acceleration: Of the inertial torques, [-].
        velocity_time_constant: Of the low pass on the desired velocities, [s].
        hold: Periods by which set-points come later than the posture of the inverse kinematics, [-]. This posture leads
            the plan by two periods at the end of a tick; held from its beginning, by one and a half in the mean.
    """

    velocity: float = setting("-", least=0.0, most=1.0)
    acceleration: float = setting("-", least=0.0, most=1.0)
    velocity_time_constant: float = setting("s", least=0.0)
    hold: float = setting("-", least=0.0, most=2.0, why="more follows behind the plan")


class ServoInverse:
    r"""Inverts the position servos: returns the offset of the set-points with which they exert given torques.

    While the joints follow their desired positions, a servo (`JointGroup`) with the offset :math:`\delta` exerts

    .. math:: \tau = (k_p - (1 - \beta) k_v) \delta + k_d \beta \dot\delta + k_i \int \delta\, dt

    beside its damping. Each tick of duration T this is solved for :math:`\delta_k`; the integral, which the board keeps
    within its limit, is summed up here as well. An integral that has settled carries the load alone.
    """

    def __init__(self, description: RobotDescription) -> None:
        """Take the law of the actuated joints of a robot."""
        law, actuated = ServoLaw.of(description), description.selection
        proportional = law.stiffness - (1.0 - law.velocity_feedforward) * law.velocity_stiffness
        self._stiffness = proportional[actuated]
        self._per_rate = (law.velocity_feedforward * law.damping)[actuated]
        self._integral_gain, self._limit = law.integral_gain[actuated], law.integral_limit[actuated]
        self._integrates = bool(np.any(self._integral_gain))
        self.reset()

    def reset(self) -> None:
        """Begin again, with integrals that have settled."""
        self._offset: NDArray | None = None
        self._integral = np.zeros_like(self._stiffness)

    def offset(self, torques: NDArray, period: float) -> NDArray:
        """Return the offsets for the coming ``period`` [s]: [rad], (a,).

        Args:
            torques: Of the actuated joints, beyond the servos' damping, [N·m], (a,).
            period: [s].
        """
        if not self._integrates:
            return torques / self._stiffness
        if self._offset is None:
            self._integral = np.where(self._integral_gain > 0.0, np.clip(torques, -self._limit, self._limit), 0.0)
            self._offset = (torques - self._integral) / self._stiffness
        per_rate = self._per_rate / period
        remaining = torques - self._integral + per_rate * self._offset
        self._offset = remaining / (self._stiffness + per_rate)
        grown = self._integral + period * self._integral_gain * self._offset
        self._integral = np.minimum(np.maximum(grown, -self._limit), self._limit)
        return self._offset.copy()


class ServoFeedforward:
    r"""Computes the torques that position servos are to exert for a desired motion.

    A servo :math:`\tau = k_p (s_{cmd} - s) + k_d (\beta \dot s_{cmd} - \dot s)` holds a torque only with a position
    error. The torques that the motion needs are known,

    .. math:: \tau = M_s \dot\nu + h_s - \sum_k J_{k,s}^\top f_k,

    so the command is :math:`s_{cmd} = s + (\tau + \tau_f + (1 - \beta) k_d \dot s) / k_p`, with the friction of the
    drives, :math:`\tau_f`, or what `ServoInverse` makes of these torques for a servo with an integral. A velocity loop
    below a position gain :math:`k_x` is led by the set-point instead, :math:`s_{cmd} = s + (1 - \beta) \dot s / k_x`
    and the offset of the torques without damping, which leads its integral as well. The foot
    wrenches :math:`f_k` carry the linear inverted pendulum's force :math:`m (\ddot x + g)`, through the desired ZMP.

    Attributes:
        description: Of the robot.
        lead: Time by which the set-points of velocity loops lead the joints, [s], shape (a,).
        velocity_time_constant: Of that on the desired velocities, [s].
        hold: Periods by which set-points come later, [-].
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: ServoFeedforwardConfig,
        compiler: Compiler = interpreted,
        friction: FrictionFeedforward | None = None,
    ) -> None:
        self._config = config
        self._friction = None if friction is None or friction.is_off else friction
        self.description = description = model.description
        self._actuated = description.selection
        law = ServoLaw.of(description)
        is_loop = law.velocity_stiffness > 0.0
        damping = (1.0 - law.velocity_feedforward) * law.damping
        self._per_velocity = (config.velocity * np.where(is_loop, 0.0, damping))[self._actuated]
        self.lead = (config.velocity * np.where(is_loop, law.lag, 0.0))[self._actuated]
        key = (ServoFeedforward, model.fingerprint, compiler)
        self._function = built_once(key, lambda: _torque_function(SymbolicDynamics.of(model), compiler))
        self.velocity_time_constant, self.hold = config.velocity_time_constant, config.hold

    def servo_torques(
        self,
        state: RobotPosture,
        velocity: NDArray,
        acceleration: NDArray,
        left_foot_wrench: NDArray,
        right_foot_wrench: NDArray,
    ) -> NDArray:
        """Return the torques of the actuated joints, [N·m], shape (a,).

        With those against the servos' damping, but for velocity loops, whose set-points lead by `lead`.

        Args:
            state: Desired.
            velocity: Desired ν, shape (6 + n,).
            acceleration: Desired ν̇, shape (6 + n,).
            left_foot_wrench: Ground on foot, about the sole origin, world axes, [N, N·m], shape (6,).
            right_foot_wrench: The same.
        """
        config = self._config
        torques = self.torques(
            state,
            acceleration if config.acceleration == 1.0 else config.acceleration * acceleration,
            left_foot_wrench,
            right_foot_wrench,
        )[self._actuated]
        torques = torques + self._per_velocity * velocity[6:][self._actuated]
        if self._friction is not None:
            torques += self._friction.torques(velocity[6:][self._actuated])
        return torques

    def torques(
        self, state: RobotPosture, acceleration: NDArray, left_foot_wrench: NDArray, right_foot_wrench: NDArray
    ) -> NDArray:
        """Return the torques of all joints at rest under the wrenches plus the inertial ones, [N·m], shape (n,).

        The array is that of all calls: the next one overwrites it.
        """
        self._function.set(
            base_rotation=state.base_rotation,
            joint_positions=state.joint_positions,
            acceleration=acceleration,
            left_foot_wrench=left_foot_wrench,
            right_foot_wrench=right_foot_wrench,
        )
        return self._function()["torques"]


def _torque_function(dynamics: SymbolicDynamics, compiler: Compiler) -> FlatFunction:
    description = dynamics.model.description
    acceleration = cs.SX.sym("acceleration", 6 + dynamics.joints)
    wrenches = {side: cs.SX.sym(f"{side}_foot_wrench", 6) for side in ("left", "right")}
    left, right = dynamics.frame(description.left_foot_frame), dynamics.frame(description.right_foot_frame)
    contact = left.jacobian.T @ wrenches["left"] + right.jacobian.T @ wrenches["right"]
    forces = dynamics.mass_matrix @ acceleration + (dynamics.bias_forces - contact)
    at_rest = cs.substitute(
        forces[6:], cs.vertcat(dynamics.base_twist, dynamics.joint_velocities), np.zeros(6 + dynamics.joints)
    )
    return FlatFunction(
        f"servo_feedforward_{description.name}",
        inputs={
            "base_rotation": dynamics.base_rotation,
            "joint_positions": dynamics.joint_positions,
            "acceleration": acceleration,
            "left_foot_wrench": wrenches["left"],
            "right_foot_wrench": wrenches["right"],
        },
        outputs={"torques": at_rest},
        compiler=compiler,
    )


@configuration
class FootAdmittanceConfig:
    """Gains with which feet that stand yield to forces that were not expected.

    Attributes:
        height_gain: Speed of one foot against the other for each newton that it carries too much, [m/(s·N)].
        tilt_gain: Angular velocity of a sole for each moment about its expected centre of pressure, [rad/(s·N·m)].
        spread_gain: Horizontal speed of one foot against the other for each newton by which they pull, [m/(s·N)].
        leak_time_constant: In which what has been yielded is taken back while both feet stand, [s].
        expected_time_constant: Of the low pass on the expected wrenches: measured ones are as much older, [s].
        surplus_time_constant: Of the low pass on measured less expected wrenches: what is faster answers the
            servos, and closes a loop with them, [s].
        highest: Largest height of a sole over its plan, [m].
        widest: Largest horizontal way of a sole along each of its axes, [m].
        steepest: Largest tilt of a sole about each axis, [rad].
    """

    height_gain: float = setting("m/(s·N)", least=0.0)
    tilt_gain: float = setting("rad/(s·N·m)", least=0.0)
    spread_gain: float = setting("m/(s·N)", least=0.0)
    leak_time_constant: float = setting("s", above=0.0)
    expected_time_constant: float = setting("s", least=0.0)
    surplus_time_constant: float = setting("s", least=0.0)
    highest: float = setting("m", least=0.0)
    widest: float = setting("m", least=0.0)
    steepest: float = setting("rad", least=0.0)


class FootAdmittance:
    r"""Control of the difference of the feet's forces and of the moments about their centres of pressure.

    Legs of stiff servos, with both soles on the floor, are a closed chain: encoder errors of half a degree or a sole
    that is not flat shift all load to one foot, or to an edge, and let the feet pull against each other as hard as
    hips can. Feet that stand therefore yield (Kajita et al. 2010, Caron et al. 2019), while both of them stand:

    .. math::
        \dot h &= \tfrac12 a_h F \left[(f_l - f_r) - (f_l - f_r)^e\right] - h / T, &
        z_{l,r} &= z^p_{l,r} \pm h, \\
        \dot s &= \tfrac12 a_s F \left[(t_l - t_r) - (t_l - t_r)^e\right] - s / T, &
        p_{l,r} &= p^p_{l,r} \pm s, \\
        \dot\theta_k &= a_\theta F \left(\mu_k - c^e_k \times f_k\right)_{x,y} - \theta_k / T, &
        R_k &= R^p_k \, Exp(\theta_k),

    with a low pass F, normal forces :math:`f`, horizontal forces :math:`t` in the axes of the left sole, moments
    :math:`\mu_k` about the sole's origin and the expected centres of pressure :math:`c^e_k` of the plan and the DCM
    law. The offsets are kept while one foot swings, since what causes them goes along with the joints: the next step
    lands as the last one ended. F begins anew as both stand. Ahead they yield while the CoM is planned to rest: once
    it moves, the pendulum knows too little of how feet share the force that drives it.

    ====================  ==========================  ============
    Symbol                Field                       Unit
    ====================  ==========================  ============
    :math:`a_h`           ``height_gain``             m/(s·N)
    :math:`a_s`           ``spread_gain``             m/(s·N)
    :math:`a_\theta`      ``tilt_gain``               rad/(s·N·m)
    :math:`T`             ``leak_time_constant``      s
    ====================  ==========================  ============
    """

    def __init__(self, config: FootAdmittanceConfig, compiler: Compiler = interpreted) -> None:
        """Take the gains; ``compiler`` makes the equations fast."""
        self._config = config
        self._is_off = config.height_gain == config.tilt_gain == config.spread_gain == 0.0
        self._function = built_once((FootAdmittance, compiler), lambda: _admittance(compiler))
        self._function.set(**{name: getattr(config, name) for name in _CONSTANTS})
        inputs = self._function.inputs
        self._memory = inputs["memory"]
        rows = [row for name in ("expected", "measured", "positions") for row in inputs[name]]
        left, right = inputs["rotations"][:3], inputs["rotations"][3:]
        self._windows = [*rows, left, right, *inputs["twists"]]  # left, right of each
        self._period, self._gains = math.nan, [1.0, 1.0]  # [s] for which the low passes have their gains
        self.reset()

    @property
    def height(self) -> float:
        """Height of the left sole over its plan, and of the right one below it, [m]."""
        return float(self._memory[0])

    @property
    def tilts(self) -> NDArray:
        """Turns of both soles about their x and y, [rad], shape (2, 2)."""
        return self._memory[3:7].reshape(2, 2).copy()

    def reset(self) -> None:
        """Forget the past: both soles are as planned."""
        self._memory[...] = 0.0
        self._is_first = True

    def adapted(
        self, reference: WholeBodyReference, state: RobotState, period: float, is_trusted: bool = True
    ) -> WholeBodyReference:
        """Return the reference with the soles as they have yielded.

        Args:
            reference: Of the plan, with the expected wrenches.
            state: With the measured wrenches.
            period: [s].
            is_trusted: Whether both feet's sensors are; otherwise the soles stay as they are.
        """
        if self._is_off:
            return reference
        left, right, function = reference.left_foot, reference.right_foot, self._function
        if period != self._period:
            constants = self._config.expected_time_constant, self._config.surplus_time_constant
            self._period, self._gains = period, [low_pass_gain(constant, period) for constant in constants]
        gains = [1.0, 1.0] if self._is_first else self._gains
        self._is_first = False
        yields = is_trusted and left.in_contact and right.in_contact
        function.set(
            period=period,
            expected_gain=gains[0],
            surplus_gain=gains[1],
            yields=yields,
            rests=yields and math.hypot(*reference.com_velocity[:2].tolist()) < _AT_REST,
        )
        wrenches = (
            *(reference.left_foot_wrench, reference.right_foot_wrench),
            *(state.left_foot_wrench, state.right_foot_wrench),
        )
        poses = left.position, right.position, left.rotation, right.rotation, left.twist, right.twist
        for window, value in zip(self._windows, wrenches + poses, strict=True):
            window[...] = value
        outputs = function()
        self._memory[...] = outputs["memory"]
        (p_left, p_right), (v_left, v_right) = outputs["positions"].copy(), outputs["twists"].copy()
        rotations = outputs["rotations"].copy()
        return altered(
            reference,
            left_foot=altered(left, position=p_left, rotation=rotations[:3], twist=v_left),
            right_foot=altered(right, position=p_right, rotation=rotations[3:], twist=v_right),
        )


_CONSTANTS = ("height_gain", "tilt_gain", "spread_gain", "leak_time_constant", "highest", "widest", "steepest")


def _admittance(compiler: Compiler) -> FlatFunction:
    """Return the equations; rows of matrices: left, right; memory: shifts, tilts, low passes."""
    shapes = {"expected": (2, 6), "measured": (2, 6), "positions": (2, 3), "rotations": (6, 3), "twists": (2, 6)}
    inputs = {name: cs.SX.sym(name, *shape) for name, shape in shapes.items()}
    numbers = "period", "expected_gain", "surplus_gain", "yields", "rests", *_CONSTANTS
    inputs |= {name: cs.SX.sym(name) for name in numbers}
    inputs["memory"] = memory = cs.SX.sym("memory", 26)
    shifts, tilts, last = memory[:3], (memory[3:5], memory[5:7]), cs.reshape(memory[7:19], 6, 2).T
    expected = last + inputs["expected_gain"] * (inputs["expected"] - last)
    expected = cs.if_else(inputs["expected_gain"] < 1.0, expected, inputs["expected"])
    surplus = inputs["surplus_gain"] * (_surplus(inputs, expected) - memory[19:])
    surplus = inputs["yields"] * (memory[19:] + surplus)
    rates, turns = _rates(inputs, surplus, shifts, tilts)
    shifts, axes = shifts + inputs["period"] * rates, _axes(inputs)
    kept = [shifts]
    outputs: dict[str, list[cs.SX]] = {"positions": [], "rotations": [], "twists": []}
    for row, sign in ((0, 1.0), (1, -1.0)):
        tilt = tilts[row] + inputs["period"] * turns[row]
        kept.append(tilt)
        rotation = inputs["rotations"][3 * row : 3 * row + 3, :]
        spin = rotation[:, :2] @ turns[row]
        outputs["positions"].append(inputs["positions"][row, :] + sign * (axes @ shifts).T)
        outputs["rotations"].append(rotation @ symbolic_exp(cs.vertcat(tilt, 0.0)))
        outputs["twists"].append(inputs["twists"][row, :] + cs.vertcat(sign * axes @ rates, spin).T)
    results = {name: cs.vertcat(*rows) for name, rows in outputs.items()}
    results["memory"] = cs.vertcat(*kept, cs.vec(expected.T), surplus)
    return FlatFunction("foot_admittance", inputs, results, compiler)


def _axes(inputs: Mapping[str, cs.SX]) -> cs.SX:
    """Return the axes of the shifts, columns: up, and the left sole's x and y without what is not horizontal."""
    level = cs.vertcat(inputs["rotations"][:2, :2], cs.SX.zeros(1, 2))
    return cs.horzcat(cs.DM([0.0, 0.0, 1.0]), level)


def _surplus(inputs: Mapping[str, cs.SX], expected: cs.SX) -> cs.SX:
    """Return what was not expected, (7, 1).

    That is half of the difference of the feet's forces [N], along `_axes`, and the moments about their centres of
    pressure, axes of the soles [N·m].
    """
    measured = inputs["measured"]
    rows = [_axes(inputs).T @ (0.5 * (measured - expected)[:, :3].T @ cs.DM([1.0, -1.0]))]
    for row in range(2):
        rotation = inputs["rotations"][3 * row : 3 * row + 3, :]
        levers = expected[row, 3:5] / cs.fmax(expected[row, _NORMAL], 1.0)
        moment = cs.vertcat((measured[row, 3:5] - measured[row, _NORMAL] * levers).T, 0.0)
        rows.append((rotation.T @ moment)[:2])
    return cs.vertcat(*rows)


def _rates(
    inputs: Mapping[str, cs.SX], surplus: cs.SX, shifts: cs.SX, tilts: Sequence[cs.SX]
) -> tuple[cs.SX, list[cs.SX]]:
    """Return the rates of the shifts, (3, 1), [m/s], and of both tilts, [rad/s]: zero unless the feet yield."""

    def rate(offset: cs.SX, gain: cs.SX, cause: cs.SX, limit: cs.SX) -> cs.SX:
        wanted = gain * cause - offset / inputs["leak_time_constant"]
        reached = cs.fmin(cs.fmax(offset + inputs["period"] * wanted, -limit), limit)
        return cs.if_else(inputs["yields"] > 0.5, (reached - offset) / inputs["period"], 0.0)

    height, spread = (inputs[f"{name}_gain"] for name in ("height", "spread"))
    climb = rate(shifts[0], height, surplus[0], inputs["highest"])
    gains = spread * inputs["rests"], spread  # ahead, to the side
    apart = [rate(shifts[1 + axis], gain, surplus[1 + axis], inputs["widest"]) for axis, gain in enumerate(gains)]
    moments = surplus[3:5], surplus[5:7]
    turns = [rate(tilts[row], inputs["tilt_gain"], moments[row], inputs["steepest"]) for row in range(2)]
    return cs.vertcat(climb, *apart), turns


class PositionController:
    """Sends joint positions: the inverse kinematics runs on its own integrated state, the servos follow it."""

    def __init__(
        self, inverse_kinematics: WalkingKinematics, feedforward: ServoFeedforward, posture: RobotPosture
    ) -> None:
        self._inverse_kinematics = inverse_kinematics
        self._feedforward = feedforward
        self._servos = ServoInverse(feedforward.description)
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``."""
        self._inverse_kinematics.problem.reset()
        self.desired_posture = posture
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self._acceleration = LowPass(ACCELERATION_TIME_CONSTANT, self.desired_velocity)
        self._velocity = LowPass(self._feedforward.velocity_time_constant, self.desired_velocity)
        self._servos.reset()

    @property
    def desired_joint_positions(self) -> NDArray:
        """See ``WholeBodyController.desired_joint_positions``."""
        return self.desired_posture.joint_positions

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        velocity = self._inverse_kinematics.solve(self.desired_posture, reference, period, relaxed)
        acceleration = self._acceleration.update((velocity - self.desired_velocity) / period, period)
        self.desired_posture = integrate(self.desired_posture, velocity, period)
        self.desired_velocity = velocity
        smooth = self._velocity.update(velocity, period)
        torques = self._feedforward.servo_torques(
            self.desired_posture, smooth, acceleration, reference.left_foot_wrench, reference.right_foot_wrench
        )
        offset = self._servos.offset(torques, period)
        actuated = self._inverse_kinematics.actuated
        ahead = (self._feedforward.lead - self._feedforward.hold * period) * smooth[6:][actuated]
        positions = self.desired_posture.joint_positions[actuated] + ahead + offset
        return unchecked(JointCommand, mode=ControlMode.POSITION, values=positions)
