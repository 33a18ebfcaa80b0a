r"""Control torques on rigid ground, "TSID-Rigid" (thesis section 7.2).

Variables
    :math:`\dot\nu, f_l, f_r` and, in the full form, :math:`\tau`.
Objective
    the soft ones of: poses of the feet, centre of mass and centroidal angular momentum (through the wrenches), local
    and global ZMP, orientations of torso and pelvis; and always posture, wrenches near the expected ones, low torques.
Constraints
    base dynamics, in the full form joint dynamics, no wrench on a foot without load; the hard ones of the tasks; wrench
    cones, torques and joint positions within their limits, hard or soft.

The problem has one structure for all contact configurations: each foot has a task for standing and one for swinging, of
which one counts, and the wrench of a foot without load is bounded to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradiva.common import RobotPosture, Side
from gradiva.robot_model import Compiler, IdynTreeModel, SymbolicDynamics, interpreted
from gradiva.whole_body import tasks
from gradiva.whole_body.limits import JointLimitConfig, TorqueLimitConfig, WrenchConeConfig
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import (
    AngularMomentumTaskConfig,
    ComTaskConfig,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    ZmpTaskConfig,
    refuse_negative,
)
from gradiva.whole_body.torque_control import Form, ProblemDraft, TorqueController, TorqueProblem, rigid_unknowns
from gradiva.whole_body.whole_body_reference import Parameters, ReferenceSymbols


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


class RigidProblem(ProblemDraft):
    """The draft of TSID-Rigid."""

    def __init__(self, dynamics: SymbolicDynamics, config: RigidTorqueControlConfig) -> None:
        """Put the problem together."""
        parameters = Parameters()
        references = ReferenceSymbols(dynamics.joints, parameters)
        feet = {side: dynamics.frame(dynamics.model.description.foot_frame(side)) for side in Side}
        super().__init__(dynamics, feet, parameters, references, rigid_unknowns(config.form, dynamics, feet))
        for side, foot in references.feet.items():
            self.foot("standing", side, config.stance_foot, foot.is_loaded)
            self.foot("swinging", side, config.swing_foot, 1.0 - foot.is_loaded)
        self._com(config.com)
        self._angular_momentum(config.angular_momentum)
        self._zmp(config)
        self.trunk(config.torso, config.pelvis)
        self.posture(config.posture)
        self._regularisation(config)
        self.joint_limits(config.joint_limits)
        self.torque_limits(config.torque_limits)
        for side in Side:
            self.cone(side, self.unknowns.wrenches[side], config.wrench_cone)
            self._ground(side)

    def _com(self, config: ComTaskConfig) -> None:
        """Σ f + m g = m ẍ*, with ẍ* = ẍ_r + k_d (ẋ_r - ẋ) + k_p (x_r - x)."""
        dynamics, references = self.dynamics, self.references
        stiffness, damping = self.gains("com", config.stiffness, config.damping)
        wanted = references.com_acceleration + damping * (references.com_velocity - dynamics.com_velocity)
        wanted += stiffness * (references.com_position - dynamics.com_position)
        reached = tasks.linear_momentum_rate(dynamics, self.unknowns.wrenches) / dynamics.mass
        self.task("centre of mass", reached - wanted, config.priority, config.weight)

    def _angular_momentum(self, config: AngularMomentumTaskConfig) -> None:
        """Σ S(p - x) f + μ = -k_d L."""
        damping = self.parameters.constant("angular_momentum.damping", config.damping)
        rate = tasks.angular_momentum_rate(self.dynamics, self.feet, self.unknowns.wrenches)
        missing = rate + damping * tasks.angular_momentum(self.dynamics)
        self.task("angular momentum", missing, config.priority, config.weight)

    def _zmp(self, config: RigidTorqueControlConfig) -> None:
        """No horizontal moment about the ZMP: of both feet together, and of each where its expected wrench has it."""
        wrenches = self.unknowns.wrenches
        moment = tasks.global_zmp_moment(self.feet, wrenches, self.references.zmp)
        self.task("global zmp", moment, config.global_zmp.priority, config.global_zmp.weight)
        for side, foot in self.references.feet.items():
            moment = tasks.local_zmp_moment(wrenches[side], tasks.expected_zmp(self.feet[side], foot))
            self.task(f"{side} zmp", moment, config.local_zmp.priority, config.local_zmp.weight, foot.is_loaded)

    def _regularisation(self, config: RigidTorqueControlConfig) -> None:
        weight = self.parameters.constant("wrench_weight", config.wrench_weight)
        for side, foot in self.references.feet.items():
            expected = foot.is_loaded * tasks.expected_wrench(self.feet[side], foot)
            self.composer.cost(f"{side} wrench", self.unknowns.wrenches[side] - expected, weight)
        if config.torque_weight > 0.0:
            weight = self.parameters.constant("torque_weight", config.torque_weight)
            self.composer.cost("torques", self.unknowns.torques, weight)

    def _ground(self, side: Side) -> None:
        """Nothing pushes a foot without load."""
        in_the_air = 1.0 - self.references.feet[side].is_loaded
        self.composer.fix(f"{side} foot in the air", self.unknowns.first_wrench[side], 6, in_the_air)


class RigidTorqueController(TorqueController):
    """Command torques on rigid ground."""

    def __init__(
        self,
        model: IdynTreeModel,
        config: RigidTorqueControlConfig,
        torque_rate: float,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
    ) -> None:
        """Build the problem.

        Args:
            model: The robot.
            config: Tasks and limits.
            torque_rate: By which a torque may change, [N·m/s].
            posture: Where the robot begins.
            compiler: How the problem's function becomes fast.

        Raises:
            ConfigError: A joint group of the posture is missing or unknown.
        """
        draft = RigidProblem(SymbolicDynamics(model), config)
        problem = TorqueProblem("rigid torque control", draft, config.solver, compiler)
        super().__init__(problem, config.search_speed, torque_rate, posture)
