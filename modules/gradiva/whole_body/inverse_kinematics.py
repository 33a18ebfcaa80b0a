r"""Find the robot velocity that follows a reference, by a quadratic program (thesis section 7.1).

Variables
    :math:`\nu = (\dot p_B, \omega_B, \dot s)`, solved with the joints first.
Objective
    torso orientation :math:`\|\Psi_T\|^2_{\Lambda_T}`, pelvis orientation (not in the thesis: free, it swings
    with the legs), centroidal angular momentum (not in the thesis: the arms swing against the legs) and posture
    :math:`\|\Psi_s\|^2_{\Lambda_s}`.
Constraints
    both feet on their poses and the centre of mass on its path (equalities, 7.1.16b–d); joint positions and
    velocities within their limits, :math:`(s^- - s)/dt \le \dot s \le (s^+ - s)/dt` (7.1.15).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs
import numpy as np
import numpy.typing as npt

from gradiva.common import ConfigError, NDArray, RobotPosture, RobotState, so3, unchecked
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, interpreted
from gradiva.whole_body.composed_problem import ComposedProblem, QpComposer
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import Priority, Task, angular_momentum_task, com_task, posture_task, se3_task, so3_task
from gradiva.whole_body.whole_body_reference import Parameters, WholeBodyReference

_HARD_GAINS = ("foot_linear_gain", "foot_angular_gain", "com_gain")


@dataclass(frozen=True, slots=True)
class InverseKinematicsConfig:
    """Gains and weights of the tasks.

    Attributes:
        foot_linear_gain: [1/s].
        foot_angular_gain: [1/s].
        com_gain: [1/s].
        torso_gain: [1/s].
        posture_gain: [1/s].
        torso_weight: Against the posture's, [-].
        pelvis_weight: Against the posture's, [-].
        angular_momentum_weights: Of the centroidal angular momentum about x, y and z, [1/(kg·m²)²]; about z it swings
            the arms against the legs.
        posture_weights: By joint group, [-].
        position_margin: Kept from each joint limit, [rad].
        solver: ``daqp`` or ``osqp``.
    """

    foot_linear_gain: float
    foot_angular_gain: float
    com_gain: float
    torso_gain: float
    posture_gain: float
    torso_weight: float
    pelvis_weight: float
    angular_momentum_weights: tuple[float, float, float]
    posture_weights: dict[str, float]
    position_margin: float = 1e-3
    solver: SolverName = SolverName.DAQP

    def __post_init__(self) -> None:
        for name in _HARD_GAINS:
            if getattr(self, name) <= 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must be positive: without it feet and CoM drift off")
        for name in ("torso_gain", "posture_gain", "torso_weight", "pelvis_weight", "position_margin"):
            if getattr(self, name) < 0.0:
                raise ConfigError(f"{name}={getattr(self, name)}, must not be negative")
        if min(self.angular_momentum_weights) < 0.0:
            raise ConfigError(f"angular_momentum_weights={self.angular_momentum_weights}, must not be negative")
        for group, weight in self.posture_weights.items():
            if weight <= 0.0:
                raise ConfigError(f"posture_weights.{group}={weight}, must be positive")


_RELAXED_SLACK_WEIGHT = 1e6  # [-] of feet and CoM against the posture, where they cannot be met


class KinematicsDraft:
    """Robot, references, and what has been asked of its velocity.

    Attributes:
        composer: Collects costs and constraints; joints come first among the variables, for they have bounds.
        parameters: All inputs.
        errors: What is missing to the poses of both feet and to the CoM: their targets over their gains, (15, 1).
    """

    def __init__(self, dynamics: SymbolicDynamics, config: InverseKinematicsConfig) -> None:
        """Put tasks together; `limits` are added to them.

        Raises:
            ConfigError: A posture weight is missing or belongs to no joint group.
        """
        joints, base = cs.SX.sym("joint_velocities", dynamics.joints), cs.SX.sym("base_velocity", 6)
        self._dynamics = dynamics
        self._velocity = cs.vertcat(base, joints)
        self.composer = QpComposer(cs.vertcat(joints, base), dynamics.joints)
        self.parameters = Parameters()
        self.parameters.add(
            base_position=dynamics.base_position,
            base_rotation=dynamics.base_rotation,
            joint_positions=dynamics.joint_positions,
        )
        self.errors = self._feet_and_com(config)
        self._trunk(config)
        self._joints(config)

    def limits(self, lower: NDArray, upper: NDArray, speed: NDArray) -> None:
        """Keep joint positions, [rad], and velocities, [rad/s], for the input ``period``, [s], for which they are held.

        A joint beyond its limit is brought back, at most at its velocity limit.
        """
        constant, period = self.parameters.constant, self.parameters.symbol("period")
        limit = constant("velocity_limits", speed)
        slowest, fastest = (
            cs.fmin(cs.fmax((constant(name, bound) - self._dynamics.joint_positions) / period, -limit), limit)
            for name, bound in (("lower_limits", lower), ("upper_limits", upper))
        )
        self.composer.bound("joint limits", 0, slowest, fastest, Priority.HARD, 0.0, is_law=True)

    def _feet_and_com(self, config: InverseKinematicsConfig) -> cs.SX:
        """Ask for them in every case but a relaxed one, and return what is missing to them."""
        dynamics, description = self._dynamics, self._dynamics.model.description
        linear = self.parameters.constant("foot_linear_gain", config.foot_linear_gain)
        angular = self.parameters.constant("foot_angular_gain", config.foot_angular_gain)
        com_gain = self.parameters.constant("com_gain", config.com_gain)
        left = se3_task(dynamics, description.left_foot_frame, "left_foot", linear, angular)
        right = se3_task(dynamics, description.right_foot_frame, "right_foot", linear, angular)
        com = com_task(dynamics, com_gain)
        for name, task in (("left foot", left), ("right foot", right), ("centre of mass", com)):
            self.composer.task(name, self._missing(task), Priority.HARD, cs.SX(1.0), _RELAXED_SLACK_WEIGHT)
        feet = [share for foot in (left, right) for share in (foot.target[:3] / linear, foot.target[3:] / angular)]
        return cs.vertcat(*feet, com.target / com_gain)

    def _trunk(self, config: InverseKinematicsConfig) -> None:
        """Torso and pelvis share their reference's angular velocity and a gain."""
        dynamics, description = self._dynamics, self._dynamics.model.description
        gain = self.parameters.constant("torso_gain", config.torso_gain)
        velocity = self.parameters.symbol("trunk_angular_velocity", 3)
        torso = so3_task(dynamics, description.torso_frame, "torso", velocity, gain)
        pelvis = so3_task(dynamics, description.base_link, "pelvis", velocity, gain)
        self.composer.cost("torso", self._missing(torso), self.parameters.constant("torso_weight", config.torso_weight))
        self.composer.cost(
            "pelvis", self._missing(pelvis), self.parameters.constant("pelvis_weight", config.pelvis_weight)
        )

    def _joints(self, config: InverseKinematicsConfig) -> None:
        """Angular momentum and posture."""
        dynamics, constant = self._dynamics, self.parameters.constant
        momentum_weights = constant("angular_momentum_weights", np.array(config.angular_momentum_weights))
        self.composer.cost("angular momentum", self._missing(angular_momentum_task(dynamics)), momentum_weights)
        posture = posture_task(dynamics, constant("posture_gain", config.posture_gain))
        table = "[inverse_kinematics.posture_weights]"
        weights = dynamics.model.description.spread(config.posture_weights, table)
        self.composer.cost("posture", self._missing(posture), constant("posture_weights", weights))

    def _missing(self, task: Task) -> cs.SX:
        """Return what is missing to a task, and take its references in."""
        self.parameters.add(**task.parameters)
        return task.jacobian @ self._velocity - task.target


