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

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray, RobotPosture, RobotState, so3, unchecked
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, interpreted
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.kinematics_config import InverseKinematicsConfig
from gradiva.whole_body.kinematics_draft import KinematicsDraft
from gradiva.whole_body.whole_body_reference import WholeBodyReference


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
