r"""Control joint torques: the variables, the problem and the tick that rigid and soft ground have in common.

The equations of motion, :math:`M \dot\nu + h = [0; \tau] + \sum_k J_k^\top f_k`, leave a choice of what a problem is
solved for. Joints come first, for they have bounds; wrenches and torques are counted in larger units, which keeps the
problem well conditioned. (The acceleration of the base can be eliminated too. That makes the QP a third cheaper and
the function that states it three times as long: nothing is won.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ControlMode, JointCommand, NDArray, RobotPosture, RobotState, Side, sealed
from gradiva.robot_model import Compiler, SymbolicDynamics, SymbolicFrame
from gradiva.whole_body.composed_problem import UNBOUNDED, ComposedProblem, QpComposer, affine
from gradiva.whole_body.inverse_kinematics import integrate
from gradiva.whole_body.limits import (
    JointLimitConfig,
    TorqueLimitConfig,
    WrenchConeConfig,
    acceleration_bounds,
    cone_numbers,
    cone_rows,
    in_axes_of,
    torque_bounds,
)
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import (
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    Priority,
    frame_acceleration,
    orientation_law,
    pose_law,
)
from gradiva.whole_body.whole_body_reference import (
    Parameters,
    ReferenceSymbols,
    Values,
    WholeBodyReference,
    tick_values,
)

_FORCE_UNIT = 30.0  # [N, N·m] so that wrenches count as much as accelerations

Wrenches = dict[Side, cs.SX]
Frames = dict[Side, SymbolicFrame]


class Form(StrEnum):
    """What the problem of the rigid controller is solved for."""

    FULL = "full"
    """Accelerations, wrenches and torques."""
    REDUCED = "reduced"
    """Accelerations and wrenches; torques follow from the joints' rows of the dynamics."""


@dataclass
class Unknowns:
    """The variables, and the physical quantities as expressions in them.

    Attributes:
        variables: x, in the solver's order.
        bounded: How many of the first may have bounds.
        acceleration: ν̇, (6 + n, 1).
        wrenches: Ground on foot, about the sole origin, world axes, by side, (6, 1) each.
        torques: [N·m], (n, 1).
        laws: What is missing to the laws of nature, by name.
        first_wrench: Where in the variables the wrench of each foot begins, when it is unknown.
    """

    variables: cs.SX
    bounded: int
    acceleration: cs.SX
    wrenches: Wrenches
    torques: cs.SX
    laws: dict[str, cs.SX]
    first_wrench: dict[Side, int]


def rigid_unknowns(form: Form, dynamics: SymbolicDynamics, feet: Frames) -> Unknowns:
    """Return s̈, both wrenches, τ in the full form, and the acceleration of the base, in this order."""
    n = dynamics.joints
    joints, base = cs.SX.sym("joint_accelerations", n), cs.SX.sym("base_acceleration", 6)
    scaled = cs.SX.sym("wrenches", 12)
    wrenches = {Side.LEFT: _FORCE_UNIT * scaled[:6], Side.RIGHT: _FORCE_UNIT * scaled[6:]}
    acceleration = cs.vertcat(base, joints)
    missing = _missing_forces(dynamics, feet, acceleration, wrenches)
    free, laws, torques = [joints, scaled], {"base dynamics": missing[:6]}, missing[6:]
    if form is Form.FULL:
        scaled_torques = cs.SX.sym("torques", n)
        free.append(scaled_torques)
        torques = _FORCE_UNIT * scaled_torques
        laws["joint dynamics"] = missing[6:] - torques
    first = {Side.LEFT: n, Side.RIGHT: n + 6}
    return Unknowns(cs.vertcat(*free, base), n + 12, acceleration, wrenches, torques, laws, first)


def compliant_unknowns(dynamics: SymbolicDynamics, feet: Frames, wrenches: Wrenches) -> Unknowns:
    """Return s̈ and the acceleration of the base, in this order; the wrenches are measured."""
    joints, base = cs.SX.sym("joint_accelerations", dynamics.joints), cs.SX.sym("base_acceleration", 6)
    acceleration = cs.vertcat(base, joints)
    missing = _missing_forces(dynamics, feet, acceleration, wrenches)
    laws = {"base dynamics": missing[:6]}
    return Unknowns(cs.vertcat(joints, base), dynamics.joints, acceleration, wrenches, missing[6:], laws, {})


def _missing_forces(dynamics: SymbolicDynamics, feet: Frames, acceleration: cs.SX, wrenches: Wrenches) -> cs.SX:
    r"""Return :math:`M \dot\nu + h - \sum_k J_k^\top f_k`: should be six zeros, then the joint torques, (6 + n, 1)."""
    forces = dynamics.mass_matrix @ acceleration + dynamics.bias_forces
    for side in Side:
        forces -= feet[side].jacobian.T @ wrenches[side]
    return forces


