r"""The whole-body controller for rigid ground, "TSID-Rigid" (thesis section 7.2).

Variables
    :math:`\dot\nu, f_l, f_r` and, in the full form, :math:`\tau`.
Objective
    what is soft of: poses of the feet, centre of mass and centroidal angular momentum (through the wrenches), local and
    global ZMP, orientations of torso and pelvis; and always posture, wrenches near the expected ones, small torques.
Constraints
    base dynamics, in the full form joint dynamics, no wrench on a foot without load; what is hard of the tasks; wrench
    cones, torques and joint positions within their limits, hard or soft.

The problem has one structure for all contact configurations: each foot has a task for standing and one for swinging, of
which one counts, and the wrench of a foot without load is bounded to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as cs

from gradiva.common import Side
from gradiva.robot_model import SymbolicDynamics
from gradiva.whole_body import acceleration_tasks as tasks
from gradiva.whole_body.joint_limits import JointLimitConfig, TorqueLimitConfig
from gradiva.whole_body.parameters import Parameters
from gradiva.whole_body.problem_draft import ProblemDraft
from gradiva.whole_body.qp_composer import UNBOUNDED
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.reference_symbols import ReferenceSymbols
from gradiva.whole_body.task_config import (
    AngularMomentumTaskConfig,
    ComTaskConfig,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    Priority,
    ZmpTaskConfig,
    refuse_negative,
)
from gradiva.whole_body.unknowns import Form, rigid_unknowns
from gradiva.whole_body.wrench_cone import WrenchConeConfig


@dataclass(frozen=True, slots=True)
class RigidTorqueControlConfig:
    """Of TSID-Rigid; its parts are documented at their classes.

    Attributes:
        form: What the problem is solved for.
        solver: ``daqp`` or ``osqp``.
        stance_foot: Of a foot with load.
        swing_foot: Of a foot without.
        com: Centre of mass, through the wrenches.
        angular_momentum: Through the wrenches.
        local_zmp: Of each loaded foot, where its expected wrench has it.
        global_zmp: Of both feet.
        torso: Orientation of the torso frame.
        pelvis: Orientation of the base link.
        posture: Joints.
        wrench_weight: Of each N² and (N·m)² away from the expected wrenches, [-].
        torque_weight: Of each (N·m)², [-]; at 0 the problem is a third shorter.
        wrench_cone: What the ground can exert.
        joint_limits: Positions.
        torque_limits: Torques.
        search_speed: At which a foot that should stand and does not touch looks for the ground, [m/s].
    """

    form: Form
    solver: SolverName
    stance_foot: PoseTaskConfig
    swing_foot: PoseTaskConfig
    com: ComTaskConfig
    angular_momentum: AngularMomentumTaskConfig
    local_zmp: ZmpTaskConfig
    global_zmp: ZmpTaskConfig
    torso: OrientationTaskConfig
    pelvis: OrientationTaskConfig
    posture: PostureTaskConfig
    wrench_weight: float
    torque_weight: float
    wrench_cone: WrenchConeConfig
    joint_limits: JointLimitConfig
    torque_limits: TorqueLimitConfig
    search_speed: float

    def __post_init__(self) -> None:
        refuse_negative(self)


def draft_rigid_problem(dynamics: SymbolicDynamics, config: RigidTorqueControlConfig) -> ProblemDraft:
    """Put the problem together."""
    parameters = Parameters()
    references = ReferenceSymbols(dynamics.joints, parameters)
    feet = {side: dynamics.frame(dynamics.model.description.foot_frame(side)) for side in Side}
    draft = ProblemDraft(dynamics, feet, parameters, references, rigid_unknowns(config.form, dynamics, feet))
    for name, missing in draft.unknowns.laws.items():
        draft.composer.law(name, missing)
    _feet(draft, config)
    _momentum(draft, config)
    draft.trunk(config.torso, config.pelvis)
    draft.posture(config.posture)
    _regularisation(draft, config)
    _limits(draft, config)
    return draft


def _feet(draft: ProblemDraft, config: RigidTorqueControlConfig) -> None:
    for side in Side:
        loaded = draft.references.feet[side].is_loaded
        draft.foot("standing", side, config.stance_foot, loaded)
        draft.foot("swinging", side, config.swing_foot, 1.0 - loaded)


def _momentum(draft: ProblemDraft, config: RigidTorqueControlConfig) -> None:
    dynamics, references, wrenches = draft.dynamics, draft.references, draft.unknowns.wrenches
    stiffness = draft.parameters.constant("com.stiffness", config.com.stiffness)
    damping = draft.parameters.constant("com.damping", config.com.damping)
    wanted = references.com_acceleration + damping * (references.com_velocity - dynamics.com_velocity)
    wanted += stiffness * (references.com_position - dynamics.com_position)
    acceleration = tasks.linear_momentum_rate(dynamics, wrenches) / dynamics.mass
    draft.task("centre of mass", acceleration - wanted, config.com.priority, config.com.weight)
    angular = config.angular_momentum
    damping = draft.parameters.constant("angular_momentum.damping", angular.damping)
    rate = tasks.angular_momentum_rate(dynamics, draft.feet, wrenches) + damping * tasks.angular_momentum(dynamics)
    draft.task("angular momentum", rate, angular.priority, angular.weight)
    moment = tasks.global_zmp_moment(draft.feet, wrenches, references.zmp)
    draft.task("global zmp", moment, config.global_zmp.priority, config.global_zmp.weight)
    for side, foot in references.feet.items():
        moment = tasks.local_zmp_moment(wrenches[side], tasks.expected_zmp(draft.feet[side], foot))
        draft.task(f"{side} zmp", moment, config.local_zmp.priority, config.local_zmp.weight, foot.is_loaded)


def _regularisation(draft: ProblemDraft, config: RigidTorqueControlConfig) -> None:
    weight = draft.parameters.constant("wrench_weight", config.wrench_weight)
    for side, foot in draft.references.feet.items():
        expected = foot.is_loaded * tasks.expected_wrench(draft.feet[side], foot)
        draft.composer.cost(draft.unknowns.wrenches[side] - expected, weight)
    if config.torque_weight > 0.0:
        draft.composer.cost(draft.unknowns.torques, draft.parameters.constant("torque_weight", config.torque_weight))


def _limits(draft: ProblemDraft, config: RigidTorqueControlConfig) -> None:
    draft.joint_limits(config.joint_limits)
    draft.torque_limits(config.torque_limits)
    for side, first in draft.unknowns.first_wrench.items():
        draft.cone(side, draft.unknowns.wrenches[side], config.wrench_cone)
        reach = UNBOUNDED * draft.references.feet[side].is_loaded * cs.SX.ones(6)
        draft.composer.bound(f"{side} foot in the air", first, -reach, reach, Priority.HARD, 0.0, is_law=True)
