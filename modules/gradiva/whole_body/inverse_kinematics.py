r"""The kinematics-based whole-body controller (thesis section 7.1).

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

from gradiva.common import ConfigError, NDArray, RobotPosture, RobotState, sealed, so3, unchecked
from gradiva.robot_model.flat_function import Compiler, FlatFunction, interpreted
from gradiva.robot_model.idyntree_model import IdynTreeModel
from gradiva.robot_model.symbolic_dynamics import SymbolicDynamics
from gradiva.whole_body.qp_solver import DaqpSolver, QuadraticProgram, SolverName, make_solver
from gradiva.whole_body.tasks import Task, angular_momentum_task, com_task, posture_task, se3_task, so3_task
from gradiva.whole_body.whole_body_reference import WholeBodyReference

_HARD_GAINS = ("foot_linear_gain", "foot_angular_gain", "com_gain")
_GAINS = (*_HARD_GAINS, "torso_gain", "posture_gain")
_RELAXED_PRICE = 1e6  # [-] of feet and CoM against the posture, where they cannot be met


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


class InverseKinematics:
    """Finds the robot velocity that follows a reference; see the module's text for the problem.

    Attributes:
        problem: The quadratic program of the last solution.
        lower_limits: Joint positions, margin included, [rad], shape (n,).
        upper_limits: The same.
    """

    def __init__(
        self,
        model: IdynTreeModel,
        config: InverseKinematicsConfig,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem's function.

        Raises:
            ConfigError: A posture weight is missing or belongs to no joint group.
        """
        description = model.description
        weights = description.spread(config.posture_weights, "[inverse_kinematics.posture_weights]")
        self._joints = len(weights)
        self._function = _problem_function(SymbolicDynamics(model), compiler)
        self._gains = [getattr(config, name) for name in _GAINS]
        self._function.set(
            gains=self._gains,
            torso_weight=config.torso_weight,
            pelvis_weight=config.pelvis_weight,
            angular_momentum_weights=config.angular_momentum_weights,
            posture_weights=weights,
        )
        self._outputs = self._function.outputs
        lower, upper = model.joint_limits()
        self.lower_limits = lower + config.position_margin
        self.upper_limits = upper - config.position_margin
        self._velocity_limits = model.velocity_limits()
        self.problem = self._make_problem()
        self._relaxed_prices = np.full(len(self.problem.lower), _RELAXED_PRICE)
        self._relaxed_prices[: self._joints] = np.inf
        self._solver = make_solver(config.solver, "inverse kinematics", self.problem)

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
            NoSolutionFound: Feet, CoM and limits contradict each other.
        """
        self._evaluate(state, reference)
        self._update_bounds(state.joint_positions, period)
        if relaxed:
            solution = DaqpSolver("relaxed inverse kinematics", self.problem.relaxed(self._relaxed_prices)).solve()
        else:
            solution = self._solver.solve()
        return np.concatenate((solution[self._joints :], solution[: self._joints]))

    def task_error(self, state: RobotPosture, reference: WholeBodyReference) -> NDArray:
        """Return what is missing to the poses of both feet [m, rad] and to the CoM [m], shape (15,).

        Reference velocities count as zero.
        """
        self._evaluate(state, reference)
        feet = [self._gains[0]] * 3 + [self._gains[1]] * 3
        gains = np.array([*feet, *feet, *[self._gains[2]] * 3])
        return self._outputs["target"] / gains

    def _evaluate(self, state: RobotPosture, reference: WholeBodyReference) -> None:
        left, right = reference.left_foot, reference.right_foot
        self._function.set(
            base_position=state.base_position,
            base_rotation=state.base_rotation,
            joint_positions=state.joint_positions,
            left_foot_position=left.position,
            left_foot_rotation=left.rotation,
            left_foot_twist=left.twist,
            right_foot_position=right.position,
            right_foot_rotation=right.rotation,
            right_foot_twist=right.twist,
            com_position=reference.com_position,
            com_velocity=reference.com_velocity,
            torso_rotation=reference.torso_rotation,
            pelvis_rotation=reference.pelvis_rotation,
            trunk_angular_velocity=reference.trunk_angular_velocity,
            posture=reference.posture,
        )
        self._function()

    def _make_problem(self) -> QuadraticProgram:
        out = self._outputs
        rows = len(out["target"])
        return QuadraticProgram(
            hessian=out["hessian"],
            gradient=out["gradient"],
            rows=out["rows"],
            lower=np.zeros(self._joints + rows),
            upper=np.zeros(self._joints + rows),
        )

    def _update_bounds(self, joint_positions: NDArray, period: float) -> None:
        limit, n = self._velocity_limits, self._joints
        lower, upper = self.problem.lower, self.problem.upper
        np.divide(self.lower_limits - joint_positions, period, out=lower[:n])
        np.divide(self.upper_limits - joint_positions, period, out=upper[:n])
        # A joint beyond its limit is brought back, at most at its velocity limit.
        np.clip(lower[:n], -limit, limit, out=lower[:n])
        np.clip(upper[:n], -limit, limit, out=upper[:n])
        lower[n:] = upper[n:] = self._outputs["target"]


def _problem_function(dynamics: SymbolicDynamics, compiler: Compiler) -> FlatFunction:
    """Compose the tasks into H, g, A and b, in the solver's order: joints first, then the base."""
    gains = cs.SX.sym("gains", len(_GAINS))
    torso_weight = cs.SX.sym("torso_weight")
    pelvis_weight = cs.SX.sym("pelvis_weight")
    momentum_weights = cs.SX.sym("angular_momentum_weights", 3)
    posture_weights = cs.SX.sym("posture_weights", dynamics.joints)
    description = dynamics.model.description
    left = se3_task(dynamics, description.left_foot_frame, "left_foot", gains[0], gains[1])
    right = se3_task(dynamics, description.right_foot_frame, "right_foot", gains[0], gains[1])
    com = com_task(dynamics, gains[2])
    trunk_velocity = cs.SX.sym("trunk_angular_velocity", 3)
    torso = so3_task(dynamics, description.torso_frame, "torso", trunk_velocity, gains[3])
    pelvis = so3_task(dynamics, description.base_link, "pelvis", trunk_velocity, gains[3])
    posture = posture_task(dynamics, gains[4])
    upright = [(torso, torso_weight * cs.SX.eye(3)), (pelvis, pelvis_weight * cs.SX.eye(3))]
    momentum = angular_momentum_task(dynamics)
    soft = [*upright, (momentum, cs.diag(momentum_weights)), (posture, cs.diag(posture_weights))]
    hessian, gradient = _cost(soft)
    rows = cs.vertcat(left.jacobian, right.jacobian, com.jacobian)
    order = [*range(6, 6 + dynamics.joints), *range(6)]
    parameters: dict[str, cs.SX] = {}
    for task in (left, right, com, torso, pelvis, posture):
        parameters |= task.parameters
    return FlatFunction(
        f"inverse_kinematics_{description.name}",
        inputs={
            "base_position": dynamics.base_position,
            "base_rotation": dynamics.base_rotation,
            "joint_positions": dynamics.joint_positions,
            **parameters,
            "trunk_angular_velocity": trunk_velocity,
            "gains": gains,
            "torso_weight": torso_weight,
            "pelvis_weight": pelvis_weight,
            "angular_momentum_weights": momentum_weights,
            "posture_weights": posture_weights,
        },
        outputs={
            "hessian": hessian[order, order],
            "gradient": gradient[order],
            "rows": rows[:, order],
            "target": cs.vertcat(left.target, right.target, com.target),
        },
        compiler=compiler,
    )


def _cost(soft: list[tuple[Task, cs.SX]]) -> tuple[cs.SX, cs.SX]:
    """Return H and g of ½ Σ ‖Jν − v*‖²_Λ; a trace of regularisation keeps H positive definite."""
    size = soft[0][0].jacobian.shape[1]
    hessian, gradient = 1e-6 * cs.SX.eye(size), cs.SX(size, 1)
    for task, weight in soft:
        hessian += task.jacobian.T @ weight @ task.jacobian
        gradient -= task.jacobian.T @ weight @ task.target
    return hessian, gradient


def integrate(state: RobotPosture | RobotState, velocity: NDArray, period: float) -> RobotPosture:
    """Return the state after moving at ``velocity`` = (ṗ_B, ω_B, ṡ) for ``period`` [s]."""
    motion = period * velocity
    return unchecked(
        RobotPosture,
        base_position=sealed(state.base_position + motion[:3]),
        base_rotation=sealed(so3.exp(motion[3:6]).dot(state.base_rotation)),
        joint_positions=sealed(state.joint_positions + motion[6:]),
    )