class ProblemDraft:
    """Robot, references, unknowns, and what has been asked of them so far.

    Attributes:
        dynamics: The robot.
        feet: Sole frames.
        parameters: All inputs.
        references: What the body should do.
        unknowns: What is solved for.
        composer: Collects costs and constraints.
        outputs: Expressions wanted beside the problem, by name.
    """

    def __init__(
        self,
        dynamics: SymbolicDynamics,
        feet: dict[Side, SymbolicFrame],
        parameters: Parameters,
        references: ReferenceSymbols,
        unknowns: Unknowns,
    ) -> None:
        self.dynamics = dynamics
        self.feet = feet
        self.parameters = parameters
        self.references = references
        self.unknowns = unknowns
        self.composer = QpComposer(unknowns.variables, unknowns.bounded)
        self.outputs: dict[str, cs.SX] = {}
        for name, missing in unknowns.laws.items():
            self.composer.law(name, missing)

    def gains(self, name: str, stiffness: float, damping: float) -> tuple[cs.SX, cs.SX]:
        """Return the symbols of a task's gains."""
        constant = self.parameters.constant
        return constant(f"{name}.stiffness", stiffness), constant(f"{name}.damping", damping)

    def task(
        self, name: str, residual: cs.SX, priority: Priority, weight: float, activity: cs.SX | float = 1.0
    ) -> None:
        """Ask for a residual of zero; see ``QpComposer.task``."""
        symbol = self.parameters.constant(f"{name}.weight", weight)
        self.composer.task(name, residual, priority, symbol, weight, activity)

    def foot(self, name: str, side: Side, config: PoseTaskConfig, activity: cs.SX) -> None:
        """Ask one sole to follow its reference while ``activity`` is 1."""
        name = f"{side} {name} foot"
        linear = self.gains(f"{name}.linear", config.linear_stiffness, config.linear_damping)
        angular = self.gains(f"{name}.angular", config.angular_stiffness, config.angular_damping)
        wanted = pose_law(self.feet[side], self.references.feet[side], linear, angular)
        reached = frame_acceleration(self.feet[side], self.unknowns.acceleration)
        self.task(name, reached - wanted, config.priority, config.weight, activity)

    def trunk(self, torso: OrientationTaskConfig, pelvis: OrientationTaskConfig) -> None:
        """Ask torso and pelvis to be turned as their references."""
        description = self.dynamics.model.description
        self._orientation("torso", description.torso_frame, self.references.torso_rotation, torso)
        self._orientation("pelvis", description.base_link, self.references.pelvis_rotation, pelvis)

    def posture(self, config: PostureTaskConfig) -> None:
        r"""Ask joints towards their references: :math:`\ddot s^* = k_p (s_r - s) - k_d \dot s`, as a cost."""
        description = self.dynamics.model.description
        stiffness = description.spread(config.stiffness, "[posture.stiffness]")
        spring = self.parameters.constant("posture.stiffness", stiffness)
        damper = self.parameters.constant("posture.damping", 2.0 * np.sqrt(stiffness))
        weights = self.parameters.constant("posture.weights", description.spread(config.weights, "[posture.weights]"))
        missing = self.references.posture - self.dynamics.joint_positions
        wanted = spring * missing - damper * self.dynamics.joint_velocities
        self.composer.cost("posture", self.unknowns.acceleration[6:] - wanted, weights)

    def joint_limits(self, config: JointLimitConfig) -> None:
        """Keep the joints within their positions."""
        lower, upper = acceleration_bounds(config, self.dynamics, self.parameters)
        self.composer.bound("joint positions", 0, lower, upper, config.priority, config.weight)

    def torque_limits(self, config: TorqueLimitConfig) -> None:
        """Keep the torques within their limits, and within ``torque_step`` of the ``last_torques``, inputs."""
        lower, upper = torque_bounds(self.dynamics, self.parameters)
        self.composer.limit("joint torques", self.unknowns.torques, lower, upper, config.priority, config.weight)

    def cone(self, side: Side, wrench: cs.SX, config: WrenchConeConfig) -> None:
        """Keep the wrench of one foot to what the ground can exert, while it is loaded."""
        sole = self.dynamics.model.description.sole
        name = f"{side} foot's wrench"
        numbers = self.parameters.constant(f"{name}.cone", cone_numbers(config, sole, side))
        value = cone_rows(in_axes_of(self.feet[side].rotation, wrench), numbers)
        endless = UNBOUNDED * cs.SX.ones(value.numel())
        upper = (1.0 - self.references.feet[side].is_loaded) * endless
        self.composer.limit(name, value, -endless, upper, config.priority, config.weight)

    def _orientation(self, name: str, frame: str, rotation: cs.SX, config: OrientationTaskConfig) -> None:
        body = self.dynamics.frame(frame)
        gains = self.gains(name, config.stiffness, config.damping)
        references = self.references
        wanted = orientation_law(
            body, rotation, references.trunk_angular_velocity, references.trunk_angular_acceleration, gains
        )
        reached = frame_acceleration(body, self.unknowns.acceleration)[3:]
        self.task(name, reached - wanted, config.priority, config.weight)


