r"""Control torques on rigid ground, "TSID-Rigid" (thesis section 7.2).

Variables
    :math:`\dot\nu, f_l, f_r` and, in the full form, :math:`\tau`.
Objective
    the soft ones of: poses of the feet, centre of mass and centroidal angular momentum (through the wrenches),
    orientations of torso and pelvis; and always posture, and wrenches near the expected ones, whose ZMP is that of the
    plan (tasks of the ZMP, as in the thesis, ask the same).
Constraints
    base dynamics, in the full form joint dynamics, no wrench on a foot without load; the hard ones of the tasks; wrench
    cones, torques and joint positions within their limits, hard or soft.

The problem has one structure for all contact configurations: each foot has a task for standing and one for swinging, of
which one counts, and the wrench of a foot without load is bounded to zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradiva.common import GRAVITY, RobotPosture, Side
from gradiva.robot_model import Compiler, IdynTreeModel, RobotDescription, SymbolicDynamics, built_once, interpreted
from gradiva.whole_body.limits import (
    LIMIT_HORIZON,
    JointLimitConfig,
    TorqueLimitConfig,
    WrenchConeConfig,
    limit_joint_positions,
    limit_torques,
    limit_wrench,
)
from gradiva.whole_body.qp_composer import Priority, QpComposer
from gradiva.whole_body.qp_solver import SolverName
from gradiva.whole_body.tasks import Task, refuse_negative
from gradiva.whole_body.torque_control import (
    Form,
    GroundSearchConfig,
    LandingMemory,
    RigidGroundBody,
    TorqueActuation,
    TorqueBody,
    TorqueController,
    TorqueProblem,
    TouchDown,
    compose,
    trunk_tasks,
)
from gradiva.whole_body.torque_control_config import TorqueControlConfig
from gradiva.whole_body.walking_tasks import (
    AngularMomentumTask,
    AngularMomentumTaskConfig,
    ComTaskConfig,
    FootTask,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    WalkingComTask,
    WalkingPostureTask,
    WrenchTask,
)


@dataclass(frozen=True, slots=True)
class RigidTorqueControlConfig:
    """Configure TSID-Rigid; its parts are documented at their classes.

    Attributes:
        form: What the problem is solved for.
        solver: ``daqp`` or ``osqp``.
        stance_foot: Of a foot with load.
        swing_foot: Of a foot without.
        com: Centre of mass, through the wrenches.
        angular_momentum: Through the wrenches.
        torso: Orientation of the torso frame.
        pelvis: Orientation of the base link.
        posture: Joints.
        wrench_weight: Of each N² and (N·m)² away from the expected wrenches, [-].
        wrench_cone: Limits of the ground's wrenches.
        joint_limits: Positions.
        torque_limits: Torques.
        search: For the ground, of a foot that should stand and does not touch.
        touch_fraction: Fraction of the weight from which a landing foot carries load, [-].
        touch_timeout: After which a foot that should stand is taken to carry load whatever its sensor says, [s].
        learns_landings: Whether it learns slope and landings of rigid ground; the foot that landed last keeps load.
    """

    form: Form
    solver: SolverName
    stance_foot: PoseTaskConfig
    swing_foot: PoseTaskConfig
    com: ComTaskConfig
    angular_momentum: AngularMomentumTaskConfig
    torso: OrientationTaskConfig
    pelvis: OrientationTaskConfig
    posture: PostureTaskConfig
    wrench_weight: float
    wrench_cone: WrenchConeConfig
    joint_limits: JointLimitConfig
    torque_limits: TorqueLimitConfig
    search: GroundSearchConfig
    touch_fraction: float
    touch_timeout: float
    learns_landings: bool

    def __post_init__(self) -> None:
        refuse_negative(self)

    @classmethod
    def of(cls, config: TorqueControlConfig) -> RigidTorqueControlConfig:
        """Return what the tables of torque control and the constants of this law make."""
        priorities, weights, stance, swing = config.priorities, config.weights, config.stance_foot, config.swing_foot
        return cls(
            form=Form.REDUCED,
            solver=SolverName.DAQP,
            stance_foot=PoseTaskConfig(
                Priority.HARD, _FOOT_WEIGHT, 0.0, stance.linear_damping, 0.0, stance.angular_damping
            ),
            swing_foot=PoseTaskConfig(
                Priority.SOFT,
                _FOOT_WEIGHT,
                swing.linear_stiffness,
                swing.linear_damping,
                swing.angular_stiffness,
                swing.angular_damping,
            ),
            com=ComTaskConfig(priorities.com, weights.com, config.com.stiffness, config.com.damping),
            angular_momentum=AngularMomentumTaskConfig(
                priorities.angular_momentum, weights.angular_momentum, _MOMENTUM_DAMPING
            ),
            torso=_TRUNK,
            pelvis=_TRUNK,
            posture=PostureTaskConfig(config.posture_stiffness, config.posture_weights),
            wrench_weight=weights.wrenches,
            wrench_cone=WrenchConeConfig(priorities.wrench_cone, _CONE_WEIGHT),
            joint_limits=JointLimitConfig(
                priorities.joint_limits, _POSITION_WEIGHT, LIMIT_HORIZON, _LIMIT_MARGIN, config.narrowed
            ),
            torque_limits=TorqueLimitConfig(priorities.torque_limits),
            search=_SEARCH,
            touch_fraction=config.touch_fraction,
            touch_timeout=config.touch_timeout,
            learns_landings=config.learns_landings,
        )


_FOOT_WEIGHT = 1e4  # [-] above all else that is soft: a foot that lands 20 mm off cannot be recovered
_MOMENTUM_DAMPING = 5.0  # [1/s] below the poles of the CoM, 7 1/s, to which it yields
_TRUNK = OrientationTaskConfig(Priority.SOFT, 10.0, 200.0, 28.3)  # [-], [1/s²], [1/s] critical
"""Of torso and pelvis: with 14 1/s twice as fast as the CoM, and at a thousandth of its weight, to which they yield."""
_CONE_WEIGHT = 1e4  # [-] an N² or (N·m)² outside, as an (m/s²)² of a foot: 1e8 times what a wrench costs within
_POSITION_WEIGHT = 1e4  # [-] a (rad/s²)² beyond, as one of a foot: a joint at its limit bends the swing, not the limit
_LIMIT_MARGIN = 0.001  # [rad] about a step of the encoders, 0.4 to 1.5 mrad
_SEARCH = GroundSearchConfig(speed=0.1, jerk=30.0)
"""By 5 mm within 0.1 s, as 0.05 m/s at once, with which TALOS stamps with its own weight and torques jump for 20 ms; by
1.5 mm, feet that land late carry nothing and iCub v2.7 falls on the robot plant."""


def rigid_tasks(config: RigidTorqueControlConfig, description: RobotDescription) -> list[Task]:
    """Return the tasks of walking on rigid ground."""
    tasks: list[Task] = []
    for side in Side:
        tasks.append(FootTask(f"{side} standing foot", side, config.stance_foot, when_loaded=True))
        tasks.append(FootTask(f"{side} swinging foot", side, config.swing_foot, when_loaded=False))
    tasks.append(WalkingComTask("centre of mass", config.com))
    tasks.append(AngularMomentumTask("angular momentum", config.angular_momentum))
    tasks += trunk_tasks(description, config.torso, config.pelvis)
    tasks.append(WalkingPostureTask(config.posture, config.posture.weights, "[posture.weights]"))
    return tasks + [WrenchTask(f"{side} wrench", side, config.wrench_weight) for side in Side]


def rigid_problem(
    dynamics: SymbolicDynamics,
    config: RigidTorqueControlConfig,
    tasks: Iterable[Task] = (),
    spring_horizon: float = 0.0,
) -> tuple[TorqueBody, QpComposer]:
    """Compose the problem: dynamics, tasks of walking, ``tasks`` from outside, limits."""
    body = RigidGroundBody(dynamics, config.form, spring_horizon)
    composer = compose(body, [*rigid_tasks(config, dynamics.model.description), *tasks])
    limit_joint_positions(composer, body, config.joint_limits)
    limit_torques(composer, body, config.torque_limits)
    for side in Side:
        limit_wrench(composer, body, side, body.wrenches[side], config.wrench_cone)
        in_the_air = 1.0 - body.reference.feet[side].is_loaded  # nothing pushes a foot without load
        composer.fix(f"{side} foot in the air", body.first_wrench[side], 6, in_the_air)
    return body, composer


class RigidTorqueController(TorqueController):
    """Command torques on rigid ground."""

    def __init__(
        self,
        model: IdynTreeModel,
        config: RigidTorqueControlConfig,
        actuation: TorqueActuation,
        posture: RobotPosture,
        compiler: Compiler = interpreted,
        tasks: Sequence[Task] = (),
        spring_horizon: float = 0.0,
    ) -> None:
        """Build the problem.

        Args:
            model: The robot.
            config: Tasks and limits.
            actuation: Between torques and joints.
            posture: Where the robot begins.
            compiler: How the problem's function becomes fast.
            tasks: From outside of the package, beside those of walking.
            spring_horizon: After which torques of passive joints count, see `TorqueBody`, [s].

        Raises:
            ConfigError: A joint group of the posture is missing or unknown, or a task states no acceleration.
        """

        def problem() -> TorqueProblem:
            body, composer = rigid_problem(SymbolicDynamics.of(model), config, tasks, spring_horizon)
            return TorqueProblem("rigid torque control", body, composer, config.solver, compiler)

        key = None if tasks else (TorqueProblem, model.fingerprint, repr(config), spring_horizon, compiler)
        weight = model.mass * GRAVITY
        touch_downs = {side: TouchDown(config.touch_fraction * weight, config.touch_timeout) for side in Side}
        landings = LandingMemory(weight) if config.learns_landings else None
        super().__init__(built_once(key, problem), config.search, actuation, posture, touch_downs, landings)