class InverseKinematics:
    """Finds the robot velocity that follows a reference; see the module's text for the problem.

    Attributes:
        problem: Composed of the tasks; joints come first among its variables.
        lower_limits: Joint positions, margin included, [rad], shape (n,).
        upper_limits: The same.
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: InverseKinematicsConfig,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem.

        Raises:
            ConfigError: A posture weight is missing or belongs to no joint group.
        """
        lower, upper = model.joint_limits()
        self.lower_limits = lower + config.position_margin
        self.upper_limits = upper - config.position_margin
        self._joints = len(lower)
        draft = KinematicsDraft(SymbolicDynamics(model), config)
        draft.limits(self.lower_limits, self.upper_limits, model.velocity_limits())
        self.problem = ComposedProblem(
            "inverse kinematics",
            model.description.name,
            draft.composer,
            draft.parameters,
            config.solver,
            compiler,
            outputs={"errors": draft.errors},
        )

    def solve(
        self, state: RobotPosture, reference: WholeBodyReference, period: float, relaxed: bool = False
    ) -> NDArray:
        """Return ν = (ṗ_B, ω_B, ṡ), world, mixed, shape (6 + n,).

        Args:
            state: Where the robot is (measured) or was told to be (position control).
            reference: What it should do.
            period: For which the velocity will be held, [s].
            relaxed: Come as near to feet and CoM as the joint limits allow.

        Raises:
            NoSolutionFound: Feet, CoM and limits contradict each other; it names what was the hardest to meet.
        """
        solution = self.problem.solve(_values(state, reference) | {"period": period}, relaxed)
        return np.concatenate((solution[self._joints :], solution[: self._joints]))

    def task_error(self, state: RobotPosture, reference: WholeBodyReference) -> NDArray:
        """Return what is missing to the poses of both feet [m, rad] and to the CoM [m], shape (15,).

        What the reference moves by in the time constants of the tasks counts as missing.
        """
        self.problem.evaluate(_values(state, reference))
        return self.problem.outputs["errors"].copy()


def _values(state: RobotPosture, reference: WholeBodyReference) -> dict[str, npt.ArrayLike]:
    left, right = reference.left_foot, reference.right_foot
    return {
        "base_position": state.base_position,
        "base_rotation": state.base_rotation,
        "joint_positions": state.joint_positions,
        "left_foot_position": left.position,
        "left_foot_rotation": left.rotation,
        "left_foot_twist": left.twist,
        "right_foot_position": right.position,
        "right_foot_rotation": right.rotation,
        "right_foot_twist": right.twist,
        "com_position": reference.com_position,
        "com_velocity": reference.com_velocity,
        "torso_rotation": reference.torso_rotation,
        "pelvis_rotation": reference.pelvis_rotation,
        "trunk_angular_velocity": reference.trunk_angular_velocity,
        "posture": reference.posture,
    }


def integrate(state: RobotPosture | RobotState, velocity: NDArray, period: float) -> RobotPosture:
    """Return the state after moving at ``velocity`` = (ṗ_B, ω_B, ṡ) for ``period`` [s]."""
    motion = period * velocity
    return unchecked(
        RobotPosture,
        base_position=state.base_position + motion[:3],
        base_rotation=so3.exp(motion[3:6]).dot(state.base_rotation),
        joint_positions=state.joint_positions + motion[6:],
    )