class TorqueProblem(ComposedProblem):
    """Accelerations and torques of one tick; ``outputs`` has what the draft wanted, and how torques follow."""

    def __init__(self, name: str, draft: ProblemDraft, solver: SolverName, compiler: Compiler) -> None:
        """Build, and compile, the function; ``name`` appears in errors."""
        dynamics, parameters, unknowns = draft.dynamics, draft.parameters, draft.unknowns
        parameters.add(
            base_position=dynamics.base_position,
            base_rotation=dynamics.base_rotation,
            base_twist=dynamics.base_twist,
            joint_positions=dynamics.joint_positions,
            joint_velocities=dynamics.joint_velocities,
        )
        rows, offset = affine(unknowns.torques, unknowns.variables)
        outputs = {"torque_rows": rows, "torque_offset": offset, **draft.outputs}
        robot = dynamics.model.description.name
        super().__init__(name, robot, draft.composer, parameters, solver, compiler, outputs)
        self._joints = dynamics.joints

    def command(self, values: Mapping[str, npt.ArrayLike], relaxed: bool) -> tuple[NDArray, NDArray]:
        """Return ν̇, shape (6 + n,), and τ, [N·m], shape (n,), at the optimum; see `solve`."""
        solution, out = self.solve(values, relaxed), self.outputs
        acceleration = np.concatenate((solution[-6:], solution[: self._joints]))
        return acceleration, out["torque_rows"].dot(solution) + out["torque_offset"]


class TorqueController:
    """What both grounds have in common: the tick, and what is remembered of it.

    Attributes:
        problem: Of the last tick.
        desired_velocity: ν to which the commanded accelerations lead until the end of the tick, (6 + n,).
        desired_joint_positions: Where that velocity leads until then, [rad], (n,).
    """

    def __init__(
        self,
        problem: TorqueProblem,
        search_speed: float,
        torque_rate: float,
        posture: RobotPosture,
    ) -> None:
        """Take what does not change.

        Args:
            problem: Solved in each tick.
            search_speed: At which a foot that should stand and does not touch looks for the ground, [m/s].
            torque_rate: By which a torque may change, [N·m/s].
            posture: Where the robot begins.
        """
        self.problem = problem
        self._search_speed = search_speed
        self._rate = torque_rate
        self.reset(posture)

    def reset(self, posture: RobotPosture) -> None:
        """See ``WholeBodyController.reset``; the first torques are free: who sends them leads the joints there."""
        self.problem.reset()
        self._posture: RobotPosture | None = posture
        self._start: RobotPosture | RobotState = posture
        self._period = 0.0
        self.desired_velocity = np.zeros(6 + len(posture.joint_positions))
        self.desired_joint_positions = posture.joint_positions
        self._torques: NDArray | None = None

    @property
    def desired_posture(self) -> RobotPosture:
        """See ``WholeBodyController.desired_posture``; it is computed once, when somebody asks."""
        if self._posture is None:
            self._posture = integrate(self._start, self.desired_velocity, self._period)
        return self._posture

    def command(
        self, state: RobotState, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> JointCommand:
        """See ``WholeBodyController.command``."""
        values = self._values(state, reference, period)
        acceleration, torques = self.problem.command(values, relaxed)
        self._torques = sealed(torques)
        velocity = np.concatenate((state.base_twist, state.joint_velocities))
        self.desired_velocity = sealed(velocity + period * acceleration)
        self.desired_joint_positions = sealed(state.joint_positions + period * self.desired_velocity[6:])
        self._posture, self._start, self._period = None, state, period
        return JointCommand(ControlMode.TORQUE, self._torques)

    def _values(self, state: RobotState, reference: WholeBodyReference, period: float) -> Values:
        values = tick_values(state, reference, self._search_speed)
        values["last_torques"] = 0.0 if self._torques is None else self._torques
        values["torque_step"] = UNBOUNDED if self._torques is None else period * self._rate
        return values
